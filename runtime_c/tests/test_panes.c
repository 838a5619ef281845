#define _GNU_SOURCE
/* Bytes that grow, results that come back from readers in other threads, and windows of pane results. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>

#include "dfrt/panes.h"

static void test_bytes(void)
{
    dfrt_bytes bytes = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        dfrt_bytes_append(&bytes, &i, sizeof i);
        CHECK((uintptr_t)bytes.data % 16 == 0);
    }
    CHECK(bytes.size == 10000 * sizeof(uint32_t));
    const uint32_t *values = (const uint32_t *)(const void *)bytes.data;
    for (uint32_t i = 0; i < 10000; i++) {
        CHECK(values[i] == i);
    }
    dfrt_bytes_append(&bytes, NULL, 0);
    CHECK(dfrt_bytes_add(&bytes, 0) != NULL);
    CHECK(bytes.size == 10000 * sizeof(uint32_t));
    dfrt_bytes_free(&bytes);
    CHECK(bytes.data == NULL && bytes.size == 0);
    CHECK(dfrt_bytes_add(&bytes, 0) != NULL); /* also when there is nothing yet */
    dfrt_bytes_free(&bytes);
}

static dfrt_result *result_of(dfrt_pane_results *results, int64_t value)
{
    dfrt_result *made = dfrt_results_take(results);
    CHECK(made->bytes.size == 0);
    dfrt_bytes_append(&made->bytes, &value, sizeof value);
    return made;
}

static void test_results_are_used_again(void)
{
    dfrt_pane_results results = {0};
    dfrt_result *first = result_of(&results, 1), *second = result_of(&results, 2);
    CHECK(first != second);
    dfrt_result_share(first, 2);
    dfrt_result_done(first);
    dfrt_result_done(first);
    dfrt_result *third = result_of(&results, 3);
    CHECK(third != first && third != second); /* somebody reads them */
    dfrt_result_done(first);
    CHECK(result_of(&results, 4) == first);
    dfrt_result_done(NULL);
    dfrt_result_share(NULL, 1);
    dfrt_results_close(&results); /* frees also what nobody gave back */
}

static int64_t value_of(dfrt_pane pane)
{
    return *(const int64_t *)pane.data;
}

static void test_windows(void)
{
    dfrt_pane_results results = {0};
    dfrt_panes panes = {0};
    dfrt_whole whole;
    CHECK(!dfrt_panes_window(&panes, 0, 5, &whole));
    for (int64_t i = 0; i < 1000; i++) {
        dfrt_panes_add(&panes, i, i % 5 == 3 ? NULL : result_of(&results, i), 10 * i);
        if (i >= 4) {
            CHECK(dfrt_panes_window(&panes, i - 4, i, &whole));
            CHECK(whole.count == 4 && whole.latest == 10 * i); /* one of five gave nothing */
            CHECK(value_of(whole.panes[0]) == i - 4 + ((i - 4) % 5 == 3));
        }
    }
    CHECK(panes.capacity <= 16); /* what no window needs is forgotten */
    CHECK(dfrt_panes_window(&panes, 996, 997, &whole) && whole.count == 2 && value_of(whole.panes[0]) == 996);
    dfrt_panes_evict(&panes, 998);
    CHECK(!dfrt_panes_window(&panes, 998, 998, &whole) && whole.latest == 9980);
    dfrt_panes_evict(&panes, INT64_MAX);
    CHECK(panes.head == panes.tail);
    dfrt_panes_close(&panes);
    dfrt_results_close(&results);
}

/* --- two readers in threads of their own -------------------------------------------------------------- */

enum { COUNT = 20000, RING = 64 };

typedef struct reader {
    _Atomic(dfrt_result *) slots[RING];
    int64_t sum;
} reader;

static void *read_all(void *given)
{
    reader *r = given;
    for (uint32_t i = 0; i < COUNT; i++) {
        dfrt_result *result;
        while ((result = atomic_exchange_explicit(&r->slots[i % RING], NULL, memory_order_acquire)) == NULL) {
        }
        r->sum += *(int64_t *)(void *)result->bytes.data;
        dfrt_result_done(result);
    }
    return NULL;
}

static void test_readers(void)
{
    static reader readers[2];
    pthread_t threads[2];
    dfrt_pane_results results = {0};
    for (int t = 0; t < 2; t++) {
        CHECK(pthread_create(&threads[t], NULL, read_all, &readers[t]) == 0);
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        dfrt_result *result = result_of(&results, i);
        dfrt_result_share(result, 1);
        sum += i;
        for (int t = 0; t < 2; t++) {
            dfrt_result *empty = NULL;
            while (!atomic_compare_exchange_weak_explicit(&readers[t].slots[i % RING], &empty, result,
                                                          memory_order_release, memory_order_relaxed)) {
                empty = NULL;
            }
        }
    }
    for (int t = 0; t < 2; t++) {
        CHECK(pthread_join(threads[t], NULL) == 0);
        CHECK(readers[t].sum == sum);
    }
    size_t made = 0;
    for (const dfrt_result *one = results.all; one != NULL; one = one->made_before) {
        made++;
    }
    CHECK(made <= 4 * RING); /* they were used again */
    dfrt_results_close(&results);
}

int main(void)
{
    test_bytes();
    test_results_are_used_again();
    test_windows();
    test_readers();
    return 0;
}
