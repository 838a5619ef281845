/* The ring: full and empty, order, and a producer and a consumer that never wait for each other politely. */
#define _GNU_SOURCE
#include <dfrt/ring.h>

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "check.h"

enum { ITEMS = 10000 }; /* few: on a busy machine each hand-over may take a turn of the scheduler */

static void test_full_and_empty(void)
{
    static dfrt_ring ring;
    static int items[3 * DFRT_RING_CAPACITY];
    CHECK(dfrt_ring_pop(&ring) == NULL);
    /* Again and again, from every offset. */
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < DFRT_RING_CAPACITY; i++) CHECK(dfrt_ring_push(&ring, &items[i]));
        CHECK(!dfrt_ring_push(&ring, &items[0]));
        CHECK(dfrt_ring_pop(&ring) == &items[0]);
        CHECK(dfrt_ring_push(&ring, &items[DFRT_RING_CAPACITY]));
        CHECK(!dfrt_ring_push(&ring, &items[0]));
        for (int i = 1; i <= DFRT_RING_CAPACITY; i++) CHECK(dfrt_ring_pop(&ring) == &items[i]);
        CHECK(dfrt_ring_pop(&ring) == NULL);
    }
}

typedef struct message {
    uint64_t number, twice;
} message;

static dfrt_ring there, back;
static message messages[DFRT_RING_CAPACITY]; /* so that all of them find room on the way back */

/* The items themselves are written without atomics: the ring must publish them, and give them back. */
static void *produce(void *unused)
{
    size_t fresh = 0;
    for (uint64_t n = 1; n <= ITEMS; n++) {
        message *item = fresh < sizeof messages / sizeof *messages ? &messages[fresh++] : NULL;
        while (item == NULL && (item = dfrt_ring_pop(&back)) == NULL) sched_yield();
        item->number = n;
        item->twice = 2 * n;
        while (!dfrt_ring_push(&there, item)) sched_yield();
    }
    return unused;
}

static void test_two_threads(void)
{
    pthread_t producer;
    CHECK(pthread_create(&producer, NULL, produce, NULL) == 0);
    for (uint64_t n = 1; n <= ITEMS; n++) {
        message *item;
        while ((item = dfrt_ring_pop(&there)) == NULL) sched_yield();
        CHECK(item->number == n && item->twice == 2 * n);
        item->number = item->twice = 0;
        while (!dfrt_ring_push(&back, item)) sched_yield();
    }
    CHECK(pthread_join(producer, NULL) == 0);
    CHECK(dfrt_ring_pop(&there) == NULL);
}

int main(void)
{
    test_full_and_empty();
    test_two_threads();
    return 0;
}
