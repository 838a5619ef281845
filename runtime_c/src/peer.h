/* The other side of a sink over a socket: rows go to whoever is connected, whole, and again from a row's beginning
 * after a loss.
 *
 * Threads:   one thread at a time uses a peer.
 * Ownership: the peer owns its endpoint and its connection; what is written is borrowed for the call.
 * Progress:  writing waits for a connection and for a slow reader. When the program is told to stop it waits on for a
 *            few seconds, so that a reader who is there gets everything, and no longer. Finishing waits for two seconds at
 *            most; the system goes on delivering to a slow reader after that.
 */
#ifndef DFRT_PEER_H
#define DFRT_PEER_H

#include <dfrt/endpoint.h>
#include <dfrt/record.h>

typedef struct dfrt__peer dfrt__peer;

dfrt_status dfrt__peer_open(dfrt__peer **out, const char *name, const dfrt_endpoint_spec *spec, int stop_fd,
                            bool quiet, dfrt_error *error);

/* Every connection begins with these bytes, which are copied. */
dfrt_status dfrt__peer_greet(dfrt__peer *peer, dfrt_slice greeting, dfrt_error *error);

/* A row begins at this offset of the bytes that are written next. False when that should be done first. */
bool dfrt__peer_row(dfrt__peer *peer, size_t offset);

/* Sends everything. Answers 0, or the errno of what was in the way. */
int dfrt__peer_write(dfrt__peer *peer, const char *data, size_t size);

/* Everything has been written: tells the other side, and waits up to two seconds for it to take that and hang up. Answers
 * 0, or the errno with which the connection was lost; a loss is told on stderr, and is no failure where each is followed
 * by another attempt. */
int dfrt__peer_finish(dfrt__peer *peer);

/* Tells on stderr of rows that were cut off: too long for the buffer, so that they could not be sent again. */
void dfrt__peer_close(dfrt__peer *peer);

#endif
