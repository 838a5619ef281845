/* When groups are to be looked at: a wheel of slots for what is further off, and a heap for the slot that the watermark
 * is in. A timer costs little as long as it is moved on before its time; only what is near is put in order.
 *
 * Threads:   timers belong to the stage whose segment holds them.
 * Ownership: the timers own their memory; `due` is valid until the next turn.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_TIMERS_H
#define DFRT_TIMERS_H

#include "dfrt/store.h"

enum { DFRT_TIMER_SLOTS = 64 }; /* a power of two */

typedef struct dfrt_timer {
    int64_t time;
    uint32_t group;
} dfrt_timer;

typedef struct dfrt_timer_list {
    dfrt_timer *timers;
    uint32_t count, capacity;
} dfrt_timer_list;

typedef struct dfrt_timers {
    dfrt_timer_list heap;  /* the smallest time first, equal times in the order of their groups' keys */
    int64_t slot;          /* the watermark's: what is up to its end goes to the heap */
    int64_t turned;        /* slots up to this one have been looked through */
    unsigned shift;        /* a slot is 1 << shift long */
    dfrt_timer_list due;   /* what the last turn has taken from the wheel */
    dfrt_timer_list wheel[DFRT_TIMER_SLOTS];
    dfrt_timer_list spare[DFRT_TIMER_SLOTS]; /* room that slots have left behind: likely still in the cache */
    unsigned spare_count;
} dfrt_timers;

/* Most timers will be set about `span` after the watermark. */
void dfrt_timers_open(dfrt_timers *timers, int64_t span);
void dfrt_timers_close(dfrt_timers *timers);

/* What is further off than the wheel goes is looked at some turns too early, and put again. */
void dfrt_timers_put(dfrt_timers *timers, dfrt_timer timer, dfrt_group_compare compare, const void *context);

bool dfrt__timers_turn(dfrt_timers *timers);

/* Before the heap is asked: turns the wheel to the watermark, a slot a call. True: the timers in `due` are to be put
 * again with the times that their groups have now. */
static inline bool dfrt_timers_turn(dfrt_timers *timers, int64_t watermark)
{
    int64_t slot = watermark >> timers->shift;
    if (slot <= timers->turned) {
        return false;
    }
    timers->slot = slot;
    return dfrt__timers_turn(timers);
}

/* Whether the watermark has come to a timer; `dfrt_timers_pop` takes it. */
static inline bool dfrt_timers_ripe(const dfrt_timers *timers, int64_t watermark)
{
    return timers->heap.count > 0 && timers->heap.timers[0].time <= watermark;
}

dfrt_timer dfrt_timers_pop(dfrt_timers *timers, dfrt_group_compare compare, const void *context);

#endif
