/* Two programs in one process, two instances of one of them, each in a thread of its own; one is never drained. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"
#include "pairs.h"

enum { COUNT = 20000 };

static void add_pairs(void *context, const pairs_Pair *results, size_t count)
{
    for (size_t i = 0; i < count; i++) *(double *)context += results[i].first - results[i].second;
}

static void count_recent(void *context, const orders_Last *results, size_t count)
{
    for (size_t i = 0; i < count; i++) *(double *)context += results[i].spread >= 0.0 ? 1.0 : 1000000.0;
}

/* COUNT points of the names A and B in turn: the differences of neighbours of one name are all -2. */
static void *run_pairs(void *workers)
{
    double *sum = calloc(1, sizeof *sum);
    pairs_options options = {.workers = *(unsigned *)workers, .context = sum, .on_out = add_pairs};
    pairs_instance *instance;
    dfrt_error error;
    if (sum == NULL || pairs_create(&instance, &options, &error) != DFRT_OK) abort();
    for (unsigned i = 0; i < COUNT; i++) {
        pairs_Point point = {.id = i, .x = i};
        if (pairs_symbol(i % 2 == 0 ? "A" : "B", 1, &point.name) != DFRT_OK) abort();
        if (pairs_push_points(instance, &point, 1) != DFRT_OK) abort();
    }
    if (pairs_drain(instance) != DFRT_OK) abort();
    pairs_destroy(instance);
    return sum;
}

static void *run_orders(void *workers)
{
    double *sum = calloc(1, sizeof *sum);
    orders_options options = {.workers = *(unsigned *)workers, .context = sum, .on_recent = count_recent};
    orders_instance *instance;
    dfrt_error error;
    if (sum == NULL || orders_create(&instance, &options, &error) != DFRT_OK) abort();
    for (int i = 0; i < COUNT; i++) {
        orders_Order order = {.ts = i, .price = 1 + i % 7, .pieces = 1};
        if (orders_symbol("one", 3, &order.shop) != DFRT_OK) abort();
        if (orders_push_orders(instance, &order, 1) != DFRT_OK) abort();
    }
    if (orders_drain(instance) != DFRT_OK) abort();
    orders_destroy(instance);
    return sum;
}

static void abandon(unsigned workers)
{
    orders_options options = {.workers = workers, .collect = true};
    orders_instance *instance;
    dfrt_error error;
    if (orders_create(&instance, &options, &error) != DFRT_OK) abort();
    for (int i = 0; i < 5000; i++) {
        orders_Order order = {.ts = i, .price = 1, .pieces = 1};
        if (orders_push_orders(instance, &order, 1) != DFRT_OK) abort();
    }
    orders_destroy(instance);
}

int main(void)
{
    pthread_t threads[4];
    void *(*const runs[4])(void *) = {run_pairs, run_orders, run_pairs, run_orders};
    unsigned workers[4] = {1, 3, 3, 1};
    for (int i = 0; i < 4; i++) {
        if (pthread_create(&threads[i], NULL, runs[i], &workers[i]) != 0) abort();
    }
    abandon(1);
    abandon(3);
    for (int i = 0; i < 4; i++) {
        void *sum;
        if (pthread_join(threads[i], &sum) != 0) abort();
        printf("%g\n", *(double *)sum);
        free(sum);
    }
    return 0;
}
