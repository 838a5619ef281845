#define _GNU_SOURCE
#include "control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control_operator.h"

static const double MOST_SECONDS = 86400, MOST_HERTZ = 1e12, MOST_VOLTS = 100, MOST_WATTS = 1e6;

/* --- the text ------------------------------------------------------------------------------------------ */

static char *join_lines(const char *const *lines)
{
    size_t size = 1;
    for (const char *const *line = lines; *line != NULL; line++) {
        size += strlen(*line) + 1;
    }
    char *text = malloc(size), *at = text;
    for (const char *const *line = lines; text != NULL && *line != NULL; line++) {
        at = stpcpy(stpcpy(at, *line), "\n");
    }
    if (text != NULL) {
        *at = '\0';
    }
    return text;
}

/* Only what can be read without waiting: a pipe that nobody writes to would stop the agent for good. */
FILE *dfrt__open_regular(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    int code = fstat(fd, &about) != 0 ? errno : S_ISREG(about.st_mode) ? 0 : EINVAL;
    FILE *file = code == 0 ? fdopen(fd, "rb") : NULL;
    if (file == NULL) {
        code = code == 0 ? errno : code;
        (void)close(fd); /* nothing was read */
        errno = code;
    }
    return file;
}

static dfrt_status read_file(const char *path, char **text, dfrt_error *error)
{
    FILE *file = dfrt__open_regular(path);
    if (file == NULL) {
        return dfrt_fail(error, errno == ENOENT ? DFRT_MISSING : DFRT_IO, "cannot open '%s': %s", path,
                         errno == EINVAL ? "it is no regular file" : strerror(errno));
    }
    dfrt_status status = DFRT_OK;
    *text = malloc(DFRT__JSON_BYTES + 2);
    size_t size = *text == NULL ? 0 : fread(*text, 1, DFRT__JSON_BYTES + 1, file);
    if (*text == NULL) {
        status = dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", path);
    } else if (ferror(file) != 0) {
        status = dfrt_fail(error, DFRT_IO, "cannot read '%s'", path);
    } else if (memchr(*text, '\0', size) != NULL) {
        status = dfrt_fail(error, DFRT_USAGE, "%s: a zero byte is no part of JSON", path);
    } else {
        (*text)[size] = '\0';
    }
    (void)fclose(file); /* only read */
    return status;
}

/* --- goals --------------------------------------------------------------------------------------------- */

static const struct { const char *name; double quantile; } STATISTICS[] = {
    {"mean", 0}, {"p50", 0.5}, {"p75", 0.75}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};

static void read_statistic(dfrt__json_form *form, dfrt__json_value *goal, dfrt_goals *goals)
{
    const char *name = dfrt__json_words(form, goal, "statistic");
    for (size_t i = 0; i < sizeof STATISTICS / sizeof *STATISTICS; i++) {
        if (name == NULL || strcmp(name, STATISTICS[i].name) == 0) {
            goals->latency_of = i == 0 ? DFRT_GOAL_MEAN : DFRT_GOAL_QUANTILE;
            goals->quantile = STATISTICS[i].quantile;
            return;
        }
    }
    dfrt__json_refuse(form, dfrt__json_member(form, goal, "statistic"),
                      "\"statistic\" is expected to be mean, p50, p75, p90, p95, p99, p999 or max");
}

/* Of several goals for the latency the heaviest holds, of equal ones the first. */
static void read_goal(dfrt__json_form *form, dfrt__json_value *goal, dfrt_goals *goals, double *weight)
{
    static const char *const metrics[] = {"latency", "throughput", "value", NULL};
    if (!dfrt__json_is(form, goal, DFRT__JSON_OBJECT)) {
        return;
    }
    unsigned metric = dfrt__json_choice(form, goal, "metric", metrics, 3);
    double weighs = dfrt__json_real(form, goal, "weight", 0, 1e9, 1);
    double most = metric == 0 ? MOST_SECONDS : metric == 1 ? 1 : 1e9;
    double bound = dfrt__json_real(form, goal, "bound", 0, most, NAN);
    if (metric == 0 && bound == 0) {
        dfrt__json_refuse(form, dfrt__json_member(form, goal, "bound"),
                          "a \"bound\" on latency is expected to be above 0");
    }
    if (form->status == DFRT_OK && (metric == 3 || isnan(bound))) {
        dfrt__json_refuse(form, goal, "a goal has a \"metric\" and a \"bound\"");
    }
    (void)dfrt__json_member(form, goal, "statistic"); /* only the latency has any */
    if (metric == 0 && weighs > *weight) {
        *weight = weighs;
        goals->latency = bound;
        read_statistic(form, goal, goals);
    } else if (metric == 1 || metric == 2) {
        *(metric == 1 ? &goals->throughput : &goals->value) = bound;
    }
    dfrt__json_no_more(form, goal);
}

static void read_goals(dfrt__json_form *form, dfrt__json_value *root, dfrt_goals *goals)
{
    static const char *const quantities[] = {"", "cores", "power", "cost", NULL};
    *goals = (dfrt_goals){.latency = NAN, .quantile = NAN, .throughput = NAN, .value = NAN};
    dfrt__json_value *list = dfrt__json_part(form, root, "goals", DFRT__JSON_LIST);
    double weight = -1;
    for (dfrt__json_value *goal = list == NULL ? NULL : list->first; goal != NULL; goal = goal->next) {
        read_goal(form, goal, goals, &weight);
    }
    goals->minimize = dfrt__json_choice(form, root, "minimize", quantities, DFRT_MINIMIZE_NOTHING);
}

/* --- the machine --------------------------------------------------------------------------------------- */

/* `apart`: no two are the same. */
static unsigned read_series(dfrt__json_form *form, dfrt__json_value *object, const char *name, double *out, double most,
                            bool apart)
{
    dfrt__json_value *list = dfrt__json_part(form, object, name, DFRT__JSON_LIST);
    unsigned count = 0;
    for (dfrt__json_value *value = list == NULL ? NULL : list->first; value != NULL; value = value->next, count++) {
        if (!dfrt__json_is(form, value, DFRT__JSON_NUMBER)) {
            return 0;
        }
        bool rises = count == 0 || value->number > out[count - 1] || (!apart && value->number == out[count - 1]);
        if (count == DFRT_MOST_FREQUENCIES || !(value->number > 0 && value->number <= most) || !rises) {
            dfrt__json_refuse(form, value,
                              "\"%s\" is expected to rise%s, from above 0 to at most %g, %d values at most", name,
                              apart ? " with each value" : "", most, DFRT_MOST_FREQUENCIES);
            return 0;
        }
        out[count] = value->number;
    }
    return count;
}

static void read_resources(dfrt__json_form *form, dfrt__json_value *root, dfrt__control *control)
{
    dfrt__json_value *resources = dfrt__json_part(form, root, "resources", DFRT__JSON_OBJECT);
    dfrt_limits *machine = &control->machine;
    control->cores_least = 1;
    if (resources == NULL) {
        return;
    }
    dfrt__read_range(form, resources, "cores", &control->cores_least, &control->cores_most);
    machine->frequency_count = read_series(form, resources, "frequencies", machine->frequencies, MOST_HERTZ, true);
    unsigned volts = read_series(form, resources, "voltages", machine->voltages, MOST_VOLTS, false);
    if (volts != 0 && volts != machine->frequency_count) {
        dfrt__json_refuse(form, dfrt__json_member(form, resources, "voltages"),
                          "\"voltages\" is expected to have a value for each of the %u frequencies",
                          machine->frequency_count);
    }
    machine->service_threads = dfrt__json_real(form, resources, "service_threads", 0, DFRT_MOST_WORKERS, NAN);
    machine->shed_most = dfrt__json_real(form, resources, "shed", 0, 1, 0);
    machine->power_most = dfrt__json_real(form, resources, "power", 0, MOST_WATTS, 0);
    dfrt__json_no_more(form, resources);
}

static void read_manager(dfrt__json_form *form, dfrt__json_value *root, dfrt__control *control)
{
    dfrt__json_value *manager = dfrt__json_part(form, root, "manager", DFRT__JSON_OBJECT);
    control->changes_a_step = dfrt__json_real(form, manager, "changes_a_step", 0, 1e6, 1);
    control->most_changes = dfrt__json_real(form, manager, "most_changes", 1, 1e6, 4);
    if (manager != NULL) {
        dfrt__json_no_more(form, manager);
    }
}

/* --- the whole ----------------------------------------------------------------------------------------- */

static void check_owner(dfrt__json_form *form, dfrt__json_value *root, const dfrt_program *program)
{
    unsigned schema = dfrt__json_count(form, root, "schema", 0, 1000, 0);
    if (schema != DFRT__CONTROL_SCHEMA) {
        dfrt__json_refuse(form, root, "\"schema\" is expected to be %d", DFRT__CONTROL_SCHEMA);
    }
    const char *app = dfrt__json_words(form, root, "app");
    if (app == NULL || strcmp(app, program->name) != 0) {
        dfrt__json_refuse(form, root, "\"app\" is expected to be \"%s\": this is for another program", program->name);
    }
}

static void read_root(dfrt__json_form *form, dfrt__json_value *root, const dfrt_program *program,
                      dfrt__control *control)
{
    if (!dfrt__json_is(form, root, DFRT__JSON_OBJECT)) {
        return;
    }
    check_owner(form, root, program);
    control->step = dfrt__json_real(form, root, "step", 1e-3, MOST_SECONDS, 1);
    control->shadow = dfrt__json_truth(form, root, "shadow", false);
    control->log = dfrt__json_words(form, root, "log");
    read_goals(form, root, &control->goals);
    read_resources(form, root, control);
    read_manager(form, root, control);
    dfrt__json_value *list = dfrt__json_part(form, root, "operators", DFRT__JSON_LIST);
    for (dfrt__json_value *entry = list == NULL ? NULL : list->first; entry != NULL; entry = entry->next) {
        dfrt__read_operator(form, entry, program, control);
    }
    (void)dfrt__json_part(form, root, "segments", DFRT__JSON_LIST); /* for people */
    dfrt__json_no_more(form, root);
}

dfrt_status dfrt__control_read(dfrt__control *control, const dfrt_program *program, const char *path, dfrt_error *error)
{
    *control = (dfrt__control){0};
    dfrt_status status = DFRT_OK;
    if (path == NULL) {
        control->text = join_lines(program->control);
    } else {
        control->file = strdup(path);
        status = read_file(path, &control->text, error);
    }
    if (status != DFRT_OK) {
        return status;
    }
    if (control->text == NULL || (path != NULL && control->file == NULL)) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for the controller configuration");
    }
    dfrt__json_form form = {.name = path == NULL ? "control.json" : path, .error = error};
    form.status =
        dfrt__json_read(&control->tree, form.name, control->text, strlen(control->text), &control->root, error);
    if (form.status == DFRT_OK) {
        read_root(&form, control->root, program, control);
    }
    return form.status;
}

void dfrt__control_close(dfrt__control *control)
{
    dfrt__json_close(&control->tree);
    free(control->text);
    free(control->file);
    *control = (dfrt__control){0};
}

bool dfrt__control_decides(const dfrt__control *control)
{
    for (unsigned i = 0; i < control->count; i++) {
        if (control->operators[i].options.policy != NULL) {
            return true;
        }
    }
    return false;
}

unsigned dfrt__control_cores(const dfrt__control *control, unsigned machine, unsigned max_workers)
{
    unsigned asked = control->cores_most > 0 && control->cores_most < machine ? control->cores_most : machine;
    return max_workers > 0 ? max_workers : asked;
}

const dfrt__rules *dfrt__control_of(const dfrt__control *control, unsigned step)
{
    for (unsigned i = 0; i < control->count; i++) {
        if (control->operators[i].step == step) {
            return &control->operators[i];
        }
    }
    return NULL;
}
