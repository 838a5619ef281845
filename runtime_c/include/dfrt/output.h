/* Buffered writing of CSV and binary rows; the dfrt_put_… functions are what generated print code is made of.
 *
 * Threads:   one thread at a time uses an output.
 * Ownership: what is put is copied; the path is the output's own copy.
 * Progress:  putting blocks only when the buffer is full and the reader of the pipe is slow. A failed write is
 *            remembered: what is put afterwards is dropped, and flush and close say so.
 */
#ifndef DFRT_OUTPUT_H
#define DFRT_OUTPUT_H

#include <dfrt/number.h>
#include <dfrt/status.h>
#include <dfrt/symbol.h>

struct dfrt__peer;

#define DFRT_OUTPUT_CAPACITY ((size_t)128 << 10)

typedef struct dfrt_output {
    char *buffer;    /* DFRT_OUTPUT_CAPACITY bytes */
    size_t used;
    uint64_t written; /* bytes handed to the operating system */
    int fd;
    int failure;     /* the errno of the first failed write, or 0 */
    char *path;
    struct dfrt__peer *peer; /* a socket instead of fd, or NULL */
} dfrt_output;

/* Creates or empties the file; "-" is standard output, which close leaves open. A FIFO waits for its reader: DFRT_END
 * when stop_fd, which may be -1, becomes readable before. */
dfrt_status dfrt_output_open(dfrt_output *out, const char *path, int stop_fd, dfrt_error *error);
/* Over a socket; the output closes the peer, also when it fails. `title` is what messages call it. */
dfrt_status dfrt__output_open_peer(dfrt_output *out, struct dfrt__peer *peer, const char *title, dfrt_error *error);
/* Writes out what is buffered. */
dfrt_status dfrt_output_flush(dfrt_output *out, dfrt_error *error);
/* Flushes and frees, whatever it answers. Closing what is closed does nothing. */
dfrt_status dfrt_output_close(dfrt_output *out, dfrt_error *error);

/* Empties the buffer to the file; afterwards `used` is 0. */
void dfrt__output_drain(dfrt_output *out);
/* What does not fit into the buffer. */
void dfrt__output_put_long(dfrt_output *out, const char *data, size_t size);
void dfrt__output_put_quoted(dfrt_output *out, const char *data, size_t size);
/* Whether a text needs quotes in CSV: it has a comma, a quote, CR or LF. */
bool dfrt__output_needs_quotes(const char *data, size_t size);

/* Where up to `room` bytes may be written; commit by adding to `used`. */
static inline char *dfrt__output_room(dfrt_output *out, size_t room)
{
    if (DFRT_OUTPUT_CAPACITY - out->used < room) dfrt__output_drain(out);
    return out->buffer + out->used;
}

static inline void dfrt_put_bytes(dfrt_output *out, const void *data, size_t size)
{
    if (DFRT_OUTPUT_CAPACITY - out->used < size) {
        dfrt__output_put_long(out, (const char *)data, size);
        return;
    }
    if (size > 0) memcpy(out->buffer + out->used, data, size);
    out->used += size;
}

static inline void dfrt_put_char(dfrt_output *out, char c)
{
    *dfrt__output_room(out, 1) = c;
    out->used++;
}

static inline void dfrt_put_i64(dfrt_output *out, int64_t value)
{
    out->used += dfrt_format_i64(value, dfrt__output_room(out, DFRT_NUMBER_ROOM));
}

static inline void dfrt_put_u64(dfrt_output *out, uint64_t value)
{
    out->used += dfrt_format_u64(value, dfrt__output_room(out, DFRT_NUMBER_ROOM));
}

static inline void dfrt_put_f64(dfrt_output *out, double value)
{
    out->used += dfrt_format_f64(value, dfrt__output_room(out, DFRT_NUMBER_ROOM));
}

static inline void dfrt_put_f32(dfrt_output *out, float value)
{
    out->used += dfrt_format_f32(value, dfrt__output_room(out, DFRT_NUMBER_ROOM));
}

static inline void dfrt_put_bool(dfrt_output *out, bool value)
{
    dfrt_put_bytes(out, value ? "true" : "false", value ? 4 : 5);
}

/* A field of a row with several. */
static inline void dfrt_put_text(dfrt_output *out, const char *data, size_t size)
{
    if (dfrt__output_needs_quotes(data, size)) dfrt__output_put_quoted(out, data, size);
    else dfrt_put_bytes(out, data, size);
}

/* The only field of a row: when empty it is written as "", because an empty line is no row. */
static inline void dfrt_put_lone_text(dfrt_output *out, const char *data, size_t size)
{
    if (size == 0) dfrt_put_bytes(out, "\"\"", 2);
    else dfrt_put_text(out, data, size);
}

static inline void dfrt_put_symbol(dfrt_output *out, dfrt_symbol symbol)
{
    dfrt_slice text = dfrt_symbol_text(symbol);
    dfrt_put_text(out, text.data, text.size);
}

static inline void dfrt_put_lone_symbol(dfrt_output *out, dfrt_symbol symbol)
{
    dfrt_slice text = dfrt_symbol_text(symbol);
    dfrt_put_lone_text(out, text.data, text.size);
}

#endif
