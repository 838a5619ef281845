#define _GNU_SOURCE
#include "same_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dfrt/endpoint.h"

/* A file that is there, or the name that it will have in a folder that is. */
typedef struct place {
    dev_t device;
    ino_t inode;
    const char *name; /* "" for one that is there */
} place;

static const char *path_of(const char *spec)
{
    const char *colon = strchr(spec, ':');
    bool file = colon != NULL && !dfrt_is_endpoint_spec(spec) && strncmp(spec, "generate:", 9) != 0;
    return file ? colon + 1 : "";
}

/* False for what is no regular file: terminals, pipes and devices may be named as often as one likes. */
static bool find(const char *path, place *out)
{
    struct stat about;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (*path == '\0' || strcmp(path, "-") == 0 || length >= sizeof folder) return false;
    bool there = stat(path, &about) == 0;
    if (there && !S_ISREG(about.st_mode)) return false;
    memcpy(folder, length == 0 ? "." : path, length == 0 ? 1 : length);
    folder[length == 0 ? 1 : length] = '\0';
    if (!there && stat(folder, &about) != 0) return false; /* who opens it will say so */
    *out = (place){about.st_dev, about.st_ino, there ? "" : path + length};
    return true;
}

static bool same(const char *path, const char *other)
{
    place a, b;
    return find(path, &a) && find(other, &b) && a.device == b.device && a.inode == b.inode &&
           strcmp(a.name, b.name) == 0;
}

static dfrt_status check_sink(const dfrt_program *program, const dfrt__options *options, unsigned sink,
                              dfrt_error *error)
{
    const char *name = program->sinks[sink].name, *path = path_of(options->sink_specs[sink]);
    for (unsigned i = 0; i < program->source_count; i++) {
        if (same(path, path_of(options->source_specs[i])))
            return dfrt_fail(error, DFRT_USAGE, "sink '%s' would empty '%s', which source '%s' reads; use another path",
                             name, path, program->sources[i].name);
    }
    for (unsigned i = 0; i < sink; i++) {
        if (same(path, path_of(options->sink_specs[i])))
            return dfrt_fail(error, DFRT_USAGE, "sinks '%s' and '%s' would both write to '%s'; give each a path of its own",
                             program->sinks[i].name, name, path);
    }
    return DFRT_OK;
}

dfrt_status dfrt__check_files(const dfrt_program *program, const dfrt__options *options, dfrt_error *error)
{
    dfrt_status status = DFRT_OK;
    for (unsigned i = 0; status == DFRT_OK && i < program->sink_count; i++) {
        status = check_sink(program, options, i, error);
    }
    return status;
}
