#define _GNU_SOURCE
#include <dfrt/output.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer.h"

enum { LOOK_MS = 50 };

/* Opening a FIFO waits for its reader, and a signal that comes just before would not end that. So we ask again and
 * again instead. -1 with ECANCELED when the program is to end. */
static int open_fifo(const char *path, int stop_fd)
{
    for (;;) {
        int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fcntl(fd, F_SETFL, O_WRONLY) == 0) return fd;
        if (fd >= 0) (void)close(fd);
        if (fd >= 0 || errno != ENXIO) return -1;
        struct pollfd ask = {.fd = stop_fd, .events = POLLIN};
        if (poll(&ask, 1, LOOK_MS) > 0) return errno = ECANCELED, -1;
    }
}

static int open_path(const char *path, int stop_fd)
{
    struct stat about;
    if (strcmp(path, "-") == 0) return STDOUT_FILENO;
    if (stat(path, &about) == 0 && S_ISFIFO(about.st_mode)) return open_fifo(path, stop_fd);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

dfrt_status dfrt_output_open(dfrt_output *out, const char *path, int stop_fd, dfrt_error *error)
{
    *out = (dfrt_output){.fd = -1};
    out->path = strdup(path);
    out->buffer = malloc(DFRT_OUTPUT_CAPACITY);
    dfrt_status status = DFRT_OK;
    if (out->path == NULL || out->buffer == NULL) {
        status = dfrt_fail(error, DFRT_MEMORY, "no memory to open '%s'", path);
    } else {
        out->fd = open_path(path, stop_fd);
        if (out->fd < 0)
            status = dfrt_fail(error, errno == ECANCELED ? DFRT_END : DFRT_IO, "cannot create '%s': %s", path,
                               strerror(errno));
    }
    if (status != DFRT_OK) {
        free(out->path);
        free(out->buffer);
        *out = (dfrt_output){.fd = -1};
    }
    return status;
}

dfrt_status dfrt__output_open_peer(dfrt_output *out, struct dfrt__peer *peer, const char *title, dfrt_error *error)
{
    *out = (dfrt_output){.fd = -1, .path = strdup(title), .buffer = malloc(DFRT_OUTPUT_CAPACITY), .peer = peer};
    if (out->path != NULL && out->buffer != NULL) return DFRT_OK;
    dfrt__peer_close(peer);
    free(out->path);
    free(out->buffer);
    *out = (dfrt_output){.fd = -1};
    return dfrt_fail(error, DFRT_MEMORY, "no memory to open '%s'", title);
}

/* Standard output may be a pipe that somebody made non-blocking; then we wait for its reader here. */
static bool wait_writable(int fd)
{
    struct pollfd ask = {.fd = fd, .events = POLLOUT};
    int answer;
    do answer = poll(&ask, 1, -1);
    while (answer < 0 && errno == EINTR);
    return answer > 0;
}

static void write_all(dfrt_output *out, const char *data, size_t size)
{
    if (out->peer != NULL) {
        if (out->failure == 0) out->failure = dfrt__peer_write(out->peer, data, size);
        return;
    }
    while (size > 0 && out->failure == 0) {
        ssize_t done = write(out->fd, data, size);
        if (done >= 0) {
            data += done;
            size -= (size_t)done;
            out->written += (uint64_t)done;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_writable(out->fd)) out->failure = errno;
        } else if (errno != EINTR) {
            out->failure = errno;
        }
    }
}

void dfrt__output_drain(dfrt_output *out)
{
    write_all(out, out->buffer, out->used);
    out->used = 0;
}

void dfrt__output_put_long(dfrt_output *out, const char *data, size_t size)
{
    dfrt__output_drain(out);
    if (size >= DFRT_OUTPUT_CAPACITY) {
        write_all(out, data, size);
        return;
    }
    memcpy(out->buffer, data, size);
    out->used = size;
}

bool dfrt__output_needs_quotes(const char *data, size_t size)
{
    /* Most bytes are letters and digits, above all four of LF, CR, quote and comma. */
    for (size_t i = 0; i < size; i++) {
        char c = data[i];
        if ((unsigned char)c <= ',' && (c == ',' || c == '"' || c == '\n' || c == '\r')) return true;
    }
    return false;
}

void dfrt__output_put_quoted(dfrt_output *out, const char *data, size_t size)
{
    dfrt_put_char(out, '"');
    while (size > 0) {
        const char *quote = memchr(data, '"', size);
        size_t run = quote == NULL ? size : (size_t)(quote - data) + 1;
        dfrt_put_bytes(out, data, run);
        if (quote != NULL) dfrt_put_char(out, '"');
        data += run;
        size -= run;
    }
    dfrt_put_char(out, '"');
}

static dfrt_status answer(const dfrt_output *out, dfrt_error *error)
{
    if (out->failure == 0) return DFRT_OK;
    const char *name = strcmp(out->path, "-") == 0 ? "standard output" : out->path;
    const char *why = out->failure == ECANCELED ? "nobody took it before the program ended" : strerror(out->failure);
    return dfrt_fail(error, DFRT_IO, "cannot write '%s': %s", name, why);
}

dfrt_status dfrt_output_flush(dfrt_output *out, dfrt_error *error)
{
    dfrt__output_drain(out);
    return answer(out, error);
}

dfrt_status dfrt_output_close(dfrt_output *out, dfrt_error *error)
{
    if (out->buffer == NULL) return DFRT_OK;
    dfrt__output_drain(out);
    if (out->peer != NULL && out->failure == 0) out->failure = dfrt__peer_finish(out->peer);
    /* Some file systems report a full disk only here. EINTR leaves the descriptor closed on Linux. */
    if (out->fd > STDERR_FILENO && close(out->fd) != 0 && errno != EINTR && out->failure == 0) out->failure = errno;
    dfrt_status status = answer(out, error);
    dfrt__peer_close(out->peer);
    free(out->path);
    free(out->buffer);
    *out = (dfrt_output){.fd = -1};
    return status;
}
