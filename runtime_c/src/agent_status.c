#define _GNU_SOURCE
/* What the agent tells others. */
#include "agent_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../control/reading.h"

/* The model's unit where nobody measures: voltage² · gigahertz · threads. */
static double model_power(const dfrt__agent *agent)
{
    double threads = 0, hertz = NAN, volts = NAN;
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        threads += one->setting.workers + (i == 0 ? one->limits.service_threads : 0);
        hertz = one->limits.frequencies[one->setting.frequency];
        volts = one->limits.voltages[one->setting.frequency];
    }
    return (isnan(volts) ? 1 : volts * volts) * hertz / 1e9 * threads;
}

static void fill_latency(const dfrt_histogram *latency, dfrt__latency_status *status)
{
    static const double points[] = {0.5, 0.9, 0.95, 0.99, 0.999};
    double *values[] = {&status->p50, &status->p90, &status->p95, &status->p99, &status->p999};
    status->count = dfrt_histogram_count(latency);
    status->mean = status->count > 0 ? dfrt_histogram_mean(latency) / 1e9 : NAN;
    status->max = status->count > 0 ? (double)dfrt_histogram_max(latency) / 1e9 : NAN;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        *values[i] = status->count > 0 ? (double)dfrt_histogram_quantile(latency, points[i]) / 1e9 : NAN;
    }
}

static void fill_operator(const dfrt__agent *agent, const dfrt__controlled *one, dfrt__operator_status *status)
{
    const dfrt_alternates *alternates = one->alternates < 0 ? NULL : &agent->program->alternates[one->alternates];
    const dfrt_measured *m = &one->measured;
    bool measured = m->step > 0;
    *status = (dfrt__operator_status){
        .name = one->name,
        .policy = one->controller == NULL ? "off" : one->rules.options.policy->name,
        .workers = one->setting.workers,
        .workers_least = one->limits.workers_least,
        .workers_most = one->limits.workers_most,
        .heavy_keys = one->heavy_keys,
        .alternate = alternates == NULL ? NULL : alternates->names[one->setting.alternate],
        .alternates = alternates == NULL ? NULL : alternates->names,
        .alternate_count = alternates == NULL ? 0 : alternates->count,
        .rate = measured ? m->arrivals / m->step : NAN,
        .results = measured ? m->results / m->step : NAN,
        .service = measured ? m->service : NAN,
        .utilisation = measured ? m->busy : NAN,
        .imbalance = measured ? m->imbalance : NAN,
        .backlog = measured ? m->backlog : NAN,
        .waiting = measured ? m->waiting : NAN,
        .blocked = measured ? m->blocked : NAN,
        .forecast = one->decided ? one->decision.forecast : NAN,
        .error = one->controller == NULL ? NAN : dfrt_controller_error(one->controller),
        .fell_back = one->controller != NULL && dfrt_controller_fell_back(one->controller),
        .workers_held = one->held_workers > 0,
        .alternate_held = one->held_alternate >= 0,
        .triggers = (uint64_t)(one->now.watched ? one->now.triggers : one->now.taken),
        .total_results = (uint64_t)one->now.results,
        .changes = one->changes,
        .shed = one->setting.shed,
        .throughput = measured ? dfrt_throughput(m, one->setting) : NAN,
    };
    if (one->decided) {
        (void)snprintf(status->reason, sizeof status->reason, "%s", one->decision.reason);
    }
}

static void fill_totals(dfrt__agent *agent, dfrt__status *status)
{
    const dfrt_program *program = agent->program;
    status->tuples = dfrt__readings_tuples(&agent->readings);
    for (unsigned i = 0; i < program->sink_count; i++) {
        status->results += agent->readings.totals[program->sinks[i].step].out;
    }
    for (unsigned s = 0; s < program->step_count; s++) {
        status->late += agent->readings.totals[s].late;
        status->faults += agent->readings.totals[s].faults;
    }
    for (unsigned i = 0; i < program->source_count; i++) {
        status->malformed += dfrt__reader_malformed(agent->reader, i);
    }
    status->shed = atomic_load_explicit(&agent->run->shed, memory_order_relaxed);
}

static void fill_changes(const dfrt__agent *agent, dfrt__status *status)
{
    uint64_t from = agent->recent_count > DFRT__RECENT ? agent->recent_count - DFRT__RECENT : 0;
    for (uint64_t i = from; i < agent->recent_count; i++) {
        status->changes[status->change_count++] = agent->recent[i % DFRT__RECENT];
    }
}

void dfrt__agent_fill(dfrt__agent *agent, dfrt__status *status)
{
    *status = (dfrt__status){
        .app = agent->program->name,
        .version = agent->program->version,
        .fused = agent->fused,
        .configuration = agent->control.file,
        .shadow = agent->shadow,
        .draining = agent->draining,
        .uptime = dfrt__agent_uptime(agent),
        .step = agent->control.step,
        .steps = agent->steps,
        .rate = agent->rate,
        .goals = agent->control.goals,
        .frequency = agent->clock_hertz,
        .lowest_frequency = dfrt__agent_lowest_frequency(agent),
        .power = isnan(agent->power) ? model_power(agent) : agent->power,
        .power_is_measured = !isnan(agent->power),
        .operator_count = agent->count,
    };
    fill_totals(agent, status);
    fill_latency(&agent->latency_step, &status->latency);
    for (unsigned i = 0; i < agent->count; i++) {
        fill_operator(agent, &agent->operators[i], &status->operators[i]);
        status->controlled |= agent->operators[i].controller != NULL;
    }
    fill_changes(agent, status);
}

/* --- for other threads -------------------------------------------------------------------------------------- */

void dfrt__agent_status(dfrt__agent *agent, dfrt__status *status)
{
    (void)pthread_mutex_lock(&agent->lock);
    dfrt__readings_take(&agent->readings);
    dfrt__agent_fill(agent, status);
    status->uptime = (double)(dfrt_now_ns() - agent->started_ns) / 1e9;
    (void)pthread_mutex_unlock(&agent->lock);
}

void dfrt__agent_steps(dfrt__agent *agent, dfrt__step_status *steps)
{
    const dfrt_program *program = agent->program;
    (void)pthread_mutex_lock(&agent->lock);
    dfrt__readings_take(&agent->readings);
    for (unsigned s = 0; s < program->step_count; s++) {
        const dfrt_count *total = &agent->readings.totals[s];
        bool source = program->steps[s].input_count == 0;
        steps[s] = (dfrt__step_status){.name = program->steps[s].name,
                                       .kind = program->steps[s].kind,
                                       .in = source ? total->out + total->late : dfrt__readings_in(&agent->readings, s),
                                       .out = total->out,
                                       .late = total->late,
                                       .faults = total->faults};
    }
    for (unsigned i = 0; i < program->source_count; i++) {
        steps[program->sources[i].step].malformed = dfrt__reader_malformed(agent->reader, i);
    }
    (void)pthread_mutex_unlock(&agent->lock);
}

void dfrt__agent_latency(dfrt__agent *agent, dfrt_histogram *latency)
{
    dfrt__readings_latency(&agent->readings, latency); /* histograms may be read beside their writers */
}
