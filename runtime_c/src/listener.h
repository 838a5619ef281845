/* Sockets that listen: on a TCP address, or on a file of their own that only the owner may open.
 *
 * Threads:   one thread at a time uses a listener.
 * Ownership: a listener owns its descriptor and its file, and removes the file when it is closed.
 * Progress:  opening may wait for the lookup of a name, and a moment for another program that opens the same file.
 */
#ifndef DFRT_SRC_LISTENER_H
#define DFRT_SRC_LISTENER_H

#include "socket_address.h"

typedef struct dfrt__listener {
    int fd; /* does not block */
    char *title; /* address, with the port that the system has chosen */
    char *path;  /* of the file that was made, else NULL */
    dev_t device;
    ino_t inode;
} dfrt__listener;

/* A file that a dead program left is taken over; that of a living one, and any other file, is left alone. What failed is
 * to be closed like the rest. */
dfrt_status dfrt__listener_open(dfrt__listener *out, const dfrt__address *address, const char *title, dfrt_error *error);
/* Also one that was never opened, if it is all zero but for a negative fd. */
void dfrt__listener_close(dfrt__listener *listener);

#endif
