/* Holds the records of a file back until they are due: so many a second, or by their event time.
 *
 * Threads:   as source.h.
 * Ownership: the pace owns a buffer of records and a timer; dfrt_replay is borrowed.
 * Progress:  nothing waits; the timer says when the next record is due.
 */
#ifndef DFRT_PACE_H
#define DFRT_PACE_H

#include "source_kind.h"

/* Does nothing for a source that is not to be paced. */
dfrt_status dfrt__pace_open(dfrt_source *source, dfrt_error *error);
dfrt_status dfrt__pace_read(dfrt_source *source, char *records, size_t capacity, size_t *count);
/* As dfrt_source_due_ns. */
uint64_t dfrt__pace_due_ns(const dfrt_source *source);
int dfrt__pace_poll_fd(const dfrt_source *source);
void dfrt__pace_close(dfrt_source *source);

#endif
