#define _GNU_SOURCE
#include "supervise.h"

#include <string.h>
#include <unistd.h>

/* --- before the layout -------------------------------------------------------------------------------------- */

static bool has_elastic(const dfrt_program *program)
{
    bool found = false;
    for (unsigned s = 0; s < program->segment_count; s++) {
        found = found || (program->segments[s].elastic && program->segments[s].degree > 0);
    }
    return found;
}

static unsigned online_cores(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > DFRT_MOST_WORKERS ? DFRT_MOST_WORKERS : (unsigned)online;
}

dfrt_status dfrt__supervision_plan(dfrt__supervision *supervision, const dfrt_program *program, dfrt__options *options,
                                   dfrt_error *error)
{
    *supervision = (dfrt__supervision){.every = options->step_rounds,
                                       .cores = online_cores(),
                                       .max_workers = options->degrees.most};
    bool off = options->control != NULL && strcmp(options->control, "off") == 0;
    dfrt_status status = dfrt__control_read(&supervision->control, program, off ? NULL : options->control, error);
    if (status != DFRT_OK) {
        return status;
    }
    /* A script of changes is made to be repeated: nobody else changes anything then. */
    supervision->decides = !off && options->script == NULL && dfrt__control_decides(&supervision->control);
    supervision->wanted = supervision->decides || options->watched || options->log != NULL;
    unsigned cores = dfrt__control_cores(&supervision->control, supervision->cores, supervision->max_workers);
    bool may_scale = supervision->decides && options->planned && options->layout != DFRT__FUSED && has_elastic(program);
    if (may_scale && cores > options->degrees.most) {
        options->degrees.most = cores;
    }
    return DFRT_OK;
}

/* --- beside the run ------------------------------------------------------------------------------------------ */

static void say(const dfrt_program *program, const dfrt__options *options, const char *line)
{
    if (!options->quiet) {
        (void)fprintf(stderr, "%s: %s\n", program->name, line);
    }
}

static bool anybody_decides(const dfrt__agent *agent)
{
    for (unsigned i = 0; i < agent->count; i++) {
        if (agent->operators[i].controller != NULL) {
            return true;
        }
    }
    return false;
}

static void say_cores(const dfrt__agent *agent, const dfrt__options *options)
{
    char line[120];
    if (agent->control.cores_least > agent->cores) {
        (void)snprintf(line, sizeof line, "control: at least %u cores are asked for, and this run can have %u",
                       agent->control.cores_least, agent->cores);
        say(agent->program, options, line);
    }
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        if (one->controller != NULL && one->rules.workers_least > one->limits.workers_most) {
            (void)snprintf(line, sizeof line, "control: at least %u workers are asked for %.40s, and it can have %u",
                           one->rules.workers_least, one->name, one->limits.workers_most);
            say(agent->program, options, line);
        }
    }
}

/* What the program asks for and does not get is said once. */
static void say_limits(const dfrt__supervision *supervision, const dfrt__options *options)
{
    const dfrt_program *program = supervision->agent->program;
    if (!supervision->decides) {
        return;
    }
    if (!anybody_decides(supervision->agent)) {
        say(program, options, "control: nothing can change in this run: no operator has workers or alternates to choose from");
    } else if (!options->planned) {
        say(program, options, "control: --workers fixes the degree; the controller decides the rest");
    } else {
        say_cores(supervision->agent, options);
    }
}

/* A step after so many rounds of the reader, in its thread: for tests, which must not depend on time. */
static void count_round(void *context)
{
    dfrt__supervision *supervision = context;
    if (++supervision->rounds == supervision->every) {
        supervision->rounds = 0;
        dfrt__agent_step(supervision->agent, dfrt_now_ns());
    }
}

/* A thread of its own, or rounds of the reader. */
static dfrt_status start_steps(dfrt__supervision *supervision, dfrt__reader *reader, dfrt_error *error)
{
    if (supervision->every == 0) {
        return dfrt__agent_start(supervision->agent, error);
    }
    reader->after_round = count_round;
    reader->after_round_context = supervision;
    return DFRT_OK;
}

dfrt_status dfrt__supervision_open(dfrt__supervision *supervision, dfrt__layout_plan *layout, dfrt__reader *reader,
                                   const dfrt__options *options, bool fused, dfrt_error *error)
{
    if (!supervision->wanted) {
        return DFRT_OK;
    }
    dfrt__agent_options how = {.off = !supervision->decides,
                               .cores = supervision->cores,
                               .max_workers = supervision->max_workers,
                               .workers_held = !options->planned,
                               .alternates_held = options->alternates_held,
                               .log = options->log,
                               .learned = options->learned,
                               .sysfs = options->sysfs,
                               .quiet = options->quiet};
    dfrt_status status =
        dfrt__agent_open(&supervision->agent, &how, &supervision->control, layout, reader, fused, error);
    if (status != DFRT_OK) {
        return status;
    }
    say_limits(supervision, options);
    status = start_steps(supervision, reader, error);
    if (status != DFRT_OK) {
        return status;
    }
    dfrt__requests requests = {supervision->agent, supervision->agent->program, supervision->agent->run};
    return dfrt__server_open(&supervision->server, options, &requests, supervision->decides, error);
}

void dfrt__supervision_stop(dfrt__supervision *supervision)
{
    dfrt__server_close(&supervision->server); /* whoever asks needs the agent */
    if (supervision->agent != NULL) {
        dfrt__agent_stop(supervision->agent);
    }
}

void dfrt__supervision_close(dfrt__supervision *supervision)
{
    dfrt__agent_close(supervision->agent);
    dfrt__control_close(&supervision->control);
}
