/* One epoll descriptor stands for whatever is waited for: a caller, an answer, the end of a pause, the next bytes. */
#define _GNU_SOURCE
#include <dfrt/endpoint.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "socket_address.h"

enum { FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 5000 };

typedef enum endpoint_state {
    LISTENING,  /* `fd` listens */
    CONNECTING, /* `fd` waits for an answer */
    PAUSING,    /* `timer` runs until the next attempt */
    TAKEN,      /* a connection is out */
} endpoint_state;

struct dfrt_endpoint {
    endpoint_state state;
    dfrt__address address;
    bool listens, retry, quiet, unix_socket;
    bool complained; /* about an attempt that failed: once is enough */
    int epoll, timer, fd;
    int pause_ms;
    char *name, *title, *path; /* path: of a socket file that we made, else NULL */
    dev_t device;
    ino_t inode;
};

/* --- what epoll looks at --- */

static bool watch(dfrt_endpoint *endpoint, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events};
    return epoll_ctl(endpoint->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void unwatch(dfrt_endpoint *endpoint, int fd)
{
    (void)epoll_ctl(endpoint->epoll, EPOLL_CTL_DEL, fd, NULL); /* fails only for what is not there */
}

/* --- connecting --- */

static void pause_then_try(dfrt_endpoint *endpoint)
{
    struct itimerspec when = {.it_value = {.tv_sec = endpoint->pause_ms / 1000,
                                           .tv_nsec = (long)(endpoint->pause_ms % 1000) * 1000000}};
    (void)timerfd_settime(endpoint->timer, 0, &when, NULL); /* the arguments are right, so it can't fail */
    (void)watch(endpoint, endpoint->timer, EPOLLIN);
    endpoint->state = PAUSING;
    endpoint->pause_ms = endpoint->pause_ms * 2 < LONGEST_PAUSE_MS ? endpoint->pause_ms * 2 : LONGEST_PAUSE_MS;
}

static dfrt_status attempt_failed(dfrt_endpoint *endpoint, int code, dfrt_error *error)
{
    if (endpoint->fd >= 0) (void)close(endpoint->fd); /* never connected */
    endpoint->fd = -1;
    if (!endpoint->retry)
        return dfrt_fail(error, DFRT_IO, "cannot connect to %s: %s", endpoint->title, strerror(code));
    if (!endpoint->complained)
        (void)fprintf(stderr, "%s: cannot connect to %s: %s; trying again\n", endpoint->name, endpoint->title,
                      strerror(code));
    endpoint->complained = true;
    pause_then_try(endpoint);
    return DFRT_AGAIN;
}

static dfrt_status begin_connecting(dfrt_endpoint *endpoint, dfrt_error *error)
{
    endpoint->state = CONNECTING;
    endpoint->fd = dfrt__address_socket(&endpoint->address);
    if (endpoint->fd < 0) return attempt_failed(endpoint, errno, error);
    int answer;
    do answer = connect(endpoint->fd, (const struct sockaddr *)&endpoint->address.storage, endpoint->address.size);
    while (answer != 0 && errno == EINTR);
    if (answer != 0 && errno != EINPROGRESS && errno != EALREADY) return attempt_failed(endpoint, errno, error);
    if (!watch(endpoint, endpoint->fd, EPOLLOUT)) return attempt_failed(endpoint, errno, error);
    return DFRT_AGAIN;
}

static bool is_ready(const dfrt_endpoint *endpoint)
{
    struct epoll_event event;
    int answer;
    do answer = epoll_wait(endpoint->epoll, &event, 1, 0);
    while (answer < 0 && errno == EINTR);
    return answer != 0;
}

/* --- handing out --- */

static void hand_out(dfrt_endpoint *endpoint, int fd)
{
    int on = 1;
    /* Results are sent as they come; a machine that vanished is noticed some day. A refusal changes no result. */
    if (!endpoint->unix_socket) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    (void)watch(endpoint, fd, EPOLLIN | EPOLLRDHUP);
    if (endpoint->complained && !endpoint->quiet)
        (void)fprintf(stderr, "%s: connected to %s\n", endpoint->name, endpoint->title);
    endpoint->complained = false;
    endpoint->state = TAKEN;
}

static dfrt_status take_answer(dfrt_endpoint *endpoint, int *fd, dfrt_error *error)
{
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(endpoint->fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
    if (code != 0) return attempt_failed(endpoint, code, error);
    unwatch(endpoint, endpoint->fd);
    *fd = endpoint->fd;
    endpoint->fd = -1;
    hand_out(endpoint, *fd);
    return DFRT_OK;
}

static dfrt_status take_caller(dfrt_endpoint *endpoint, int *fd, dfrt_error *error)
{
    *fd = accept4(endpoint->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (*fd >= 0) {
        unwatch(endpoint, endpoint->fd); /* the next caller waits in the queue */
        hand_out(endpoint, *fd);
        return DFRT_OK;
    }
    /* A caller who left again is no failure, and neither is a lack of descriptors while there is hope. */
    if (errno == EMFILE || errno == ENFILE || errno == EBADF || errno == EINVAL)
        return dfrt_fail(error, DFRT_IO, "cannot accept a connection on %s: %s", endpoint->title, strerror(errno));
    return DFRT_AGAIN;
}

dfrt_status dfrt_endpoint_take(dfrt_endpoint *endpoint, int *fd, dfrt_error *error)
{
    *fd = -1;
    if (!is_ready(endpoint)) return DFRT_AGAIN;
    switch (endpoint->state) {
    case LISTENING: return take_caller(endpoint, fd, error);
    case CONNECTING: return take_answer(endpoint, fd, error);
    case PAUSING: unwatch(endpoint, endpoint->timer); return begin_connecting(endpoint, error);
    default: return DFRT_AGAIN;
    }
}

bool dfrt_endpoint_lost(dfrt_endpoint *endpoint, const char *why, bool useful)
{
    (void)fprintf(stderr, "%s: the connection %s %s has ended: %s%s\n", endpoint->name,
                  endpoint->listens ? "on" : "to", endpoint->title, why,
                  !endpoint->retry    ? ""
                  : endpoint->listens ? "; waiting for the next"
                                      : "; trying again");
    if (!endpoint->retry) return false;
    if (endpoint->listens) {
        endpoint->state = LISTENING;
        return watch(endpoint, endpoint->fd, EPOLLIN);
    }
    endpoint->complained = true; /* so that the next success is told */
    if (useful) endpoint->pause_ms = FIRST_PAUSE_MS;
    pause_then_try(endpoint);
    return true;
}

int dfrt_endpoint_poll_fd(const dfrt_endpoint *endpoint)
{
    return endpoint->epoll;
}

const char *dfrt_endpoint_title(const dfrt_endpoint *endpoint)
{
    return endpoint->title;
}

/* --- opening and closing --- */

/* With port 0 the system chooses: the title says what it chose. */
static dfrt_status name_port(dfrt_endpoint *endpoint, dfrt_error *error)
{
    dfrt__address bound = {.size = sizeof bound.storage};
    char host[INET6_ADDRSTRLEN];
    if (getsockname(endpoint->fd, (struct sockaddr *)&bound.storage, &bound.size) != 0)
        return dfrt_fail(error, DFRT_IO, "cannot listen on '%s': %s", endpoint->title, strerror(errno));
    const struct sockaddr_in *four = (const struct sockaddr_in *)&bound.storage;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&bound.storage;
    bool is_four = bound.storage.ss_family == AF_INET;
    const void *number = is_four ? (const void *)&four->sin_addr : (const void *)&six->sin6_addr;
    char *title;
    if (inet_ntop(bound.storage.ss_family, number, host, sizeof host) == NULL ||
        asprintf(&title, is_four ? "%s:%u" : "[%s]:%u", host, ntohs(is_four ? four->sin_port : six->sin6_port)) < 0)
        return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", endpoint->title);
    free(endpoint->title);
    endpoint->title = title;
    return DFRT_OK;
}

/* So that only our own file is removed at the end, not one that somebody put in its place. */
static dfrt_status remember_file(dfrt_endpoint *endpoint, const char *path, dfrt_error *error)
{
    struct stat about;
    endpoint->path = strdup(path);
    if (endpoint->path == NULL || lstat(path, &about) != 0)
        return dfrt_fail(error, DFRT_IO, "cannot listen on '%s': %s", path, strerror(errno));
    endpoint->device = about.st_dev;
    endpoint->inode = about.st_ino;
    return DFRT_OK;
}

static dfrt_status begin_listening(dfrt_endpoint *endpoint, const dfrt_endpoint_spec *spec, dfrt_error *error)
{
    endpoint->state = LISTENING;
    endpoint->fd = dfrt__address_socket(&endpoint->address);
    if (endpoint->fd < 0) return dfrt_fail(error, DFRT_IO, "no socket for '%s': %s", spec->address, strerror(errno));
    dfrt_status status = dfrt__address_listen(&endpoint->address, endpoint->fd, endpoint->title, error);
    if (status != DFRT_OK) return status;
    status = spec->unix_socket ? remember_file(endpoint, spec->address, error) : name_port(endpoint, error);
    if (status != DFRT_OK) return status;
    if (!watch(endpoint, endpoint->fd, EPOLLIN))
        return dfrt_fail(error, DFRT_IO, "cannot wait for '%s': %s", endpoint->title, strerror(errno));
    if (!endpoint->quiet) (void)fprintf(stderr, "%s: listening on %s\n", endpoint->name, endpoint->title);
    return DFRT_OK;
}

static dfrt_status begin(dfrt_endpoint *endpoint, const char *name, const dfrt_endpoint_spec *spec, dfrt_error *error)
{
    endpoint->name = strdup(name);
    endpoint->title = strdup(spec->address);
    if (endpoint->name == NULL || endpoint->title == NULL)
        return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", spec->address);
    dfrt_status status = dfrt__address_read(&endpoint->address, spec, error);
    if (status != DFRT_OK) return status;
    endpoint->epoll = epoll_create1(EPOLL_CLOEXEC);
    endpoint->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (endpoint->epoll < 0 || endpoint->timer < 0)
        return dfrt_fail(error, DFRT_IO, "no descriptors for '%s': %s", spec->address, strerror(errno));
    if (spec->listen) return begin_listening(endpoint, spec, error);
    status = begin_connecting(endpoint, error);
    return status == DFRT_AGAIN ? DFRT_OK : status;
}

dfrt_status dfrt_endpoint_open(dfrt_endpoint **out, const char *name, const dfrt_endpoint_spec *spec, bool quiet,
                               dfrt_error *error)
{
    dfrt_endpoint *endpoint = *out = calloc(1, sizeof *endpoint);
    if (endpoint == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", spec->address);
    endpoint->epoll = endpoint->timer = endpoint->fd = -1;
    endpoint->listens = spec->listen;
    endpoint->retry = spec->retry;
    endpoint->unix_socket = spec->unix_socket;
    endpoint->quiet = quiet;
    endpoint->pause_ms = FIRST_PAUSE_MS;
    dfrt_status status = begin(endpoint, name, spec, error);
    if (status == DFRT_OK) return DFRT_OK;
    dfrt_endpoint_close(endpoint);
    *out = NULL;
    return status;
}

static void remove_file(const dfrt_endpoint *endpoint)
{
    struct stat about;
    if (endpoint->path != NULL && lstat(endpoint->path, &about) == 0 && about.st_dev == endpoint->device &&
        about.st_ino == endpoint->inode)
        (void)unlink(endpoint->path); /* a file that stays behind is taken over by the next */
}

void dfrt_endpoint_close(dfrt_endpoint *endpoint)
{
    if (endpoint == NULL) return;
    remove_file(endpoint);
    if (endpoint->fd >= 0) (void)close(endpoint->fd);
    if (endpoint->timer >= 0) (void)close(endpoint->timer);
    if (endpoint->epoll >= 0) (void)close(endpoint->epoll);
    free(endpoint->name);
    free(endpoint->title);
    free(endpoint->path);
    free(endpoint);
}
