#define _GNU_SOURCE
#include "free_rounds.h"

#include "dfrt/program.h"
#include "migration.h"
#include "monitor.h"
#include "waits.h"

/* Where all links meet: the end of the stream, or of the last round of a configuration. */
typedef struct dfrt__barrier {
    unsigned missing; /* links that have not come to it */
    bool ends_stream;
    struct dfrt__configuration *next;
} dfrt__barrier;

static dfrt__barrier next_barrier(dfrt_stage *stage)
{
    dfrt__barrier barrier = {0};
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        for (unsigned i = 0; i < stage->inlets[n].degree; i++) {
            stage->inlets[n].receivers[i].round_done = false;
        }
        barrier.missing += stage->inlets[n].degree;
    }
    return barrier;
}

/* The change itself is not the link's: it comes when all have met. */
static void end_link_round(dfrt_stage *stage, dfrt_receiver *receiver, dfrt__barrier *barrier)
{
    dfrt_round_end end = receiver->batch->end;
    if (end.ends_stream || end.configuration != stage->configuration) {
        receiver->round_done = true;
        barrier->missing--;
        barrier->ends_stream = end.ends_stream;
        barrier->next = end.configuration;
    }
    end.configuration = stage->configuration;
    dfrt_stage_end_round(stage, &end);
}

static void hand_over(dfrt_stage *stage, const dfrt_edge *edge, const dfrt_batch *batch)
{
    if (batch->count > 0 && !dfrt_run_failed(stage->run)) {
        dfrt_run run = {batch->elements, batch->times, batch->positions, batch->orders, batch->count};
        edge->consume(stage->segment, &run);
    }
}

/* Batches of other links may come between those of a link's round: it keeps the number of its own results. */
static void take_batch(dfrt_stage *stage, const dfrt_inlet *inlet, dfrt_receiver *receiver, dfrt__barrier *barrier)
{
    const dfrt_batch *batch = receiver->batch;
    dfrt_waiter_wake(receiver->link->producer); /* there is room again */
    if (stage->monitor != NULL && batch->count > 0) {
        dfrt__monitor_take(stage->monitor, inlet->edge, batch);
    }
    stage->results = receiver->results;
    hand_over(stage, inlet->edge, batch);
    if (batch->ends_round) {
        end_link_round(stage, receiver, barrier);
    }
    receiver->results = stage->results;
    dfrt_receiver_return(receiver);
}

/* One batch of each link that has any, so that none goes short. False: nothing was there. */
static bool take_one_each(dfrt_stage *stage, dfrt__barrier *barrier)
{
    bool any = false;
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        dfrt_inlet *inlet = &stage->inlets[n];
        for (unsigned i = 0; i < inlet->degree; i++) {
            dfrt_receiver *receiver = &inlet->receivers[i];
            if (!receiver->round_done && (receiver->batch = dfrt_ring_pop(&receiver->link->full)) != NULL) {
                take_batch(stage, inlet, receiver, barrier);
                any = true;
            }
        }
    }
    return any;
}

static bool something_is_there(const dfrt_stage *stage)
{
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        for (unsigned i = 0; i < stage->inlets[n].degree; i++) {
            const dfrt_receiver *receiver = &stage->inlets[n].receivers[i];
            if (!receiver->round_done && !dfrt_ring_is_empty(&receiver->link->full)) {
                return true;
            }
        }
    }
    return false;
}

/* All links wake the same waiter, so one sleep is for all of them. */
static void wait_for_some(dfrt_stage *stage)
{
    dfrt__wait wait = dfrt__wait_begin(stage);
    while (!something_is_there(stage)) {
        if (dfrt_waiter_pause(&stage->waiter)) {
            continue;
        }
        if (something_is_there(stage)) {
            dfrt_waiter_cancel(&stage->waiter);
            break;
        }
        dfrt_waiter_sleep(&stage->waiter);
    }
    stage->waiter.rounds = 0;
    dfrt__wait_end(stage, wait, false);
}

static dfrt__barrier take_until_all_meet(dfrt_stage *stage)
{
    dfrt__barrier barrier = next_barrier(stage);
    while (barrier.missing > 0) {
        if (!take_one_each(stage, &barrier)) {
            wait_for_some(stage);
        }
    }
    return barrier;
}

void dfrt__collect_freely(dfrt_stage *stage)
{
    dfrt__barrier barrier;
    do {
        barrier = take_until_all_meet(stage);
        if (barrier.next != stage->configuration) {
            dfrt__migration_leave(stage, barrier.next);
            dfrt__migration_enter(stage);
        }
    } while (!barrier.ends_stream);
}
