/* A program in parts on several machines: ranges of files become rows that can travel, tasks run the program over some of
 * the rows, and sinks write what the tasks gave. Who cuts, sends and orders is not here: see docs/CLUSTER.md.
 *
 * A row that travels is bytes without a number of this process in them: the fields in order, numbers little endian, a
 * symbol or text as its length (u32) and its bytes.
 *
 * Threads:   one thread at a time uses a range, a task or a writer; any number of them live side by side.
 * Ownership: columns that are answered belong to who answered, until its next call; columns that are given are borrowed.
 * Progress:  reading waits for the disk only.
 */
#ifndef DFRT_CLUSTER_H
#define DFRT_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dfrt/status.h>

struct dfrt_program;
typedef struct dfrt_range dfrt_range;
typedef struct dfrt_task dfrt_task;
typedef struct dfrt_writer dfrt_writer;

/* Rows as columns. Row i is bytes[offsets[i] … offsets[i + 1]). */
typedef struct dfrt_row_columns {
    uint64_t count;
    const int32_t *offsets;
    const uint8_t *bytes;
    const int64_t *order;     /* the place of the tuple among those of all sources: first this, then source, then index */
    const int32_t *source;
    const int64_t *index;     /* its place in its source; of a result: of the tuple that released it */
    const int64_t *watermark; /* of its source, before it */
    const int64_t *key;       /* equal for equal keys */
} dfrt_row_columns;

/* How far a source has come: the state of its watermark's rule before a tuple. */
typedef struct dfrt_progress {
    int64_t index;     /* tuples before */
    int64_t highest;   /* event time; INT64_MIN when there was none */
    int64_t delay;     /* the largest so far, for `slack auto` */
    int64_t watermark; /* INT64_MIN before the first tuple */
} dfrt_progress;

typedef struct dfrt_range_options {
    uint32_t source;
    const char *spec;       /* as of dfrt_source_open */
    bool whole;             /* the rest says nothing: the source is read from its begin to its end */
    uint64_t header;        /* the file's first bytes, which every range begins with */
    uint64_t begin, end;    /* then these; both behind a newline, or at the end of the file */
    int64_t slack;          /* -1 is `slack auto` */
    dfrt_progress progress; /* before its first row */
    const char *const *keys;
    uint64_t key_count, max_row, report_limit;
} dfrt_range_options;

/* What is known of a range when all of it was read. Times beyond the ends of the axis do not count. */
typedef struct dfrt_range_measure {
    dfrt_progress after;
    int64_t highest, lowest; /* INT64_MIN and INT64_MAX when there are none */
    int64_t delay;           /* the largest among its own rows */
    uint64_t malformed, lines;
    bool quotes;             /* there is a double quote: a newline may be inside a field */
} dfrt_range_measure;

typedef struct dfrt_cluster {
    uint32_t version; /* of the runtime: DFRT_ABI_VERSION */
    dfrt_status (*range_open)(dfrt_range **out, const struct dfrt_program *program, const dfrt_range_options *options,
                              dfrt_error *error);
    /* Reads all that is left. */
    dfrt_status (*range_measure)(dfrt_range *range, dfrt_range_measure *measure, dfrt_error *error);
    /* Some rows; DFRT_END: there are no more. `order` is not filled in. */
    dfrt_status (*range_rows)(dfrt_range *range, dfrt_row_columns *rows, dfrt_error *error);
    /* What was said about malformed rows, as lines NUMBER, tab, why. */
    const char *(*range_reports)(const dfrt_range *range);
    void (*range_close)(dfrt_range *range);

    dfrt_status (*task_open)(dfrt_task **out, const struct dfrt_program *program, dfrt_error *error);
    dfrt_status (*task_set_alternate)(dfrt_task *task, const char *step, const char *alternate);
    /* Rows in order; with their watermarks. */
    dfrt_status (*task_push)(dfrt_task *task, const dfrt_row_columns *rows, dfrt_error *error);
    /* The next whole source of the program that this task reads by itself; call it for each file in order. */
    dfrt_status (*task_add_file)(dfrt_task *task, uint32_t source, const char *spec, uint64_t max_row,
                                 uint64_t report_limit, dfrt_error *error);
    /* Takes some tuples from the files as the program does. DFRT_END: they have ended. */
    dfrt_status (*task_read)(dfrt_task *task, dfrt_error *error);
    /* Lines SOURCE, tab, NUMBER, tab, why; and how many malformed rows a source had. */
    const char *(*task_reports)(const dfrt_task *task);
    uint64_t (*task_malformed)(const dfrt_task *task, uint32_t source);
    /* The end of all sources. */
    dfrt_status (*task_end)(dfrt_task *task, dfrt_error *error);
    /* The watermark of a source has come so far, although no row of this task says so. */
    dfrt_status (*task_watermark)(dfrt_task *task, uint32_t source, int64_t watermark, dfrt_error *error);
    /* All that the task remembers, as bytes; results are taken before. They are the task's, until its next call. */
    dfrt_status (*task_save)(dfrt_task *task, const uint8_t **bytes, uint64_t *size, dfrt_error *error);
    /* For a task that has got nothing yet: it goes on where the other was saved. After a failure it can only be closed. */
    dfrt_status (*task_load)(dfrt_task *task, const uint8_t *bytes, uint64_t size, dfrt_error *error);
    /* What a sink has got since the last call. */
    dfrt_status (*task_results)(dfrt_task *task, uint32_t sink, dfrt_row_columns *rows, dfrt_error *error);
    void (*task_close)(dfrt_task *task);

    dfrt_status (*writer_open)(dfrt_writer **out, const struct dfrt_program *program, uint32_t sink, const char *spec,
                               dfrt_error *error);
    dfrt_status (*writer_rows)(dfrt_writer *writer, const dfrt_row_columns *rows, dfrt_error *error);
    dfrt_status (*writer_close)(dfrt_writer *writer, dfrt_error *error);
} dfrt_cluster;

extern const dfrt_cluster dfrt_cluster_functions;

#endif
