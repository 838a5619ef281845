/* Situations for tests of policies and controllers: limits, goals, measurements, and an operator that is played as a
 * fluid queue, so that a test can say what comes in and see what a controller makes of it. */
#ifndef DFRT_TESTS_SCRIPTED_H
#define DFRT_TESTS_SCRIPTED_H

#include "check.h"

#include "../control/policy.h"

#include <math.h>
#include <stdint.h>

static inline dfrt_limits some_limits(unsigned workers, unsigned frequencies, unsigned alternates)
{
    dfrt_limits limits = {.workers_least = 1, .workers_most = workers, .frequency_count = frequencies,
                          .service_threads = 3, .alternate_count = alternates};
    for (unsigned i = 0; i < frequencies; i++) {
        limits.frequencies[i] = 2e9 - 1e8 * (frequencies - 1 - i);
        limits.voltages[i] = 1.2 - 0.02 * (frequencies - 1 - i);
    }
    for (unsigned i = 0; i < alternates; i++) {
        limits.value[i] = 1 - 0.4 * i;
        limits.cost[i] = NAN;
    }
    return limits;
}

static inline dfrt_goals no_goals(void)
{
    return (dfrt_goals){.latency = NAN, .quantile = NAN, .throughput = NAN, .value = NAN};
}

static inline dfrt_goals latency_goal(double seconds)
{
    dfrt_goals goals = no_goals();
    goals.latency = seconds;
    return goals;
}

/* Nothing is known. */
static inline dfrt_measured blank_step(void)
{
    dfrt_measured measured = {.step = NAN, .arrivals = NAN, .interarrival = NAN, .interarrival_sd = NAN, .service = NAN,
                              .service_sd = NAN, .result_spacing_cv = NAN, .waiting = NAN, .latency = NAN,
                              .latency_quantile = NAN, .results = NAN, .backlog = NAN, .blocked = NAN, .imbalance = NAN,
                              .busy = NAN, .power = NAN, .downstream = NAN};
    for (unsigned i = 0; i < DFRT_MOST_ALTERNATES; i++)
        measured.alternate_service[i] = measured.alternate_selectivity[i] = NAN;
    return measured;
}

/* An operator whose triggers take `cost[alternate]` seconds at the highest frequency. Where they are not 0: results a trigger,
 * what a result costs behind it, and what comes to the latency there. */
typedef struct plant {
    double cost[DFRT_MOST_ALTERNATES], selectivity[DFRT_MOST_ALTERNATES], downstream, late;
    double backlog;
    bool seen[DFRT_MOST_ALTERNATES];
} plant;

/* One second with `rate` triggers that would come without shedding, and this setting in force. */
static inline dfrt_measured plant_step(plant *plant, double rate, const dfrt_limits *limits, dfrt_setting setting)
{
    dfrt_measured measured = blank_step();
    double slower = limits->frequencies[limits->frequency_count - 1] / limits->frequencies[setting.frequency];
    double service = plant->cost[setting.alternate] * slower, capacity = setting.workers / service;
    rate *= 1 - setting.shed;
    double offered = rate + plant->backlog, served = fmin(offered, capacity), load = fmin(rate / capacity, 0.99);
    plant->seen[setting.alternate] = true;
    measured.step = 1;
    measured.arrivals = rate;
    measured.interarrival = rate > 0 ? 1 / rate : NAN;
    measured.interarrival_sd = measured.interarrival;
    measured.service = service;
    measured.service_sd = 0;
    measured.result_spacing_cv = 1;
    measured.waiting = load / (1 - load) * service / setting.workers + (plant->backlog + offered - served) / 2 / capacity;
    measured.latency = measured.waiting + service + plant->late;
    measured.latency_quantile = 3 * measured.latency;
    measured.results = served;
    measured.downstream = plant->downstream > 0 ? plant->downstream : NAN;
    measured.backlog = plant->backlog = offered - served;
    measured.blocked = measured.backlog > 0 ? fmin(1, measured.backlog / (rate + 1)) : 0;
    measured.imbalance = 1;
    measured.busy = served / capacity;
    for (unsigned i = 0; i < limits->alternate_count; i++)
        if (plant->seen[i]) {
            measured.alternate_service[i] = plant->cost[i] * slower;
            measured.alternate_selectivity[i] = plant->selectivity[i] > 0 ? plant->selectivity[i] : NAN;
        }
    return measured;
}

/* A policy with the values of its parameters, all standard. */
static inline void *started(const dfrt_policy *policy, const dfrt_limits *limits, const dfrt_goals *goals, double *values)
{
    void *state = calloc(1, policy->size(values, limits));
    CHECK(state != NULL);
    policy->start(state, values, limits, goals);
    return state;
}

static inline void standard_values(double *values)
{
    for (unsigned i = 0; i < DFRT_MOST_PARAMETERS; i++)
        values[i] = NAN;
}

static inline double *value_named(const dfrt_policy *policy, double *values, const char *name)
{
    for (unsigned i = 0; policy->parameters[i].name != NULL; i++)
        if (strcmp(policy->parameters[i].name, name) == 0)
            return &values[i];
    fprintf(stderr, "%s has no parameter %s\n", policy->name, name);
    exit(1);
}

static inline dfrt_situation situation_of(const dfrt_measured *measured, const dfrt_limits *limits,
                                          const dfrt_goals *goals, dfrt_setting now)
{
    dfrt_situation situation = {.measured = measured, .limits = limits, .goals = goals, .now = now, .correction = 1};
    double kept = now.shed > 0 && now.shed < 1 ? 1 - now.shed : 1; /* a forecast is of what would come unshed */
    for (unsigned i = 0; i < DFRT_MOST_HORIZON; i++)
        situation.forecast[i] = measured->arrivals / measured->step / kept;
    return situation;
}

static inline bool inside(dfrt_setting setting, const dfrt_limits *limits)
{
    return setting.workers >= limits->workers_least && setting.workers <= limits->workers_most
        && setting.frequency < limits->frequency_count && setting.alternate < limits->alternate_count && setting.shed >= 0
        && setting.shed <= limits->shed_most;
}

/* --- random numbers, some of them hostile -------------------------------------------------------------------------- */

static inline uint64_t next_random(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t mixed = (*seed ^ (*seed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

static inline double random_share_of(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) / 9007199254740992.0;
}

static inline uint64_t test_seed(void)
{
    const char *given = getenv("DFC_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 1;
    printf("DFC_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* Any number that a broken clock or counter might give. */
static inline double hostile(uint64_t *seed, double sane)
{
    static const double odd[] = {0, -1, 1e-300, 1e300, -1e300, INFINITY, -INFINITY, NAN, 5e-324};
    uint64_t choice = next_random(seed) % 24;
    return choice < sizeof odd / sizeof *odd ? odd[choice] : sane * random_share_of(seed);
}

static inline dfrt_measured hostile_step(uint64_t *seed)
{
    dfrt_measured measured = blank_step();
    measured.step = hostile(seed, 2);
    measured.arrivals = hostile(seed, 10000);
    measured.interarrival = hostile(seed, 1e-3);
    measured.interarrival_sd = hostile(seed, 1e-3);
    measured.service = hostile(seed, 1e-2);
    measured.service_sd = hostile(seed, 1e-2);
    measured.result_spacing_cv = hostile(seed, 2);
    measured.waiting = hostile(seed, 1);
    measured.latency = hostile(seed, 1);
    measured.latency_quantile = hostile(seed, 1);
    measured.results = hostile(seed, 10000);
    measured.backlog = hostile(seed, 10000);
    measured.blocked = hostile(seed, 1);
    measured.imbalance = hostile(seed, 5);
    measured.busy = hostile(seed, 1);
    measured.power = hostile(seed, 100);
    measured.downstream = hostile(seed, 1e-2);
    for (unsigned i = 0; i < DFRT_MOST_ALTERNATES; i++) {
        measured.alternate_service[i] = hostile(seed, 1e-2);
        measured.alternate_selectivity[i] = hostile(seed, 2);
    }
    measured.moved = next_random(seed) % 2;
    return measured;
}

static inline dfrt_limits hostile_limits(uint64_t *seed)
{
    dfrt_limits limits = some_limits(1 + (unsigned)(next_random(seed) % 12), 1 + (unsigned)(next_random(seed) % 9),
                                     1 + (unsigned)(next_random(seed) % 4));
    limits.workers_least = 1 + (unsigned)(next_random(seed) % limits.workers_most);
    for (unsigned i = 0; i < limits.alternate_count; i++) {
        limits.value[i] = hostile(seed, 1);
        limits.cost[i] = hostile(seed, 1e-2);
    }
    if (next_random(seed) % 4 == 0)
        for (unsigned i = 0; i < limits.frequency_count; i++)
            limits.frequencies[i] = hostile(seed, 3e9);
    limits.shed_most = next_random(seed) % 3 == 0 ? random_share_of(seed) : 0;
    return limits;
}

static inline dfrt_goals hostile_goals(uint64_t *seed)
{
    dfrt_goals goals = no_goals();
    goals.latency = next_random(seed) % 2 ? NAN : hostile(seed, 0.1);
    goals.latency_of = next_random(seed) % 2 ? DFRT_GOAL_MEAN : DFRT_GOAL_QUANTILE;
    goals.quantile = 0.95;
    goals.throughput = next_random(seed) % 2 ? NAN : hostile(seed, 1);
    goals.value = next_random(seed) % 2 ? NAN : hostile(seed, 1);
    goals.minimize = next_random(seed) % 4;
    return goals;
}

#endif
