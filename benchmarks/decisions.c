/* Time for one decision of the policy `mpc`: WORKERS FREQUENCIES HORIZON SOLVER as arguments; prints nanoseconds of
 * processor time, the median of batches. The load is the trading operator's (0.45 ms a window, latency goal 1.5 ms): a
 * random walk between 30 and 90 % of what all workers can do, so that every decision is another one. */
#define _POSIX_C_SOURCE 200809L
#include "control/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_BATCHES = 31 };

static double seconds(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
        exit(1);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double choice(const dfrt_parameter *parameter, const char *word)
{
    for (int n = 0; parameter->choices != NULL && parameter->choices[n] != NULL; n++)
        if (strcmp(parameter->choices[n], word) == 0)
            return n;
    return atof(word);
}

static void set_parameter(const dfrt_policy *policy, double *values, const char *name, const char *word)
{
    for (int n = 0; policy->parameters[n].name != NULL; n++)
        if (strcmp(policy->parameters[n].name, name) == 0)
            values[n] = choice(&policy->parameters[n], word);
}

static dfrt_limits limits_of(unsigned workers, unsigned frequencies)
{
    dfrt_limits limits = {.workers_least = 1, .workers_most = workers, .frequency_count = frequencies,
                          .service_threads = 3, .alternate_count = 1, .cost = {NAN}};
    for (unsigned n = 0; n < frequencies; n++) {
        double share = frequencies > 1 ? (double)n / (frequencies - 1) : 1;
        limits.frequencies[n] = 1.2e9 + 0.8e9 * share;
        limits.voltages[n] = 0.85 + 0.25 * share;
    }
    return limits;
}

/* One decision with the next load of the walk; the answer is in force for the next. */
static void decide_once(const dfrt_policy *policy, void *state, dfrt_situation *situation, double *share)
{
    static uint64_t random = 42;
    random = random * 6364136223846793005u + 1442695040888963407u;
    *share += ((double)(random >> 40) / (1 << 24) - 0.5) * 0.1;
    *share = fmin(fmax(*share, 0.3), 0.9);
    for (unsigned step = 0; step < DFRT_MOST_HORIZON; step++)
        situation->forecast[step] = *share * situation->limits->workers_most / 0.45e-3 * (1 + 0.01 * step);
    dfrt_decision decision;
    policy->decide(state, situation, &decision);
    situation->now = decision.setting;
}

int main(int count, char **words)
{
    if (count != 5)
        return fprintf(stderr, "usage: decisions WORKERS FREQUENCIES HORIZON SOLVER\n"), 2;
    const dfrt_policy *policy = dfrt_policy_named("mpc");
    dfrt_limits limits = limits_of((unsigned)atoi(words[1]), (unsigned)atoi(words[2]));
    dfrt_goals goals = {.latency = 1.5e-3, .throughput = NAN, .value = NAN, .minimize = DFRT_MINIMIZE_POWER};
    dfrt_measured measured = {.step = 1, .arrivals = 1, .interarrival = 1e-4, .interarrival_sd = 1e-4,
                              .service = 0.45e-3, .result_spacing_cv = 1, .imbalance = 1, .power = NAN};
    dfrt_situation situation = {&measured, &limits, &goals, {limits.workers_most, limits.frequency_count - 1, 0, 0},
                                {0}, 1, 0};
    double values[DFRT_MOST_PARAMETERS], times[MOST_BATCHES], share = 0.6;
    for (int n = 0; n < DFRT_MOST_PARAMETERS; n++)
        values[n] = NAN;
    set_parameter(policy, values, "strategy", "lat_power");
    set_parameter(policy, values, "horizon", words[3]);
    set_parameter(policy, values, "solver", words[4]);
    void *state = calloc(1, policy->size(values, &limits));
    if (state == NULL)
        return 1;
    policy->start(state, values, &limits, &goals);
    double begun = seconds();
    decide_once(policy, state, &situation, &share);
    double one = seconds() - begun;
    int decisions = one > 0.01 ? 1 : (int)(0.01 / fmax(one, 1e-7)), batches = one > 0.01 ? 5 : MOST_BATCHES;
    for (int batch = 0; batch < batches; batch++) {
        begun = seconds();
        for (int n = 0; n < decisions; n++)
            decide_once(policy, state, &situation, &share);
        times[batch] = (seconds() - begun) / decisions;
    }
    qsort(times, (size_t)batches, sizeof *times, by_size);
    printf("%.0f\n", times[batches / 2] * 1e9);
    free(state);
    return 0;
}
