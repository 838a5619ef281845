#define _GNU_SOURCE
#include "socket_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static dfrt_status read_path(dfrt__address *out, const char *path, dfrt_error *error)
{
    struct sockaddr_un *address = (struct sockaddr_un *)&out->storage;
    size_t size = strlen(path);
    if (size >= sizeof address->sun_path)
        return dfrt_fail(error, DFRT_USAGE, "'%s': the path of a socket has at most %zu bytes", path,
                         sizeof address->sun_path - 1);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, size + 1);
    out->size = (socklen_t)sizeof *address;
    return DFRT_OK;
}

static bool is_loopback(const dfrt__address *address)
{
    if (address->storage.ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)&address->storage;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->storage;
    return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Cuts HOST:PORT or [HOST]:PORT in two. */
static bool split_host(char *text, const char **host, const char **port)
{
    char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0') return false;
    *colon = '\0';
    *host = text;
    *port = colon + 1;
    if (text[0] == '[') {
        if (colon[-1] != ']') return false;
        colon[-1] = '\0';
        *host = text + 1;
    } else if (strchr(text, ':') != NULL) {
        return false; /* an IPv6 address without its brackets */
    }
    for (const char *c = *port; *c != '\0'; c++)
        if (*c < '0' || *c > '9') return false;
    return strlen(*port) <= 5 && atoi(*port) <= 65535;
}

/* `localhost` needs no lookup, and no file that says what it is. */
static dfrt_status look_up(dfrt__address *out, const char *host, const char *port, const char *text,
                           dfrt_error *error)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
    int code = getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port, &wanted, &found);
    if (code != 0)
        return dfrt_fail(error, code == EAI_NONAME ? DFRT_MISSING : DFRT_IO, "'%s': %s", text, gai_strerror(code));
    memcpy(&out->storage, found->ai_addr, found->ai_addrlen);
    out->size = found->ai_addrlen;
    freeaddrinfo(found);
    return DFRT_OK;
}

static dfrt_status read_host(dfrt__address *out, const dfrt_endpoint_spec *spec, dfrt_error *error)
{
    const char *host = "", *port = "";
    char *copy = strdup(spec->address);
    if (copy == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", spec->address);
    dfrt_status status = split_host(copy, &host, &port)
                             ? look_up(out, host, port, spec->address, error)
                             : dfrt_fail(error, DFRT_USAGE, "'%s' is no HOST:PORT or [IPV6]:PORT", spec->address);
    free(copy);
    if (status == DFRT_OK && spec->listen && !spec->exposed && !is_loopback(out))
        return dfrt_fail(error, DFRT_USAGE,
                         "'%s' can be reached from other machines; listen on 127.0.0.1 or [::1], or allow it with "
                         "%s",
                         spec->address, spec->exposed_by == NULL ? "public=true" : spec->exposed_by);
    return status;
}

dfrt_status dfrt__address_read(dfrt__address *out, const dfrt_endpoint_spec *spec, dfrt_error *error)
{
    memset(out, 0, sizeof *out);
    return spec->unix_socket ? read_path(out, spec->address, error) : read_host(out, spec, error);
}

int dfrt__address_socket(const dfrt__address *address)
{
    return socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
