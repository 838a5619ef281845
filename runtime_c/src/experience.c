#define _GNU_SOURCE
#include "experience.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dfrt/store.h"

/* --- from one controller to the next --------------------------------------------------------------------- */

/* The caller frees it; NULL: there is nothing. */
static char *learned_text(const dfrt_controller *controller)
{
    size_t size = controller == NULL ? 0 : dfrt_controller_save(controller, NULL, 0);
    char *text = size == 0 ? NULL : dfrt_allocate(size + 1);
    if (text != NULL) {
        (void)dfrt_controller_save(controller, text, size + 1);
    }
    return text;
}

void dfrt__experience_keep(dfrt__controlled *one)
{
    char *text = learned_text(one->controller);
    if (text != NULL) {
        free(one->learned);
        one->learned = text;
    }
}

bool dfrt__experience_give(dfrt__controlled *one)
{
    bool learns = dfrt_controller_save(one->controller, NULL, 0) > 0;
    return one->learned == NULL || !learns || dfrt_controller_load(one->controller, one->learned);
}

/* --- loading --------------------------------------------------------------------------------------------- */

static dfrt__controlled *owner_of(dfrt__agent *agent, const char *name)
{
    for (unsigned i = 0; i < agent->count; i++) {
        if (strcmp(agent->operators[i].name, name) == 0) {
            return &agent->operators[i];
        }
    }
    return NULL;
}

enum { MOST_HEAD = 300 };

static void write_head(const dfrt__agent *agent, char *head)
{
    (void)snprintf(head, MOST_HEAD, "dfc learned 1 %.200s\n", agent->program->name);
}

/* `file` is at its beginning, and behind its first line afterwards. */
static dfrt_status check_head(const dfrt__agent *agent, const char *path, FILE *file, dfrt_error *error)
{
    char wanted[MOST_HEAD], found[MOST_HEAD];
    write_head(agent, wanted);
    if (fgets(found, sizeof found, file) == NULL) {
        return ferror(file) == 0 ? DFRT_OK : dfrt_fail(error, DFRT_IO, "cannot read '%s'", path);
    }
    return strcmp(found, wanted) == 0
               ? DFRT_OK
               : dfrt_fail(error, DFRT_USAGE,
                           "%s:1:1: expected 'dfc learned 1 %.60s': what this program has learned is not in that file; "
                           "give --learned another one", path, agent->program->name);
}

static FILE *open_learned(const char *path, dfrt_status *status, dfrt_error *error)
{
    FILE *file = dfrt__open_regular(path);
    *status = file != NULL || errno == ENOENT
                  ? DFRT_OK
                  : dfrt_fail(error, DFRT_IO, "cannot open '%s': %s", path,
                              errno == EINVAL ? "it is no regular file" : strerror(errno));
    return file;
}

static void load_line(dfrt__agent *agent, const char *path, unsigned number, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *text = strchr(line, ' ');
    if (text != NULL) {
        *text++ = '\0';
    }
    dfrt__controlled *one = owner_of(agent, line);
    bool fits = text != NULL && one != NULL && one->controller != NULL;
    if (fits) { /* also for a policy that learns and is named later, by a command */
        free(one->learned);
        one->learned = strdup(text);
        fits = one->learned != NULL && dfrt__experience_give(one);
    }
    if (!fits && !agent->options.quiet) {
        (void)fprintf(stderr, "%s: %s:%u: what '%.60s' has learned does not fit this run; it begins anew\n",
                      agent->program->name, path, number, line);
    }
}

dfrt_status dfrt__experience_load(dfrt__agent *agent, const char *path, dfrt_error *error)
{
    dfrt_status status;
    FILE *file = open_learned(path, &status, error);
    if (file == NULL) {
        return status;
    }
    status = check_head(agent, path, file, error);
    char *line = NULL;
    size_t room = 0;
    for (unsigned number = 2; status == DFRT_OK && getline(&line, &room, file) > 0; number++) {
        load_line(agent, path, number, line);
    }
    if (status == DFRT_OK && ferror(file) != 0) {
        status = dfrt_fail(error, DFRT_IO, "cannot read '%s'", path);
    }
    free(line);
    (void)fclose(file); /* only read */
    return status;
}

/* --- saving ---------------------------------------------------------------------------------------------- */

static bool save_one(FILE *file, const dfrt__controlled *one)
{
    char *fresh = learned_text(one->controller);
    const char *text = fresh != NULL ? fresh : one->learned;
    bool good = text == NULL || fprintf(file, "%s %s\n", one->name, text) > 0;
    free(fresh);
    return good;
}

static bool save_all(const dfrt__agent *agent, const char *path)
{
    char head[MOST_HEAD];
    FILE *file = fopen(path, "we");
    write_head(agent, head);
    bool good = file != NULL && fputs(head, file) >= 0;
    for (unsigned i = 0; i < agent->count && good; i++) {
        good = save_one(file, &agent->operators[i]);
    }
    return file != NULL && fclose(file) == 0 && good;
}

/* A run in which nobody has learned anything leaves the file alone. */
static bool anybody_learns(const dfrt__agent *agent)
{
    bool learns = false;
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        bool now = one->controller != NULL && dfrt_controller_save(one->controller, NULL, 0) > 0;
        learns = learns || now || one->learned != NULL;
    }
    return learns;
}

dfrt_status dfrt__experience_save(const dfrt__agent *agent, const char *path, dfrt_error *error)
{
    char *beside = NULL;
    if (!anybody_learns(agent)) {
        return DFRT_OK;
    }
    dfrt_status status;
    FILE *there = open_learned(path, &status, error);
    if (there != NULL) {
        status = check_head(agent, path, there, error);
        (void)fclose(there); /* only read */
    }
    if (status != DFRT_OK) {
        return status;
    }
    if (asprintf(&beside, "%s.%d.tmp", path, (int)getpid()) < 0) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory to save '%s'", path);
    }
    if (!save_all(agent, beside) || rename(beside, path) != 0) {
        status = dfrt_fail(error, DFRT_IO, "cannot write '%s': %s", path, strerror(errno));
        (void)unlink(beside); /* half of it helps nobody */
    }
    free(beside);
    return status;
}
