/* Builds the stages of a run and the links between them.
 *
 * Threads:   built and freed by main, while no stage runs.
 * Ownership: the layout owns stages, segments, links, senders and receivers.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_LAYOUT_H
#define DFRT_SRC_LAYOUT_H

#include "dfrt/program.h"

typedef struct dfrt__layout_plan {
    const dfrt_program *program;
    dfrt_stage **stages; /* segment by segment */
    unsigned stage_count;
    unsigned *first_stage; /* by segment */
    unsigned *degree;      /* by segment */
    dfrt_link *links;
    size_t link_count;
    uint16_t **routes; /* by edge: slot → replica */
    void **peers;      /* by segment, for the fused layout */
} dfrt__layout_plan;

dfrt_status dfrt__layout_open(dfrt__layout_plan *layout, const dfrt_program *program, dfrt_run_state *run,
                              unsigned workers, bool fused, dfrt_error *error);
void dfrt__layout_close(dfrt__layout_plan *layout);

#endif
