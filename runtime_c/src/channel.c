#define _GNU_SOURCE
#include "dfrt/channel.h"

#include <stdlib.h>

#include "dfrt/multicast.h"

/* Batches of about this many bytes stay in the second-level cache with their neighbours. Tests build with tiny
 * ones, so that one event is spread over several. */
#ifndef DFRT_BATCH_MOST
#define DFRT_BATCH_MOST 512
#endif
enum { BATCH_BYTES = 32 * 1024, BATCH_MOST = DFRT_BATCH_MOST, BATCH_LEAST = 16 };

static dfrt_batch *batch_new(const dfrt_sender *sender)
{
    size_t capacity = sender->bare ? 0 : sender->capacity;
    size_t fixed = (sizeof(dfrt_batch) + 63) / 64 * 64;
    size_t times = capacity * sizeof(int64_t);
    size_t markers = sender->capacity * sizeof(dfrt_marker);
    size_t elements = (capacity * sender->element_size + 15) / 16 * 16;
    size_t positions = capacity * sizeof(uint32_t);
    unsigned char *room = malloc(fixed + times + markers + elements + 2 * positions);
    if (room == NULL) {
        return NULL;
    }
    dfrt_batch *batch = (dfrt_batch *)(void *)room;
    *batch = (dfrt_batch){0};
    batch->elements = room + fixed; /* first: they need the largest alignment */
    batch->times = (int64_t *)(void *)(room + fixed + elements);
    batch->markers = (dfrt_marker *)(void *)(room + fixed + elements + times);
    batch->positions = (uint32_t *)(void *)(room + fixed + elements + times + markers);
    batch->orders = batch->positions + capacity;
    return batch;
}

/* What it points at of a multicast was read. */
static void let_go(dfrt_batch *batch)
{
    if (batch->content != NULL) {
        /* Partner: the acquire in is_read of multicast.c. */
        (void)atomic_fetch_sub_explicit(&batch->content->readers, 1, memory_order_release);
        batch->content = NULL;
        batch->positions = batch->orders = NULL;
        batch->times = NULL;
        batch->elements = NULL;
    }
}

void dfrt_batches_free(dfrt_batch *batch)
{
    while (batch != NULL) {
        dfrt_batch *next = batch->next;
        let_go(batch);
        free(batch);
        batch = next;
    }
}

static dfrt_batch *next_batch(dfrt_sender *sender)
{
    dfrt_batch *batch = sender->link == NULL ? NULL : dfrt_ring_pop(&sender->link->returned);
    if (batch == NULL) {
        return batch_new(sender);
    }
    batch->next = NULL;
    batch->count = batch->marker_count = 0;
    return batch;
}

uint32_t dfrt_batch_capacity(size_t element_size)
{
    size_t fit = BATCH_BYTES / (element_size + sizeof(int64_t) + 2 * sizeof(uint32_t));
    return (uint32_t)(fit > BATCH_MOST ? BATCH_MOST : fit < BATCH_LEAST ? BATCH_LEAST : fit);
}

dfrt_status dfrt_sender_open(dfrt_sender *sender, dfrt_link *link, size_t element_size, bool bare, dfrt_error *error)
{
    *sender = (dfrt_sender){.link = link, .held = link == NULL, .bare = bare, .element_size = element_size,
                            .capacity = dfrt_batch_capacity(element_size)};
    sender->filling = batch_new(sender);
    return sender->filling != NULL ? DFRT_OK : dfrt_fail(error, DFRT_MEMORY, "no memory for a batch");
}

void dfrt_sender_close(dfrt_sender *sender)
{
    dfrt_batch *batch;
    while (sender->link != NULL && (batch = dfrt_ring_pop(&sender->link->returned)) != NULL) {
        free(batch);
    }
    free(sender->filling);
    dfrt_batches_free(sender->backlog_head);
    *sender = (dfrt_sender){0};
}

bool dfrt_sender_pump(dfrt_sender *sender)
{
    bool moved = false;
    if (sender->held) {
        return true;
    }
    while (sender->backlog_head != NULL) {
        /* Once pushed it is the receiver's: read `next` before. */
        dfrt_batch *next = sender->backlog_head->next;
        if (!dfrt_ring_push(&sender->link->full, sender->backlog_head)) {
            break;
        }
        sender->backlog_head = next;
        moved = true;
    }
    if (moved) {
        dfrt_waiter_wake(sender->link->consumer);
    }
    if (sender->backlog_head == NULL) {
        sender->backlog_tail = NULL;
    }
    return sender->backlog_head == NULL;
}

bool dfrt_sender_turn(dfrt_sender *sender, const dfrt_round_end *end)
{
    dfrt_batch *next = next_batch(sender);
    if (next == NULL) {
        return false;
    }
    dfrt_batch *batch = sender->filling;
    batch->ends_round = end != NULL;
    batch->end = end != NULL ? *end : (dfrt_round_end){0};
    if (sender->backlog_tail != NULL) {
        sender->backlog_tail->next = batch;
    } else {
        sender->backlog_head = batch;
    }
    sender->backlog_tail = batch;
    sender->filling = next;
    (void)dfrt_sender_pump(sender); /* what does not fit now is pumped at the end of the round */
    return true;
}

void dfrt_receiver_return(dfrt_receiver *receiver)
{
    dfrt_batch *batch = receiver->batch;
    receiver->batch = NULL;
    let_go(batch);
    /* A producer that had a long backlog has more batches than the ring takes back: those are freed. */
    if (!dfrt_ring_push(&receiver->link->returned, batch)) {
        free(batch);
    }
    dfrt_waiter_wake(receiver->link->producer);
}
