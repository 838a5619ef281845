/* The strategy of the SPL runtime, after its description in 000 §5.4 and 002 §7.2.5: throughput oriented, with a memory.
 *
 * The operator is congested when its sender was held up by full queues for more than a share of the step. Congested, it
 * gets one worker more, unless the memory says that the next degree was congested too and brought no more; without congestion one
 * fewer, unless the memory says that the degree below was congested. What is remembered of a degree is forgotten when it
 * no longer holds: congestion that has come or gone, or a throughput that changed by more than what the sensitivity calls
 * significant, at the same degree, means that the load is another one. */
#include "policies.h"
#include "reading.h"

#include <math.h>

enum { SPL_CONGESTION, SPL_SENSITIVITY, SPL_REMEMBER };

static const dfrt_parameter spl_parameters[] = {
    {"congestion", 0.1, 0, 1, NULL},
    {"sensitivity", 0.9, 0, 1, NULL},
    {"remember", 30, 1, 1e6, NULL},
    {NULL, 0, 0, 0, NULL},
};

struct spl_level {
    double served;   /* triggers a second at the last visit */
    bool congested;
    unsigned age;    /* steps since then, from 1; 0: not remembered */
};

struct spl {
    double congestion, significant;
    unsigned remember, most;
    struct spl_level levels[]; /* by degree, from 1 */
};

static size_t size_of_spl(const double *values, const dfrt_limits *limits)
{
    (void)values;
    return sizeof(struct spl) + (limits->workers_most + 2) * sizeof(struct spl_level);
}

static void start_spl(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    (void)goals;
    struct spl *spl = state;
    double sensitivity = dfrt_parameter_of(&spl_parameters[SPL_SENSITIVITY], values[SPL_SENSITIVITY]);
    spl->congestion = dfrt_parameter_of(&spl_parameters[SPL_CONGESTION], values[SPL_CONGESTION]);
    spl->significant = 0.1 + 0.9 * (1 - sensitivity);
    spl->remember = (unsigned)dfrt_parameter_of(&spl_parameters[SPL_REMEMBER], values[SPL_REMEMBER]);
    spl->most = limits->workers_most;
}

static void forget_levels(struct spl *spl, unsigned first, unsigned last)
{
    for (unsigned degree = first; degree <= last && degree <= spl->most; degree++)
        spl->levels[degree].age = 0;
}

static void grow_older(struct spl *spl)
{
    for (unsigned degree = 1; degree <= spl->most; degree++) {
        struct spl_level *level = &spl->levels[degree];
        if (level->age > 0 && ++level->age > spl->remember)
            level->age = 0;
    }
}

static bool changed_much(const struct spl *spl, double before, double now)
{
    return fabs(now - before) > spl->significant * fmax(before, now);
}

/* What is remembered of other degrees is compared with what this degree gave last time. */
static void forget_outdated(struct spl *spl, unsigned degree, double served, bool congested)
{
    const struct spl_level *before = &spl->levels[degree];
    if (before->age == 0)
        return;
    if (before->congested && !congested) /* less load: those below may do as well */
        forget_levels(spl, 1, degree - 1);
    else if (!before->congested && congested) /* more load: those above may help now */
        forget_levels(spl, degree + 1, spl->most);
    else if (changed_much(spl, before->served, served)) {
        forget_levels(spl, 1, degree - 1);
        forget_levels(spl, degree + 1, spl->most);
    }
}

static void expand(const struct spl *spl, unsigned degree, double served, const dfrt_situation *situation,
                   dfrt_decision *decision)
{
    double share = situation->measured->blocked;
    const struct spl_level *above = &spl->levels[degree + 1];
    bool useless = degree < spl->most && above->age > 0 && above->congested
                && above->served <= served * (1 + spl->significant);
    if (useless)
        dfrt__say(decision, "congested (%.0f %% of the step), but %u workers gave %.4g/s, no more than these %u",
                  100 * share, degree + 1, above->served, degree);
    else if (dfrt__more(&decision->setting, situation->limits))
        dfrt__say(decision, "congested: the sender was held up for %.0f %% of the step, more than %.0f %%; %s", 100 * share,
                  100 * spl->congestion,
                  decision->setting.workers > degree ? "one worker more" : "all workers in use, so the highest frequency");
    else
        dfrt__say(decision, "congested (%.0f %% of the step) with all that the limits allow", 100 * share);
}

static void contract(const struct spl *spl, unsigned degree, const dfrt_situation *situation, dfrt_decision *decision)
{
    double share = situation->measured->blocked;
    const struct spl_level *below = &spl->levels[degree - 1];
    if (degree > 1 && below->age > 0 && below->congested)
        dfrt__say(decision, "not congested (%.0f %%), and %u workers were, %u steps ago", 100 * share, degree - 1,
                  below->age - 1);
    else if (dfrt__fewer(&decision->setting, situation->limits))
        dfrt__say(decision, "not congested: the sender was held up for %.0f %% of the step; one worker fewer", 100 * share);
    else
        dfrt__say(decision, "not congested (%.0f %%) with the fewest workers allowed", 100 * share);
}

static void decide_spl(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    struct spl *spl = state;
    const dfrt_measured *measured = situation->measured;
    unsigned degree = situation->now.workers;
    dfrt__stay(decision, situation);
    double served = measured->results / measured->step;
    if (!(measured->blocked >= 0) || !isfinite(measured->blocked) || !(served >= 0) || !isfinite(served) || degree < 1
        || degree > spl->most) {
        dfrt__say(decision, "how long the sender was held up or how much came out is not known: nothing to decide by");
        return;
    }
    bool congested = measured->blocked > spl->congestion;
    grow_older(spl);
    forget_outdated(spl, degree, served, congested);
    spl->levels[degree] = (struct spl_level){served, congested, 1};
    if (congested)
        expand(spl, degree, served, situation, decision);
    else
        contract(spl, degree, situation, decision);
    decision->expected = dfrt__no_prediction(decision->setting);
}

const dfrt_policy dfrt__policy_spl = {
    .name = "spl",
    .about = "more workers while the sender is held up, with a memory of what each degree gave",
    .parameters = spl_parameters,
    .size = size_of_spl,
    .start = start_spl,
    .decide = decide_spl,
};
