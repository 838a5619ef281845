/* As much of HTTP as a collector of metrics needs: GET and HEAD of /metrics and /healthz, one request a connection.
 *
 * Threads:   pure functions; the responder is called by whoever calls.
 * Ownership: nothing is kept.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_CONTROL_HTTP_H
#define DFRT_SRC_CONTROL_HTTP_H

#include "control_connection.h"

/* Bytes up to and with the empty line that ends the header; 0 while it is not there. */
size_t dfrt__http_header_size(const char *bytes, size_t size);
/* `line`: the first line of the request, up to its newline; NULL when the header is too long. */
void dfrt__http_answer(const dfrt__responder *responder, const char *line, FILE *out);

#endif
