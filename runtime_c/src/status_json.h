/* What a running program says of itself, as JSON.
 *
 * Threads:   pure; the caller brings copies of what is measured.
 * Ownership: nothing is kept.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_STATUS_JSON_H
#define DFRT_SRC_STATUS_JSON_H

#include "agent.h"

/* One object, without a newline. */
void dfrt__status_write(FILE *out, const dfrt__status *status, const dfrt__step_status *steps, unsigned step_count);
/* An array of the last `most` changes, the newest last. */
void dfrt__changes_write(FILE *out, const dfrt__status *status, unsigned most);

#endif
