/* The other side of a Unix socket, as tests play it in their own thread. */
#ifndef DFRT_TESTS_OTHER_SIDE_H
#define DFRT_TESTS_OTHER_SIDE_H

#include <sys/socket.h>
#include <sys/un.h>

#include "check.h"

static inline struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CHECK(strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    return address;
}

static inline int call(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static inline int listen_at(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 2) == 0);
    return fd;
}

static inline void say(int fd, const char *text)
{
    CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

/* What comes until so many bytes are there. */
static inline const char *hear(int fd, size_t size)
{
    static char text[65536];
    size_t used = 0;
    CHECK(size < sizeof text);
    while (used < size) {
        ssize_t got = recv(fd, text + used, size - used, 0);
        CHECK(got > 0);
        used += (size_t)got;
    }
    text[used] = '\0';
    return text;
}

static inline void hang_up(int fd)
{
    CHECK(close(fd) == 0);
}

#endif
