/* State that goes from worker to worker, in the order in which their tasks were handed out: who has the turn has the state
 * to himself, and passes it on.
 *
 * Threads:   `handed` belongs to the stage that hands out; everything else to the worker whose turn it is.
 * Ownership: the stage that hands out owns the turns, workers borrow them with every task. The state is made by the worker
 *            who has the first turn, and freed with the turns, when all threads have ended.
 * Progress:  a worker waits for the tasks that were handed out before his own. Each worker takes his tasks in that order,
 *            and who hands out goes on filling the links that have room: so the oldest task that is not done is never
 *            waiting. After a failure of the run nobody waits.
 */
#ifndef DFRT_TURNS_H
#define DFRT_TURNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dfrt_stage;

typedef struct dfrt_turns {
    uint64_t handed; /* turns so far */
    char apart[64];  /* the workers' part lies on other cache lines */
    _Atomic uint64_t now;
    void *state;     /* NULL: nobody has made one */
    void (*drop)(void *state);
    char behind[64];
} dfrt_turns;

/* Waits until `turn` is now; false when the run has failed. */
bool dfrt_turns_await(dfrt_turns *turns, uint64_t turn, struct dfrt_stage *stage);

static inline void dfrt_turns_pass(dfrt_turns *turns)
{
    uint64_t next = atomic_load_explicit(&turns->now, memory_order_relaxed) + 1;
    /* Partner: the acquires in dfrt_turns_await. What was done to the state is done before the next turn. */
    atomic_store_explicit(&turns->now, next, memory_order_release);
}

void dfrt_turns_close(dfrt_turns *turns);

#endif
