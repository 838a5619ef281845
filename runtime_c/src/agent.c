#define _GNU_SOURCE
#include "agent_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dfrt/store.h"
#include "experience.h"

double dfrt__agent_uptime(const dfrt__agent *agent)
{
    return (double)(agent->stepped_ns - agent->started_ns) / 1e9;
}

static double unix_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* can't fail for this clock */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* --- a step ----------------------------------------------------------------------------------------------- */

/* What the goal names of the latencies of the step. */
static double goal_latency(const dfrt_goals *goals, const dfrt_measured *measured)
{
    return goals->latency_of == DFRT_GOAL_QUANTILE ? measured->latency_quantile : measured->latency;
}

static void decide(dfrt__agent *agent, dfrt__controlled *one)
{
    dfrt_limits limits = one->limits;
    if (one->held_workers > 0) {
        limits.workers_least = limits.workers_most = one->held_workers;
    }
    limits.alternate_held = (unsigned)(one->held_alternate + 1);
    dfrt_controller_step(one->controller, &one->measured, &limits, one->setting, &one->decision);
    one->decided = true;
    one->wish = (dfrt_wish){.now = one->setting, .wanted = one->decision.setting,
                            .workers_least = limits.workers_least, .need = one->measured.busy};
    double missed = goal_latency(&agent->control.goals, &one->measured) / agent->control.goals.latency;
    if (missed > 1) { /* a goal that is missed is more urgent than any load */
        one->wish.need += missed;
    }
}

static void settle(dfrt__agent *agent)
{
    dfrt_wish wishes[DFRT_MOST_OPERATORS];
    unsigned count = 0, of[DFRT_MOST_OPERATORS];
    for (unsigned i = 0; i < agent->count; i++) {
        if (agent->operators[i].controller != NULL) {
            of[count] = i;
            wishes[count++] = agent->operators[i].wish;
        }
    }
    if (count > 0) {
        dfrt_manager_settle(&agent->manager, wishes, count);
    }
    for (unsigned i = 0; i < count; i++) {
        agent->operators[of[i]].wish = wishes[i];
    }
}

/* `expected`: what was foretold of the step that has just been measured. */
static void log_operator(dfrt__agent *agent, const dfrt__controlled *one, const dfrt_prediction *expected,
                         dfrt_setting before)
{
    bool same = dfrt__same_setting_of(&one->setting, &before);
    bool wanted = !dfrt__same_setting_of(&one->wish.wanted, &before);
    const char *held = one->wish.reason[0] != '\0' ? one->wish.reason
                       : same && wanted            ? agent->shadow ? "shadow mode" : "the last change is on its way"
                                                   : "";
    const dfrt_alternates *alternates = one->alternates < 0 ? NULL : &agent->program->alternates[one->alternates];
    dfrt__logged_step logged = {
        .name = one->name,
        .policy = one->rules.options.policy->name,
        .alternates = alternates == NULL ? NULL : alternates->names,
        .alternate_count = one->limits.alternate_count,
        .measured = &one->measured,
        .decision = &one->decision,
        .before = before,
        .after = one->setting,
        .lowest_frequency = dfrt__agent_lowest_frequency(agent),
        .acted = !same,
        .rebalanced = one->rebalanced,
        .heavy_keys = one->heavy_keys,
        .held = held,
        .fell_back = dfrt_controller_fell_back(one->controller),
        .expected = expected,
        .error = dfrt_controller_error(one->controller),
        .goal_latency = goal_latency(&agent->control.goals, &one->measured),
        .throughput = dfrt_throughput(&one->measured, before),
    };
    dfrt__log_step(&agent->log, agent->steps, dfrt__agent_uptime(agent), &logged);
}

/* The status is large: it is made only for a log that somebody reads. */
static void log_program(dfrt__agent *agent)
{
    if (agent->log.file == NULL) {
        return;
    }
    dfrt__status *status = dfrt_allocate(sizeof *status);
    dfrt__agent_fill(agent, status);
    dfrt__log_program(&agent->log, status, unix_seconds());
    free(status);
}

static void step_locked(dfrt__agent *agent, uint64_t now_ns)
{
    dfrt_prediction expected[DFRT_MOST_OPERATORS];
    dfrt_setting before[DFRT_MOST_OPERATORS];
    bool foretold[DFRT_MOST_OPERATORS];
    agent->steps++;
    dfrt__agent_read(agent, now_ns);
    for (unsigned i = 0; i < agent->count; i++) {
        dfrt__controlled *one = &agent->operators[i];
        expected[i] = one->decision.expected;
        foretold[i] = one->decided;
        before[i] = one->setting;
        if (one->controller != NULL) {
            decide(agent, one);
        }
    }
    settle(agent);
    if (!agent->draining) {
        dfrt__agent_act(agent);
    }
    log_program(agent);
    for (unsigned i = 0; i < agent->count; i++) {
        if (agent->operators[i].controller != NULL) {
            log_operator(agent, &agent->operators[i], foretold[i] ? &expected[i] : NULL, before[i]);
        }
    }
}

void dfrt__agent_step(dfrt__agent *agent, uint64_t now_ns)
{
    (void)pthread_mutex_lock(&agent->lock);
    step_locked(agent, now_ns);
    (void)pthread_mutex_unlock(&agent->lock);
}

/* --- the thread ------------------------------------------------------------------------------------------- */

static struct timespec at(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

/* Under the lock, which is free while it waits. */
static void wait_until(dfrt__agent *agent, uint64_t deadline_ns)
{
    struct timespec deadline = at(deadline_ns);
    int code = 0;
    while (!agent->ending && code != ETIMEDOUT) {
        code = pthread_cond_timedwait(&agent->ended, &agent->lock, &deadline);
    }
}

/* A step that comes late does not make the next one shorter: measurements of unequal steps compare badly. */
static void *run_agent(void *argument)
{
    dfrt__agent *agent = argument;
    (void)pthread_mutex_lock(&agent->lock);
    while (!agent->ending) {
        wait_until(agent, agent->stepped_ns + (uint64_t)(agent->control.step * 1e9));
        if (!agent->ending) {
            step_locked(agent, dfrt_now_ns());
        }
    }
    (void)pthread_mutex_unlock(&agent->lock);
    return NULL;
}

dfrt_status dfrt__agent_start(dfrt__agent *agent, dfrt_error *error)
{
    agent->started_ns = agent->stepped_ns = dfrt_now_ns();
    int code = pthread_create(&agent->thread, NULL, run_agent, agent);
    agent->running = code == 0;
    return code == 0 ? DFRT_OK : dfrt_fail(error, DFRT_IO, "no thread for the controller: %s", strerror(code));
}

void dfrt__agent_stop(dfrt__agent *agent)
{
    (void)pthread_mutex_lock(&agent->lock);
    agent->ending = true;
    (void)pthread_cond_signal(&agent->ended);
    (void)pthread_mutex_unlock(&agent->lock);
    if (agent->running) {
        (void)pthread_join(agent->thread, NULL); /* fails only for a thread that is not ours */
        agent->running = false;
    }
    (void)pthread_mutex_lock(&agent->lock);
    dfrt__agent_read(agent, dfrt_now_ns());
    dfrt__log_event(&agent->log, dfrt__agent_uptime(agent), "end", "");
    dfrt_error error = {{0}};
    if (agent->opened && agent->options.learned != NULL &&
        dfrt__experience_save(agent, agent->options.learned, &error) != DFRT_OK) {
        (void)fprintf(stderr, "%s: %s\n", agent->program->name, error.text);
    }
    (void)pthread_mutex_unlock(&agent->lock);
}

/* --- opening ---------------------------------------------------------------------------------------------- */

static void open_lock(dfrt__agent *agent)
{
    pthread_condattr_t by_monotonic;
    (void)pthread_mutex_init(&agent->lock, NULL); /* none of these can fail with these attributes */
    (void)pthread_condattr_init(&by_monotonic);
    (void)pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&agent->ended, &by_monotonic);
    (void)pthread_condattr_destroy(&by_monotonic);
}

static void tell(const dfrt__agent *agent, const dfrt_error *what)
{
    if (what->text[0] != '\0' && !agent->options.quiet) {
        (void)fprintf(stderr, "%s: %s\n", agent->program->name, what->text);
    }
}

/* What is missing matters only to a program that asked for it. */
static void open_machine(dfrt__agent *agent)
{
    dfrt__frequency_missing missing;
    dfrt__frequency_open(&agent->frequency, agent->options.sysfs == NULL ? "/sys" : agent->options.sysfs, &missing);
    if (agent->control.machine.frequency_count > 1 && !agent->options.off) {
        tell(agent, &missing.frequency);
    }
    bool power_counts = agent->control.goals.minimize == DFRT_MINIMIZE_POWER || agent->control.machine.power_most > 0;
    if (power_counts && !agent->options.off) {
        tell(agent, &missing.energy);
    }
}

dfrt_status dfrt__agent_open(dfrt__agent **out, const dfrt__agent_options *options, dfrt__control *control,
                             dfrt__layout_plan *layout, dfrt__reader *reader, bool fused, dfrt_error *error)
{
    dfrt__agent *agent = *out = dfrt_allocate(sizeof *agent);
    agent->options = *options;
    agent->program = layout->program;
    agent->layout = layout;
    agent->reader = reader;
    agent->run = layout->stages[0]->run;
    agent->fused = fused;
    agent->control = *control;
    *control = (dfrt__control){0};
    agent->power = agent->clock_hertz = agent->joules = NAN;
    agent->shadow = agent->control.shadow;
    open_lock(agent);
    open_machine(agent);
    dfrt__readings_open(&agent->readings, layout, fused);
    agent->started_ns = agent->stepped_ns = dfrt_now_ns();
    agent->joules = dfrt__frequency_joules(&agent->frequency);
    dfrt_status status = dfrt__log_open(&agent->log, options->log != NULL ? options->log : agent->control.log, error);
    if (status != DFRT_OK) {
        return status;
    }
    dfrt__agent_begin(agent);
    dfrt__status *now = dfrt_allocate(sizeof *now);
    dfrt__agent_fill(agent, now);
    dfrt__log_start(&agent->log, now, agent->control.text, unix_seconds());
    free(now);
    status = options->learned == NULL ? DFRT_OK : dfrt__experience_load(agent, options->learned, error);
    agent->opened = status == DFRT_OK;
    return status;
}

void dfrt__agent_close(dfrt__agent *agent)
{
    if (agent == NULL) {
        return;
    }
    for (unsigned i = 0; i < agent->count; i++) {
        free(agent->operators[i].room);
        free(agent->operators[i].learned);
        free(agent->operators[i].slots_before);
        free(agent->operators[i].slots_now);
        free(agent->operators[i].slots);
        dfrt__key_loads_close(&agent->operators[i].keys);
    }
    dfrt__log_close(&agent->log);
    dfrt__frequency_close(&agent->frequency);
    dfrt__readings_close(&agent->readings);
    dfrt__control_close(&agent->control);
    (void)pthread_cond_destroy(&agent->ended);
    (void)pthread_mutex_destroy(&agent->lock);
    free(agent);
}
