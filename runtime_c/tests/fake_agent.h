/* An agent that says what a test puts into it, so that requests can be tested without a running program. */
#ifndef DFRT_TESTS_FAKE_AGENT_H
#define DFRT_TESTS_FAKE_AGENT_H

#include "dfrt/src/agent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dfrt__agent {
    dfrt__status status;
    dfrt__step_status steps[2];
    dfrt_histogram latency;
    const char *configuration; /* NULL: none */
    char command[200];         /* the last one */
    dfrt_status answer;
};

void dfrt__agent_status(dfrt__agent *agent, dfrt__status *status)
{
    *status = agent->status;
}

void dfrt__agent_steps(dfrt__agent *agent, dfrt__step_status *steps)
{
    memcpy(steps, agent->steps, sizeof agent->steps);
}

void dfrt__agent_latency(dfrt__agent *agent, dfrt_histogram *latency)
{
    dfrt_histogram_merge(latency, &agent->latency);
}

char *dfrt__agent_configuration(dfrt__agent *agent)
{
    return agent->configuration == NULL ? NULL : strdup(agent->configuration);
}

dfrt_status dfrt__agent_command(dfrt__agent *agent, const char *request, dfrt_error *reply)
{
    (void)snprintf(agent->command, sizeof agent->command, "%s", request);
    return dfrt_fail(reply, agent->answer, "heard \"%.100s\"", request);
}

static const char *const fake_alternates[] = {"exact", "qu\"ick"};
static const char *const fake_plan[] = {"plan of \"fake\"", "  one\\two", NULL};

/* One operator with two alternates, one change, two steps. */
static inline void fill_fake_agent(dfrt__agent *agent)
{
    memset(agent, 0, sizeof *agent);
    agent->status = (dfrt__status){
        .app = "fake", .version = "1 \\ \"x\"", .controlled = true, .uptime = 12.5, .step = 1, .steps = 12,
        .tuples = 1000, .results = 40, .late = 3, .malformed = 2, .faults = 1, .rate = 80, .frequency = NAN, .power = 7.25,
        .latency = {8, 0.002, 0.001, 0.003, 0.004, 0.005, 0.006, 0.007},
        .goals = {.latency = 0.007, .latency_of = DFRT_GOAL_QUANTILE, .quantile = 0.95, .throughput = NAN, .value = NAN,
                  .minimize = DFRT_MINIMIZE_POWER},
        .operator_count = 1, .change_count = 1,
    };
    agent->status.operators[0] = (dfrt__operator_status){
        .name = "predict", .policy = "mpc", .workers = 2, .workers_least = 1, .workers_most = 4, .heavy_keys = 3,
        .alternate = "exact", .alternates = fake_alternates, .alternate_count = 2, .rate = 20, .results = 20, .service = 0.05,
        .utilisation = 0.5, .imbalance = 1.25, .backlog = 0, .waiting = NAN, .blocked = 0, .forecast = 21.5,
        .error = INFINITY, .throughput = 0.75, .triggers = 240, .total_results = 239, .changes = 1,
        .reason = "2 workers \xff\n suffice"};
    agent->status.changes[0] = (dfrt__change_status){
        .uptime = 3, .name = "predict", .before = {1, 0, 0, 0}, .after = {2, 0, 1, 0.5}, .acted = true, .reason = "more"};
    agent->steps[0] = (dfrt__step_status){"quotes", "source", 1000, 997, 3, 2, 0};
    agent->steps[1] = (dfrt__step_status){"predict", "operator", 997, 40, 0, 0, 1};
    dfrt_histogram_add(&agent->latency, 1500, 1);
    dfrt_histogram_add(&agent->latency, 3000000, 2);
    dfrt_histogram_add(&agent->latency, 30000000000, 1);
}

#endif
