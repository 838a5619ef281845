/* Channels: rounds of elements from the replicas of one stage to the replicas of the next.
 *
 * A round is what the source read in one go. Every replica passes every round on to every replica after it,
 * if only as an empty batch with `ends_round`. Inside a round each element carries the position of the event
 * that released it, so that a receiver can restore the one order of the sequential program.
 *
 * Threads:   a dfrt_sender belongs to the producing thread, a dfrt_receiver to the consuming one; they share
 *            a dfrt_link.
 * Ownership: a batch belongs to the sender while it is filled, to the link, to the receiver while it is read;
 *            the receiver hands it back through `returned`. The link owns all of them when it is closed. What a batch
 *            points at of a multicast (multicast.h) belongs to that.
 * Progress:  a full link never blocks the middle of a round: batches wait in the sender's backlog, bounded by
 *            what one round releases. Only the end of a round waits, until every backlog is empty; hence
 *            no two stages can wait for each other in a circle.
 */
#ifndef DFRT_CHANNEL_H
#define DFRT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dfrt/ring.h"
#include "dfrt/status.h"
#include "dfrt/wait.h"

#define DFRT_TIME_NONE INT64_MIN /* before every time: no watermark yet */
#define DFRT_TIME_END INT64_MAX  /* the watermark of a stream that has ended */

typedef struct dfrt_marker {
    uint32_t position;
    int64_t watermark;
} dfrt_marker;

/* What is said at the end of a round. */
typedef struct dfrt_round_end {
    bool flush;       /* the source is idle: hand everything on */
    bool ends_stream; /* the last round of this link */
    uint64_t read_ns; /* when the tuples of this round were read, or should have been: the first one of a paced source */
    struct dfrt__configuration *configuration; /* who works, and has what, from the next round on */
} dfrt_round_end;

typedef struct dfrt_content dfrt_content;

typedef struct dfrt_batch {
    struct dfrt_batch *next; /* in a backlog or a free list */
    dfrt_content *content;   /* where the elements are that all receivers read; NULL: they are the batch's own */
    uint32_t count;
    uint32_t marker_count;
    bool ends_round;
    dfrt_round_end end; /* of the last batch of a round */
    uint32_t *positions;
    uint32_t *orders; /* among the elements of one position */
    int64_t *times;
    unsigned char *elements;
    dfrt_marker *markers;
} dfrt_batch;

typedef struct dfrt_link {
    dfrt_ring full;     /* producer → consumer */
    dfrt_ring returned; /* consumer → producer */
    dfrt_waiter *producer;
    dfrt_waiter *consumer;
} dfrt_link;

/* The sending end of one link. */
typedef struct dfrt_sender {
    dfrt_link *link;
    dfrt_batch *filling;
    dfrt_batch *backlog_head, *backlog_tail;
    bool held; /* everything stays in the backlog: whole rounds that are not complete yet */
    bool bare; /* its batches have no room for elements: a multicast brings them */
    size_t element_size;
    uint32_t capacity; /* elements, and markers, in a batch */
} dfrt_sender;

/* How many elements a batch has room for. */
uint32_t dfrt_batch_capacity(size_t element_size);

/* A bare one is for what a multicast brings. Without a link it is held: only to collect what is put into it. */
dfrt_status dfrt_sender_open(dfrt_sender *sender, dfrt_link *link, size_t element_size, bool bare, dfrt_error *error);
void dfrt_sender_close(dfrt_sender *sender);
void dfrt_batches_free(dfrt_batch *first);

/* Moves the batch that is being filled to the link, or to the backlog, and begins another. NULL: the round goes on.
 * False: no memory. */
bool dfrt_sender_turn(dfrt_sender *sender, const dfrt_round_end *end);
/* Tries to move the backlog to the link; true when nothing is left that may be sent. */
bool dfrt_sender_pump(dfrt_sender *sender);

/* Appends an element, unless the sender is bare; false: no memory. */
static inline bool dfrt_sender_put(dfrt_sender *sender, uint32_t position, uint32_t order, int64_t time,
                                   const void *element)
{
    dfrt_batch *batch = sender->filling;
    if (batch->count == sender->capacity) {
        if (!dfrt_sender_turn(sender, NULL)) {
            return false;
        }
        batch = sender->filling;
    }
    uint32_t at = batch->count++;
    batch->positions[at] = position;
    batch->orders[at] = order;
    batch->times[at] = time;
    memcpy(batch->elements + at * sender->element_size, element, sender->element_size);
    return true;
}

static inline bool dfrt_sender_mark(dfrt_sender *sender, uint32_t position, int64_t watermark)
{
    dfrt_batch *batch = sender->filling;
    if (batch->marker_count == sender->capacity) {
        if (!dfrt_sender_turn(sender, NULL)) {
            return false;
        }
        batch = sender->filling;
    }
    batch->markers[batch->marker_count++] = (dfrt_marker){position, watermark};
    return true;
}

/* The receiving end of one link: a cursor in the round at hand. */
typedef struct dfrt_receiver {
    dfrt_link *link;
    dfrt_batch *batch;
    uint32_t at;        /* next element */
    uint32_t marker_at; /* next marker */
    bool round_done;
    uint64_t results; /* handed to sinks out of the round at hand, where each link is taken by itself */
} dfrt_receiver;

/* Gives the batch back to its producer. */
void dfrt_receiver_return(dfrt_receiver *receiver);

#endif
