#define _GNU_SOURCE
#include "same_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dfrt/endpoint.h"
#include "dfrt/store.h"
#include "packed.h"

enum { MOST_LINKS = 40, ROOM_OF_TITLE = 160 };

/* Who uses a file for what. */
typedef struct use {
    const char *kind, *name; /* source 'rows'; a name of NULL: the kind says all */
    char *path;
    bool reads, writes;
    bool standard; /* standard input or output */
    bool known;    /* a file or pipe that is there, or the name that one will have in a folder that is */
    bool pipe;
    dev_t device;
    ino_t inode;
    char later[NAME_MAX + 1]; /* the name; "" for what is there */
} use;

typedef struct uses {
    use *items;
    size_t count;
} uses;

/* --- where a path leads ------------------------------------------------------------------------------ */

/* The end of a chain of links, also where nothing is there: that is the name that opening the path would make. */
static bool follow(const char *path, char at[PATH_MAX], struct stat *about, bool *there)
{
    char target[PATH_MAX];
    size_t length = strlen(path);
    if (length >= PATH_MAX) return false;
    memcpy(at, path, length + 1);
    *there = stat(at, about) == 0;
    for (int links = 0; !*there && links < MOST_LINKS; links++) {
        ssize_t size = readlink(at, target, sizeof target - 1);
        if (size <= 0) return true;
        const char *slash = strrchr(at, '/');
        size_t folder = target[0] == '/' || slash == NULL ? 0 : (size_t)(slash - at) + 1;
        if (folder + (size_t)size >= PATH_MAX) return false;
        memcpy(at + folder, target, (size_t)size);
        at[folder + (size_t)size] = '\0';
    }
    return *there;
}

static bool stat_folder(const char *at, const char *name, struct stat *about)
{
    size_t length = (size_t)(name - at);
    char folder[PATH_MAX];
    memcpy(folder, length == 0 ? "." : at, length == 0 ? 1 : length);
    folder[length == 0 ? 1 : length] = '\0';
    return stat(folder, about) == 0;
}

/* Terminals, sockets and devices stay unknown: they may be named as often as one likes. So does what can't be opened: who
 * opens it will say so. */
static void find(use *one)
{
    struct stat about;
    char at[PATH_MAX];
    bool there = true;
    if (one->standard) {
        if (fstat(one->reads ? STDIN_FILENO : STDOUT_FILENO, &about) != 0) return;
    } else if (!follow(one->path, at, &about, &there)) {
        return;
    }
    if (there && !S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode)) return;
    if (!there) {
        const char *slash = strrchr(at, '/'), *name = slash == NULL ? at : slash + 1;
        if (strlen(name) > NAME_MAX || !stat_folder(at, name, &about)) return;
        memcpy(one->later, name, strlen(name) + 1);
    }
    one->known = true;
    one->pipe = there && S_ISFIFO(about.st_mode);
    one->device = about.st_dev;
    one->inode = about.st_ino;
}

/* --- what is used ------------------------------------------------------------------------------------ */

static void add(uses *all, use one, const char *path, size_t length, const char *suffix)
{
    if (length == 0) return;
    if (asprintf(&one.path, "%.*s%s", (int)length, path, suffix) < 0) dfrt_out_of_memory();
    find(&one);
    all->items[all->count++] = one;
}

static void add_option(uses *all, const char *option, const char *path, bool reads, bool writes)
{
    if (path != NULL) add(all, (use){.kind = option, .reads = reads, .writes = writes}, path, strlen(path), "");
}

static void add_stream(uses *all, use one, const char *path)
{
    one.standard = strcmp(path, "-") == 0;
    add(all, one, path, strlen(path), "");
}

/* rates and weights of generate:KEY=VALUE,... */
static void add_generated(uses *all, use one, const char *settings)
{
    static const char *const files[] = {"rates=", "weights="};
    for (const char *at = settings; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            const char *path = at + strlen(files[i]);
            if (strncmp(at, files[i], strlen(files[i])) == 0) add(all, one, path, strcspn(path, ","), "");
        }
    }
}

/* Sockets look after their own: one that listens takes the place of no file. */
static void add_spec(uses *all, use one, const char *spec, const dfrt_record *record)
{
    const char *colon = strchr(spec, ':');
    if (colon == NULL || dfrt_is_endpoint_spec(spec)) return;
    if (strncmp(spec, "generate:", 9) == 0) {
        add_generated(all, one, colon + 1);
        return;
    }
    add_stream(all, one, colon + 1);
    if (strncmp(spec, "binary:", 7) != 0 || strcmp(colon + 1, "-") == 0 || !dfrt__has_symbols(record)) return;
    one.kind = one.writes ? "the symbols of sink" : one.kind;
    add(all, one, colon + 1, strlen(colon + 1), ".symbols");
}

static void add_sources(uses *all, const dfrt_program *program, const dfrt__options *options)
{
    for (unsigned i = 0; i < program->source_count; i++) {
        const dfrt_source_entry *entry = &program->sources[i];
        add_spec(all, (use){.kind = "source", .name = entry->name, .reads = true}, options->source_specs[i],
                 entry->record);
    }
}

static void add_sinks(uses *all, const dfrt_program *program, const dfrt__options *options)
{
    for (unsigned i = 0; i < program->sink_count; i++) {
        const dfrt_sink_entry *entry = &program->sinks[i];
        if (strncmp(options->sink_specs[i], "discard:", 8) == 0) continue;
        add_spec(all, (use){.kind = "sink", .name = entry->name, .writes = true}, options->sink_specs[i], entry->record);
    }
}

static void add_options(uses *all, const dfrt_program *program, const dfrt__options *options, const char *log)
{
    bool off = options->control != NULL && strcmp(options->control, "off") == 0;
    add_option(all, "--rates", options->rates_path, true, false);
    add_option(all, "--reconfigure", options->script, true, false);
    add_option(all, "--control", off ? NULL : options->control, true, false);
    for (unsigned i = 0; options->malformed_path != NULL && i < program->source_count; i++) {
        char *path = dfrt__malformed_path(options, program, program->sources[i].name);
        add_stream(all, (use){.kind = "--malformed", .writes = true}, path);
        free(path);
    }
    add_option(all, options->log != NULL ? "--log" : "the log of the controller", options->log != NULL ? options->log : log,
               false, true);
    add_option(all, "--learned", options->learned, true, true);
    add_option(all, "--stats", options->stats_path, false, true);
    add_option(all, "--latency-trace", options->trace_path, false, true);
}

/* --- what can't be shared ------------------------------------------------------------------------------ */

static bool same(const use *a, const use *b)
{
    bool named = a->standard && b->standard && a->reads == b->reads;
    return named || (a->known && b->known && a->device == b->device && a->inode == b->inode &&
                     strcmp(a->later, b->later) == 0);
}

static const char *title(const use *one, char text[ROOM_OF_TITLE])
{
    const char *mark = one->name == NULL ? "" : "'";
    (void)snprintf(text, ROOM_OF_TITLE, "%s%s%s%s%s", one->kind, one->name == NULL ? "" : " ", mark,
                   one->name == NULL ? "" : one->name, mark);
    return text;
}

/* Quoted, unless it has no name but this. */
static const char *place(const use *one, char text[ROOM_OF_TITLE])
{
    (void)snprintf(text, ROOM_OF_TITLE, one->standard ? "standard %s" : "'%.150s'",
                   !one->standard ? one->path : one->reads ? "input" : "output");
    return text;
}

static dfrt_status refuse(const use *first, const use *second, dfrt_error *error)
{
    char one[ROOM_OF_TITLE], other[ROOM_OF_TITLE], where[ROOM_OF_TITLE];
    if (first->writes && second->writes)
        return dfrt_fail(error, DFRT_USAGE, "%s and %s would both write to %s; give each a path of its own",
                         title(first, one), title(second, other), place(second, where));
    if (!first->writes && !second->writes)
        return dfrt_fail(error, DFRT_USAGE, "%s and %s would both read %s, and get a part of it each; give each an input "
                         "of its own", title(first, one), title(second, other), place(second, where));
    const use *writer = first->writes ? first : second, *reader = first->writes ? second : first;
    return dfrt_fail(error, DFRT_USAGE, "%s would empty %s, which %s reads; use another path", title(writer, one),
                     place(writer, where), title(reader, other));
}

/* A file may have several readers, a pipe has one. A pipe that the program itself fills loses nothing. */
static bool clash(const use *a, const use *b)
{
    bool both_write = a->writes && b->writes, both_read = !a->writes && !b->writes;
    bool one_reader = a->pipe || (a->standard && b->standard);
    return same(a, b) && (both_write || (both_read ? one_reader : !a->pipe));
}

dfrt_status dfrt__check_files(const dfrt_program *program, const dfrt__options *options, const char *log,
                              dfrt_error *error)
{
    dfrt_status status = DFRT_OK;
    /* A source has up to two paths, or as many as its settings say, and a file of malformed rows. */
    size_t most = 2u * program->sink_count + 16;
    for (unsigned i = 0; i < program->source_count; i++) {
        most += 3 + strlen(options->source_specs[i]) / strlen("rates=");
    }
    uses all = {.items = dfrt_allocate(most * sizeof *all.items)};
    add_sources(&all, program, options);
    add_sinks(&all, program, options);
    add_options(&all, program, options, log);
    for (size_t j = 0; j < all.count; j++) {
        for (size_t i = 0; i < j && status == DFRT_OK; i++) {
            if (clash(&all.items[i], &all.items[j])) status = refuse(&all.items[i], &all.items[j], error);
        }
    }
    for (size_t i = 0; i < all.count; i++) free(all.items[i].path);
    free(all.items);
    return status;
}
