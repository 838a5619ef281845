#define _GNU_SOURCE
#include <dfrt/input.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tests build with a small buffer, so that short files fill it often. */
#ifndef DFRT_INPUT_BYTES
#define DFRT_INPUT_BYTES (256 << 10)
#endif
enum { FIRST_CAPACITY = DFRT_INPUT_BYTES };

/* O_NONBLOCK: a named pipe must not hold us here until its writer comes; where poll says so we wait later. */
static dfrt_status open_path(dfrt_input *input, const char *path, dfrt_error *error)
{
    input->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (input->fd < 0)
        return dfrt_fail(error, errno == ENOENT ? DFRT_MISSING : DFRT_IO, "cannot open '%s': %s", path,
                         strerror(errno));
    struct stat about;
    if (fstat(input->fd, &about) != 0)
        return dfrt_fail(error, DFRT_IO, "cannot open '%s': %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode)) return dfrt_fail(error, DFRT_IO, "cannot open '%s': it is a directory", path);
    input->live = !S_ISREG(about.st_mode);
    input->named = S_ISFIFO(about.st_mode) && input->fd != STDIN_FILENO;
    /* Only advice: a refusal changes nothing but speed. */
    if (!input->live) (void)posix_fadvise(input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return DFRT_OK;
}

/* Everything but the descriptor. */
static dfrt_status new_input(dfrt_input **out, const char *path, size_t limit, dfrt_error *error)
{
    *out = NULL;
    dfrt_input *input = calloc(1, sizeof *input);
    if (input == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory to open '%s'", path);
    input->fd = -1;
    input->limit = limit > FIRST_CAPACITY ? limit : FIRST_CAPACITY;
    input->capacity = FIRST_CAPACITY;
    input->path = strdup(path);
    /* Zeroed once, so that the slack is never uninitialised memory. */
    input->buffer = calloc(1, FIRST_CAPACITY + DFRT_INPUT_SLACK);
    input->data = input->buffer;
    if (input->path == NULL || input->buffer == NULL) {
        dfrt_input_close(input);
        return dfrt_fail(error, DFRT_MEMORY, "no memory to open '%s'", path);
    }
    *out = input;
    return DFRT_OK;
}

dfrt_status dfrt_input_open(dfrt_input **out, const char *path, size_t limit, dfrt_error *error)
{
    dfrt_status status = new_input(out, path, limit, error);
    if (status == DFRT_OK) status = open_path(*out, path, error);
    if (status != DFRT_OK) {
        dfrt_input_close(*out);
        *out = NULL;
    }
    return status;
}

dfrt_status dfrt_input_adopt(dfrt_input **out, int fd, const char *name, size_t limit, dfrt_error *error)
{
    dfrt_status status = new_input(out, name, limit, error);
    if (status != DFRT_OK) return status;
    (*out)->fd = fd;
    (*out)->live = (*out)->framed = true;
    return DFRT_OK;
}

static dfrt_status grow(dfrt_input *input, dfrt_error *error)
{
    if (input->capacity >= input->limit) return DFRT_MALFORMED;
    size_t capacity = input->capacity > input->limit / 2 ? input->limit : input->capacity * 2;
    char *buffer = realloc(input->buffer, capacity + DFRT_INPUT_SLACK);
    if (buffer == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for a row of '%s'", input->path);
    memset(buffer + input->capacity, 0, capacity + DFRT_INPUT_SLACK - input->capacity);
    input->buffer = buffer;
    input->data = buffer;
    input->capacity = capacity;
    return DFRT_OK;
}

/* Room after the bytes: by moving them to the front, else by growing. */
static dfrt_status make_room(dfrt_input *input, dfrt_error *error)
{
    if (input->data != input->buffer) {
        memmove(input->buffer, input->data, input->size);
        input->data = input->buffer;
    }
    return input->size < input->capacity ? DFRT_OK : grow(input, error);
}

/* Another process may share the pipe's other settings, so we ask poll instead of trusting O_NONBLOCK. */
static bool ready_now(const dfrt_input *input)
{
    struct pollfd ask = {.fd = input->fd, .events = POLLIN};
    int answer;
    do answer = poll(&ask, 1, 0);
    while (answer < 0 && errno == EINTR);
    return answer != 0;
}

/* poll is silent about a named pipe whose last writer left before we opened it. Once it has brought something, a
 * read that does not block tells the end from a pause. */
static bool may_have_ended(const dfrt_input *input)
{
    return input->named && input->received;
}

static ssize_t read_some(dfrt_input *input, char *to, size_t size)
{
    return input->read != NULL ? input->read(input->read_context, to, size) : read(input->fd, to, size);
}

dfrt_status dfrt_input_fill(dfrt_input *input, dfrt_error *error)
{
    if (input->ended) return DFRT_END;
    dfrt_status status = make_room(input, error);
    if (status != DFRT_OK) return status;
    if (input->live && !ready_now(input) && !may_have_ended(input)) return DFRT_AGAIN;
    ssize_t got;
    do got = read_some(input, input->data + input->size, input->capacity - input->size);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) return DFRT_AGAIN;
        return dfrt_fail(error, DFRT_IO, "cannot read '%s': %s", input->path, strerror(errno));
    }
    input->ended = got == 0;
    input->received |= got > 0;
    input->size += (size_t)got;
    return got == 0 ? DFRT_END : DFRT_OK;
}

dfrt_status dfrt_wait_readable(int fd, int stop_fd)
{
    struct pollfd both[2] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    int answer;
    do answer = poll(both, 2, -1);
    while (answer < 0 && errno == EINTR);
    if (answer < 0) return DFRT_IO;
    return both[1].revents != 0 ? DFRT_END : DFRT_OK;
}

dfrt_status dfrt_input_wait(dfrt_input *input, int stop_fd)
{
    return input->live && !input->ended ? dfrt_wait_readable(input->fd, stop_fd) : DFRT_OK;
}

int dfrt_input_poll_fd(const dfrt_input *input)
{
    return input->live && !input->ended ? input->fd : -1;
}

bool dfrt_input_is_live(const dfrt_input *input)
{
    return input->live;
}

void dfrt_input_close(dfrt_input *input)
{
    if (input == NULL) return;
    if (input->fd > STDIN_FILENO) (void)close(input->fd); /* only read: nothing can be lost */
    free(input->buffer);
    free(input->path);
    free(input);
}
