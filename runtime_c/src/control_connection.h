/* One connection of the control socket: bytes come in, requests are cut out of them, answers go out.
 *
 * Threads:   the server's thread only.
 * Ownership: a connection owns its descriptor and the answer on its way.
 * Progress:  nothing waits; whatever a caller does, a connection holds a bounded number of bytes for a bounded time.
 */
#ifndef DFRT_SRC_CONTROL_CONNECTION_H
#define DFRT_SRC_CONTROL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Who answers. Called by the server's thread, one call at a time. */
typedef struct dfrt__responder {
    void *context;
    /* One request, one line: text without control characters, not empty. What is written is one whole answer. */
    void (*answer)(void *context, const char *request, FILE *out);
    /* Metrics in Prometheus' text format. */
    void (*metrics)(void *context, FILE *out);
    bool (*healthy)(void *context);
} dfrt__responder;

enum {
    DFRT__MOST_REQUEST = 4096, /* bytes of a line with its end */
    DFRT__MOST_HEADER = 8192,  /* bytes of an HTTP request up to its empty line */
};

typedef enum dfrt__connection_phase {
    DFRT__FREE,
    DFRT__ASKING,    /* waits for a request, or for the rest of one */
    DFRT__ANSWERING, /* an answer is on its way: no further request is looked at */
    DFRT__LEAVING,   /* all is said: waits until the caller has read it and hangs up */
} dfrt__connection_phase;

typedef struct dfrt__connection {
    dfrt__connection_phase phase;
    int fd;
    bool http;
    bool last;     /* leaves after the answer on its way */
    bool ended;    /* the caller sends no more */
    bool more;     /* requests may be waiting in `bytes`: it is to be served again though nothing new came */
    char *answer;
    size_t answer_size, sent;
    uint64_t since_ns; /* of the phase, or of the first byte of an unfinished request */
    uint64_t used_ns;  /* when a byte was last read */
    size_t size;
    char bytes[DFRT__MOST_HEADER];
} dfrt__connection;

void dfrt__connection_begin(dfrt__connection *connection, int fd, bool http, uint64_t now_ns);
/* The descriptor is ready for what dfrt__connection_events asked for, or there is `more`. Answers a few requests, so that
 * nobody who sends many keeps others waiting. */
void dfrt__connection_serve(dfrt__connection *connection, const dfrt__responder *responder, uint64_t now_ns);
/* What poll is to look for. */
short dfrt__connection_events(const dfrt__connection *connection);
/* When the caller's time is up, if he does nothing. */
uint64_t dfrt__connection_deadline(const dfrt__connection *connection, uint64_t patience_ns, uint64_t idle_ns);
void dfrt__connection_close(dfrt__connection *connection);

#endif
