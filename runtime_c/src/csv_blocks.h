/* A CSV file's rows as records, parsed ahead in blocks by other threads; the reader's thread helps when it would wait.
 *
 * A block begins behind a newline, and so, if that newline is not inside quotes, at a row. Its rows are parsed until
 * one is not plain. What the blocks hold is used only where the reader of csv.h, which goes through the file in order,
 * stands between two rows at the beginning of a block; everything else it reads itself, as without blocks. So rows,
 * messages and their order are the same.
 *
 * Threads:   the thread that uses the reader opens, takes and closes; helpers only fill blocks.
 * Ownership: the reader is borrowed until dfrt__csv_blocks_close, and gets its bytes from here meanwhile.
 * Progress:  taking waits only for a block that a helper is parsing. Helpers wait for room.
 */
#ifndef DFRT_CSV_BLOCKS_H
#define DFRT_CSV_BLOCKS_H

#include <dfrt/source.h>

#include "csv_state.h"

typedef struct dfrt__csv_blocks dfrt__csv_blocks;

/* For a regular file that was opened by its path, behind the header. `times` gets what parsing and waiting take; NULL:
 * nobody asks. */
dfrt_status dfrt__csv_blocks_open(dfrt__csv_blocks **out, dfrt_csv *csv, const dfrt_record *record, unsigned helpers,
                                  dfrt_ahead_times *times, dfrt_error *error);

/* The next records, at most `capacity`; they stay where they are until the next call, or until the reader reads. 0: the
 * reader itself must go on. */
size_t dfrt__csv_blocks_take(dfrt__csv_blocks *blocks, size_t capacity, const void **records);

void dfrt__csv_blocks_close(dfrt__csv_blocks *blocks);

#endif
