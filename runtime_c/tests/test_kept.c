/* Kept tuples against a naive model: whatever the order of calls, all columns hold the same. */
#define _GNU_SOURCE
#include <dfrt/kept.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static uint64_t state = 7;

static uint32_t below(uint32_t limit) /* SplitMix64: the same numbers on every machine */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % limit;
}

typedef struct odd {
    char bytes[3];
} odd;

static const uint32_t sizes[] = {sizeof(int64_t), sizeof(char), sizeof(double), sizeof(odd)};

typedef struct loose {
    int64_t time;
    char letter;
    double value;
    odd bytes;
} loose;

static const uint32_t offsets[] = {offsetof(loose, time), offsetof(loose, letter), offsetof(loose, value),
                                   offsetof(loose, bytes)};
static const dfrt_widths widths = {sizes, 4, offsets, sizeof(loose)};

typedef struct columns {
    int64_t *times;
    char *letters;
    double *values;
    odd *odds;
} columns;

static columns columns_of(const dfrt_kept *kept)
{
    unsigned char *room = kept->room;
    columns c;
    c.times = (void *)room;
    c.letters = (void *)(room += kept->capacity * sizeof *c.times);
    c.values = (void *)(room += kept->capacity * sizeof *c.letters);
    c.odds = (void *)(room + kept->capacity * sizeof *c.values);
    return c;
}

/* All that a tuple holds follows from its number. */
static void put(const dfrt_kept *kept, uint32_t at, int64_t time, int number)
{
    columns c = columns_of(kept);
    c.times[at] = time;
    c.letters[at] = (char)(number % 100);
    c.values[at] = number;
    memcpy(c.odds[at].bytes, &number, 3);
}

static void put_loosely(const dfrt_kept *kept, uint32_t at, int64_t time, int number)
{
    loose *tuple = (loose *)(void *)kept->room + at;
    *tuple = (loose){.time = time, .letter = (char)(number % 100), .value = number};
    memcpy(tuple->bytes.bytes, &number, 3);
}

static bool holds(const dfrt_kept *kept, uint32_t at, int64_t time, int number)
{
    columns c = columns_of(kept);
    return c.times[at] == time && c.letters[at] == number % 100 && c.values[at] == number &&
           memcmp(c.odds[at].bytes, &number, 3) == 0;
}

/* --- arrival ---------------------------------------------------------------------------------------- */

enum { GROUPS = 40, STEPS = 200000 };

/* Groups that share a pool grow, slide, are given back and begin anew. */
static void test_groups_of_a_pool(void)
{
    dfrt_pool pool = {0};
    dfrt_kept kept[GROUPS] = {{0}};
    int first[GROUPS] = {0}, next[GROUPS] = {0};
    for (int step = 0; step < STEPS; step++) {
        uint32_t g = below(10) == 0 ? below(GROUPS) : below(4); /* a few of them become large */
        if (below(20000) == 0) {
            dfrt_kept_release(&pool, &kept[g], widths);
            CHECK(kept[g].room == NULL && kept[g].tail == 0);
            first[g] = next[g];
        }
        uint32_t before = kept[g].head, end = kept[g].tail, moved = dfrt_kept_room(&pool, &kept[g], widths);
        CHECK(kept[g].tail < kept[g].capacity && kept[g].capacity % 8 == 0);
        CHECK(before - kept[g].head == moved && end - kept[g].tail == moved);
        put(&kept[g], kept[g].tail++, 5, next[g]++);
        uint32_t length = kept[g].tail - kept[g].head, forgotten = below(100) == 0 ? below(length + 1) : 0;
        kept[g].head += forgotten;
        first[g] += (int)forgotten;
        CHECK((uint32_t)(next[g] - first[g]) == kept[g].tail - kept[g].head);
        for (uint32_t i = kept[g].head; i < kept[g].tail; i += 1 + below(50)) {
            CHECK(holds(&kept[g], i, 5, first[g] + (int)(i - kept[g].head)));
        }
    }
    dfrt_pool_close(&pool);
}

static void test_memory_comes_back(void)
{
    dfrt_pool pool = {0};
    dfrt_kept one = {0}, other = {0};
    (void)dfrt_kept_room(&pool, &one, widths);
    unsigned char *room = one.room;
    dfrt_kept_release(&pool, &one, widths);
    (void)dfrt_kept_room(&pool, &other, widths);
    CHECK(other.room == room);
    dfrt_pool_close(&pool);
}

/* --- loose tuples ------------------------------------------------------------------------------------ */

/* Groups grow loosely, are gathered at some time or never, move to another pool and back, and are given back. */
static void test_loose_tuples(void)
{
    dfrt_pool pools[2] = {{0}};
    dfrt_kept kept[GROUPS] = {{0}};
    int first[GROUPS] = {0}, next[GROUPS] = {0};
    unsigned in[GROUPS] = {0};
    for (int step = 0; step < STEPS; step++) {
        uint32_t g = below(GROUPS);
        dfrt_kept *k = &kept[g];
        if (below(100) == 0) {
            dfrt_kept_release(&pools[in[g]], k, widths);
            first[g] = next[g];
        }
        if (below(100) == 0) {
            *k = dfrt_kept_move(&pools[1 - in[g]], &pools[in[g]], k, widths);
            in[g] = 1 - in[g];
        }
        int64_t end = k->tail, moved = dfrt_kept_room_loose(&pools[in[g]], k, widths);
        CHECK(k->tail < k->capacity && end - k->tail == moved);
        (dfrt_kept_is_loose(k) ? put_loosely : put)(k, k->tail++, 5, next[g]++);
        CHECK(k->tail - k->head == (uint32_t)(next[g] - first[g]));
        if (below(60) == 0) {
            end = k->tail;
            moved = dfrt_kept_gather(&pools[in[g]], k, widths);
            CHECK(end - k->tail == moved && k->head == 0);
            for (uint32_t i = 0; i < k->tail; i++) CHECK(holds(k, i, 5, first[g] + (int)i));
        }
    }
    dfrt_pool_close(&pools[0]);
    dfrt_pool_close(&pools[1]);
}

/* --- time ------------------------------------------------------------------------------------------- */

enum { COUNT = 500 };

static int64_t jittered(int i) { return i / 2 - (int64_t)below(i % 100 < 50 ? 1 : 20); }

/* In the order of time, ties by arrival. */
static void expect_sorted(const dfrt_kept *kept, uint32_t from, const int64_t *times, int begin, int end)
{
    bool taken[COUNT] = {false};
    for (int i = begin; i < end; i++) {
        int next = -1;
        for (int k = begin; k < end; k++) {
            if (!taken[k] && (next < 0 || times[k] < times[next])) next = k;
        }
        taken[next] = true;
        CHECK(holds(kept, from++, times[next], next));
    }
    CHECK(from == kept->tail);
}

static void test_kept_by_time(void)
{
    dfrt_pool pool = {0};
    dfrt_kept kept = {0};
    int64_t times[COUNT];
    for (int i = 0; i < COUNT; i++) {
        times[i] = jittered(i);
        (void)dfrt_kept_room(&pool, &kept, widths);
        put(&kept, dfrt_kept_place(&kept, times[i], widths), times[i], i);
        kept.tail++;
    }
    expect_sorted(&kept, 0, times, 0, COUNT);
    for (int64_t time = -25; time < COUNT; time++) {
        uint32_t from = dfrt_kept_from(&kept, time);
        CHECK(from == kept.tail || dfrt_kept_times(&kept)[from] >= time);
        CHECK(from == kept.head || dfrt_kept_times(&kept)[from - 1] < time);
    }
    dfrt_pool_close(&pool);
}

static void test_kept_by_arrival(void)
{
    dfrt_pool pool = {0};
    dfrt_kept kept = {0}, sorted = {0};
    int64_t times[COUNT];
    int copies = 0;
    for (int i = 0; i < COUNT; i++) {
        times[i] = jittered(i);
        (void)dfrt_kept_room(&pool, &kept, widths);
        dfrt_kept_note(&kept, times[i]);
        put(&kept, kept.tail++, times[i], i);
        uint32_t length = kept.tail < 30 ? kept.tail : 30, from = kept.tail - length;
        kept.head = from > 10 ? from - 10 : kept.head;
        const dfrt_kept *found = dfrt_kept_by_time(&sorted, &kept, &from, widths);
        copies += found == &sorted;
        expect_sorted(found, from, times, i + 1 - (int)length, i + 1);
    }
    CHECK(copies > COUNT / 4 && copies < COUNT); /* what came in order is not copied */
    free(sorted.room);
    dfrt_pool_close(&pool);
}

int main(void)
{
    test_groups_of_a_pool();
    test_memory_comes_back();
    test_loose_tuples();
    test_kept_by_time();
    test_kept_by_arrival();
    return 0;
}
