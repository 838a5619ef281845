#define _GNU_SOURCE
#include "dfrt/stage.h"

#include <time.h>

#include "arrival.h"
#include "dfrt/program.h"
#include "migration.h"
#include "monitor.h"
#include "rounds.h"
#include "trace.h"
#include "waits.h"

uint64_t dfrt_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* can't fail for this clock */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void dfrt_stage_mark(dfrt_stage *stage, unsigned edge, int64_t watermark)
{
    dfrt_outlet *outlet = &stage->outlets[edge];
    if (watermark <= outlet->marked) {
        return;
    }
    outlet->marked = watermark;
    if (outlet->multicast != NULL && outlet->senders[0].filling->marker_count == outlet->senders[0].capacity) {
        dfrt_outlet_turn(outlet, outlet->degree, NULL); /* all at once: none may be ahead with its part of what all get */
    }
    for (unsigned i = 0; stage->working && i < outlet->degree; i++) {
        if (!dfrt_sender_mark(&outlet->senders[i], stage->position, watermark)) {
            dfrt_out_of_memory();
        }
    }
}

static bool pump_all(dfrt_stage *stage)
{
    bool empty = true;
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        for (unsigned i = 0; i < stage->outlets[e].most; i++) {
            empty = dfrt_sender_pump(&stage->outlets[e].senders[i]) && empty;
        }
    }
    return empty;
}

static void sleep_for_room(dfrt_stage *stage)
{
    while (!pump_all(stage)) {
        if (dfrt_waiter_pause(&stage->waiter)) {
            continue;
        }
        if (pump_all(stage)) {
            dfrt_waiter_cancel(&stage->waiter);
            return;
        }
        dfrt_waiter_sleep(&stage->waiter);
    }
    stage->waiter.rounds = 0;
}

void dfrt__wait_for_room(dfrt_stage *stage, bool idle)
{
    if (pump_all(stage)) {
        return;
    }
    dfrt__wait wait = dfrt__wait_begin(stage);
    sleep_for_room(stage);
    dfrt__wait_end(stage, wait, !idle);
}

static void flush_sinks(dfrt_stage *stage)
{
    for (unsigned i = 0; i < stage->program->sink_count; i++) {
        dfrt_error error;
        if (stage->sinks[i] != NULL && dfrt_sink_flush(stage->sinks[i], &error) != DFRT_OK) {
            dfrt_stage_fail(stage, &error);
        }
    }
}

static void mark_pending(dfrt_stage *stage)
{
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        dfrt_outlet *outlet = &stage->outlets[e];
        if (outlet->degree > 0 && outlet->pending > outlet->marked) {
            stage->position = DFRT_ROUND_END;
            dfrt_stage_mark(stage, e, outlet->pending);
        }
    }
}

/* The end of the stream is told to those that sleep, too. */
static void turn_senders(dfrt_stage *stage, const dfrt_round_end *end)
{
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        dfrt_outlet *outlet = &stage->outlets[e];
        dfrt_outlet_turn(outlet, end->ends_stream ? outlet->most : outlet->degree, end);
    }
}

static void count_latency(dfrt_stage *stage, uint64_t read_ns)
{
    uint64_t now = dfrt_now_ns();
    dfrt_histogram_add(&stage->latency, now - read_ns, stage->results);
    if (stage->trace != NULL) {
        dfrt__trace_add(stage->trace, now, read_ns, stage->results);
    }
}

void dfrt_stage_end_round(dfrt_stage *stage, const dfrt_round_end *end)
{
    uint64_t results = stage->results;
    if (results > 0) {
        count_latency(stage, end->read_ns);
        stage->results = 0;
    }
    if (end->flush || end->ends_stream) {
        flush_sinks(stage);
    }
    mark_pending(stage);
    turn_senders(stage, end);
    bool changes = end->configuration != stage->configuration;
    if (stage->arrival != NULL) {
        dfrt__arrival_end_round(stage);
    } else if (changes) {
        dfrt__migration_leave(stage, end->configuration);
    }
    dfrt__wait_for_room(stage, end->flush);
    stage->order = 0;
    stage->rounds++;
    if (stage->monitor != NULL) {
        dfrt__monitor_end_round(stage, results, end->read_ns);
    }
    if (changes) {
        dfrt__migration_enter(stage);
    }
}
