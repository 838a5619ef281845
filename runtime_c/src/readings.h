/* The counters of a run, read by the agent: which stages and steps belong to an operator, and what they have counted.
 *
 * Threads:   opened and closed while no stage runs; read by one thread at a time while they do.
 * Ownership: owns all monitors and watches of the layout's stages, which borrow them.
 * Progress:  nothing waits; a reading costs one look at every counter.
 */
#ifndef DFRT_SRC_READINGS_H
#define DFRT_SRC_READINGS_H

#include "key_loads.h"
#include "layout.h"
#include "measure.h"

typedef struct dfrt__readings {
    const dfrt__layout_plan *layout;
    bool fused;
    dfrt_count *totals; /* by step, as of the last dfrt__readings_take */
} dfrt__readings;

/* Every stage is watched from then on. */
void dfrt__readings_open(dfrt__readings *readings, const dfrt__layout_plan *layout, bool fused);
void dfrt__readings_close(dfrt__readings *readings);

/* Adds up the steps of all stages. */
void dfrt__readings_take(dfrt__readings *readings);
/* The operator whose results `step` gives, as of now. */
void dfrt__readings_tally(const dfrt__readings *readings, unsigned step, dfrt__tally *tally);
/* Load of each slot since the start, DFRT_SLOTS of them: the time of its triggers, or, where nobody times those, its
 * tuples. */
void dfrt__readings_slots(const dfrt__readings *readings, unsigned step, double *load);
/* The heaviest keys since the last time, in the same measure; not sorted. */
void dfrt__readings_keys(const dfrt__readings *readings, unsigned step, dfrt__key_loads *loads);
/* Latencies of all results, into an empty histogram. */
void dfrt__readings_latency(const dfrt__readings *readings, dfrt_histogram *latency);
/* Tuples that were read, by the last dfrt__readings_take. */
uint64_t dfrt__readings_tuples(const dfrt__readings *readings);
/* Tuples that were sent to a step, by the last dfrt__readings_take. */
uint64_t dfrt__readings_in(const dfrt__readings *readings, unsigned step);

#endif
