/* Receiving: all links of a round, merged into the order of the sequential program; where nobody needs that order, see
 * free_rounds.c. */
#define _GNU_SOURCE
#include "rounds.h"

#include "arrival.h"
#include "dfrt/program.h"
#include "free_rounds.h"
#include "later.h"
#include "migration.h"
#include "monitor.h"
#include "order.h"
#include "waits.h"

static dfrt_batch *sleep_for_batch(dfrt_stage *stage, dfrt_link *link)
{
    dfrt_batch *batch;
    while ((batch = dfrt_ring_pop(&link->full)) == NULL) {
        if (dfrt_waiter_pause(&stage->waiter)) {
            continue;
        }
        if ((batch = dfrt_ring_pop(&link->full)) != NULL) {
            dfrt_waiter_cancel(&stage->waiter);
            break;
        }
        dfrt_waiter_sleep(&stage->waiter);
    }
    stage->waiter.rounds = 0;
    return batch;
}

/* Whoever has put something off does not sleep: others wait for it. NULL: nothing is left of that. */
static dfrt_batch *catch_up_for_batch(dfrt_stage *stage, dfrt_link *link)
{
    dfrt_batch *batch = dfrt_ring_pop(&link->full);
    for (unsigned looks = 0; batch == NULL && dfrt__has_later(stage); looks++) {
        dfrt__later_pause(stage, looks);
        batch = dfrt_ring_pop(&link->full);
    }
    return batch;
}

static dfrt_batch *wait_for_batch(dfrt_stage *stage, dfrt_link *link)
{
    dfrt_batch *batch = catch_up_for_batch(stage, link);
    if (batch == NULL) {
        dfrt__wait wait = dfrt__wait_begin(stage);
        batch = sleep_for_batch(stage, link);
        dfrt__wait_end(stage, wait, false);
    }
    dfrt_waiter_wake(link->producer);
    return batch;
}

/* The next batch of the link. What it brings is measured here, once, and not run by run. */
static void fetch_batch(dfrt_stage *stage, const dfrt_inlet *inlet, dfrt_receiver *receiver)
{
    receiver->batch = wait_for_batch(stage, receiver->link);
    receiver->at = receiver->marker_at = 0;
    if (stage->monitor != NULL && receiver->batch->count > 0) {
        dfrt__monitor_take(stage->monitor, inlet->edge, receiver->batch);
    }
}

/* The position of the next element or marker of the link; UINT64_MAX when its round is over. */
static uint64_t head_position(dfrt_stage *stage, const dfrt_inlet *inlet, dfrt_receiver *receiver, dfrt_round_end *end)
{
    while (!receiver->round_done) {
        dfrt_batch *batch = receiver->batch;
        if (batch == NULL) {
            fetch_batch(stage, inlet, receiver);
            continue;
        }
        uint64_t element = receiver->at < batch->count ? batch->positions[receiver->at] : UINT64_MAX;
        uint64_t marker =
            receiver->marker_at < batch->marker_count ? batch->markers[receiver->marker_at].position : UINT64_MAX;
        if (element != UINT64_MAX || marker != UINT64_MAX) {
            return element < marker ? element : marker;
        }
        if (batch->ends_round) {
            receiver->round_done = true;
            end->flush |= batch->end.flush;
            end->ends_stream |= batch->end.ends_stream;
            end->read_ns = batch->end.read_ns;
            end->configuration = batch->end.configuration;
        }
        dfrt_receiver_return(receiver);
    }
    return UINT64_MAX;
}

static bool has_element_before(const dfrt_receiver *receiver, uint64_t limit)
{
    const dfrt_batch *batch = receiver->batch;
    return batch != NULL && receiver->at < batch->count && batch->positions[receiver->at] < limit;
}

static bool has_marker_before(const dfrt_receiver *receiver, uint64_t limit)
{
    const dfrt_batch *batch = receiver->batch;
    return batch != NULL && receiver->marker_at < batch->marker_count &&
           batch->markers[receiver->marker_at].position < limit;
}

static void hand_over(dfrt_stage *stage, const dfrt_edge *edge, const dfrt_run *run)
{
    if (dfrt_run_failed(stage->run)) {
        return;
    }
    if (stage->arrival != NULL) {
        dfrt__arrival_consume(stage, edge, run);
    } else {
        edge->consume(stage->segment, run);
    }
}

/* Hands the elements before `limit` that lie together in the batch to the segment. */
static void consume(dfrt_stage *stage, const dfrt_inlet *inlet, dfrt_receiver *receiver, uint64_t limit)
{
    const dfrt_batch *batch = receiver->batch;
    uint32_t from = receiver->at;
    uint32_t to = from;
    while (to < batch->count && batch->positions[to] < limit) {
        to++;
    }
    receiver->at = to;
    dfrt_run run = {batch->elements + from * inlet->edge->element_size, batch->times + from,
                    batch->positions + from, batch->orders + from, to - from};
    hand_over(stage, inlet->edge, &run);
}

static void take_marker(dfrt_stage *stage, dfrt_inlet *inlet, dfrt_receiver *receiver)
{
    dfrt_marker marker = receiver->batch->markers[receiver->marker_at++];
    inlet->watermarks[receiver - inlet->receivers] = marker.watermark;
    int64_t smallest = DFRT_TIME_END;
    for (unsigned i = 0; i < inlet->degree; i++) {
        smallest = inlet->watermarks[i] < smallest ? inlet->watermarks[i] : smallest;
    }
    if (smallest > inlet->watermark) {
        inlet->watermark = smallest;
        stage->position = marker.position;
        if (stage->arrival != NULL) {
            dfrt__arrival_watermark(stage, inlet->edge, smallest);
        } else if (dfrt__has_later(stage)) {
            dfrt__later_watermark(stage, inlet->edge, smallest);
        } else if (!dfrt_run_failed(stage->run)) {
            inlet->edge->watermark(stage->segment, smallest);
        }
    }
}

static void end_event(dfrt_stage *stage)
{
    if (stage->segment_type->end_event == NULL) {
        return;
    }
    if (stage->arrival != NULL) {
        dfrt__arrival_end_event(stage);
    } else if (!dfrt_run_failed(stage->run)) {
        stage->segment_type->end_event(stage->segment);
    }
}

/* One event whose elements may lie in several links of the inlet. */
static void take_event_elements(dfrt_stage *stage, dfrt_inlet *inlet, uint64_t position, dfrt_round_end *end)
{
    for (;;) {
        dfrt_receiver *first = NULL;
        for (unsigned i = 0; i < inlet->degree; i++) {
            dfrt_receiver *receiver = &inlet->receivers[i];
            (void)head_position(stage, inlet, receiver, end); /* fetches the next batch where one is used up */
            if (has_element_before(receiver, position + 1) &&
                (first == NULL ||
                 dfrt__comes_before(inlet->edge, receiver->batch, receiver->at, first->batch, first->at))) {
                first = receiver;
            }
        }
        if (first == NULL) {
            return;
        }
        const dfrt_batch *batch = first->batch;
        dfrt_run run = {batch->elements + first->at * inlet->edge->element_size, batch->times + first->at,
                        batch->positions + first->at, batch->orders + first->at, 1};
        first->at++;
        hand_over(stage, inlet->edge, &run);
    }
}

static void take_event(dfrt_stage *stage, uint64_t position, dfrt_round_end *end)
{
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        take_event_elements(stage, &stage->inlets[n], position, end);
    }
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        dfrt_inlet *inlet = &stage->inlets[n];
        for (unsigned i = 0; i < inlet->degree; i++) {
            while (has_marker_before(&inlet->receivers[i], position + 1)) {
                take_marker(stage, inlet, &inlet->receivers[i]);
                (void)head_position(stage, inlet, &inlet->receivers[i], end);
            }
        }
    }
    end_event(stage);
}

/* Only this link has anything before `limit`: no merging. */
static void take_alone(dfrt_stage *stage, dfrt_inlet *inlet, dfrt_receiver *receiver, uint64_t limit, dfrt_round_end *end)
{
    if (stage->segment_type->end_event != NULL) {
        take_event(stage, head_position(stage, inlet, receiver, end), end);
        return;
    }
    uint64_t marker = has_marker_before(receiver, limit) ? receiver->batch->markers[receiver->marker_at].position
                                                         : limit - 1;
    if (has_element_before(receiver, marker + 1)) {
        consume(stage, inlet, receiver, marker + 1);
    }
    /* A later batch may hold more elements of the marker's event, but never one that comes before it. */
    if (has_marker_before(receiver, limit) && !has_element_before(receiver, marker + 1)) {
        take_marker(stage, inlet, receiver);
    }
}

static bool take_next(dfrt_stage *stage, dfrt_round_end *end)
{
    uint64_t first = UINT64_MAX;
    uint64_t second = UINT64_MAX;
    dfrt_inlet *inlet = NULL;
    dfrt_receiver *receiver = NULL;
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        for (unsigned i = 0; i < stage->inlets[n].degree; i++) {
            uint64_t head = head_position(stage, &stage->inlets[n], &stage->inlets[n].receivers[i], end);
            if (head < first) {
                second = first;
                first = head;
                inlet = &stage->inlets[n];
                receiver = &inlet->receivers[i];
            } else if (head < second) {
                second = head;
            }
        }
    }
    if (first == UINT64_MAX) {
        return false;
    }
    if (second > first) {
        take_alone(stage, inlet, receiver, second, end);
    } else {
        take_event(stage, first, end);
    }
    return true;
}

/* All batches of a round. */
static dfrt_round_end take_round(dfrt_stage *stage)
{
    dfrt_round_end end = {0};
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        for (unsigned i = 0; i < stage->inlets[n].degree; i++) {
            stage->inlets[n].receivers[i].round_done = false;
        }
    }
    while (take_next(stage, &end)) {
    }
    return end;
}

/* A replica that is not needed waits for its first neighbour, which always works, to say that it is, or that the stream
 * has ended. Then all neighbours say how far they are; what it hears is no news to those after it. */
static bool sleep_until_needed(dfrt_stage *stage)
{
    dfrt_receiver *first = &stage->inlets[0].receivers[0];
    fetch_batch(stage, &stage->inlets[0], first);
    dfrt__migration_wake(stage, first->batch->end.configuration);
    if (take_round(stage).ends_stream) {
        return false;
    }
    for (unsigned e = 0; e < stage->program->edge_count; e++) {
        dfrt_outlet *outlet = &stage->outlets[e];
        outlet->marked = outlet->pending > outlet->marked ? outlet->pending : outlet->marked;
    }
    stage->working = true;
    dfrt__migration_enter(stage);
    return true;
}

/* What was put off ends with the stream, and before anything changes between two rounds. */
static void end_round(dfrt_stage *stage, const dfrt_round_end *end)
{
    if (dfrt__has_later(stage)) {
        dfrt__later_end_round(stage, end);
        if (end->ends_stream || end->configuration != stage->configuration) {
            dfrt__later_finish(stage);
        }
    } else {
        dfrt_stage_end_round(stage, end);
    }
}

static bool work_on_round(dfrt_stage *stage)
{
    if (stage->arrival != NULL) {
        dfrt__arrival_settle(stage, false);
        dfrt__wait_for_room(stage, false);
    }
    dfrt_round_end end = take_round(stage);
    end_round(stage, &end);
    if (end.ends_stream && stage->arrival != NULL) {
        dfrt__arrival_settle(stage, true);
        dfrt__wait_for_room(stage, true);
    }
    return !end.ends_stream;
}

static void collect_in_order(dfrt_stage *stage)
{
    while (stage->working ? work_on_round(stage) : sleep_until_needed(stage)) {
    }
}

void dfrt_stage_run(dfrt_stage *stage)
{
    if (stage->monitor != NULL) {
        dfrt_monitor_start(stage->monitor);
    }
    dfrt__thread_begin(stage);
    (stage->segment_type->collects_freely ? dfrt__collect_freely : collect_in_order)(stage);
    dfrt__thread_end(stage);
}
