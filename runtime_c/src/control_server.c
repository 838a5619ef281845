#define _GNU_SOURCE
#include "control_server.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool dfrt__server_asked(const dfrt__options *options)
{
    return options->socket_path != NULL || options->http != NULL;
}

/* NAME.sock in the folder of the program's own file; NULL when that is not known. The caller frees it. */
static char *path_beside(const char *name)
{
    char own[PATH_MAX];
    char *path = NULL;
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    if (size <= 0) {
        return NULL;
    }
    own[size] = '\0';
    char *slash = strrchr(own, '/');
    if (slash == NULL || asprintf(&path, "%.*s/%s.sock", (int)(slash - own), own, name) < 0) {
        return NULL;
    }
    return path;
}

static dfrt_status open_at(dfrt__server *server, const dfrt__options *options, const char *path, dfrt_error *error)
{
    dfrt__socket_options where = {.path = path, .http = options->http, .exposed = options->http_public};
    dfrt__responder responder = dfrt__requests_responder(&server->requests);
    dfrt_status status = dfrt__socket_open(&server->endpoint, &where, &responder, error);
    if (status == DFRT_OK && options->http != NULL && !options->quiet) {
        (void)fprintf(stderr, "metrics: listening on %s\n", dfrt__socket_http(server->endpoint));
    }
    return status;
}

/* Nobody asked for the socket by name, so nobody is let down where it can't be had; HTTP was asked for, if at all. */
static dfrt_status open_beside(dfrt__server *server, const dfrt__options *options, dfrt_error *error)
{
    dfrt_error why = {"the program's own file is not known"};
    const char *name = server->requests.program->name;
    char *path = path_beside(name);
    bool opened = path != NULL && open_at(server, options, path, &why) == DFRT_OK;
    free(path);
    dfrt_status status = opened || options->http == NULL ? DFRT_OK : open_at(server, options, NULL, error);
    if (!opened && status == DFRT_OK && !options->quiet) {
        (void)fprintf(stderr, "%s: runs without a control socket: %.400s\n", name, why.text);
    }
    return status;
}

dfrt_status dfrt__server_open(dfrt__server *server, const dfrt__options *options, const dfrt__requests *requests,
                              bool controlled, dfrt_error *error)
{
    *server = (dfrt__server){.requests = *requests};
    bool beside = controlled && options->socket_path == NULL && !options->no_socket;
    if (beside) {
        return open_beside(server, options, error);
    }
    return dfrt__server_asked(options) ? open_at(server, options, options->socket_path, error) : DFRT_OK;
}

void dfrt__server_close(dfrt__server *server)
{
    dfrt__socket_close(server->endpoint);
    server->endpoint = NULL;
}
