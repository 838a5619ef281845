/* What controllers have learned, kept from one run to the next: a file with a line that says what it is and of which program, and
 * one for each operator: its name and the text of its policy.
 *
 * Threads:   whoever has the agent's lock, or main while no control step runs.
 * Ownership: a controlled operator owns the text of what its controllers have learned.
 * Progress:  reads or writes one small file.
 */
#ifndef DFRT_SRC_EXPERIENCE_H
#define DFRT_SRC_EXPERIENCE_H

#include "agent_state.h"

/* Into controllers that have just been started. A file that is not there, or empty, is none to load; a line that does not
 * fit is told on stderr, and that operator begins anew. DFRT_USAGE: the file is something else. */
dfrt_status dfrt__experience_load(dfrt__agent *agent, const char *path, dfrt_error *error);
/* Before its controller goes: what it has learned is remembered. */
void dfrt__experience_keep(dfrt__controlled *one);
/* To a controller that has just been started: what one of the same policy has learned before it. False: it does not fit. */
bool dfrt__experience_give(dfrt__controlled *one);
/* Whoever looks sees the old file or the whole new one. Operators that learn nothing have no line. A file that is something
 * else is left alone. */
dfrt_status dfrt__experience_save(const dfrt__agent *agent, const char *path, dfrt_error *error);

#endif
