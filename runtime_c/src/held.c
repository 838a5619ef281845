#define _GNU_SOURCE
#include "held.h"

#include <stdlib.h>

#include "order.h"

/* A place among the batches of one round. */
typedef struct place {
    const dfrt_batch *batch; /* NULL: behind the last */
    uint32_t at;
} place;

static const dfrt_batch *next_of_round(const dfrt_batch *batch) { return batch->ends_round ? NULL : batch->next; }

static place skip_empty(place here)
{
    while (here.batch != NULL && here.at == here.batch->count) {
        here = (place){next_of_round(here.batch), 0};
    }
    return here;
}

static place skip_unmarked(place here)
{
    while (here.batch != NULL && here.at == here.batch->marker_count) {
        here = (place){next_of_round(here.batch), 0};
    }
    return here;
}

static const dfrt_batch *last_of_round(const dfrt_batch *batch)
{
    while (!batch->ends_round) {
        batch = batch->next;
    }
    return batch;
}

/* Markers before `position`: behind all elements of their own event, as receivers take them. */
static void put_markers(dfrt_sender *merged, place *markers, uint64_t position)
{
    for (*markers = skip_unmarked(*markers); markers->batch != NULL; *markers = skip_unmarked(*markers)) {
        dfrt_marker marker = markers->batch->markers[markers->at];
        if (marker.position >= position) {
            return;
        }
        if (!dfrt_sender_mark(merged, marker.position, marker.watermark)) {
            dfrt_out_of_memory();
        }
        markers->at++;
    }
}

static bool is_first(const dfrt_edge *edge, place a, place b)
{
    if (a.batch == NULL || b.batch == NULL) {
        return b.batch == NULL;
    }
    uint32_t left = a.batch->positions[a.at], right = b.batch->positions[b.at];
    return left != right ? left < right : dfrt__comes_before(edge, a.batch, a.at, b.batch, b.at);
}

static void merge_round(dfrt_sender *merged, const dfrt_batch *own, const dfrt_batch *more, const dfrt_edge *edge)
{
    place markers = {own, 0}, a = skip_empty((place){own, 0}), b = skip_empty((place){more, 0});
    while (a.batch != NULL || b.batch != NULL) {
        place *first = is_first(edge, a, b) ? &a : &b;
        const dfrt_batch *batch = first->batch;
        put_markers(merged, &markers, batch->positions[first->at]);
        if (!dfrt_sender_put(merged, batch->positions[first->at], batch->orders[first->at], batch->times[first->at],
                             batch->elements + first->at * edge->element_size)) {
            dfrt_out_of_memory();
        }
        first->at++;
        *first = skip_empty(*first);
    }
    put_markers(merged, &markers, UINT64_MAX);
    if (!dfrt_sender_turn(merged, &last_of_round(own)->end)) {
        dfrt_out_of_memory();
    }
}

static bool has_elements(const dfrt_sender *sender)
{
    for (const dfrt_batch *batch = sender->backlog_head; batch != NULL; batch = batch->next) {
        if (batch->count > 0) {
            return true;
        }
    }
    return false;
}

void dfrt__held_merge(dfrt_sender *sender, dfrt_sender *more, const dfrt_edge *edge)
{
    if (has_elements(more)) {
        dfrt_sender merged;
        dfrt_error error;
        if (dfrt_sender_open(&merged, NULL, edge->element_size, false, &error) != DFRT_OK) {
            dfrt_out_of_memory();
        }
        const dfrt_batch *a = sender->backlog_head, *b = more->backlog_head;
        while (a != NULL && b != NULL) {
            merge_round(&merged, a, b, edge);
            a = last_of_round(a)->next;
            b = last_of_round(b)->next;
        }
        dfrt_batches_free(sender->backlog_head);
        sender->backlog_head = merged.backlog_head;
        sender->backlog_tail = merged.backlog_tail;
        free(merged.filling);
    }
    dfrt_batches_free(more->backlog_head);
    more->backlog_head = more->backlog_tail = NULL;
}
