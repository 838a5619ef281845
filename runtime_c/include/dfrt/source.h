/* Connectors that produce records: files, sockets and a generator, opened by a text `kind:rest`.
 *
 *     csv:PATH       a header and rows; columns are matched with the record's fields by name
 *     jsonl:PATH     a JSON object a line (see jsonl.h)
 *     lines:PATH     each line is the record's only field, a text or symbol
 *     binary:PATH    packed records; the texts of symbols stand in PATH.symbols (see sink.h)
 *     tcp:HOST:PORT?K=V&…, unix:PATH?K=V&…  one of these four formats over a socket (see endpoint.h)
 *     generate:K=V,… synthetic tuples (see generate.h)
 *
 * PATH may be "-" for standard input. A row that does not fit is malformed: counted, the first ones reported on
 * stderr, all of them optionally kept in a file, and reading goes on. So is the half of a row with which a connection
 * ends. Each connection is a stream of its own, with a CSV header of its own.
 *
 * Threads:   one thread at a time uses a source.
 * Ownership: records are written to the caller's array, or lent until the next call (dfrt_source_view); a source keeps
 *            copies of the texts it was opened with, but borrows the dfrt_record.
 * Progress:  opening may wait for a CSV header; dfrt_source_read never waits for data, dfrt_source_wait does nothing
 *            else. What waits ends early when stop_fd becomes readable.
 */
#ifndef DFRT_SOURCE_H
#define DFRT_SOURCE_H

#include <dfrt/rates.h>
#include <dfrt/record.h>
#include <dfrt/status.h>

typedef struct dfrt_source dfrt_source;

/* The pace at which a file is replayed, and what several files that are replayed by event time share: the earliest of
 * their first times is the start. The reader of a run owns it; begin with {0}. */
typedef struct dfrt_replay {
    double rate;        /* records a second, or 0 */
    dfrt_rates rates;   /* rates that change, or none; the last one holds to the end */
    double speed;       /* seconds of event time a second, or 0; sources without event time are not held back */
    unsigned awaited;   /* sources whose first record was not seen yet */
    bool known;         /* some first time is in origin_ns */
    double origin_ns;
    uint64_t began_ns;  /* of the monotonic clock; 0 before the first record of all */
} dfrt_replay;

/* What reading ahead takes, in nanoseconds of CPU time. */
typedef struct dfrt_ahead_times {
    uint64_t parsers; /* the threads that parse, without waiting: complete when the source is closed */
    uint64_t reader;  /* the thread that reads: parsing in their place */
    uint64_t waited;  /* the thread that reads: waiting for them */
} dfrt_ahead_times;

typedef struct dfrt_source_options {
    int event_time;             /* index of the field, -1 for none */
    const bool *used;           /* by field: whether anyone looks at it; NULL: at all of them. Other fields of generated
                                   tuples are left as they are in the caller's array: begin with zeros. */
    int stop_fd;                /* readable when the program is to end, -1 for never */
    size_t max_row;             /* bytes of the longest row or line, 0 is 16 MiB */
    uint64_t report_limit;      /* malformed rows that are reported one by one */
    const char *malformed_path; /* a file of this source's own for malformed rows, or NULL; CSV keeps its header */
    bool quiet;                 /* nothing on stderr about connections that are made */
    dfrt_replay *replay;        /* NULL: as fast as it can be read. Only files are held back. */
    struct dfrt_input *input;   /* what a format of text reads instead of its path, which then only has a name in
                                   messages; the source closes it, also when it can't be opened. NULL: the path */
    /* Gets what would be said on stderr about malformed rows: the number of the row, and why. NULL: stderr */
    void (*report)(void *context, uint64_t number, const char *text);
    void *report_context;
    dfrt_ahead_times *ahead_times; /* outlives the source; NULL: nobody asks */
} dfrt_source_options;

#define DFRT_SOURCE_DEFAULTS ((dfrt_source_options){.event_time = -1, .stop_fd = -1, .report_limit = 10})

/* `name` is what messages call the source. DFRT_USAGE, DFRT_MISSING, DFRT_MALFORMED (a broken header), DFRT_IO,
 * DFRT_MEMORY; DFRT_END when stopped while waiting for a header. */
dfrt_status dfrt_source_open(dfrt_source **out, const char *name, const char *spec, const dfrt_record *record,
                             const dfrt_source_options *options, dfrt_error *error);

/* Fills up to `capacity` structs of record->size bytes. DFRT_OK: *count of them, and there may be more at once (count
 * is 0 only after a long run of malformed rows). DFRT_AGAIN: *count of them, perhaps 0, and no more without waiting.
 * DFRT_END: none and never again. Otherwise an error, which dfrt_source_error explains; it comes after the records
 * that were read before it. */
dfrt_status dfrt_source_read(dfrt_source *source, void *records, size_t capacity, size_t *count);

/* Records where they are: in the caller's room, or in memory of the source. */
typedef struct dfrt_view {
    const void *records;
    size_t count;
} dfrt_view;

/* As dfrt_source_read, without a copy where the source has its records in memory as structs already (a mapped file of
 * plain numbers); otherwise they are read into `room`, which has place for `capacity`. The view is valid until the next
 * call for this source. When the file is cut short while a view of it is looked at, zeros take the place of what was
 * lost, and the next call fails. */
dfrt_status dfrt_source_view(dfrt_source *source, void *room, size_t capacity, dfrt_view *view);

/* True when views cost nothing to make: then there is nothing to be gained by reading ahead. */
bool dfrt_source_has_views(const dfrt_source *source);

/* From now on `helpers` more threads may parse for the caller of dfrt_source_read. *done: they do; else the source is of
 * a kind that has no work for them. */
dfrt_status dfrt_source_read_ahead(dfrt_source *source, unsigned helpers, bool *done, dfrt_error *error);

/* Blocks until reading makes sense (DFRT_OK), or until stop_fd is readable (DFRT_END). */
dfrt_status dfrt_source_wait(dfrt_source *source);

/* For waiting on several: what to poll for reading after DFRT_AGAIN; -1 when always ready. */
int dfrt_source_poll_fd(const dfrt_source *source);

/* Of a source that is paced: when the next record to be read is due, on the clock of dfrt_now_ns, which may have passed; 0 for
 * others, and before the first one. */
uint64_t dfrt_source_due_ns(const dfrt_source *source);

/* True when records come in real time, so that results must not wait for a full batch. */
bool dfrt_source_is_live(const dfrt_source *source);

/* Rows consumed so far, malformed ones included. */
uint64_t dfrt_source_position(const dfrt_source *source);
/* From any thread while the source is open. */
uint64_t dfrt_source_malformed(const dfrt_source *source);
const char *dfrt_source_error(const dfrt_source *source);

/* Reports the total of malformed rows, if there were any, and frees. DFRT_IO when their file could not be written. */
dfrt_status dfrt_source_close(dfrt_source *source, dfrt_error *error);

#endif
