/* Where a running program answers: requests by line on a Unix socket that only its owner may open, and, if asked for,
 * metrics by HTTP on an address of this machine.
 *
 * Threads:   opened and closed by main; one thread of its own serves all connections and calls the responder.
 * Ownership: the server owns its descriptors and the socket's file, which it removes when it is closed; the responder
 *            must outlive it.
 * Progress:  the thread waits in poll only: a caller who is slow, silent, or talks nonsense costs his own connection. When
 *            all connections are in use, the one that was silent longest makes room.
 */
#ifndef DFRT_SRC_CONTROL_SOCKET_H
#define DFRT_SRC_CONTROL_SOCKET_H

#include "control_connection.h"
#include "dfrt/status.h"

enum { DFRT__MOST_CONNECTIONS = 32 };

typedef struct dfrt__socket_options {
    const char *path;    /* of the Unix socket; NULL: none */
    const char *http;    /* HOST:PORT; NULL: none. Port 0: the system chooses */
    bool exposed;        /* HTTP beyond this machine is allowed */
    unsigned patience_ms; /* for the rest of a request, and for an answer to be read; 0: 10 seconds */
    unsigned idle_ms;     /* between two requests; 0: 10 minutes */
} dfrt__socket_options;

typedef struct dfrt__socket dfrt__socket;

/* A file that a dead program left is taken over; that of a living one, and any other file, is left alone. */
dfrt_status dfrt__socket_open(dfrt__socket **out, const dfrt__socket_options *options, const dfrt__responder *responder,
                              dfrt_error *error);
/* HOST:PORT where HTTP is served, with the port that was chosen; NULL: nowhere. */
const char *dfrt__socket_http(const dfrt__socket *server);
void dfrt__socket_close(dfrt__socket *server);

#endif
