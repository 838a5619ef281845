/* What controllers have learned, kept from one run to the next: a file with a line for each operator, its name and the text
 * of its policy.
 *
 * Threads:   main, while no control step runs.
 * Ownership: nothing is kept.
 * Progress:  reads or writes one small file.
 */
#ifndef DFRT_SRC_EXPERIENCE_H
#define DFRT_SRC_EXPERIENCE_H

#include "agent_state.h"

/* Into controllers that have just been started. A file that is not there is none to load; a line that does not fit is told
 * on stderr, and that operator begins anew. */
dfrt_status dfrt__experience_load(dfrt__agent *agent, const char *path, dfrt_error *error);
/* Whoever looks sees the old file or the whole new one. Operators that learn nothing have no line. */
dfrt_status dfrt__experience_save(const dfrt__agent *agent, const char *path, dfrt_error *error);

#endif
