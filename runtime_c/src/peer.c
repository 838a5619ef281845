#define _GNU_SOURCE
#include "peer.h"

#include <dfrt/monitor.h>

#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_ROWS = 16384, GRACE_MS = 5000, LOOK_MS = 100 };
enum { FINISH_MS = 2000, FINISH_LOOK_MS = 20, MOST_UNREAD = 64 };

struct dfrt__peer {
    dfrt_endpoint *endpoint;
    int fd;      /* the connection, or -1 */
    int stop_fd;
    bool unix_socket;
    int waited_ms; /* since the program was told to stop */
    char *greeting;
    size_t greeting_size;
    size_t *rows; /* where rows begin in what is written next */
    size_t row_count;
    bool greeted;
    bool dropping; /* the rest of a row is left out: its beginning went to a connection that is gone */
    uint64_t cut;
};

dfrt_status dfrt__peer_greet(dfrt__peer *peer, dfrt_slice greeting, dfrt_error *error)
{
    peer->greeting = malloc(greeting.size + 1);
    if (peer->greeting == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for a header");
    memcpy(peer->greeting, greeting.data, greeting.size);
    peer->greeting_size = greeting.size;
    return DFRT_OK;
}

bool dfrt__peer_row(dfrt__peer *peer, size_t offset)
{
    if (peer->row_count == MOST_ROWS) return false;
    peer->rows[peer->row_count++] = offset;
    return true;
}

/* --- waiting --- */

static bool told_to_stop(const dfrt__peer *peer)
{
    struct pollfd ask = {.fd = peer->stop_fd, .events = POLLIN};
    return peer->stop_fd >= 0 && poll(&ask, 1, 0) > 0;
}

/* 0 when fd is ready; ECANCELED when the program is to stop and its patience is used up. */
static int await(dfrt__peer *peer, int fd, short events)
{
    for (;;) {
        struct pollfd ask = {.fd = fd, .events = events};
        int answer = poll(&ask, 1, LOOK_MS);
        if (answer > 0) return 0;
        if (answer < 0 && errno != EINTR) return errno;
        if (!told_to_stop(peer)) continue;
        peer->waited_ms += LOOK_MS;
        if (peer->waited_ms >= GRACE_MS) return ECANCELED;
    }
}

/* --- sending --- */

/* How many bytes were sent before `code` (0: all of them) was in the way. */
static size_t send_some(dfrt__peer *peer, const char *data, size_t size, int *code)
{
    size_t sent = 0;
    *code = 0;
    while (sent < size && *code == 0) {
        ssize_t done = send(peer->fd, data + sent, size - sent, MSG_NOSIGNAL);
        if (done >= 0) sent += (size_t)done;
        else if (errno == EAGAIN || errno == EWOULDBLOCK) *code = await(peer, peer->fd, POLLOUT);
        else if (errno != EINTR) *code = errno;
    }
    return sent;
}

static int connect_peer(dfrt__peer *peer, dfrt_error *error)
{
    int code = 0;
    while (peer->fd < 0 && code == 0) {
        dfrt_status status = dfrt_endpoint_take(peer->endpoint, &peer->fd, error);
        if (status == DFRT_AGAIN) code = await(peer, dfrt_endpoint_poll_fd(peer->endpoint), POLLIN);
        else if (status != DFRT_OK) code = ENOTCONN;
    }
    return code;
}

static int greet(dfrt__peer *peer)
{
    int code = 0;
    if (!peer->greeted) (void)send_some(peer, peer->greeting, peer->greeting_size, &code);
    peer->greeted = true;
    return code;
}

/* Nothing is to be written yet, but whoever is there gets the header. */
static int greet_early(dfrt__peer *peer)
{
    dfrt_error error;
    if (peer->fd < 0 && dfrt_endpoint_take(peer->endpoint, &peer->fd, &error) != DFRT_OK) return 0;
    (void)greet(peer); /* a loss shows at the first row */
    return 0;
}

/* Where the row begins that was cut at `sent`; what lies before the first row is the rest of an earlier one. */
static size_t resume_at(dfrt__peer *peer, size_t sent, size_t size)
{
    size_t i = 0;
    while (i < peer->row_count && peer->rows[i] <= sent) i++;
    if (i > 0) return peer->rows[i - 1];
    peer->cut += !peer->dropping;
    peer->dropping = true;
    return peer->row_count > 0 ? peer->rows[0] : size;
}

/* After a loss: true when there is to be another connection. */
static bool lose(dfrt__peer *peer, const char *why)
{
    (void)close(peer->fd);
    peer->fd = -1;
    peer->greeted = false;
    return dfrt_endpoint_lost(peer->endpoint, why, true);
}

/* The connection may have been lost while it was being made, or at any byte. */
static int write_all(dfrt__peer *peer, const char *data, size_t size)
{
    size_t at = peer->dropping ? resume_at(peer, 0, size) : 0;
    while (at < size) {
        dfrt_error error; /* says no more than the code: who does not try again was connected when it was opened */
        int code = peer->fd < 0 ? connect_peer(peer, &error) : 0;
        if (code == 0) code = greet(peer);
        if (code == 0) at += send_some(peer, data + at, size - at, &code);
        if (code == 0) break;
        if (code == ECANCELED || peer->fd < 0 || !lose(peer, strerror(code))) return code;
        at = resume_at(peer, at, size);
    }
    return 0;
}

int dfrt__peer_write(dfrt__peer *peer, const char *data, size_t size)
{
    int code = size == 0 ? greet_early(peer) : write_all(peer, data, size);
    if (peer->row_count > 0) peer->dropping = false;
    peer->row_count = 0;
    return code;
}

/* --- opening and closing --- */

dfrt_status dfrt__peer_open(dfrt__peer **out, const char *name, const dfrt_endpoint_spec *spec, int stop_fd,
                            bool quiet, dfrt_error *error)
{
    dfrt__peer *peer = *out = calloc(1, sizeof *peer);
    if (peer == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", spec->address);
    peer->fd = -1;
    peer->stop_fd = stop_fd;
    peer->unix_socket = spec->unix_socket;
    peer->rows = calloc(MOST_ROWS, sizeof *peer->rows);
    dfrt_status status = peer->rows == NULL ? dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", spec->address)
                                            : dfrt_endpoint_open(&peer->endpoint, name, spec, quiet, error);
    /* Without a second attempt the first one tells whether there is any sense in beginning. */
    peer->waited_ms = GRACE_MS; /* nothing is there yet that would be lost */
    if (status == DFRT_OK && !spec->listen && !spec->retry && connect_peer(peer, error) != 0)
        status = told_to_stop(peer) ? dfrt_fail(error, DFRT_END, "stopped while connecting to '%s'", spec->address)
                                    : DFRT_IO;
    peer->waited_ms = 0;
    if (status == DFRT_OK) return DFRT_OK;
    dfrt__peer_close(peer);
    *out = NULL;
    return status;
}

/* Unread bytes at close would make the system throw away what the other side has not read yet. True at their end; `code`
 * is 0, or the error that the connection has. */
static bool take_unread(int fd, int *code)
{
    char unread[4096];
    ssize_t got = 1;
    socklen_t size = sizeof *code;
    /* Behind the end of what the other side says, only this knows of a reset. */
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, code, &size) != 0) *code = errno;
    if (*code != 0) return true;
    for (int i = 0; i < MOST_UNREAD && got > 0; i++) got = recv(fd, unread, sizeof unread, MSG_DONTWAIT);
    if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) *code = errno;
    return got == 0;
}

/* Bytes that are still with us: over a Unix socket those that the other side has not read, over TCP those that its system
 * has not got. -1 when the system does not say. */
static int outstanding(int fd)
{
    int bytes;
    return ioctl(fd, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

/* A reader who leaves with rows unread resets the connection. Over TCP one who has them all is known by his hanging up. */
static int await_end(int fd, bool unix_socket)
{
    uint64_t until = dfrt_now_ns() + (uint64_t)FINISH_MS * 1000000;
    bool ended = false;
    (void)shutdown(fd, SHUT_WR); /* fails only for a connection that is gone, of which we hear below */
    for (;;) {
        int code, left = outstanding(fd); /* asked first: who resets forgets it after telling */
        ended = take_unread(fd, &code) || ended;
        if (code != 0) return code;
        if ((left == 0 && (ended || unix_socket)) || (left < 0 && ended) || dfrt_now_ns() >= until) return 0;
        struct pollfd ask = {.fd = ended ? -1 : fd, .events = POLLIN};
        (void)poll(&ask, 1, FINISH_LOOK_MS); /* interrupted or not: we look again */
    }
}

int dfrt__peer_finish(dfrt__peer *peer)
{
    int code = peer->fd < 0 ? 0 : await_end(peer->fd, peer->unix_socket);
    return code != 0 && dfrt_endpoint_lost_at_end(peer->endpoint, strerror(code)) ? 0 : code;
}

static void hang_up(int fd)
{
    int ignored; /* who wanted to know has asked before */
    (void)shutdown(fd, SHUT_WR);
    (void)take_unread(fd, &ignored);
    (void)close(fd);
}

void dfrt__peer_close(dfrt__peer *peer)
{
    if (peer == NULL) return;
    if (peer->cut > 0)
        (void)fprintf(stderr, "%s: %" PRIu64 " long row%s cut off by a lost connection\n",
                      dfrt_endpoint_title(peer->endpoint), peer->cut, peer->cut == 1 ? " was" : "s were");
    if (peer->fd >= 0) hang_up(peer->fd);
    dfrt_endpoint_close(peer->endpoint);
    free(peer->greeting);
    free(peer->rows);
    free(peer);
}
