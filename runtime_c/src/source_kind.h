/* What the kinds of sources share: the struct behind dfrt_source, its table of functions, and malformed rows.
 *
 * Threads:   as source.h.
 * Ownership: `state` belongs to the kind, the rest to source.c.
 * Progress:  as source.h.
 */
#ifndef DFRT_SOURCE_KIND_H
#define DFRT_SOURCE_KIND_H

#include <dfrt/input.h>
#include <dfrt/output.h>
#include <dfrt/source.h>

#include <stdatomic.h>

typedef struct dfrt__transport dfrt__transport;
typedef struct dfrt__pace dfrt__pace;

/* A call of `read` goes over at most this many malformed rows, so that stopping is noticed. */
enum { DFRT__MALFORMED_RUN = 4096, DFRT__DEFAULT_MAX_ROW = 16 << 20 };

/* Sources that are held back by the clock look at it no more often: a round for every tuple would cost the program more
 * than the tuples do. */
enum { DFRT__PACE_PAUSE_NS = 200000 };

typedef struct dfrt__source_kind {
    const char *prefix; /* with the colon */
    dfrt_status (*open)(dfrt_source *source, const char *rest, dfrt_error *error);
    /* As dfrt_source_read, but may answer DFRT_END or an error together with records; errors go to source->error. */
    dfrt_status (*read)(dfrt_source *source, char *records, size_t capacity, size_t *count);
    int (*poll_fd)(const dfrt_source *source);
    bool (*is_live)(const dfrt_source *source);
    void (*close)(dfrt_source *source); /* also after a failed open, with whatever state there is */
    /* As dfrt_source_view, without room: DFRT_OK without records when the rest must be read. NULL: there are none. */
    dfrt_status (*view)(dfrt_source *source, size_t capacity, dfrt_view *view);
    bool (*has_views)(const dfrt_source *source); /* NULL together with `view` */
    /* As dfrt_source_read_ahead; NULL: no kind of its own to do so. */
    dfrt_status (*ahead)(dfrt_source *source, unsigned helpers, bool *done, dfrt_error *error);
} dfrt__source_kind;

struct dfrt_source {
    const dfrt__source_kind *kind;
    const dfrt_record *record;
    dfrt_source_options options;
    char *name;
    void *state;
    dfrt_status final; /* DFRT_OK, or what every further read answers */
    dfrt_error error;
    uint64_t good, malformed;
    _Atomic uint64_t malformed_told; /* `malformed` for other threads; relaxed, because they want the number only */
    const char *unit;  /* how messages count: "line" or "record" */
    dfrt_output kept;  /* malformed rows; its buffer is NULL without a file */
    bool kept_header;  /* that file has its header: a source may see several */
    dfrt__transport *transport; /* where connections come from that `kind` reads; NULL for files */
    dfrt_input *connection;     /* what `kind` is to read instead of a path; it takes it */
    dfrt__pace *pace;           /* holds records back until they are due; NULL for full speed */
};

extern const dfrt__source_kind dfrt__csv_source, dfrt__jsonl_source, dfrt__lines_source, dfrt__binary_source,
    dfrt__generate_source;

static inline size_t dfrt__max_row(const dfrt_source *source)
{
    return source->options.max_row == 0 ? DFRT__DEFAULT_MAX_ROW : source->options.max_row;
}

/* The connection if there is one, else what the path names. */
static inline dfrt_status dfrt__source_input(dfrt_source *source, const char *path, size_t limit, dfrt_input **out,
                                             dfrt_error *error)
{
    *out = source->connection;
    source->connection = NULL;
    return *out != NULL ? DFRT_OK : dfrt_input_open(out, path, limit, error);
}

/* Whether the record can be a line; DFRT_USAGE when it can't. */
dfrt_status dfrt__check_lines_record(const dfrt_source *source, dfrt_error *error);

/* When the next tuple of a paced generator is due, as dfrt_source_due_ns. */
uint64_t dfrt__generate_due_ns(const dfrt_source *source);

/* Reads without regard to the pace. */
dfrt_status dfrt__source_read_now(dfrt_source *source, char *records, size_t capacity, size_t *count);

/* A row that is none: counts it, reports it, keeps `raw` (and a newline, if the unit is a line). */
void dfrt__malformed(dfrt_source *source, uint64_t number, const char *reason, dfrt_slice raw);
/* A row whose field `index` does not fit; `text` is that field. */
void dfrt__malformed_field(dfrt_source *source, uint64_t number, int index, dfrt_slice text, dfrt_slice raw);

#endif
