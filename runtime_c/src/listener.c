#define _GNU_SOURCE
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BACKLOG = 128, OWNER_ONLY = 0600, LOCK_TRIES = 100 };

/* --- files ----------------------------------------------------------------------------------------------- */

/* Between looking at a file and taking it over another program could do the same, and one that is bound but does not
 * listen yet looks dead. So whoever opens a socket in a folder holds the folder's lock. Where that can't be had (nobody
 * may read the folder, or somebody keeps it) we go on without. */
static int lock_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        struct timespec pause = {.tv_nsec = 10000000};
        (void)nanosleep(&pause, NULL); /* a signal shortens one of many pauses */
    }
    return fd;
}

typedef enum owner { NOBODY, A_PROGRAM, NO_SOCKET } owner;

static owner owner_of(const dfrt__address *address)
{
    const struct sockaddr_un *file = (const struct sockaddr_un *)&address->storage;
    struct stat about;
    if (lstat(file->sun_path, &about) != 0 || !S_ISSOCK(about.st_mode)) return NO_SOCKET;
    int probe = dfrt__address_socket(address);
    if (probe < 0) return A_PROGRAM;
    bool dead = connect(probe, (const struct sockaddr *)&address->storage, address->size) != 0 &&
                errno == ECONNREFUSED;
    (void)close(probe); /* nothing was sent */
    return dead ? NOBODY : A_PROGRAM;
}

static int bind_once(const dfrt__address *address, int fd)
{
    return bind(fd, (const struct sockaddr *)&address->storage, address->size);
}

/* 0, or the errno of what failed. */
static int bind_over(const dfrt__address *address, int fd, const char *path)
{
    return unlink(path) == 0 && bind_once(address, fd) == 0 ? 0 : errno;
}

static dfrt_status bind_file(dfrt__listener *listener, const dfrt__address *address, const char *path, dfrt_error *error)
{
    /* The rights of the descriptor become those of the file at once: it is never there with wider ones. */
    int code = fchmod(listener->fd, OWNER_ONLY) == 0 && bind_once(address, listener->fd) == 0 ? 0 : errno;
    owner who = code == EADDRINUSE ? owner_of(address) : NOBODY;
    if (who == A_PROGRAM)
        return dfrt_fail(error, DFRT_IO, "cannot listen on '%s': a running program has it; end that or use another path",
                         path);
    if (who == NO_SOCKET)
        return dfrt_fail(error, DFRT_IO, "cannot listen on '%s': a file that is no socket is there", path);
    if (code == EADDRINUSE) code = bind_over(address, listener->fd, path);
    if (code == 0 && listen(listener->fd, BACKLOG) != 0) code = errno;
    return code == 0 ? DFRT_OK : dfrt_fail(error, DFRT_IO, "cannot listen on '%s': %s", path, strerror(code));
}

/* So that only our own file is removed at the end, not one that somebody put in its place. */
static dfrt_status remember_file(dfrt__listener *listener, const char *path, dfrt_error *error)
{
    struct stat about;
    listener->path = strdup(path);
    if (listener->path == NULL || lstat(path, &about) != 0)
        return dfrt_fail(error, DFRT_IO, "cannot listen on '%s': %s", path, strerror(errno));
    listener->device = about.st_dev;
    listener->inode = about.st_ino;
    return DFRT_OK;
}

static void remove_file(const dfrt__listener *listener)
{
    struct stat about;
    if (listener->path != NULL && lstat(listener->path, &about) == 0 && about.st_dev == listener->device &&
        about.st_ino == listener->inode)
        (void)unlink(listener->path); /* a file that stays behind is taken over by the next */
}

static dfrt_status open_file(dfrt__listener *listener, const dfrt__address *address, dfrt_error *error)
{
    const char *path = ((const struct sockaddr_un *)&address->storage)->sun_path;
    int lock = lock_folder(path);
    dfrt_status status = bind_file(listener, address, path, error);
    if (status == DFRT_OK) status = remember_file(listener, path, error);
    if (lock >= 0) (void)close(lock); /* which lets go of it */
    return status;
}

/* --- addresses ------------------------------------------------------------------------------------------- */

/* With port 0 the system chooses: the title says what it chose. */
static dfrt_status name_port(dfrt__listener *listener, dfrt_error *error)
{
    dfrt__address bound = {.size = sizeof bound.storage};
    char host[INET6_ADDRSTRLEN];
    if (getsockname(listener->fd, (struct sockaddr *)&bound.storage, &bound.size) != 0)
        return dfrt_fail(error, DFRT_IO, "cannot listen on '%s': %s", listener->title, strerror(errno));
    const struct sockaddr_in *four = (const struct sockaddr_in *)&bound.storage;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&bound.storage;
    bool is_four = bound.storage.ss_family == AF_INET;
    const void *number = is_four ? (const void *)&four->sin_addr : (const void *)&six->sin6_addr;
    char *title;
    if (inet_ntop(bound.storage.ss_family, number, host, sizeof host) == NULL ||
        asprintf(&title, is_four ? "%s:%u" : "[%s]:%u", host, ntohs(is_four ? four->sin_port : six->sin6_port)) < 0)
        return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", listener->title);
    free(listener->title);
    listener->title = title;
    return DFRT_OK;
}

static dfrt_status open_address(dfrt__listener *listener, const dfrt__address *address, dfrt_error *error)
{
    int again = 1;
    if (setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again) != 0 ||
        bind_once(address, listener->fd) != 0 || listen(listener->fd, BACKLOG) != 0)
        return dfrt_fail(error, DFRT_IO, "cannot listen on '%s': %s", listener->title, strerror(errno));
    return name_port(listener, error);
}

/* --- both ------------------------------------------------------------------------------------------------ */

dfrt_status dfrt__listener_open(dfrt__listener *out, const dfrt__address *address, const char *title, dfrt_error *error)
{
    *out = (dfrt__listener){.fd = dfrt__address_socket(address), .title = strdup(title)};
    if (out->fd < 0) return dfrt_fail(error, DFRT_IO, "no socket for '%s': %s", title, strerror(errno));
    if (out->title == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", title);
    return address->storage.ss_family == AF_UNIX ? open_file(out, address, error) : open_address(out, address, error);
}

void dfrt__listener_close(dfrt__listener *listener)
{
    remove_file(listener);
    if (listener->fd >= 0) (void)close(listener->fd);
    free(listener->title);
    free(listener->path);
    *listener = (dfrt__listener){.fd = -1};
}
