/* Connectors that take records: files, sockets and a counter, opened by a text `kind:rest`.
 *
 *     csv:PATH     a header line at once, then a row a record
 *     jsonl:PATH   a JSON object a record (see jsonl.h)
 *     binary:PATH  packed records, little endian, no padding; symbols are numbers in the order of first appearance,
 *                  and line n of PATH.symbols (from 0, CSV-quoted, no header) is the text of number n
 *     tcp:HOST:PORT?K=V&…, unix:PATH?K=V&…  csv, jsonl or binary without symbols over a socket (see endpoint.h)
 *     discard:     counts
 *
 * PATH may be "-" for standard output.
 *
 * Threads:   one thread at a time uses a sink; dfrt_sink_count from any.
 * Ownership: records are borrowed for the call; the dfrt_record is borrowed for the sink's life.
 * Progress:  writing blocks only when the buffer is full and whoever reads the pipe is slow, or while a socket has no
 *            reader. Failures are remembered and answered by flush and close.
 */
#ifndef DFRT_SINK_H
#define DFRT_SINK_H

#include <dfrt/jsonl.h>
#include <dfrt/output.h>
#include <dfrt/record.h>

#include <stdatomic.h>

typedef struct dfrt__binary_sink dfrt__binary_sink;

typedef enum dfrt__sink_kind {
    DFRT__SINK_CSV,
    DFRT__SINK_BINARY,
    DFRT__SINK_DISCARD,
    DFRT__SINK_JSONL,
    DFRT__SINK_SOCKET,  /* in the form of `format` */
    DFRT__SINK_RESULTS, /* for a program that embeds this one */
} dfrt__sink_kind;

/* Records one after the other, in room that grows. */
typedef struct dfrt_results {
    unsigned char *records;
    size_t count, capacity;
    bool out_of_memory; /* some did not fit, and the sink's flush says so */
} dfrt_results;

/* Gets what was written since the last call, at every flush, from the thread that uses the sink. May take the room. */
typedef void (*dfrt_deliver)(void *context, dfrt_results *results);

typedef struct dfrt_sink {
    dfrt__sink_kind kind;
    const dfrt_record *record;
    dfrt_output output;
    dfrt__binary_sink *binary;
    dfrt_jsonl_writer *json;
    dfrt__sink_kind format;
    dfrt_results results;
    dfrt_deliver deliver;
    void *context;
    /* Only the writer stores; relaxed, because a reader wants the number and nothing else. */
    _Atomic uint64_t count;
} dfrt_sink;

typedef struct dfrt_sink_options {
    int stop_fd; /* readable when the program is to end: a sink then waits only a few seconds more; -1 for never */
    bool quiet;  /* nothing on stderr about connections that are made */
} dfrt_sink_options;

dfrt_status dfrt_sink_open_with(dfrt_sink **out, const char *name, const char *spec, const dfrt_record *record,
                                const dfrt_sink_options *options, dfrt_error *error);

/* `name` is what messages call the sink. */
dfrt_status dfrt_sink_open(dfrt_sink **out, const char *name, const char *spec, const dfrt_record *record,
                           dfrt_error *error);

/* A sink that delivers records to a function. */
dfrt_status dfrt_sink_open_results(dfrt_sink **out, const dfrt_record *record, dfrt_deliver deliver, void *context,
                                   dfrt_error *error);
/* Appends `count` records of `size` bytes; on failure sets out_of_memory. */
void dfrt_results_append(dfrt_results *results, const void *records, size_t count, size_t size);

void dfrt__sink_write_binary(dfrt_sink *sink, const void *record);
void dfrt__sink_write_socket(dfrt_sink *sink, const void *record);

static inline void dfrt_sink_write(dfrt_sink *sink, const void *record)
{
    uint64_t count = atomic_load_explicit(&sink->count, memory_order_relaxed);
    atomic_store_explicit(&sink->count, count + 1, memory_order_relaxed);
    if (sink->kind == DFRT__SINK_CSV) sink->record->print(&sink->output, record);
    else if (sink->kind == DFRT__SINK_BINARY) dfrt__sink_write_binary(sink, record);
    else if (sink->kind == DFRT__SINK_JSONL) dfrt_jsonl_write(sink->json, &sink->output, record);
    else if (sink->kind == DFRT__SINK_SOCKET) dfrt__sink_write_socket(sink, record);
    else if (sink->kind == DFRT__SINK_RESULTS) dfrt_results_append(&sink->results, record, 1, sink->record->size);
}

/* Records one after the other; packed ones that lie in memory as in the file go there in one piece. */
void dfrt_sink_write_many(dfrt_sink *sink, const void *records, size_t count);

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
