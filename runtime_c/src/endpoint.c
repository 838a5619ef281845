/* One epoll descriptor stands for whatever is waited for: a caller, an answer, the end of a pause, the next bytes. */
#define _GNU_SOURCE
#include <dfrt/endpoint.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "listener.h"

enum { FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 5000 };

typedef enum endpoint_state {
    LISTENING,  /* the listener waits for a caller */
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
    dfrt__listener listener;
    char *name, *title;
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
    *fd = accept4(endpoint->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (*fd >= 0) {
        unwatch(endpoint, endpoint->listener.fd); /* the next caller waits in the queue */
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

static void tell_loss(const dfrt_endpoint *endpoint, const char *why, const char *what_now)
{
    (void)fprintf(stderr, "%s: the connection %s %s has ended: %s%s\n", endpoint->name,
                  endpoint->listens ? "on" : "to", endpoint->title, why, what_now);
}

bool dfrt_endpoint_lost_at_end(const dfrt_endpoint *endpoint, const char *why)
{
    tell_loss(endpoint, why, "; rows that it had not read are lost");
    return endpoint->retry;
}

bool dfrt_endpoint_lost(dfrt_endpoint *endpoint, const char *why, bool useful)
{
    tell_loss(endpoint, why,
              !endpoint->retry    ? ""
              : endpoint->listens ? "; waiting for the next"
                                  : "; trying again");
    if (!endpoint->retry) return false;
    if (endpoint->listens) {
        endpoint->state = LISTENING;
        return watch(endpoint, endpoint->listener.fd, EPOLLIN);
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

static dfrt_status begin_listening(dfrt_endpoint *endpoint, dfrt_error *error)
{
    endpoint->state = LISTENING;
    dfrt_status status = dfrt__listener_open(&endpoint->listener, &endpoint->address, endpoint->title, error);
    if (status != DFRT_OK) return status;
    free(endpoint->title);
    endpoint->title = strdup(endpoint->listener.title);
    if (endpoint->title == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", endpoint->listener.title);
    if (!watch(endpoint, endpoint->listener.fd, EPOLLIN))
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
    if (spec->listen) return begin_listening(endpoint, error);
    status = begin_connecting(endpoint, error);
    return status == DFRT_AGAIN ? DFRT_OK : status;
}

dfrt_status dfrt_endpoint_open(dfrt_endpoint **out, const char *name, const dfrt_endpoint_spec *spec, bool quiet,
                               dfrt_error *error)
{
    dfrt_endpoint *endpoint = *out = calloc(1, sizeof *endpoint);
    if (endpoint == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", spec->address);
    endpoint->epoll = endpoint->timer = endpoint->fd = endpoint->listener.fd = -1;
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

void dfrt_endpoint_close(dfrt_endpoint *endpoint)
{
    if (endpoint == NULL) return;
    dfrt__listener_close(&endpoint->listener);
    if (endpoint->fd >= 0) (void)close(endpoint->fd);
    if (endpoint->timer >= 0) (void)close(endpoint->timer);
    if (endpoint->epoll >= 0) (void)close(endpoint->epoll);
    free(endpoint->name);
    free(endpoint->title);
    free(endpoint);
}
