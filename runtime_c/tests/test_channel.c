/* Channels: elements and markers arrive once and in order, through full links, long backlogs and slow receivers. */
#define _GNU_SOURCE
#include <dfrt/channel.h>

#include <pthread.h>

#include "check.h"

enum { ROUNDS = 300, MOST = 30000 };

typedef struct element {
    uint64_t number;
    char rest[40];
} element;

static dfrt_link link_;
static dfrt_waiter ends[2]; /* producer, consumer */
static dfrt_sender sender;

static uint32_t round_size(int round) /* from empty rounds to ones that need many more batches than a link holds */
{
    return round % 37 == 0 ? MOST : (uint32_t)(round * 7919) % 300;
}

static void wait_for_room(void)
{
    while (!dfrt_sender_pump(&sender)) {
        if (dfrt_waiter_pause(&ends[0])) continue;
        if (dfrt_sender_pump(&sender)) {
            dfrt_waiter_cancel(&ends[0]);
            break;
        }
        dfrt_waiter_sleep(&ends[0]);
    }
    ends[0].rounds = 0;
}

static void *send_all(void *unused)
{
    uint64_t number = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < round_size(round); i++) {
            element one = {.number = number++};
            CHECK(dfrt_sender_put(&sender, i, 0, (int64_t)one.number * 2, &one));
            if (i % 3 == 0) CHECK(dfrt_sender_mark(&sender, i, (int64_t)one.number));
        }
        dfrt_round_end end = {.flush = round % 2 == 0, .ends_stream = round == ROUNDS - 1, .read_ns = (uint64_t)round};
        CHECK(dfrt_sender_turn(&sender, &end));
        wait_for_room();
    }
    return unused;
}

static dfrt_batch *next_batch(void)
{
    dfrt_batch *batch;
    while ((batch = dfrt_ring_pop(&link_.full)) == NULL) {
        if (dfrt_waiter_pause(&ends[1])) continue;
        if ((batch = dfrt_ring_pop(&link_.full)) != NULL) {
            dfrt_waiter_cancel(&ends[1]);
            break;
        }
        dfrt_waiter_sleep(&ends[1]);
    }
    ends[1].rounds = 0;
    return batch;
}

static uint64_t take(const dfrt_batch *batch, uint64_t number, uint64_t *markers)
{
    for (uint32_t i = 0; i < batch->count; i++, number++) {
        element one;
        memcpy(&one, batch->elements + i * sizeof one, sizeof one);
        CHECK(one.number == number && batch->times[i] == (int64_t)number * 2);
        CHECK(i == 0 || batch->positions[i] == batch->positions[i - 1] + 1);
    }
    for (uint32_t i = 1; i < batch->marker_count; i++) {
        CHECK(batch->markers[i].position > batch->markers[i - 1].position);
        CHECK(batch->markers[i].watermark > batch->markers[i - 1].watermark);
    }
    *markers += batch->marker_count;
    return number;
}

static void test_stream(void)
{
    dfrt_error error;
    CHECK(dfrt_waiter_open(&ends[0]) == 0 && dfrt_waiter_open(&ends[1]) == 0);
    link_.producer = &ends[0];
    link_.consumer = &ends[1];
    CHECK(dfrt_sender_open(&sender, &link_, sizeof(element), false, &error) == DFRT_OK);
    pthread_t producer;
    CHECK(pthread_create(&producer, NULL, send_all, NULL) == 0);
    dfrt_receiver receiver = {.link = &link_};
    uint64_t number = 0, wanted = 0, markers = 0, wanted_markers = 0;
    bool ended = false;
    for (int round = 0; round < ROUNDS; round++) {
        wanted += round_size(round);
        wanted_markers += (round_size(round) + 2) / 3;
        for (bool done = false; !done;) {
            receiver.batch = next_batch();
            number = take(receiver.batch, number, &markers);
            done = receiver.batch->ends_round;
            if (done) CHECK(receiver.batch->end.flush == (round % 2 == 0) && receiver.batch->end.read_ns == (uint64_t)round);
            ended = receiver.batch->end.ends_stream;
            CHECK(ended == (done && round == ROUNDS - 1));
            dfrt_receiver_return(&receiver);
        }
        CHECK(number == wanted && markers == wanted_markers);
    }
    CHECK(ended && pthread_join(producer, NULL) == 0);
    CHECK(dfrt_ring_pop(&link_.full) == NULL);
    dfrt_sender_close(&sender);
    dfrt_waiter_close(&ends[0]);
    dfrt_waiter_close(&ends[1]);
}

/* What a closed sender still held is freed with it: the address sanitizer looks on. */
static void test_close_with_a_backlog(void)
{
    static dfrt_link link;
    static dfrt_waiter both[2];
    dfrt_error error;
    dfrt_sender own;
    CHECK(dfrt_waiter_open(&both[0]) == 0 && dfrt_waiter_open(&both[1]) == 0);
    link.producer = &both[0];
    link.consumer = &both[1];
    CHECK(dfrt_sender_open(&own, &link, sizeof(uint64_t), false, &error) == DFRT_OK);
    for (uint64_t n = 0; n < MOST; n++) CHECK(dfrt_sender_put(&own, (uint32_t)n, 0, 0, &n));
    CHECK(!dfrt_sender_pump(&own));
    dfrt_batch *batch;
    while ((batch = dfrt_ring_pop(&link.full)) != NULL) free(batch);
    dfrt_sender_close(&own);
    dfrt_waiter_close(&both[0]);
    dfrt_waiter_close(&both[1]);
}

/* Elements may hold states of aggregates in C, which are aligned to 16 bytes, however many fit into a batch. */
static void test_elements_are_aligned(void)
{
    static dfrt_link link;
    static dfrt_waiter both[2];
    CHECK(dfrt_waiter_open(&both[0]) == 0 && dfrt_waiter_open(&both[1]) == 0);
    link.producer = &both[0];
    link.consumer = &both[1];
    for (size_t size = 16; size <= 2048; size += 16) {
        dfrt_error error;
        dfrt_sender own;
        CHECK(dfrt_sender_open(&own, &link, size, false, &error) == DFRT_OK);
        CHECK((uintptr_t)own.filling->elements % 16 == 0 && (uintptr_t)own.filling->times % 8 == 0);
        dfrt_sender_close(&own);
    }
    dfrt_waiter_close(&both[0]);
    dfrt_waiter_close(&both[1]);
}

int main(void)
{
    test_stream();
    test_close_with_a_backlog();
    test_elements_are_aligned();
    return 0;
}
