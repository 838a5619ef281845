#define _GNU_SOURCE
#include "dfrt/turns.h"

#include <sched.h>
#include <time.h>

#include "dfrt/program.h"
#include "waits.h"

/* The one before us computes, and is about as far as we are: others may have the core meanwhile, a few milliseconds long,
 * but we do not sleep. Whoever sleeps wakes late, the next one waits for him, and so the whole ring is late. There is nobody
 * to wake us, since whoever passes a turn on does not know who has the next one. */
enum { TURN_YIELDS = 4096, NAP_NS = 50000 };

static bool is_now(const dfrt_turns *turns, uint64_t turn)
{
    /* Partner: the release in dfrt_turns_pass. */
    return atomic_load_explicit(&turns->now, memory_order_acquire) == turn;
}

static bool wait_for_turn(const dfrt_turns *turns, uint64_t turn, const dfrt_stage *stage)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (unsigned looks = 0; !is_now(turns, turn); looks++) {
        if (dfrt_run_failed(stage->run)) {
            return false;
        }
        if (looks < TURN_YIELDS) {
            (void)sched_yield();
        } else {
            (void)nanosleep(&nap, NULL); /* an interrupted one only means another look */
        }
    }
    return true;
}

bool dfrt_turns_await(dfrt_turns *turns, uint64_t turn, dfrt_stage *stage)
{
    if (is_now(turns, turn)) {
        return true;
    }
    dfrt__wait wait = dfrt__wait_begin(stage);
    bool mine = wait_for_turn(turns, turn, stage);
    dfrt__wait_end(stage, wait, false);
    return mine;
}

void dfrt_turns_close(dfrt_turns *turns)
{
    if (turns->state != NULL) {
        turns->drop(turns->state);
        turns->state = NULL;
    }
}
