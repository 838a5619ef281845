/* What the stages of one run share: whether it has failed, whether it is to stop, which alternates are active.
 * Nothing of it is process-wide, so that many runs can live in one process.
 *
 * Threads:   opened and closed by the thread that builds the layout; dfrt__run_stop from any thread and from a
 *            signal handler.
 * Ownership: the run owns its pipe, its event and the array of active alternates.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_RUN_H
#define DFRT_SRC_RUN_H

#include "dfrt/program.h"

/* Each operator begins with the alternate that its entry in the program says. */
dfrt_status dfrt__run_open(dfrt_run_state *run, const dfrt_program *program, dfrt_error *error);
/* The pipe and the event that wake whoever waits for input; an embedded run has nobody who does. */
dfrt_status dfrt__run_open_pipe(dfrt_run_state *run, dfrt_error *error);
void dfrt__run_close(dfrt_run_state *run);

/* No more input: what has been read is still worked on. */
void dfrt__run_stop(dfrt_run_state *run);

/* A reader that waits for input makes a round without any, which takes a change to the stages; from any thread. */
void dfrt__run_wake(const dfrt_run_state *run);
/* The reader has heard it. */
void dfrt__run_woken(const dfrt_run_state *run);

static inline bool dfrt__run_stopped(dfrt_run_state *run)
{
    /* Relaxed: only a hint that is looked at once a round. */
    return atomic_load_explicit(&run->stop, memory_order_relaxed) != 0 || dfrt_run_failed(run);
}

/* DFRT_OK, or DFRT_IO with the text of the first failure. */
dfrt_status dfrt__run_status(dfrt_run_state *run, dfrt_error *error);

#endif
