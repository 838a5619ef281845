#define _GNU_SOURCE
#include "dfrt/timers.h"

#include <stdlib.h>

#include "dfrt/arith.h"
#include "dfrt/channel.h"

/* Slots are short against the span, so that few timers are in the heap, and the wheel goes twice as far as the span:
 * tuples are ahead of the watermark. */
void dfrt_timers_open(dfrt_timers *timers, int64_t span)
{
    *timers = (dfrt_timers){0};
    while (span >> (timers->shift + 1) >= DFRT_TIMER_SLOTS / 4) {
        timers->shift++;
    }
    timers->slot = timers->turned = DFRT_TIME_NONE >> timers->shift;
}

void dfrt_timers_close(dfrt_timers *timers)
{
    for (unsigned i = 0; i < DFRT_TIMER_SLOTS; i++) {
        free(timers->wheel[i].timers);
    }
    for (unsigned i = 0; i < timers->spare_count; i++) {
        free(timers->spare[i].timers);
    }
    free(timers->due.timers);
    free(timers->heap.timers);
}

static dfrt_timer *room_in(dfrt_timer_list *list)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 32 : list->capacity * 2;
        list->timers = dfrt_resize(list->timers, list->capacity * sizeof *list->timers);
    }
    return &list->timers[list->count++];
}

static bool timer_before(dfrt_timer a, dfrt_timer b, dfrt_group_compare compare, const void *context)
{
    if (a.time != b.time || a.group == b.group) {
        return a.time < b.time;
    }
    return compare(context, a.group, b.group) < 0;
}

static void heap_push(dfrt_timer_list *heap, dfrt_timer timer, dfrt_group_compare compare, const void *context)
{
    (void)room_in(heap);
    uint32_t at = heap->count - 1;
    while (at > 0 && timer_before(timer, heap->timers[(at - 1) / 2], compare, context)) {
        heap->timers[at] = heap->timers[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->timers[at] = timer;
}

dfrt_timer dfrt_timers_pop(dfrt_timers *timers, dfrt_group_compare compare, const void *context)
{
    dfrt_timer_list *heap = &timers->heap;
    dfrt_timer top = heap->timers[0];
    dfrt_timer last = heap->timers[--heap->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && timer_before(heap->timers[child + 1], heap->timers[child], compare, context)) {
            child++;
        }
        if (!timer_before(heap->timers[child], last, compare, context)) {
            break;
        }
        heap->timers[at] = heap->timers[child];
        at = child;
    }
    heap->timers[at] = last;
    return top;
}

void dfrt_timers_put(dfrt_timers *timers, dfrt_timer timer, dfrt_group_compare compare, const void *context)
{
    int64_t slot = timer.time >> timers->shift;
    if (slot <= timers->slot) {
        heap_push(&timers->heap, timer, compare, context);
    } else {
        dfrt_timer_list *list = &timers->wheel[slot & (DFRT_TIMER_SLOTS - 1)];
        if (list->capacity == 0 && timers->spare_count > 0) {
            *list = timers->spare[--timers->spare_count];
        }
        *room_in(list) = timer;
    }
}

bool dfrt__timers_turn(dfrt_timers *timers)
{
    int64_t whole_turn = dfrt_sub_time(timers->slot, DFRT_TIMER_SLOTS);
    timers->turned = timers->turned > whole_turn ? timers->turned : whole_turn;
    while (timers->turned < timers->slot) {
        dfrt_timer_list *list = &timers->wheel[++timers->turned & (DFRT_TIMER_SLOTS - 1)];
        if (list->count > 0) {
            timers->due.count = 0;
            timers->spare[timers->spare_count++] = timers->due;
            timers->due = *list;
            *list = (dfrt_timer_list){0};
            return true;
        }
    }
    return false;
}
