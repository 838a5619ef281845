#define _GNU_SOURCE
#include "control_connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_http.h"
#include "dfrt/stage.h"
#include "dfrt/utf8.h"

enum { AT_ONCE = 8 }; /* requests of one caller before others have their turn */

void dfrt__connection_begin(dfrt__connection *connection, int fd, bool http, uint64_t now_ns)
{
    connection->phase = DFRT__ASKING;
    connection->fd = fd;
    connection->http = http;
    connection->last = connection->ended = connection->more = false;
    connection->answer = NULL;
    connection->answer_size = connection->sent = connection->size = 0;
    connection->since_ns = connection->used_ns = now_ns;
}

void dfrt__connection_close(dfrt__connection *connection)
{
    if (connection->phase == DFRT__FREE) {
        return;
    }
    (void)close(connection->fd); /* whatever was not read in time is lost on purpose */
    free(connection->answer);
    connection->answer = NULL;
    connection->more = false;
    connection->phase = DFRT__FREE;
}

short dfrt__connection_events(const dfrt__connection *connection)
{
    return connection->phase == DFRT__ANSWERING ? POLLOUT : POLLIN;
}

uint64_t dfrt__connection_deadline(const dfrt__connection *connection, uint64_t patience_ns, uint64_t idle_ns)
{
    bool idle = connection->phase == DFRT__ASKING && connection->size == 0 && !connection->http;
    return connection->since_ns + (idle ? idle_ns : patience_ns);
}

/* --- answers ------------------------------------------------------------------------------------------ */

static void leave(dfrt__connection *connection, uint64_t now_ns)
{
    /* Closing at once would throw away what the caller has not read, if he sent more than was looked at. */
    (void)shutdown(connection->fd, SHUT_WR);
    connection->phase = DFRT__LEAVING;
    connection->since_ns = now_ns;
    connection->size = 0;
}

static void send_answer(dfrt__connection *connection, uint64_t now_ns)
{
    while (connection->sent < connection->answer_size) {
        ssize_t done = send(connection->fd, connection->answer + connection->sent,
                            connection->answer_size - connection->sent, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return;
        }
        if (done < 0) {
            dfrt__connection_close(connection); /* the caller is gone */
            return;
        }
        connection->sent += (size_t)done;
    }
    free(connection->answer);
    connection->answer = NULL;
    connection->phase = DFRT__ASKING;
    connection->since_ns = now_ns;
    if (connection->last) {
        leave(connection, now_ns);
    }
}

static void answer_request(dfrt__connection *connection, const dfrt__responder *responder, const char *request,
                           uint64_t now_ns)
{
    connection->answer_size = connection->sent = 0;
    FILE *out = open_memstream(&connection->answer, &connection->answer_size);
    if (out == NULL) {
        dfrt_out_of_memory();
    }
    if (connection->http) {
        dfrt__http_answer(responder, request, out);
        connection->last = true;
    } else if (request == NULL) {
        (void)fprintf(out, "{\"ok\":false,\"error\":\"a request has at most %d bytes\"}\n", DFRT__MOST_REQUEST - 1);
        connection->last = true; /* where the next one would begin is not known */
    } else if (!dfrt_utf8_valid(request, strlen(request))) {
        (void)fputs("{\"ok\":false,\"error\":\"a request is a line of text\"}\n", out);
    } else {
        responder->answer(responder->context, request, out);
    }
    if (fclose(out) != 0) {
        dfrt_out_of_memory();
    }
    connection->phase = DFRT__ANSWERING;
    connection->since_ns = now_ns;
    send_answer(connection, now_ns);
}

/* --- requests ------------------------------------------------------------------------------------------ */

static void drop_bytes(dfrt__connection *connection, size_t count)
{
    connection->size -= count;
    memmove(connection->bytes, connection->bytes + count, connection->size);
}

/* As text: without the carriage return that some callers send; other control characters can't be part of any request. */
static void clean_line(char *line, size_t size)
{
    if (size > 0 && line[size - 1] == '\r') {
        line[--size] = '\0';
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)line[i];
        line[i] = c == '\t' ? ' ' : c < ' ' || c == 127 ? '\xff' : line[i]; /* 0xff is never part of UTF-8 */
    }
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " ")] == '\0';
}

/* True when a line was taken. */
static bool take_line(dfrt__connection *connection, const dfrt__responder *responder, uint64_t now_ns)
{
    char *end = memchr(connection->bytes, '\n', connection->size);
    size_t size = end == NULL ? connection->size : (size_t)(end - connection->bytes);
    if (size >= DFRT__MOST_REQUEST) {
        answer_request(connection, responder, NULL, now_ns);
        return true;
    }
    if (end == NULL) {
        return false;
    }
    char line[DFRT__MOST_REQUEST];
    memcpy(line, connection->bytes, size);
    line[size] = '\0';
    drop_bytes(connection, size + 1);
    connection->since_ns = now_ns;
    clean_line(line, size);
    if (!is_blank(line)) {
        answer_request(connection, responder, line, now_ns);
    }
    return true;
}

static bool take_http(dfrt__connection *connection, const dfrt__responder *responder, uint64_t now_ns)
{
    size_t size = dfrt__http_header_size(connection->bytes, connection->size);
    if (size == 0 && connection->size < sizeof connection->bytes) {
        return false;
    }
    char *end = memchr(connection->bytes, '\n', connection->size);
    if (size == 0 || end == NULL) {
        answer_request(connection, responder, NULL, now_ns);
        return true;
    }
    *end = '\0'; /* nothing but the first line says anything to us */
    answer_request(connection, responder, connection->bytes, now_ns);
    return true;
}

static bool take_request(dfrt__connection *connection, const dfrt__responder *responder, uint64_t now_ns)
{
    return connection->http ? take_http(connection, responder, now_ns) : take_line(connection, responder, now_ns);
}

/* --- bytes --------------------------------------------------------------------------------------------- */

/* False when there is nothing to be had, or the caller is gone. */
static bool read_bytes(dfrt__connection *connection, uint64_t now_ns)
{
    ssize_t count = recv(connection->fd, connection->bytes + connection->size,
                         sizeof connection->bytes - connection->size, MSG_DONTWAIT);
    if (count < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            dfrt__connection_close(connection);
        }
        return false;
    }
    if (count == 0) {
        connection->ended = true;
        return true;
    }
    connection->since_ns = connection->size == 0 ? now_ns : connection->since_ns;
    connection->used_ns = now_ns;
    connection->size += (size_t)count;
    return true;
}

static void discard_bytes(dfrt__connection *connection)
{
    ssize_t count = recv(connection->fd, connection->bytes, sizeof connection->bytes, MSG_DONTWAIT);
    bool later = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (count <= 0 && !later) {
        dfrt__connection_close(connection);
    }
}

void dfrt__connection_serve(dfrt__connection *connection, const dfrt__responder *responder, uint64_t now_ns)
{
    switch (connection->phase) {
    case DFRT__LEAVING: discard_bytes(connection); return;
    case DFRT__ANSWERING: send_answer(connection, now_ns); break;
    case DFRT__ASKING:
        if (!connection->more && !read_bytes(connection, now_ns)) {
            return;
        }
        break;
    default: return;
    }
    unsigned taken = 0;
    while (connection->phase == DFRT__ASKING && taken < AT_ONCE && take_request(connection, responder, now_ns)) {
        taken++;
    }
    connection->more = connection->phase == DFRT__ASKING && taken == AT_ONCE;
    if (connection->phase == DFRT__ASKING && connection->ended && !connection->more) {
        dfrt__connection_close(connection); /* half a request is none */
    }
}
