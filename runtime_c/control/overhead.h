/* What a result takes whatever the workers do: rounds, links, merging in order, threads that wake up. No setting changes
 * it, so it is told apart from what a worker takes and from waiting for one.
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  O(1) a call. No allocation, no I/O, no clock.
 */
#ifndef DFRT_CONTROL_OVERHEAD_H
#define DFRT_CONTROL_OVERHEAD_H

#include "models.h"

enum { DFRT__OVERHEADS = 8 };

/* A zeroed struct is a new one. */
typedef struct dfrt__overhead {
    double seen[DFRT__OVERHEADS]; /* of the last steps that could be used */
    unsigned noted;
} dfrt__overhead;

/* What was learned with one alternate, since each has results and batches of its own. Zeroed: nothing. */
typedef struct dfrt__known_latency {
    dfrt__overhead overhead;
    dfrt_correction correction;
} dfrt__known_latency;

/* A step in which nothing changed. `beyond`: mean latency without the service; `waiting`: what the load explains of it.
 * What can't be (NaN, infinite, negative) is passed over. */
void dfrt__overhead_note(dfrt__overhead *overhead, double beyond, double waiting);
/* Seconds; 0 before the third step. */
double dfrt__overhead_of(const dfrt__overhead *overhead);

/* Both, from a step whose measurements can be used. `burdened`: it, or the one before, had all that the workers can do, so that
 * it is passed over: the formula holds for what can be kept up with. `predicted`: Kingman's waiting time as it was predicted for
 * the step, NaN if for another setting; the correction makes up for wrong forecasts too. */
void dfrt__latency_learn(dfrt__known_latency *learned, const dfrt_situation *situation, bool burdened, double predicted);

#endif
