/* An operator under control as the tests of policies use it: the trading operator of 000 §5, and the drawing of numbers
 * for random ones. */
#ifndef DFRT_TESTS_CONTROL_SAMPLE_H
#define DFRT_TESTS_CONTROL_SAMPLE_H

#include "../control/policy.h"

#include <dfrt/random.h>

#include <math.h>
#include <time.h>

#include "check.h"

/* From DFC_TEST_SEED, otherwise another one each time; printed, so that a failure can be repeated. */
static inline dfrt_random test_random(void)
{
    const char *text = getenv("DFC_TEST_SEED");
    unsigned long long another = (unsigned long long)time(NULL) << 20 ^ (unsigned)getpid();
    unsigned long long seed = text != NULL ? strtoull(text, NULL, 10) : another;
    printf("DFC_TEST_SEED=%llu\n", seed);
    return dfrt_random_seed(seed);
}

static inline double draw(dfrt_random *random, double least, double most)
{
    return least + (most - least) * (double)(dfrt_random_next(random) >> 11) / 9007199254740992.0;
}

static inline unsigned draw_below(dfrt_random *random, unsigned bound)
{
    return (unsigned)(dfrt_random_next(random) % bound);
}

static inline dfrt_limits sample_limits(unsigned workers, unsigned frequencies)
{
    dfrt_limits limits = {.workers_least = 1, .workers_most = workers, .frequency_count = frequencies,
                          .service_threads = 3, .alternate_count = 1, .value = {1}, .cost = {NAN}};
    for (unsigned n = 0; n < frequencies; n++) {
        limits.frequencies[n] = 2.0e9 - 0.1e9 * (frequencies - 1 - n);
        limits.voltages[n] = 0.8 + 0.02 * n;
    }
    return limits;
}

static inline dfrt_measured sample_measured(double rate)
{
    dfrt_measured measured = {.step = 1, .arrivals = rate, .interarrival = 1 / rate, .interarrival_sd = 1 / rate,
                              .service = 0.45e-3, .service_sd = 0.1e-3, .result_spacing_cv = 0.8, .waiting = NAN,
                              .latency = NAN, .latency_quantile = NAN, .results = rate, .backlog = 0, .imbalance = 1,
                              .busy = NAN, .power = NAN, .downstream = NAN};
    for (unsigned n = 0; n < DFRT_MOST_ALTERNATES; n++)
        measured.alternate_service[n] = measured.alternate_selectivity[n] = NAN;
    return measured;
}

static inline dfrt_goals sample_goals(double latency)
{
    return (dfrt_goals){.latency = latency, .throughput = NAN, .value = NAN, .minimize = DFRT_MINIMIZE_CORES};
}

static inline dfrt_situation sample_situation(const dfrt_measured *measured, const dfrt_limits *limits,
                                              const dfrt_goals *goals, unsigned workers, unsigned frequency)
{
    dfrt_situation situation = {measured, limits, goals, {workers, frequency, 0, 0}, {0}, 1, 0};
    for (unsigned step = 0; step < DFRT_MOST_HORIZON; step++)
        situation.forecast[step] = measured->arrivals / measured->step;
    return situation;
}

static inline bool nearly(double got, double wanted)
{
    return got == wanted || fabs(got - wanted) <= 1e-9 * fabs(wanted);
}

#endif
