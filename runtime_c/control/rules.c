/* Threshold rules: one worker more above a threshold, one fewer below another.
 *
 * `rule` looks at latency against its goal (002 §7.2.5, Lat-Rule) or, without such a goal, at the utilisation (000 §5.4,
 * Th-Rule). `threshold` is the policy of 003 §7.1: the busiest replica against a target, and what the rest would have to
 * carry after one has gone against a share of it, which keeps it from adding again what it has just taken away. */
#include "reading.h"
#include "policies.h"

#include <math.h>

enum { RULE_LOW, RULE_HIGH, RULE_UTILISATION_LOW, RULE_UTILISATION_HIGH, RULE_LATENCY, RULE_PATIENCE };

static const dfrt_parameter rule_parameters[] = {
    {"low", 0.7, 0, 1e9, NULL},
    {"high", 1.1, 0, 1e9, NULL},
    {"utilisation_low", 0.8, 0, 1, NULL},
    {"utilisation_high", 0.9, 0, 1, NULL},
    {"latency", NAN, 0, 1e9, NULL},
    {"patience", 1, 1, 1e6, NULL},
    {NULL, 0, 0, 0, NULL},
};

static const dfrt_parameter threshold_parameters[] = {
    {"low", 0.75, 0, 1, NULL},
    {"high", 0.75, 0, 1, NULL},
    {"utilisation_low", NAN, 0, 1, NULL},
    {"utilisation_high", NAN, 0, 1, NULL},
    {"latency", NAN, 0, 1e9, NULL},
    {"patience", 1, 1, 1e6, NULL},
    {NULL, 0, 0, 0, NULL},
};

struct rule {
    double low, high;                         /* of the bound on latency */
    double utilisation_low, utilisation_high; /* NaN: not looked at */
    double most_carried;                      /* by the busiest worker after one has gone */
    double bound;                             /* on latency; NaN: none */
    unsigned patience;
    unsigned above, below;                    /* steps in a row */
};

/* What a rule saw in a step: which way it points, and the numbers for the reason. */
struct rule_sight {
    bool above, below;
    double value, low, high;
    const char *what, *unit;
};

static size_t size_of_rule(const double *values, const dfrt_limits *limits)
{
    (void)values;
    (void)limits;
    return sizeof(struct rule);
}

static void start_thresholds(struct rule *rule, const dfrt_parameter *table, const double *values)
{
    *rule = (struct rule){
        .low = dfrt_parameter_of(&table[RULE_LOW], values[RULE_LOW]),
        .high = dfrt_parameter_of(&table[RULE_HIGH], values[RULE_HIGH]),
        .utilisation_low = dfrt_parameter_of(&table[RULE_UTILISATION_LOW], values[RULE_UTILISATION_LOW]),
        .utilisation_high = dfrt_parameter_of(&table[RULE_UTILISATION_HIGH], values[RULE_UTILISATION_HIGH]),
        .most_carried = dfrt_parameter_of(&table[RULE_UTILISATION_HIGH], values[RULE_UTILISATION_HIGH]),
        .bound = dfrt_parameter_of(&table[RULE_LATENCY], values[RULE_LATENCY]),
        .patience = (unsigned)dfrt_parameter_of(&table[RULE_PATIENCE], values[RULE_PATIENCE]),
    };
}

/* Counts how long the rule has pointed one way, and acts when that is long enough. */
static void act_by_rule(struct rule *rule, const struct rule_sight *sight, const dfrt_situation *situation,
                        dfrt_decision *decision)
{
    rule->above = sight->above ? rule->above + 1 : 0;
    rule->below = sight->below ? rule->below + 1 : 0;
    unsigned seen = sight->above ? rule->above : rule->below;
    double crossed = sight->above ? sight->high : sight->low;
    const char *side = sight->above ? "above" : "below";
    if (!sight->above && !sight->below && isnan(sight->low)) {
        dfrt__say(decision, "%s would be %.4g, above %.4g: nothing is given back", sight->what, sight->value, sight->high);
    } else if (!sight->above && !sight->below) {
        dfrt__say(decision, "%s %.4g%s lies between %.4g%s and %.4g%s", sight->what, sight->value, sight->unit, sight->low,
                  sight->unit, sight->high, sight->unit);
    } else if (seen < rule->patience) {
        dfrt__say(decision, "%s %.4g%s is %s %.4g%s, for %u of %u steps", sight->what, sight->value, sight->unit, side,
                  crossed, sight->unit, seen, rule->patience);
    } else {
        bool can = sight->above ? dfrt__more(&decision->setting, situation->limits)
                                : dfrt__fewer(&decision->setting, situation->limits);
        dfrt__say(decision, "%s %.4g%s is %s %.4g%s: %s", sight->what, sight->value, sight->unit, side, crossed,
                  sight->unit, !can ? "at the limit" : sight->above ? "one worker more" : "one worker fewer");
        if (can && sight->above && decision->setting.workers == situation->now.workers)
            dfrt__say_more(decision, "all workers are in use, so the highest frequency");
        rule->above = rule->below = 0;
    }
    decision->expected.setting = decision->setting;
}

/* A worker takes over what the others leave; frequency counts inversely. */
static double utilisation_after(double utilisation, const dfrt_situation *situation, dfrt_setting then)
{
    const dfrt_limits *limits = situation->limits;
    double before = limits->frequencies[situation->now.frequency], after = limits->frequencies[then.frequency];
    double slower = before > 0 && after > 0 && isfinite(before / after) ? before / after : 1;
    return utilisation * situation->now.workers / then.workers * slower;
}

/* --- rule -------------------------------------------------------------------------------------------------------- */

static void start_rule(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    (void)limits;
    struct rule *rule = state;
    start_thresholds(rule, rule_parameters, values);
    if (isnan(rule->bound))
        rule->bound = goals->latency;
    bool given = !isnan(values[RULE_UTILISATION_LOW]) || !isnan(values[RULE_UTILISATION_HIGH]);
    if (isnan(rule->bound) && !given) {
        if (!isnan(values[RULE_LOW]))
            rule->utilisation_low = rule->low;
        if (!isnan(values[RULE_HIGH]))
            rule->utilisation_high = rule->high;
    } else if (!given) {
        rule->utilisation_low = rule->utilisation_high = NAN;
    }
}

/* What the busiest worker would have to carry after one has gone. */
static double carried_by_fewer(const dfrt_situation *situation, double utilisation)
{
    double rest = situation->now.workers > 1 ? situation->now.workers - 1 : 1, imbalance = situation->measured->imbalance;
    return utilisation * situation->now.workers / rest * (imbalance > 1 && imbalance < INFINITY ? fmin(imbalance, rest) : 1);
}

/* With both, one is enough to add, and both must agree to take away. In any case the others must be able to carry what
 * comes: up to there the latency may be far below a loose goal and say nothing about one worker fewer. */
static struct rule_sight see_rule(const struct rule *rule, const dfrt_situation *situation, double utilisation)
{
    double latency = dfrt__goal_latency(situation->measured, situation->goals);
    double fewer = carried_by_fewer(situation, utilisation);
    struct rule_sight by_load = {utilisation > rule->utilisation_high, utilisation < rule->utilisation_low, utilisation,
                                 rule->utilisation_low, rule->utilisation_high, "utilisation", ""};
    if (isnan(rule->bound) || isnan(latency))
        return by_load;
    double low = rule->low * rule->bound, high = rule->high * rule->bound;
    struct rule_sight by_latency = {latency > high, latency < low, 1e3 * latency, 1e3 * low, 1e3 * high, "latency", " ms"};
    if (by_load.above && !by_latency.above)
        return by_load;
    if (by_latency.below && fewer > rule->most_carried)
        return (struct rule_sight){false, false, fewer, NAN, rule->most_carried, "use with one worker fewer", ""};
    return by_latency;
}

static void decide_rule(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    struct rule *rule = state;
    dfrt__stay(decision, situation);
    double utilisation = dfrt__utilisation(situation->measured, situation->now);
    struct rule_sight sight = see_rule(rule, situation, utilisation);
    if (isnan(sight.value)) {
        dfrt__say(decision, "neither latency nor utilisation is known: nothing to decide by");
        return;
    }
    act_by_rule(rule, &sight, situation, decision);
    decision->expected.utilisation = utilisation_after(utilisation, situation, decision->setting);
}

const dfrt_policy dfrt__policy_rule = {
    .name = "rule",
    .about = "one worker more or fewer when latency or utilisation crosses a threshold",
    .parameters = rule_parameters,
    .size = size_of_rule,
    .start = start_rule,
    .decide = decide_rule,
};

/* --- threshold --------------------------------------------------------------------------------------------------- */

static void start_threshold(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    (void)limits;
    (void)goals;
    struct rule *rule = state;
    start_thresholds(rule, threshold_parameters, values);
    if (isnan(rule->utilisation_high))
        rule->utilisation_high = rule->high;
    if (isnan(rule->utilisation_low))
        rule->utilisation_low = rule->low * rule->utilisation_high;
}

static struct rule_sight see_threshold(const struct rule *rule, const dfrt_situation *situation)
{
    const dfrt_measured *measured = situation->measured;
    double mean = isfinite(measured->busy) && measured->busy >= 0
                      ? measured->busy
                      : dfrt__utilisation(measured, situation->now);
    double busiest = measured->imbalance >= 1 && isfinite(measured->imbalance) ? mean * measured->imbalance : mean;
    double latency = dfrt__goal_latency(measured, situation->goals);
    if (latency > rule->bound)
        return (struct rule_sight){true, false, 1e3 * latency, NAN, 1e3 * rule->bound, "latency", " ms"};
    if (busiest > rule->utilisation_high)
        return (struct rule_sight){true, false, busiest, NAN, rule->utilisation_high, "use of the busiest worker", ""};
    unsigned rest = situation->now.workers > 1 ? situation->now.workers - 1 : 1;
    double spread = mean * situation->now.workers / rest;
    return (struct rule_sight){false, spread < rule->utilisation_low, spread, rule->utilisation_low,
                               rule->utilisation_high, "use with one worker fewer", ""};
}

static void decide_threshold(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    struct rule *rule = state;
    dfrt__stay(decision, situation);
    struct rule_sight sight = see_threshold(rule, situation);
    if (isnan(sight.value)) {
        dfrt__say(decision, "how busy the workers are is not known: nothing to decide by");
        return;
    }
    if (!sight.above && !sight.below && situation->now.workers > 1) {
        dfrt__say(decision, "no worker is above %.4g, and with one fewer the use would be %.4g, not below %.4g", sight.high,
                  sight.value, sight.low);
        rule->above = rule->below = 0;
    } else {
        act_by_rule(rule, &sight, situation, decision);
    }
    decision->expected.utilisation = utilisation_after(dfrt__utilisation(situation->measured, situation->now), situation,
                                                       decision->setting);
}

const dfrt_policy dfrt__policy_threshold = {
    .name = "threshold",
    .about = "keeps the busiest worker below a target and gives back what the others can carry (003)",
    .parameters = threshold_parameters,
    .size = size_of_rule,
    .start = start_threshold,
    .decide = decide_threshold,
};
