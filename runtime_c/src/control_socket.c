#define _GNU_SOURCE
#include "control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dfrt/stage.h"
#include "listener.h"

enum { PATIENCE_MS = 10000, IDLE_MS = 600000, PAUSE_MS = 100 };
enum { WAKE, LINES, HTTP, FIRST_CALLER };

#define MS ((uint64_t)1000000)

struct dfrt__socket {
    dfrt__responder responder;
    dfrt__listener lines, http;
    int wake[2]; /* closing the second end tells the thread to leave */
    bool serving;
    pthread_t thread;
    uint64_t patience_ns, idle_ns;
    uint64_t paused_until_ns; /* no descriptors are left: callers wait */
    dfrt__connection connections[DFRT__MOST_CONNECTIONS];
};

/* --- callers ------------------------------------------------------------------------------------------- */

/* One that is free, else the one that was silent longest: whoever opens many and says nothing shuts nobody out. */
static dfrt__connection *make_room(dfrt__socket *server)
{
    dfrt__connection *oldest = &server->connections[0];
    for (unsigned i = 0; i < DFRT__MOST_CONNECTIONS; i++) {
        dfrt__connection *connection = &server->connections[i];
        if (connection->phase == DFRT__FREE) {
            return connection;
        }
        if (connection->used_ns < oldest->used_ns) {
            oldest = connection;
        }
    }
    dfrt__connection_close(oldest);
    return oldest;
}

/* All that wait, but not more than there is room for. */
static void take_callers(dfrt__socket *server, const dfrt__listener *listener, uint64_t now_ns)
{
    int fd = -1;
    for (unsigned i = 0; i < DFRT__MOST_CONNECTIONS; i++) {
        fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            break;
        }
        dfrt__connection_begin(make_room(server), fd, listener == &server->http, now_ns);
    }
    if (fd >= 0) {
        return;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        server->paused_until_ns = now_ns + PAUSE_MS * MS; /* the caller stays in the queue: poll would not wait */
    }
}

static void drop_late(dfrt__socket *server, uint64_t now_ns)
{
    for (unsigned i = 0; i < DFRT__MOST_CONNECTIONS; i++) {
        dfrt__connection *connection = &server->connections[i];
        if (connection->phase != DFRT__FREE &&
            dfrt__connection_deadline(connection, server->patience_ns, server->idle_ns) <= now_ns) {
            dfrt__connection_close(connection);
        }
    }
}

/* --- the thread ---------------------------------------------------------------------------------------- */

static uint64_t next_deadline(const dfrt__socket *server, uint64_t now_ns)
{
    uint64_t next = server->paused_until_ns > now_ns ? server->paused_until_ns : UINT64_MAX;
    for (unsigned i = 0; i < DFRT__MOST_CONNECTIONS; i++) {
        const dfrt__connection *connection = &server->connections[i];
        if (connection->phase != DFRT__FREE) {
            uint64_t at = connection->more ? now_ns : dfrt__connection_deadline(connection, server->patience_ns, server->idle_ns);
            next = at < next ? at : next;
        }
    }
    return next;
}

static int wait_ms(const dfrt__socket *server, uint64_t now_ns)
{
    uint64_t next = next_deadline(server, now_ns);
    if (next == UINT64_MAX) {
        return -1;
    }
    return next <= now_ns ? 0 : (int)((next - now_ns) / MS) + 1; /* at most IDLE_MS or what the options say */
}

static void ask(const dfrt__socket *server, struct pollfd *asked, uint64_t now_ns)
{
    bool open = server->paused_until_ns <= now_ns;
    asked[WAKE] = (struct pollfd){.fd = server->wake[0], .events = POLLIN};
    asked[LINES] = (struct pollfd){.fd = open ? server->lines.fd : -1, .events = POLLIN};
    asked[HTTP] = (struct pollfd){.fd = open ? server->http.fd : -1, .events = POLLIN};
    for (unsigned i = 0; i < DFRT__MOST_CONNECTIONS; i++) {
        const dfrt__connection *connection = &server->connections[i];
        bool used = connection->phase != DFRT__FREE;
        asked[FIRST_CALLER + i] = (struct pollfd){.fd = used ? connection->fd : -1,
                                                  .events = used ? dfrt__connection_events(connection) : (short)0};
    }
}

static void *serve(void *argument)
{
    dfrt__socket *server = argument;
    struct pollfd asked[FIRST_CALLER + DFRT__MOST_CONNECTIONS];
    do {
        uint64_t now_ns = dfrt_now_ns();
        ask(server, asked, now_ns);
        if (poll(asked, FIRST_CALLER + DFRT__MOST_CONNECTIONS, wait_ms(server, now_ns)) < 0) {
            asked[WAKE].revents = 0; /* EINTR, or no memory for a moment */
            continue;
        }
        now_ns = dfrt_now_ns();
        for (unsigned i = 0; i < DFRT__MOST_CONNECTIONS; i++) {
            if (asked[FIRST_CALLER + i].revents != 0 || server->connections[i].more) {
                dfrt__connection_serve(&server->connections[i], &server->responder, now_ns);
            }
        }
        drop_late(server, now_ns);
        if (asked[LINES].revents != 0) {
            take_callers(server, &server->lines, now_ns);
        }
        if (asked[HTTP].revents != 0) {
            take_callers(server, &server->http, now_ns);
        }
    } while (asked[WAKE].revents == 0);
    return NULL;
}

/* --- opening and closing ------------------------------------------------------------------------------- */

static dfrt_status open_listener(dfrt__listener *listener, const char *where, bool file, bool exposed,
                                 dfrt_error *error)
{
    dfrt_endpoint_spec spec = {.unix_socket = file, .listen = true, .exposed = exposed, .exposed_by = "--http-public"};
    dfrt__address address;
    spec.address = strdup(where);
    if (spec.address == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", where);
    }
    dfrt_status status = dfrt__address_read(&address, &spec, error);
    if (status == DFRT_OK) {
        status = dfrt__listener_open(listener, &address, where, error);
    }
    dfrt_endpoint_spec_free(&spec);
    return status;
}

/* Signals are for the threads that read the sources. */
static int start_thread(dfrt__socket *server)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    int code = pthread_sigmask(SIG_BLOCK, &all, &before);
    if (code == 0) {
        code = pthread_create(&server->thread, NULL, serve, server);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* what was in force before */
    }
    return code;
}

static dfrt_status begin_serving(dfrt__socket *server, const dfrt__socket_options *options, dfrt_error *error)
{
    dfrt_status status = DFRT_OK;
    if (options->path != NULL) {
        status = open_listener(&server->lines, options->path, true, false, error);
    }
    if (status == DFRT_OK && options->http != NULL) {
        status = open_listener(&server->http, options->http, false, options->exposed, error);
    }
    if (status != DFRT_OK) {
        return status;
    }
    if (pipe2(server->wake, O_CLOEXEC) != 0) {
        server->wake[0] = server->wake[1] = -1;
        return dfrt_fail(error, DFRT_IO, "no pipe for the control socket: %s", strerror(errno));
    }
    int code = start_thread(server);
    server->serving = code == 0;
    return code == 0 ? DFRT_OK : dfrt_fail(error, DFRT_IO, "no thread for the control socket: %s", strerror(code));
}

dfrt_status dfrt__socket_open(dfrt__socket **out, const dfrt__socket_options *options, const dfrt__responder *responder,
                              dfrt_error *error)
{
    dfrt__socket *server = *out = calloc(1, sizeof *server);
    if (server == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for the control socket");
    }
    server->responder = *responder;
    server->lines.fd = server->http.fd = server->wake[0] = server->wake[1] = -1;
    server->patience_ns = (options->patience_ms > 0 ? options->patience_ms : PATIENCE_MS) * MS;
    server->idle_ns = (options->idle_ms > 0 ? options->idle_ms : IDLE_MS) * MS;
    dfrt_status status = begin_serving(server, options, error);
    if (status != DFRT_OK) {
        dfrt__socket_close(server);
        *out = NULL;
    }
    return status;
}

const char *dfrt__socket_http(const dfrt__socket *server)
{
    return server->http.title;
}

void dfrt__socket_close(dfrt__socket *server)
{
    if (server == NULL) {
        return;
    }
    if (server->wake[1] >= 0) {
        (void)close(server->wake[1]); /* poll sees the end of the pipe */
    }
    if (server->serving) {
        (void)pthread_join(server->thread, NULL); /* fails only for a thread that is not ours */
    }
    for (unsigned i = 0; i < DFRT__MOST_CONNECTIONS; i++) {
        dfrt__connection_close(&server->connections[i]);
    }
    dfrt__listener_close(&server->lines);
    dfrt__listener_close(&server->http);
    if (server->wake[0] >= 0) {
        (void)close(server->wake[0]);
    }
    free(server);
}
