/* Multicasts: every receiver gets everything, in order, from the same memory, which is not written while one reads it. */
#define _GNU_SOURCE
#include <dfrt/stage.h>

#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { RECEIVERS = 3, ROUNDS = 200, MOST = 20000 };

typedef struct element {
    uint64_t number;
    char rest[40];
} element;

typedef struct side { /* of one receiver */
    dfrt_link link;
    dfrt_waiter waiter;
    uint64_t sum; /* of the addresses that its elements came from: the same for all */
} side;

static side sides[RECEIVERS];
static dfrt_waiter producer;
static dfrt_sender senders[RECEIVERS];
static dfrt_multicast multicast;
static dfrt_outlet outlet = {.senders = senders, .multicast = &multicast, .most = RECEIVERS};

/* From empty rounds to ones that need many more batches than a link holds. */
static uint32_t round_size(int round)
{
    return round % 37 == 0 ? MOST : (uint32_t)(round * 7919) % 1500;
}

/* The last receiver sleeps in every other ten rounds, as one that is not needed. */
static unsigned degree_of(int round)
{
    return round / 10 % 2 == 0 ? RECEIVERS : RECEIVERS - 1;
}

static void wait_for_room(void)
{
    for (unsigned i = 0; i < RECEIVERS; i++) {
        while (!dfrt_sender_pump(&senders[i])) {
            if (dfrt_waiter_pause(&producer)) continue;
            if (dfrt_sender_pump(&senders[i])) {
                dfrt_waiter_cancel(&producer);
                break;
            }
            dfrt_waiter_sleep(&producer);
        }
        producer.rounds = 0;
    }
}

static void send_all(void)
{
    uint64_t number = 0;
    for (int round = 0; round < ROUNDS; round++) {
        outlet.degree = degree_of(round);
        for (uint32_t i = 0; i < round_size(round); i++) {
            element one = {.number = number++};
            if (dfrt_multicast_is_full(&multicast)) dfrt_outlet_turn(&outlet, outlet.degree, NULL);
            dfrt_multicast_put(&multicast, i, 0, (int64_t)one.number * 2, &one);
        }
        dfrt_round_end end = {.read_ns = (uint64_t)round, .ends_stream = round == ROUNDS - 1};
        dfrt_outlet_turn(&outlet, end.ends_stream ? RECEIVERS : outlet.degree, &end);
        wait_for_room();
    }
}

static dfrt_batch *next_batch(side *own)
{
    dfrt_batch *batch;
    while ((batch = dfrt_ring_pop(&own->link.full)) == NULL) {
        if (dfrt_waiter_pause(&own->waiter)) continue;
        if ((batch = dfrt_ring_pop(&own->link.full)) != NULL) {
            dfrt_waiter_cancel(&own->waiter);
            break;
        }
        dfrt_waiter_sleep(&own->waiter);
    }
    own->waiter.rounds = 0;
    return batch;
}

/* The slower one reads a batch several times. */
static void take(side *own, const dfrt_batch *batch, uint64_t number)
{
    for (int times = own == &sides[1] ? 4 : 1; times > 0; times--) {
        for (uint32_t i = 0; i < batch->count; i++) {
            element one;
            memcpy(&one, batch->elements + i * sizeof one, sizeof one);
            CHECK(one.number == number + i && batch->times[i] == (int64_t)(number + i) * 2);
            CHECK(batch->orders[i] == 0 && (i == 0 || batch->positions[i] == batch->positions[i - 1] + 1));
        }
    }
    own->sum += batch->count * (uint64_t)(uintptr_t)batch->elements;
}

static void *receive_all(void *of)
{
    side *own = of;
    dfrt_receiver receiver = {.link = &own->link};
    uint64_t number = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t wanted = number + round_size(round);
        bool sleeps = own == &sides[RECEIVERS - 1] && degree_of(round) < RECEIVERS, ends = round == ROUNDS - 1;
        for (bool done = sleeps && !ends; !done;) {
            receiver.batch = next_batch(own);
            take(own, receiver.batch, number);
            number += receiver.batch->count;
            done = receiver.batch->ends_round;
            CHECK(!done || receiver.batch->end.read_ns == (uint64_t)round);
            dfrt_receiver_return(&receiver);
        }
        CHECK(number == (sleeps ? wanted - round_size(round) : wanted));
        number = wanted;
    }
    return NULL;
}

static void test_all_get_all(void)
{
    dfrt_error error;
    pthread_t threads[RECEIVERS];
    CHECK(dfrt_waiter_open(&producer) == 0 && dfrt_multicast_open(&multicast, sizeof(element), &error) == DFRT_OK);
    for (unsigned i = 0; i < RECEIVERS; i++) {
        CHECK(dfrt_waiter_open(&sides[i].waiter) == 0);
        sides[i].link.producer = &producer;
        sides[i].link.consumer = &sides[i].waiter;
        CHECK(dfrt_sender_open(&senders[i], &sides[i].link, sizeof(element), true, &error) == DFRT_OK);
    }
    for (unsigned i = 0; i < RECEIVERS; i++) CHECK(pthread_create(&threads[i], NULL, receive_all, &sides[i]) == 0);
    send_all();
    for (unsigned i = 0; i < RECEIVERS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(sides[0].sum == sides[1].sum && sides[0].sum != sides[2].sum); /* which slept now and then */
    for (dfrt_content *content = multicast.oldest; content != NULL; content = content->next)
        CHECK(atomic_load_explicit(&content->readers, memory_order_acquire) == 0);
    for (unsigned i = 0; i < RECEIVERS; i++) {
        dfrt_sender_close(&senders[i]);
        dfrt_waiter_close(&sides[i].waiter);
    }
    dfrt_multicast_close(&multicast);
    dfrt_waiter_close(&producer);
}

static unsigned contents_of(const dfrt_multicast *own)
{
    unsigned count = 1;
    for (const dfrt_content *content = own->oldest; content != NULL; content = content->next) count++;
    return count;
}

/* One that somebody still reads stays as it is, whatever the others have given back; then it is used again. */
static void test_what_is_read_is_not_written(void)
{
    dfrt_error error;
    dfrt_multicast own;
    dfrt_sender both[2];
    CHECK(dfrt_multicast_open(&own, sizeof(uint64_t), &error) == DFRT_OK);
    for (unsigned i = 0; i < 2; i++) CHECK(dfrt_sender_open(&both[i], NULL, sizeof(uint64_t), true, &error) == DFRT_OK);
    for (uint64_t n = 0; n < 3; n++) {
        dfrt_multicast_put(&own, 0, 0, 0, &n);
        CHECK(dfrt_multicast_share(&own, both, 2));
        for (unsigned i = 0; i < 2; i++) CHECK(dfrt_sender_turn(&both[i], NULL));
    }
    CHECK(contents_of(&own) == 4);
    dfrt_batches_free(both[0].backlog_head);
    both[0].backlog_head = both[0].backlog_tail = NULL;
    uint64_t n = 3, first;
    dfrt_multicast_put(&own, 0, 0, 0, &n);
    CHECK(dfrt_multicast_share(&own, both, 2) && contents_of(&own) == 5);
    memcpy(&first, both[1].backlog_head->elements, sizeof first);
    CHECK(first == 0);
    dfrt_batches_free(both[1].backlog_head);
    both[1].backlog_head = both[1].backlog_tail = NULL;
    dfrt_multicast_put(&own, 0, 0, 0, &n);
    CHECK(dfrt_multicast_share(&own, both, 2) && contents_of(&own) == 5);
    for (unsigned i = 0; i < 2; i++) dfrt_sender_close(&both[i]);
    dfrt_multicast_close(&own);
}

/* What one large round needed is not kept for ever. */
static void test_after_a_burst_few_are_kept(void)
{
    dfrt_error error;
    dfrt_multicast own;
    dfrt_sender one;
    CHECK(dfrt_multicast_open(&own, sizeof(uint64_t), &error) == DFRT_OK);
    CHECK(dfrt_sender_open(&one, NULL, sizeof(uint64_t), true, &error) == DFRT_OK);
    for (int turn = 0; turn < 2; turn++) {
        for (uint64_t n = 0; n < 500; n++) {
            dfrt_multicast_put(&own, 0, 0, 0, &n);
            CHECK(dfrt_multicast_share(&own, &one, 1) && dfrt_sender_turn(&one, NULL));
        }
        CHECK(contents_of(&own) == 501 && own.made == 501);
        dfrt_batches_free(one.backlog_head);
        one.backlog_head = one.backlog_tail = NULL;
        dfrt_multicast_put(&own, 0, 0, 0, &error);
        CHECK(dfrt_multicast_share(&own, &one, 1) && dfrt_sender_turn(&one, NULL));
        CHECK(own.made < 20 && contents_of(&own) == own.made);
        dfrt_batches_free(one.backlog_head);
        one.backlog_head = one.backlog_tail = NULL;
    }
    dfrt_sender_close(&one);
    dfrt_multicast_close(&own);
}

int main(void)
{
    test_all_get_all();
    test_what_is_read_is_not_written();
    test_after_a_burst_few_are_kept();
    return 0;
}
