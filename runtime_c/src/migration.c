#define _GNU_SOURCE
#include "migration.h"

#include <stdlib.h>
#include <time.h>

#include "arrival.h"
#include "dfrt/program.h"
#include "dfrt/store.h"
#include "parcel.h"

/* Tests build with pauses before state is handed over, so that receivers go on for some rounds without it. */
#ifndef DFRT_PARCEL_PAUSE_NS
#define DFRT_PARCEL_PAUSE_NS 0
#endif

static unsigned segment_number(const dfrt_stage *stage)
{
    return (unsigned)(stage->segment_type - stage->program->segments);
}

/* Whether the change is about replicas of this stage's segment. */
static bool is_concerned(const dfrt_stage *stage, const dfrt__configuration *next)
{
    return segment_number(stage) == next->segment && stage->segment_type->move != NULL;
}

/* --- leaving ---------------------------------------------------------------------------------------- */

static void hand_over_state(dfrt_stage *stage, const dfrt__configuration *next)
{
    const bool *moves = next->moves + (size_t)stage->replica * next->most;
    dfrt__parcel **parcels = dfrt_allocate(next->most * sizeof *parcels);
    void **segments = dfrt_allocate(next->most * sizeof *segments);
    bool any = false;
    for (unsigned to = 0; to < next->most; to++) {
        if (moves[to]) {
            parcels[to] = dfrt__parcel_make(stage);
            segments[to] = parcels[to]->segment;
            any = true;
        }
    }
    if (any) {
        const dfrt_routing *routing = &next->routings[next->segment];
        stage->segment_type->move(stage->segment, segments, next->most, routing, stage->replica);
    }
    if (any && DFRT_PARCEL_PAUSE_NS > 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = DFRT_PARCEL_PAUSE_NS}, NULL); /* a shorter pause does too */
    }
    for (unsigned to = 0; to < next->most; to++) {
        if (moves[to]) {
            dfrt__parcel_send(next->replicas[to], parcels[to]);
        }
    }
    free(segments);
    free(parcels);
}

/* One that begins to work hears how far the stream is: the watermark that the others have got. */
static void rouse(dfrt_sender *sender, int64_t watermark, dfrt__configuration *next)
{
    dfrt_round_end end = {.configuration = next};
    bool marked = watermark == DFRT_TIME_NONE || dfrt_sender_mark(sender, 0, watermark);
    if (!marked || !dfrt_sender_turn(sender, &end)) {
        dfrt_out_of_memory();
    }
}

static void turn_outlets(dfrt_stage *stage, dfrt__configuration *next, bool rouses)
{
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        dfrt_outlet *outlet = &stage->outlets[e];
        if (outlet->most == 0) {
            continue;
        }
        const dfrt_routing *routing = &next->routings[stage->program->edges[e].to];
        for (unsigned i = outlet->degree; rouses && i < routing->active; i++) {
            rouse(&outlet->senders[i], outlet->marked, next);
        }
        outlet->degree = routing->active;
        outlet->routing = routing;
    }
}

/* One that begins to work is as far as the others. */
static void turn_inlets(dfrt_stage *stage, const dfrt__configuration *next)
{
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        dfrt_inlet *inlet = &stage->inlets[n];
        unsigned active = next->routings[inlet->edge->from].active;
        for (unsigned i = inlet->degree; i < active; i++) {
            inlet->watermarks[i] = inlet->watermark;
        }
        inlet->degree = active;
    }
}

void dfrt__migration_leave(dfrt_stage *stage, dfrt__configuration *next)
{
    if (is_concerned(stage, next)) {
        hand_over_state(stage, next);
    }
    turn_outlets(stage, next, true);
    turn_inlets(stage, next);
    stage->configuration = next;
    stage->working = stage->replica < next->routings[segment_number(stage)].active;
}

/* --- entering --------------------------------------------------------------------------------------- */

void dfrt__migration_wake(dfrt_stage *stage, dfrt__configuration *next)
{
    turn_outlets(stage, next, false);
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        dfrt_inlet *inlet = &stage->inlets[n];
        inlet->degree = next->routings[inlet->edge->from].active;
        for (unsigned i = 0; i < inlet->degree; i++) {
            inlet->watermarks[i] = DFRT_TIME_NONE; /* they will say how far they are */
        }
    }
    stage->configuration = next;
}

static unsigned parcels_to(const dfrt_stage *stage, const dfrt__configuration *next)
{
    unsigned count = 0;
    for (unsigned from = 0; from < next->most; from++) {
        count += next->moves[(size_t)from * next->most + stage->replica];
    }
    return count;
}

static bool goes_by_keys(const dfrt_stage *stage)
{
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        if (stage->inlets[n].edge->hash == NULL) {
            return false;
        }
    }
    return true;
}

void dfrt__migration_enter(dfrt_stage *stage)
{
    dfrt__configuration *now = stage->configuration;
    unsigned expected = is_concerned(stage, now) ? parcels_to(stage, now) : 0;
    if (expected == 0) {
        dfrt__configuration_done(now);
        return;
    }
    dfrt__arrival_begin(stage, expected);
    if (now->how != DFRT_FLUENT || !goes_by_keys(stage)) {
        dfrt__arrival_settle(stage, true);
    }
}
