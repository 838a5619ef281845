/* A controller and an operator that is played, step by step. */
#ifndef DFRT_TESTS_CONTROL_LOOP_H
#define DFRT_TESTS_CONTROL_LOOP_H

#include "scripted.h"

#include "../control/controller.h"

typedef struct loop {
    dfrt_controller_options options;
    dfrt_limits limits;
    dfrt_goals goals;
    dfrt_controller *controller;
    plant plant;
    dfrt_setting now;
    dfrt_decision decision;
} loop;

static inline void prepare(loop *loop, const char *policy, unsigned workers, unsigned alternates)
{
    *loop = (struct loop){.limits = some_limits(workers, 1, alternates), .goals = latency_goal(0.05), .now = {1, 0, 0, 0}};
    loop->options = (dfrt_controller_options){.policy = dfrt_policy_named(policy), .forecaster = "last", .level = NAN,
                                              .trend = NAN, .seasonal = NAN, .smoothing = NAN, .trust = NAN};
    CHECK(loop->options.policy != NULL);
    standard_values(loop->options.parameters);
    loop->plant.cost[0] = 0.010;
    loop->plant.cost[1] = 0.0025;
}

static inline void start(loop *loop)
{
    void *room = malloc(dfrt_controller_size(&loop->options, &loop->limits));
    CHECK(room != NULL);
    loop->controller = dfrt_controller_start(room, &loop->options, &loop->limits, &loop->goals, loop->now);
}

static inline void feed(loop *loop, const dfrt_measured *measured)
{
    if (loop->controller == NULL)
        start(loop);
    dfrt_controller_step(loop->controller, measured, &loop->limits, loop->now, &loop->decision);
    CHECK(inside(loop->decision.setting, &loop->limits));
    CHECK(loop->decision.reason[0] != '\0' && strlen(loop->decision.reason) < DFRT_REASON);
    CHECK(strchr(loop->decision.reason, '\n') == NULL);
    loop->now = loop->decision.setting;
}

static inline void play(loop *loop, double rate, unsigned steps)
{
    for (unsigned step = 0; step < steps; step++) {
        dfrt_measured measured = plant_step(&loop->plant, rate, &loop->limits, loop->now);
        feed(loop, &measured);
    }
}

static inline bool says(const loop *loop, const char *words)
{
    if (strstr(loop->decision.reason, words) == NULL)
        fprintf(stderr, "reason: %s\n", loop->decision.reason);
    return strstr(loop->decision.reason, words) != NULL;
}

#endif
