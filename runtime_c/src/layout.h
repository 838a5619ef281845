/* Builds the stages of a run and the links between them.
 *
 * Threads:   built and freed by main, while no stage runs.
 * Ownership: the layout owns stages, segments, links, senders and receivers.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_LAYOUT_H
#define DFRT_SRC_LAYOUT_H

#include "dfrt/program.h"

/* Replicas of the segments that can have several. */
typedef struct dfrt__degrees {
    unsigned workers; /* that work at the beginning; 0: as planned */
    unsigned most;    /* that exist, where their number may change */
} dfrt__degrees;

typedef struct dfrt__layout_plan {
    const dfrt_program *program;
    dfrt_stage **stages; /* segment by segment */
    unsigned stage_count;
    unsigned *first_stage; /* by segment */
    unsigned *degree;      /* by segment: replicas that exist */
    dfrt_link *links;
    size_t link_count;
    struct dfrt_elastic *elastic; /* which of them work, and have what; NULL in the fused layout */
    void **peers; /* by segment, for the fused layout */
} dfrt__layout_plan;

dfrt_status dfrt__layout_open(dfrt__layout_plan *layout, const dfrt_program *program, dfrt_run_state *run,
                              dfrt__degrees degrees, bool fused, dfrt_error *error);
void dfrt__layout_close(dfrt__layout_plan *layout);
/* One of zeroes, on cache lines of its own. */
dfrt_stage *dfrt__stage_new(void);

#endif
