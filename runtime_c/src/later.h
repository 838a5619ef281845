/* What a stage has put off because a turn has not come (dfrt/turns.h): the work of that turn, and everything that must not
 * overtake it on its way to the next stages, which is watermarks and the ends of rounds.
 *
 * Threads:   of the stage.
 * Ownership: the stage owns it, from the first time that something is put off until dfrt__later_free.
 * Progress:  catching up does not wait; dfrt__later_finish waits until all turns have come that were put off, and
 *            putting something off waits for the oldest one where there is no room.
 */
#ifndef DFRT_SRC_LATER_H
#define DFRT_SRC_LATER_H

#include "dfrt/stage.h"
#include "dfrt/turns.h"

typedef struct dfrt__turn {
    dfrt_turns *turns;
    uint64_t turn;
    dfrt_turn_work work;
    int64_t time;
} dfrt__turn;

struct dfrt__later {
    uint32_t first, count; /* of a ring of entries */
    size_t size;           /* of what is given for a turn */
    struct dfrt__later_entry *entries;
    unsigned char *given; /* by entry */
};

static inline bool dfrt__has_later(const dfrt_stage *stage)
{
    return stage->later != NULL && stage->later->count > 0;
}

static inline bool dfrt__is_now(const dfrt_turns *turns, uint64_t turn)
{
    /* Partner: the release in dfrt__turn_pass. */
    return atomic_load_explicit(&turns->now, memory_order_acquire) == turn;
}

static inline void dfrt__turn_pass(dfrt_turns *turns)
{
    uint64_t next = atomic_load_explicit(&turns->now, memory_order_relaxed) + 1;
    /* Partner: the acquire in dfrt__is_now. What was done to the state is done before the next turn. */
    atomic_store_explicit(&turns->now, next, memory_order_release);
}

/* Puts these off, and does what can be done by now. */
void dfrt__later_turn(dfrt_stage *stage, const dfrt__turn *turn, const void *given, size_t size);
void dfrt__later_watermark(dfrt_stage *stage, const dfrt_edge *edge, int64_t watermark);
void dfrt__later_end_round(dfrt_stage *stage, const dfrt_round_end *end);

void dfrt__later_catch_up(dfrt_stage *stage);
/* Lets others have the core, longer when that was in vain before, and then catches up. */
void dfrt__later_pause(dfrt_stage *stage, unsigned looks);
void dfrt__later_finish(dfrt_stage *stage);
void dfrt__later_free(dfrt_stage *stage);

#endif
