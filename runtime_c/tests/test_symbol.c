#define _GNU_SOURCE
#include <dfrt/symbol.h>

#include <pthread.h>

#include "check.h"

enum { THREADS = 4, TEXTS = 20000 };

static dfrt_symbol seen[THREADS][TEXTS];

/* Every thread interns the same texts, each in its own order, and must read back what it interned. */
static void *intern_all(void *argument)
{
    size_t thread = (size_t)argument;
    for (size_t n = 0; n < TEXTS; n++) {
        size_t i = (n * (thread % 2 == 0 ? 7919 : 1) + thread * 991) % TEXTS; /* 7919 is a prime: all are reached */
        char text[32];
        size_t size = (size_t)snprintf(text, sizeof text, "text %zu", i);
        CHECK(dfrt_symbol_intern(text, size, &seen[thread][i]) == DFRT_OK);
        dfrt_slice back = dfrt_symbol_text(seen[thread][i]);
        CHECK(back.size == size && strcmp(back.data, text) == 0);
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, intern_all, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    for (size_t i = 0; i < TEXTS; i++)
        for (size_t thread = 1; thread < THREADS; thread++) CHECK(seen[thread][i] == seen[0][i] && seen[0][i] != 0);
    CHECK(dfrt_symbol_count() > TEXTS);
    /* Numbers of racers that lost resolve too. */
    for (uint64_t s = 1; s < dfrt_symbol_count(); s++) CHECK(dfrt_symbol_text((dfrt_symbol)s).size > 0);
}

int main(void)
{
    dfrt_symbol empty, a, b, ab, again, big, zero;
    CHECK(dfrt_symbol_intern("", 0, &empty) == DFRT_OK && empty == 0 && dfrt_symbol_text(0).size == 0);
    CHECK(dfrt_symbol_intern("a", 1, &a) == DFRT_OK && dfrt_symbol_intern("b", 1, &b) == DFRT_OK);
    CHECK(dfrt_symbol_intern("ab", 2, &ab) == DFRT_OK && dfrt_symbol_intern("a", 1, &again) == DFRT_OK && again == a);
    CHECK(dfrt_symbol_intern("\0x", 2, &zero) == DFRT_OK && zero != 0 && dfrt_symbol_text(zero).size == 2);
    CHECK(dfrt_symbol_compare(a, b) < 0 && dfrt_symbol_compare(b, ab) > 0 && dfrt_symbol_compare(a, ab) < 0);
    CHECK(dfrt_symbol_compare(a, a) == 0 && dfrt_symbol_compare(empty, a) < 0 && dfrt_symbol_compare(a, zero) > 0);
    CHECK(dfrt_symbol_text(4000000000u).size == 0);
    static char huge[100000];
    memset(huge, 'x', sizeof huge);
    CHECK(dfrt_symbol_intern(huge, sizeof huge, &big) == DFRT_OK && dfrt_symbol_text(big).size == sizeof huge);
    CHECK(!dfrt_parse_symbol("\xff", 1, &a) && dfrt_parse_symbol("\xc3\xa4", 2, &a));
    test_threads();
    puts("ok");
    return 0;
}
