/* Lines of bounded length out of an input: what lines: and jsonl: have in common.
 *
 * Threads:   one thread at a time uses a reader.
 * Ownership: the reader owns its input; a line is valid until the next one is asked for.
 * Progress:  nothing waits. Memory is bounded by the longest line that is allowed, whatever the input holds.
 */
#ifndef DFRT_LINE_READER_H
#define DFRT_LINE_READER_H

#include <dfrt/input.h>

#include "source_kind.h"

typedef struct dfrt__line_reader {
    dfrt_input *input;
    size_t max_line;
    size_t scanned;
    bool skipping; /* the present line is too long, its bytes are dropped */
    uint64_t line; /* the number of the last one, from 1 */
    const char *reason;
} dfrt__line_reader;

/* Opens the source's input; its option max_row is the longest line. */
dfrt_status dfrt__lines_open(dfrt__line_reader *lines, dfrt_source *source, const char *path, dfrt_error *error);

/* DFRT_OK with a line, without its end; DFRT_MALFORMED for one that is too long (then it is empty) or cut off, with
 * `reason`; or as dfrt_input_fill. A byte-order mark before the first line is left out. */
dfrt_status dfrt__lines_next(dfrt__line_reader *lines, dfrt_slice *line, dfrt_error *error);

#endif
