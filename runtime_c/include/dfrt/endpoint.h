/* Where connections come from: TCP and Unix sockets that listen or connect, one connection at a time, again after a
 * loss if that was asked for.
 *
 * A specification is ADDRESS or ADDRESS?KEY=VALUE&…, where %XX stands for any byte (a `?` in a path is %3F):
 *
 *     tcp   HOST:PORT, [IPV6]:PORT; a name is looked up once, when the endpoint is opened
 *     unix  the path of a socket; one that listens is made with owner-only rights and removed at the end
 *
 *     format=csv|jsonl|lines|binary   what travels, csv by default
 *     listen=true                     wait for the other side instead of connecting to it
 *     public=true                     listen beyond this machine; without it only loopback addresses are taken
 *     retry=true                      after a loss, or while nobody answers, try again: after 0.1 s, 0.2 s, … 5 s
 *     max_row=BYTES                   the longest row or line
 *
 * Threads:   one thread at a time uses an endpoint.
 * Ownership: a connection that was taken is the caller's to close. The endpoint owns its socket file.
 * Progress:  nothing waits, except for the lookup of a name; dfrt_endpoint_poll_fd says when to try again.
 */
#ifndef DFRT_ENDPOINT_H
#define DFRT_ENDPOINT_H

#include <dfrt/status.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct dfrt_endpoint dfrt_endpoint;

typedef enum dfrt_format { DFRT_FORMAT_CSV, DFRT_FORMAT_JSONL, DFRT_FORMAT_LINES, DFRT_FORMAT_BINARY } dfrt_format;

typedef struct dfrt_endpoint_spec {
    bool unix_socket;
    char *address; /* decoded; freed by dfrt_endpoint_spec_free */
    dfrt_format format;
    bool listen, exposed, retry;
    const char *exposed_by; /* the words that allow `exposed`, for messages; NULL: public=true */
    size_t max_row; /* 0: not said */
} dfrt_endpoint_spec;

/* True when the text begins with tcp: or unix:. */
bool dfrt_is_endpoint_spec(const char *text);
/* DFRT_USAGE, DFRT_MEMORY. */
dfrt_status dfrt_endpoint_spec_read(dfrt_endpoint_spec *out, const char *text, dfrt_error *error);
void dfrt_endpoint_spec_free(dfrt_endpoint_spec *spec);

/* `name` is what messages on stderr call its user; they tell about losses, and unless `quiet` also where it listens
 * and when it is connected again. DFRT_USAGE for an address that is none, or that reaches beyond this machine without
 * leave; DFRT_IO. Borrows name and spec. */
dfrt_status dfrt_endpoint_open(dfrt_endpoint **out, const char *name, const dfrt_endpoint_spec *spec, bool quiet,
                               dfrt_error *error);

/* DFRT_OK: *fd is a connection, which does not block. DFRT_AGAIN: not yet. DFRT_IO: the other side can't be reached,
 * and it is not to be tried again. */
dfrt_status dfrt_endpoint_take(dfrt_endpoint *endpoint, int *fd, dfrt_error *error);

/* The connection that was taken is closed, and tells why on stderr; `useful` when it has brought or taken something.
 * True when there will be another. */
bool dfrt_endpoint_lost(dfrt_endpoint *endpoint, const char *why, bool useful);

/* The last connection is lost with rows in it, and tells so on stderr. True when losses are what its user expects: he
 * asked for another attempt after each. */
bool dfrt_endpoint_lost_at_end(const dfrt_endpoint *endpoint, const char *why);

/* Readable when dfrt_endpoint_take may have an answer, or the connection that was taken can be read. */
int dfrt_endpoint_poll_fd(const dfrt_endpoint *endpoint);
/* What messages call the other side, or where it listens. */
const char *dfrt_endpoint_title(const dfrt_endpoint *endpoint);

void dfrt_endpoint_close(dfrt_endpoint *endpoint);

#endif
