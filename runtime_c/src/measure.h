/* From counters to what a policy sees: the difference of two readings of one operator.
 *
 * Threads:   pure functions on the caller's state.
 * Ownership: plain structs.
 * Progress:  nothing waits. No clock: the caller says how long the step was.
 */
#ifndef DFRT_SRC_MEASURE_H
#define DFRT_SRC_MEASURE_H

#include "../control/policy.h"

/* Samples, or things that come one after the other: how many, their nanoseconds, the squares of those. */
typedef struct dfrt__sum {
    double count, ns, squares;
} dfrt__sum;

/* One operator since the start, over all its replicas. */
typedef struct dfrt__tally {
    bool watched;      /* triggers are counted; otherwise every tuple is one */
    double triggers, results;
    double in, taken;  /* tuples that were sent to it, and those of rounds that it has finished */
    double waited_ns, waited; /* of so many tuples: up to the middle of the service of their round */
    double busy_ns[DFRT_MOST_WORKERS];
    double blocked_ns; /* mean of the threads that send to it */
    dfrt__sum samples[DFRT_MOST_ALTERNATES];
    double sample_results[DFRT_MOST_ALTERNATES];
    dfrt__sum arrivals; /* of tuples, at the sources */
    dfrt__sum spacing;  /* of results, at the sinks */
} dfrt__tally;

/* What was last seen of each alternate: the samples of its late steps, of which those of a step count a tenth less with each
 * step that has some of its own. Zeroed: nothing. */
typedef struct dfrt__late_samples {
    dfrt__sum samples[DFRT_MOST_ALTERNATES];
    double results[DFRT_MOST_ALTERNATES];
} dfrt__late_samples;

/* What happened between two readings that lie `seconds` apart, while `workers` and the alternate `active` were in force.
 * `late` gets the samples of the step; an alternate that has none there is taken to cost what it did of late.
 * Latency, power, what follows and `moved` are the caller's to add. Whatever can't be told is NaN. */
void dfrt__measure(dfrt_measured *measured, const dfrt__tally *before, const dfrt__tally *now, double seconds,
                   unsigned workers, unsigned active, dfrt__late_samples *late);

#endif
