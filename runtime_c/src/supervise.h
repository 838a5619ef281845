/* Whether a run has an agent, with which limits, and its life beside the run: between main and agent.h.
 *
 * Threads:   main only.
 * Ownership: owns the agent, the control socket and, until the agent has taken it, the configuration.
 * Progress:  stopping waits for at most one control step.
 */
#ifndef DFRT_SRC_SUPERVISE_H
#define DFRT_SRC_SUPERVISE_H

#include "agent_state.h"
#include "control_server.h"
#include "options.h"

typedef struct dfrt__supervision {
    dfrt__control control;
    bool decides; /* somebody is to decide something */
    bool wanted;  /* the run has an agent */
    unsigned rounds; /* of the reader since the last step, where steps go by rounds */
    unsigned every;
    unsigned cores, max_workers; /* of the machine; --max-workers as it was given, or 0 */
    dfrt__agent *agent;
    dfrt__server server; /* where the run answers, if anywhere */
} dfrt__supervision;

/* Reads the configuration, and asks for the replicas that it allows. */
dfrt_status dfrt__supervision_plan(dfrt__supervision *supervision, const dfrt_program *program, dfrt__options *options,
                                   dfrt_error *error);
/* Before the stages run. */
dfrt_status dfrt__supervision_open(dfrt__supervision *supervision, dfrt__layout_plan *layout, dfrt__reader *reader,
                                   const dfrt__options *options, bool fused, dfrt_error *error);
/* After they have ended, while they are still there. */
void dfrt__supervision_stop(dfrt__supervision *supervision);
void dfrt__supervision_close(dfrt__supervision *supervision);

#endif
