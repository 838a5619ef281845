/* A stream of bytes from a file, a pipe or standard input, in a buffer that the reader looks at and consumes from.
 *
 * Threads:   one thread at a time uses an input.
 * Ownership: the bytes belong to the input; a pointer into them is valid until the next dfrt_input_fill. The reader
 *            may change bytes it has not consumed yet.
 * Progress:  dfrt_input_fill never waits for a pipe, terminal or socket; only dfrt_input_wait does.
 */
#ifndef DFRT_INPUT_H
#define DFRT_INPUT_H

#include <dfrt/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* After the last byte there is always this much room that may be loaded from, though it means nothing. */
#define DFRT_INPUT_SLACK 64

typedef struct dfrt_input {
    char *data;      /* the bytes that are there: data[0 … size) */
    size_t size;
    char *buffer;    /* data lies in buffer[0 … capacity) */
    size_t capacity;
    size_t limit;    /* the buffer does not grow beyond this */
    int fd;
    bool live;
    bool framed;   /* a last row without its newline was cut off: what a connection brings is, a file may end so */
    bool named;    /* a named pipe that we opened, without blocking */
    bool received; /* it has brought at least one byte */
    bool ended;
    char *path;
    ssize_t (*read)(void *context, char *to, size_t size); /* instead of read(2) on fd; NULL: that */
    void *read_context;
} dfrt_input;

/* Opens a path, or standard input as "-". Bytes that are not consumed may grow to `limit`, and no further. A named
 * pipe is opened without waiting for its writer. */
dfrt_status dfrt_input_open(dfrt_input **out, const char *path, size_t limit, dfrt_error *error);

/* A connection, which the input closes; fd does not block. `name` is what messages call it. On failure fd stays open. */
dfrt_status dfrt_input_adopt(dfrt_input **out, int fd, const char *name, size_t limit, dfrt_error *error);

/* Gets more bytes. DFRT_OK: there are more. DFRT_AGAIN: none now. DFRT_END: none ever. DFRT_MALFORMED: `limit` bytes
 * are there and none was consumed. DFRT_IO, DFRT_MEMORY: failed, `error` says how. */
dfrt_status dfrt_input_fill(dfrt_input *input, dfrt_error *error);

static inline void dfrt_input_consume(dfrt_input *input, size_t bytes)
{
    input->data += bytes;
    input->size -= bytes;
}

/* Blocks until bytes can be read, or the end (DFRT_OK), or until stop_fd is readable (DFRT_END). stop_fd may be -1. */
dfrt_status dfrt_input_wait(dfrt_input *input, int stop_fd);

/* What to poll for reading when DFRT_AGAIN was answered; -1 for a regular file, which is always ready. */
int dfrt_input_poll_fd(const dfrt_input *input);

/* True when bytes come when somebody sends them: everything that is not a regular file. */
bool dfrt_input_is_live(const dfrt_input *input);

void dfrt_input_close(dfrt_input *input);

/* Blocks until fd is readable (DFRT_OK) or stop_fd is (DFRT_END). Either may be -1, but not both. */
dfrt_status dfrt_wait_readable(int fd, int stop_fd);

#endif
