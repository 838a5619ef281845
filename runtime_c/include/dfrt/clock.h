/* The clock of processing time: nanoseconds since 1970 that never go back, or a clock that tests give.
 *
 * Threads:   the thread that reads the sources.
 * Ownership: a plain struct inside the run.
 * Progress:  nothing waits.
 */
#ifndef DFRT_CLOCK_H
#define DFRT_CLOCK_H

#include <dfrt/arith.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct dfrt_clock {
    bool given;         /* start, start + step, … reading by reading */
    int64_t next, step; /* of a given clock */
    int64_t last;       /* what was told last */
} dfrt_clock;

/* A clock that tells these times, tuple by tuple; `step` is not negative. */
static inline dfrt_clock dfrt_clock_of(int64_t start, int64_t step)
{
    start = dfrt_on_axis(start);
    return (dfrt_clock){.given = true, .next = start, .step = step, .last = start};
}

/* The time of a tuple that is being read. */
int64_t dfrt_clock_read(dfrt_clock *clock);
/* The time while no tuple comes; a given clock stands still. */
int64_t dfrt_clock_look(dfrt_clock *clock);

#endif
