#define _GNU_SOURCE
#include "experience.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void load_line(dfrt__agent *agent, const char *path, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *text = strchr(line, ' ');
    if (text != NULL) {
        *text++ = '\0';
    }
    const dfrt__controlled *one = owner_of(agent, line);
    bool fits = text != NULL && one != NULL && one->controller != NULL && dfrt_controller_load(one->controller, text);
    if (!fits && !agent->options.quiet) {
        (void)fprintf(stderr, "%s: what '%.60s' has learned, in '%s', does not fit this run; it begins anew\n",
                      agent->program->name, line, path);
    }
}

dfrt_status dfrt__experience_load(dfrt__agent *agent, const char *path, dfrt_error *error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return errno == ENOENT ? DFRT_OK : dfrt_fail(error, DFRT_IO, "cannot open '%s': %s", path, strerror(errno));
    }
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        load_line(agent, path, line);
    }
    bool good = ferror(file) == 0;
    free(line);
    (void)fclose(file); /* only read */
    return good ? DFRT_OK : dfrt_fail(error, DFRT_IO, "cannot read '%s'", path);
}

/* --- saving ---------------------------------------------------------------------------------------------- */

static bool save_one(FILE *file, const dfrt__controlled *one)
{
    size_t size = one->controller == NULL ? 0 : dfrt_controller_save(one->controller, NULL, 0);
    if (size == 0) {
        return true;
    }
    char *text = malloc(size + 1);
    if (text == NULL) {
        return false;
    }
    (void)dfrt_controller_save(one->controller, text, size + 1);
    bool good = fprintf(file, "%s %s\n", one->name, text) > 0;
    free(text);
    return good;
}

static bool save_all(const dfrt__agent *agent, const char *path)
{
    FILE *file = fopen(path, "we");
    bool good = file != NULL;
    for (unsigned i = 0; i < agent->count && good; i++) {
        good = save_one(file, &agent->operators[i]);
    }
    return file != NULL && fclose(file) == 0 && good;
}

/* A run without a policy that learns leaves the file alone. */
static bool anybody_learns(const dfrt__agent *agent)
{
    bool learns = false;
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt_controller *controller = agent->operators[i].controller;
        learns = learns || (controller != NULL && dfrt_controller_save(controller, NULL, 0) > 0);
    }
    return learns;
}

dfrt_status dfrt__experience_save(const dfrt__agent *agent, const char *path, dfrt_error *error)
{
    char *beside = NULL;
    if (!anybody_learns(agent)) {
        return DFRT_OK;
    }
    if (asprintf(&beside, "%s.%d.tmp", path, (int)getpid()) < 0) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory to save '%s'", path);
    }
    dfrt_status status = DFRT_OK;
    if (!save_all(agent, beside) || rename(beside, path) != 0) {
        status = dfrt_fail(error, DFRT_IO, "cannot write '%s': %s", path, strerror(errno));
        (void)unlink(beside); /* half of it helps nobody */
    }
    free(beside);
    return status;
}
