/* When the tuples of a generator come: evenly or by chance, at one rate or at rates that change.
 *
 * Threads:   belongs to its source.
 * Ownership: the plan is borrowed, and must live as long.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_GENERATE_CLOCK_H
#define DFRT_SRC_GENERATE_CLOCK_H

#include <dfrt/generate.h>

typedef struct dfrt__generate_clock {
    const dfrt_generate_plan *plan;
    bool timed;         /* somebody looks at the times of tuples */
    bool ended;         /* the last rate has ended */
    size_t at;          /* the step of the rates that holds */
    uint64_t left;      /* even: tuples that come while it holds */
    uint64_t offset_ns; /* of the next tuple, from the start; only kept up when timed, or by chance */
    /* Even: j * 10**9 / rate without a division: quotient and remainder of 10**9 / rate are added up. */
    uint64_t step_ns, step_rest, rest;
    /* By chance: the time of the next tuple, and the state of the generator at its first draw. */
    double position_ns;
    uint64_t draw;
} dfrt__generate_clock;

void dfrt__generate_clock_open(dfrt__generate_clock *state, const dfrt_generate_plan *plan, bool timed);

/* How many of `most` tuples are due at `now`, nanoseconds after the start; UINT64_MAX: nobody waits. Their times are in
 * `times` if the clock is timed. 0 when none is, or none is left. */
size_t dfrt__generate_clock_take(dfrt__generate_clock *state, size_t most, uint64_t now, int64_t *times);

#endif
