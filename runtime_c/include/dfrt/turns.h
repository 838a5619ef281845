/* State that goes from worker to worker, in the order in which their tasks were handed out: who has the turn has the state
 * to himself, and passes it on. Whoever has something for a turn that has not come goes on with his next task meanwhile, and
 * does it later.
 *
 * Threads:   `handed` belongs to the stage that hands out; everything else to the worker whose turn it is.
 * Ownership: the stage that hands out owns the turns, workers borrow them with every task. The state is made by the worker
 *            who has the first turn, and freed with the turns, when all threads have ended.
 * Progress:  a worker that has put off as much as it may, or has nothing else to do, waits for the tasks that were handed
 *            out before its own. Each worker takes its tasks in that order, does not sleep for input while anything is put
 *            off, and who hands out goes on filling the links that have room: so the oldest task that is not done is never
 *            waiting. After a failure of the run nobody waits.
 */
#ifndef DFRT_TURNS_H
#define DFRT_TURNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
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

/* What a worker does in a turn, with its segment and a copy of what it was given for that. */
typedef void (*dfrt_turn_work)(void *segment, dfrt_turns *turns, int64_t time, const void *given);

/* Does `work` when `turn` is now: at once, or later, while the stage goes on. All that one stage is given has one size, or
 * none. */
void dfrt_turns_take(dfrt_turns *turns, uint64_t turn, struct dfrt_stage *stage, dfrt_turn_work work, int64_t time,
                     const void *given, size_t size);

void dfrt_turns_close(dfrt_turns *turns);

#endif
