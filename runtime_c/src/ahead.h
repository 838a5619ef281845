/* Reads a file's records ahead on a thread of its own, so that parsing and the rest of the program overlap.
 *
 * Threads:   the thread of stage 0 opens, takes and closes; the parser's thread owns the source meanwhile.
 * Ownership: a batch is the parser's while it is filled, the taker's until the next call of dfrt__ahead_take.
 * Progress:  taking waits for the parser, which never waits for anything but room: only sources that are always
 *            ready are read ahead. Closing stops the parser after the batch at hand.
 */
#ifndef DFRT_SRC_AHEAD_H
#define DFRT_SRC_AHEAD_H

#include "dfrt/source.h"

typedef struct dfrt__ahead dfrt__ahead;

/* Each batch holds up to `capacity` records. `times` gets what parsing and waiting take; NULL: nobody asks. */
dfrt_status dfrt__ahead_open(dfrt__ahead **out, dfrt_source *source, size_t record_size, size_t capacity,
                             dfrt_ahead_times *times, dfrt_error *error);

/* The next records, as dfrt_source_view would have answered. */
dfrt_status dfrt__ahead_take(dfrt__ahead *ahead, dfrt_view *view);

/* Afterwards the source belongs to the caller again. */
void dfrt__ahead_close(dfrt__ahead *ahead);

#endif
