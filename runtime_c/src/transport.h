/* Sources over sockets: each connection is read by the source's format as if it were a file of its own.
 *
 * Threads:   as source.h.
 * Ownership: the transport owns the endpoint and, until the format takes it, the connection.
 * Progress:  nothing waits, not even for a CSV header: a connection is handed to its format when the header is there.
 */
#ifndef DFRT_TRANSPORT_H
#define DFRT_TRANSPORT_H

#include "source_kind.h"

/* Chooses source->kind by the format and opens the endpoint. */
dfrt_status dfrt__transport_open(dfrt_source *source, const char *spec, dfrt_error *error);
/* As the `read` of a kind. */
dfrt_status dfrt__transport_read(dfrt_source *source, char *records, size_t capacity, size_t *count);
int dfrt__transport_poll_fd(const dfrt_source *source);
void dfrt__transport_close(dfrt_source *source);

#endif
