#define _GNU_SOURCE
#include "arrival.h"

#include <stdlib.h>
#include <string.h>

#include "dfrt/program.h"
#include "dfrt/store.h"
#include "elastic_state.h"
#include "held.h"
#include "outlet.h"
#include "parcel.h"
#include "waits.h"

enum aside_kind { ASIDE_ELEMENT, ASIDE_WATERMARK, ASIDE_EVENT, ASIDE_ROUND };

/* Something that the state on its way has to see. */
typedef struct dfrt__aside {
    enum aside_kind kind;
    const dfrt_edge *edge;
    uint32_t position, order;
    int64_t time;   /* or the watermark */
    size_t element; /* where its bytes are */
} dfrt__aside;

typedef struct dfrt__arrival {
    unsigned expected, come;
    dfrt__parcel *parcels; /* those that have come */
    const dfrt_routing *before; /* who had what: tuples of keys that were ours do not wait */
    dfrt__aside *aside;
    size_t count, capacity;
    unsigned char *bytes;
    size_t byte_count, byte_capacity;
} dfrt__arrival;

static void hold_outlets(dfrt_stage *stage, bool held)
{
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        for (unsigned i = 0; i < stage->outlets[e].most; i++) {
            stage->outlets[e].senders[i].held = held;
        }
    }
}

void dfrt__arrival_begin(dfrt_stage *stage, unsigned expected)
{
    const dfrt__configuration *now = stage->configuration;
    dfrt__arrival *arrival = dfrt_allocate(sizeof *arrival);
    arrival->expected = expected;
    arrival->before = &now->before->routings[now->segment];
    stage->arrival = arrival;
    hold_outlets(stage, true);
}

/* --- putting aside ---------------------------------------------------------------------------------- */

static void put_aside(dfrt__arrival *arrival, dfrt__aside one)
{
    if (arrival->count == arrival->capacity) {
        arrival->capacity = arrival->capacity == 0 ? 256 : arrival->capacity * 2;
        arrival->aside = dfrt_resize(arrival->aside, arrival->capacity * sizeof *arrival->aside);
    }
    arrival->aside[arrival->count++] = one;
}

static size_t keep_bytes(dfrt__arrival *arrival, const unsigned char *bytes, size_t size)
{
    size_t room = (size + 15) / 16 * 16; /* every element is aligned as in a batch */
    if (arrival->byte_count + room > arrival->byte_capacity) {
        arrival->byte_capacity = (arrival->byte_count + room) * 2;
        arrival->bytes = dfrt_resize(arrival->bytes, arrival->byte_capacity);
    }
    size_t at = arrival->byte_count;
    memcpy(arrival->bytes + at, bytes, size);
    arrival->byte_count += room;
    return at;
}

static dfrt_run part_of(const dfrt_run *run, size_t element_size, size_t from, size_t to)
{
    return (dfrt_run){run->elements + from * element_size, run->times + from, run->positions + from,
                      run->orders + from, to - from};
}

void dfrt__arrival_consume(dfrt_stage *stage, const dfrt_edge *edge, const dfrt_run *run)
{
    dfrt__arrival *arrival = stage->arrival;
    size_t from = 0;
    for (size_t i = 0; i < run->count; i++) {
        const unsigned char *element = run->elements + i * edge->element_size;
        if (dfrt_routing_of(arrival->before, edge->hash(element)) == stage->replica) {
            continue;
        }
        if (from < i) {
            dfrt_run own = part_of(run, edge->element_size, from, i);
            edge->consume(stage->segment, &own);
        }
        from = i + 1;
        put_aside(arrival, (dfrt__aside){ASIDE_ELEMENT, edge, run->positions[i], run->orders[i], run->times[i],
                                         keep_bytes(arrival, element, edge->element_size)});
    }
    if (from < run->count) {
        dfrt_run own = part_of(run, edge->element_size, from, run->count);
        edge->consume(stage->segment, &own);
    }
}

void dfrt__arrival_watermark(dfrt_stage *stage, const dfrt_edge *edge, int64_t watermark)
{
    put_aside(stage->arrival, (dfrt__aside){ASIDE_WATERMARK, edge, stage->position, 0, watermark, 0});
    edge->watermark(stage->segment, watermark);
}

void dfrt__arrival_end_event(dfrt_stage *stage)
{
    put_aside(stage->arrival, (dfrt__aside){.kind = ASIDE_EVENT});
    stage->segment_type->end_event(stage->segment);
}

void dfrt__arrival_end_round(dfrt_stage *stage)
{
    put_aside(stage->arrival, (dfrt__aside){.kind = ASIDE_ROUND});
}

/* --- settling --------------------------------------------------------------------------------------- */

/* An outlet like the one that it is a copy of, with senders of its own. */
static void open_held(dfrt_outlet *outlet, const dfrt_edge *edge)
{
    dfrt_error error;
    if (outlet->most == 0) {
        return;
    }
    dfrt_status status = dfrt__outlet_open(outlet, edge, outlet->most, &error);
    for (unsigned i = 0; status == DFRT_OK && i < outlet->most; i++) {
        status = dfrt_sender_open(&outlet->senders[i], NULL, edge->element_size, edge->to_all, &error);
    }
    if (status != DFRT_OK) {
        dfrt_out_of_memory();
    }
}

/* A stage like this one, whose results are collected. */
static dfrt_stage *new_double(const dfrt_stage *stage)
{
    dfrt_stage *made = dfrt__stage_new();
    made->program = stage->program;
    made->run = stage->run;
    made->segment_type = stage->segment_type;
    made->replica = stage->replica;
    made->replicas = stage->replicas;
    made->working = true;
    made->outlets = dfrt_allocate((stage->program->edge_count + 1u) * sizeof *made->outlets);
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        made->outlets[e] = stage->outlets[e];
        open_held(&made->outlets[e], &stage->program->edges[e]);
    }
    return made;
}

static void free_double(dfrt_stage *made)
{
    for (unsigned e = 0; e < made->program->edge_count; e++) {
        dfrt__outlet_close(&made->outlets[e]);
    }
    free(made->outlets);
    free(made);
}

static void turn_all(dfrt_stage *stage)
{
    dfrt_round_end end = {0}; /* what the round says at its end stands in the stage's own */
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        dfrt_outlet_turn(&stage->outlets[e], stage->outlets[e].degree, &end);
    }
    stage->order = 0;
}

static void replay_one(dfrt_stage *made, const dfrt__arrival *arrival, const dfrt__aside *one)
{
    dfrt_run run = {arrival->bytes + one->element, &one->time, &one->position, &one->order, 1};
    switch (one->kind) {
    case ASIDE_ELEMENT: one->edge->consume(made->segment, &run); break;
    case ASIDE_WATERMARK:
        made->position = one->position;
        one->edge->watermark(made->segment, one->time);
        break;
    case ASIDE_EVENT: made->segment_type->end_event(made->segment); break;
    case ASIDE_ROUND: turn_all(made); break;
    }
}

/* What was put aside, against the state that has come; its results go to their places in the held rounds. */
static void replay_aside(dfrt_stage *stage, const dfrt__arrival *arrival, void *segment)
{
    dfrt_stage *made = new_double(stage);
    dfrt_segment_head *head = segment;
    dfrt_count *counts = head->counts;
    *head = *(const dfrt_segment_head *)stage->segment;
    head->counts = counts;
    head->stage = made;
    made->segment = segment;
    for (size_t i = 0; i < arrival->count; i++) {
        replay_one(made, arrival, &arrival->aside[i]);
    }
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        for (unsigned i = 0; i < stage->outlets[e].degree; i++) {
            dfrt__held_merge(&stage->outlets[e].senders[i], &made->outlets[e].senders[i], &stage->program->edges[e]);
        }
    }
    head->stage = stage;
    free_double(made);
}

static void take_in(dfrt_stage *stage)
{
    dfrt__arrival *arrival = stage->arrival;
    dfrt__parcel *first = arrival->parcels, *next;
    for (dfrt__parcel *other = first->next; other != NULL; other = next) {
        next = other->next;
        dfrt__parcel_unpack(stage->segment_type, stage->program, other, first->segment);
    }
    if (arrival->count > 0) {
        replay_aside(stage, arrival, first->segment);
    }
    dfrt__parcel_unpack(stage->segment_type, stage->program, first, stage->segment);
    hold_outlets(stage, false);
    stage->arrival = NULL;
    free(arrival->aside);
    free(arrival->bytes);
    free(arrival);
    dfrt__configuration_done(stage->configuration);
}

static bool all_are_there(dfrt_stage *stage)
{
    stage->arrival->come += dfrt__parcels_take(stage, &stage->arrival->parcels);
    return stage->arrival->come == stage->arrival->expected;
}

static bool has_input(const dfrt_stage *stage)
{
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        for (unsigned i = 0; i < stage->inlets[n].degree; i++) {
            if (!dfrt_ring_is_empty(&stage->inlets[n].receivers[i].link->full)) {
                return true;
            }
        }
    }
    return false;
}

/* True when everything is there. */
static bool wait_for_parcels(dfrt_stage *stage, bool wait)
{
    while (!all_are_there(stage)) {
        if (!wait && has_input(stage)) {
            return false;
        }
        if (dfrt_waiter_pause(&stage->waiter)) {
            continue;
        }
        if (all_are_there(stage) || (!wait && has_input(stage))) {
            dfrt_waiter_cancel(&stage->waiter);
        } else {
            dfrt_waiter_sleep(&stage->waiter);
        }
    }
    stage->waiter.rounds = 0;
    return true;
}

void dfrt__arrival_settle(dfrt_stage *stage, bool wait)
{
    dfrt__wait waited = dfrt__wait_begin(stage);
    bool complete = wait_for_parcels(stage, wait);
    dfrt__wait_end(stage, waited, false);
    if (complete) {
        take_in(stage);
    }
}
