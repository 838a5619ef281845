/* Nothing changes: resources for the peak load, the baseline that every other policy is compared with. */
#include "policies.h"
#include "reading.h"

#include <math.h>

enum { STATIC_DEGREE, STATIC_FREQUENCY, STATIC_ALTERNATE };

static const dfrt_parameter static_parameters[] = {
    {"degree", NAN, 1, DFRT_MOST_WORKERS, NULL},
    {"frequency", NAN, 0, 1e12, NULL},
    {"alternate", NAN, 0, DFRT_MOST_ALTERNATES - 1, NULL},
    {NULL, 0, 0, 0, NULL},
};

struct fixed {
    unsigned degree, frequency, alternate;
    bool given[3];
};

static size_t size_of_static(const double *values, const dfrt_limits *limits)
{
    (void)values;
    (void)limits;
    return sizeof(struct fixed);
}

/* The lowest frequency that is not below the one asked for. */
static unsigned frequency_at_least(const dfrt_limits *limits, double hertz)
{
    unsigned found = 0;
    while (found + 1 < limits->frequency_count && limits->frequencies[found] < hertz)
        found++;
    return found;
}

static unsigned of_greatest_value(const dfrt_limits *limits)
{
    unsigned best = 0;
    for (unsigned alternate = 1; alternate < limits->alternate_count; alternate++)
        if (limits->value[alternate] > limits->value[best])
            best = alternate;
    return best;
}

static void start_static(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    (void)goals;
    struct fixed *fixed = state;
    double degree = dfrt_parameter_of(&static_parameters[STATIC_DEGREE], values[STATIC_DEGREE]);
    double hertz = dfrt_parameter_of(&static_parameters[STATIC_FREQUENCY], values[STATIC_FREQUENCY]);
    double alternate = dfrt_parameter_of(&static_parameters[STATIC_ALTERNATE], values[STATIC_ALTERNATE]);
    for (unsigned i = 0; i < 3; i++)
        fixed->given[i] = !isnan(values[i]);
    fixed->degree = isnan(degree) ? limits->workers_most : (unsigned)degree;
    fixed->frequency = isnan(hertz) ? limits->frequency_count - 1 : frequency_at_least(limits, hertz);
    fixed->alternate = isnan(alternate) ? of_greatest_value(limits) : (unsigned)alternate;
}

static void decide_static(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    const struct fixed *fixed = state;
    dfrt__stay(decision, situation);
    unsigned held = situation->limits->alternate_held;
    dfrt_setting asked = {fixed->degree, fixed->frequency, held > 0 ? held - 1 : fixed->alternate, 0};
    decision->setting = dfrt__within(asked, situation->limits);
    decision->expected = dfrt__no_prediction(decision->setting);
    dfrt__say(decision, "static: %u workers (%s), frequency %u (%s), alternate %u (%s)", decision->setting.workers,
              fixed->given[STATIC_DEGREE] ? "as set" : "the most", decision->setting.frequency,
              fixed->given[STATIC_FREQUENCY] ? "as set" : "the highest", decision->setting.alternate,
              held > 0 ? "held" : fixed->given[STATIC_ALTERNATE] ? "as set" : "of the greatest value");
    if (!dfrt__same_setting(asked, decision->setting))
        dfrt__say_more(decision, "as near as the limits allow to the %u workers that were asked for", fixed->degree);
}

const dfrt_policy dfrt__policy_static = {
    .name = "static",
    .about = "a fixed setting; without one, all that the limits allow",
    .parameters = static_parameters,
    .size = size_of_static,
    .start = start_static,
    .decide = decide_static,
};
