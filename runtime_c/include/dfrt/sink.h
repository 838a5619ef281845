/* Connectors that take records: csv, binary and discard, opened by a text `kind:rest`.
 *
 *     csv:PATH     a header line at once, then a row a record
 *     binary:PATH  packed records, little endian, no padding; symbols are numbers in the order of first appearance,
 *                  and line n of PATH.symbols (from 0, CSV-quoted, no header) is the text of number n
 *     discard:     counts
 *
 * PATH may be "-" for standard output.
 *
 * Threads:   one thread at a time uses a sink; dfrt_sink_count from any.
 * Ownership: records are borrowed for the call; the dfrt_record is borrowed for the sink's life.
 * Progress:  writing blocks only when the buffer is full and whoever reads the pipe is slow. Failures are remembered
 *            and answered by flush and close.
 */
#ifndef DFRT_SINK_H
#define DFRT_SINK_H

#include <dfrt/output.h>
#include <dfrt/record.h>

#include <stdatomic.h>

typedef struct dfrt__binary_sink dfrt__binary_sink;

typedef enum dfrt__sink_kind { DFRT__SINK_CSV, DFRT__SINK_BINARY, DFRT__SINK_DISCARD } dfrt__sink_kind;

typedef struct dfrt_sink {
    dfrt__sink_kind kind;
    const dfrt_record *record;
    dfrt_output output;
    dfrt__binary_sink *binary;
    /* Only the writer stores; relaxed, because a reader wants the number and nothing else. */
    _Atomic uint64_t count;
} dfrt_sink;

/* `name` is what messages call the sink. */
dfrt_status dfrt_sink_open(dfrt_sink **out, const char *name, const char *spec, const dfrt_record *record,
                           dfrt_error *error);

void dfrt__sink_write_binary(dfrt_sink *sink, const void *record);

static inline void dfrt_sink_write(dfrt_sink *sink, const void *record)
{
    uint64_t count = atomic_load_explicit(&sink->count, memory_order_relaxed);
    atomic_store_explicit(&sink->count, count + 1, memory_order_relaxed);
    if (sink->kind == DFRT__SINK_CSV) sink->record->print(&sink->output, record);
    else if (sink->kind == DFRT__SINK_BINARY) dfrt__sink_write_binary(sink, record);
}

/* Hands everything written so far to the operating system. */
dfrt_status dfrt_sink_flush(dfrt_sink *sink, dfrt_error *error);

/* Records written so far. */
static inline uint64_t dfrt_sink_count(const dfrt_sink *sink)
{
    return atomic_load_explicit(&sink->count, memory_order_relaxed);
}

/* Flushes and frees, whatever it answers. */
dfrt_status dfrt_sink_close(dfrt_sink *sink, dfrt_error *error);

#endif
