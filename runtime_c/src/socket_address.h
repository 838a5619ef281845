/* Addresses from text, and sockets of their family.
 *
 * Threads:   pure functions, and calls of the operating system.
 * Ownership: descriptors that are answered are the caller's.
 * Progress:  the lookup of a name may wait for the network; nothing else does.
 */
#ifndef DFRT_SOCKET_ADDRESS_H
#define DFRT_SOCKET_ADDRESS_H

#include <dfrt/endpoint.h>

#include <sys/socket.h>
#include <sys/types.h>

typedef struct dfrt__address {
    struct sockaddr_storage storage;
    socklen_t size;
} dfrt__address;

dfrt_status dfrt__address_read(dfrt__address *out, const dfrt_endpoint_spec *spec, dfrt_error *error);

/* A socket that does not block; negative when there is none. */
int dfrt__address_socket(const dfrt__address *address);

#endif
