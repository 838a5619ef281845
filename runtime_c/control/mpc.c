#include "mpc.h"

#include "stage_costs.h"
#include "trajectory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum solver { ENVELOPE, DYNAMIC, BRANCH_AND_BOUND };

static const char *const strategy_words[] = {"goals",     "th_node",  "th_power",  "lat_node",
                                             "lat_power", "rho_node", "rho_power", NULL};
static const char *const solver_words[] = {"envelope", "dynamic", "branch_and_bound", NULL};

enum { STRATEGY, ALPHA, BETA, GAMMA, HORIZON, SOLVER, BOUND };

static const dfrt_parameter mpc_parameters[] = {
    [STRATEGY] = {"strategy", DFRT_BY_GOALS, DFRT_BY_GOALS, DFRT_RHO_POWER, strategy_words},
    [ALPHA] = {"alpha", 2, 0, 1e6, NULL},
    [BETA] = {"beta", 0.5, 0, 1e6, NULL},
    [GAMMA] = {"gamma", 0.4, 0, 1e6, NULL},
    [HORIZON] = {"horizon", 2, 1, DFRT_MOST_HORIZON, NULL},
    [SOLVER] = {"solver", ENVELOPE, ENVELOPE, BRANCH_AND_BOUND, solver_words},
    [BOUND] = {"bound", 0.6, 0, 1, NULL},
    {NULL, 0, 0, 0, NULL},
};

typedef struct mpc {
    dfrt_pricing pricing;
    enum solver solver;
    double gamma;
    unsigned horizon;
    dfrt_grid most; /* what there is room for */
    double room[];
} mpc;

static unsigned between(unsigned value, unsigned least, unsigned most)
{
    return value < least ? least : value > most ? most : value;
}

static dfrt_grid whole_grid(const dfrt_limits *limits)
{
    unsigned most = between(limits->workers_most, 1, DFRT_MOST_WORKERS);
    unsigned least = between(limits->workers_least, 1, most);
    return (dfrt_grid){least, most - least + 1, 0, between(limits->frequency_count, 1, DFRT_MOST_FREQUENCIES)};
}

static double value_of(const double *values, unsigned parameter)
{
    return dfrt_parameter_of(&mpc_parameters[parameter], values[parameter]);
}

static size_t mpc_size(const double *values, const dfrt_limits *limits)
{
    dfrt_grid all = whole_grid(limits);
    unsigned horizon = (unsigned)value_of(values, HORIZON);
    return sizeof(mpc) + dfrt_trajectory_doubles(all.workers, all.frequencies, horizon) * sizeof(double);
}

static void mpc_start(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    *(mpc *)state = (mpc){
        .pricing = {.strategy = dfrt_strategy_for((enum dfrt_strategy)value_of(values, STRATEGY), goals),
                    .alpha = value_of(values, ALPHA),
                    .beta = value_of(values, BETA),
                    .bound = value_of(values, BOUND)},
        .solver = (enum solver)value_of(values, SOLVER),
        .gamma = value_of(values, GAMMA),
        .horizon = (unsigned)value_of(values, HORIZON),
        .most = whole_grid(limits),
    };
}

/* --- the decision --------------------------------------------------------------------------------- */

static dfrt_grid grid_of(const mpc *policy, const dfrt_limits *limits)
{
    dfrt_grid all = whole_grid(limits);
    all.workers = all.workers < policy->most.workers ? all.workers : policy->most.workers;
    all.frequencies = all.frequencies < policy->most.frequencies ? all.frequencies : policy->most.frequencies;
    if (!dfrt_counts_power(policy->pricing.strategy)) {
        all.first_frequency = all.frequencies - 1;
        all.frequencies = 1;
    }
    return all;
}

static dfrt_setting setting_of(dfrt_grid all, unsigned number, const dfrt_situation *situation)
{
    unsigned alternates = between(situation->limits->alternate_count, 1, DFRT_MOST_ALTERNATES);
    return (dfrt_setting){
        .workers = all.first_worker + number % all.workers,
        .frequency = all.first_frequency + number / all.workers,
        .alternate = between(situation->now.alternate, 0, alternates - 1),
    };
}

/* The number of the present configuration, or of the nearest one. */
static unsigned number_of(dfrt_grid all, dfrt_setting setting)
{
    unsigned worker = between(setting.workers, all.first_worker, all.first_worker + all.workers - 1);
    unsigned top = all.first_frequency + all.frequencies - 1;
    unsigned frequency = between(setting.frequency, all.first_frequency, top);
    return (frequency - all.first_frequency) * all.workers + worker - all.first_worker;
}

/* The costs of all steps; answers what can be kept in the first. */
static enum dfrt_outlook horizon_costs(const mpc *policy, dfrt_model model, const dfrt_situation *situation,
                                       dfrt_grid all, double *costs)
{
    enum dfrt_outlook first = DFRT_GOALS_KEPT;
    for (unsigned step = 0; step < policy->horizon; step++) {
        dfrt_model_load(&model, dfrt_load_of(situation, step));
        enum dfrt_outlook outlook = dfrt_stage_costs(&policy->pricing, &model, situation->limits,
                                                     situation->goals->latency, all, costs);
        first = step == 0 ? outlook : first;
        costs += (size_t)all.workers * all.frequencies;
    }
    return first;
}

static unsigned solve(const mpc *policy, dfrt_trajectory *ways, bool *complete)
{
    *complete = true;
    switch (policy->solver) {
    case DYNAMIC:
        return dfrt_trajectory_dynamic(ways);
    case BRANCH_AND_BOUND:
        return dfrt_trajectory_branch_and_bound(ways, complete);
    default:
        return dfrt_trajectory_envelope(ways);
    }
}

/* The cheapest that were not taken, the present one last; answers how many. */
static unsigned next_best(const dfrt_trajectory *ways, unsigned taken, unsigned present, unsigned *numbers)
{
    unsigned used = 0;
    for (unsigned n = 0; n < ways->workers * ways->frequencies; n++) {
        if (n == taken || n == present || ways->totals[n] == INFINITY)
            continue;
        if (used == DFRT_MOST_ALTERNATIVES - 1 && !(ways->totals[n] < ways->totals[numbers[used - 1]]))
            continue;
        unsigned at = used < DFRT_MOST_ALTERNATIVES - 1 ? used++ : used - 1;
        for (; at > 0 && ways->totals[n] < ways->totals[numbers[at - 1]]; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = n;
    }
    if (present != taken)
        numbers[used++] = present;
    return used;
}

static void tell_alternatives(const dfrt_trajectory *ways, dfrt_grid all, const dfrt_model *model, unsigned taken,
                              const dfrt_situation *situation, dfrt_decision *decision)
{
    unsigned numbers[DFRT_MOST_ALTERNATIVES];
    decision->alternative_count = next_best(ways, taken, number_of(all, situation->now), numbers);
    for (unsigned n = 0; n < decision->alternative_count; n++) {
        dfrt_prediction *told = &decision->alternatives[n];
        dfrt_model_predict(model, situation->limits, setting_of(all, numbers[n], situation), told);
        told->cost = ways->totals[numbers[n]];
    }
}

/* --- reasons -------------------------------------------------------------------------------------- */

typedef struct setting_words {
    char text[40];
} setting_words;

static setting_words words_of(const dfrt_limits *limits, dfrt_setting setting)
{
    setting_words words;
    const char *unit = setting.workers == 1 ? "worker" : "workers";
    bool several = limits->frequency_count > 1 && setting.frequency < limits->frequency_count;
    double gigahertz = several ? limits->frequencies[setting.frequency] / 1e9 : NAN;
    int written = gigahertz > 0 && gigahertz < 1e6
                      ? snprintf(words.text, sizeof words.text, "%u %s at %.3g GHz", setting.workers, unit, gigahertz)
                      : snprintf(words.text, sizeof words.text, "%u %s", setting.workers, unit);
    if (written < 0)
        words.text[0] = '\0';
    return words;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void add_words(dfrt_decision *decision, const char *format, ...)
{
    size_t used = strlen(decision->reason);
    va_list values;
    va_start(values, format);
    if (vsnprintf(decision->reason + used, sizeof decision->reason - used, format, values) < 0)
        decision->reason[used] = '\0';
    va_end(values);
}

/* The present setting beside the one that was taken; where it stays, the next best. */
static void compare_words(const dfrt_situation *situation, dfrt_decision *decision)
{
    if (decision->alternative_count == 0)
        return;
    dfrt_setting now = situation->now;
    const dfrt_prediction *last = &decision->alternatives[decision->alternative_count - 1];
    bool moves = last->setting.workers == now.workers && last->setting.frequency == now.frequency;
    const dfrt_prediction *other = moves ? last : &decision->alternatives[0];
    add_words(decision, "; %s %s", moves ? "now" : "next", words_of(situation->limits, other->setting).text);
    if (other->cost == INFINITY && other->utilisation < DFRT_MARGIN)
        add_words(decision, " would have %.3g ms", 1e3 * other->latency);
    else if (other->cost == INFINITY)
        add_words(decision, " can't keep up");
    else
        add_words(decision, ": %.4g", other->cost);
}

/* The overhead is named where it is a tenth of the goal or more. */
static void tell_latency(const dfrt_situation *situation, double latency, dfrt_decision *decision)
{
    double goal = situation->goals->latency, overhead = situation->overhead;
    add_words(decision, ", latency %.3g of %.3g ms", 1e3 * latency, 1e3 * goal);
    if (overhead >= goal)
        add_words(decision, " (overhead alone %.3g ms: no setting meets the goal)", 1e3 * overhead);
    else if (overhead >= 0.1 * goal)
        add_words(decision, " (%.3g of it overhead)", 1e3 * overhead);
}

static void tell_reason(const mpc *policy, const dfrt_situation *situation, enum dfrt_outlook outlook, bool complete,
                        dfrt_decision *decision)
{
    const dfrt_prediction *expected = &decision->expected;
    double load = dfrt_load_of(situation, 0), waits = load - decision->forecast;
    add_words(decision, "%s: %s for %.6g/s", strategy_words[policy->pricing.strategy],
              words_of(situation->limits, decision->setting).text, load);
    if (waits > 0)
        add_words(decision, " (%.4g of it backlog)", waits);
    add_words(decision, ", load %.0f %%", fmin(100 * expected->utilisation, 1e6));
    if (outlook == DFRT_NOTHING_KEEPS_UP) {
        add_words(decision, ": nothing keeps up, so the largest");
        return;
    }
    if (dfrt_counts_latency(policy->pricing.strategy) || outlook == DFRT_NOTHING_KEEPS_THE_GOAL)
        tell_latency(situation, expected->latency, decision);
    if (outlook == DFRT_NOTHING_KEEPS_THE_GOAL)
        add_words(decision, ": nothing that is allowed keeps the goal, so what comes near to the best");
    add_words(decision, ", cost %.4g%s", expected->cost, complete ? "" : " (search stopped early)");
    compare_words(situation, decision);
}

static void stay(const mpc *policy, const dfrt_situation *situation, dfrt_grid all, dfrt_decision *decision)
{
    decision->setting = setting_of(all, number_of(all, situation->now), situation);
    decision->expected = (dfrt_prediction){decision->setting, NAN, NAN, NAN, NAN, NAN, NAN};
    add_words(decision, "%s: nothing changes, since a rate and a service time must be known to predict anything",
              strategy_words[policy->pricing.strategy]);
}

static void mpc_decide(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    mpc *policy = state;
    dfrt_grid all = grid_of(policy, situation->limits);
    dfrt_model model;
    *decision = (dfrt_decision){.forecast = situation->forecast[0]};
    if (!dfrt_model_of(situation, &model)) {
        stay(policy, situation, all, decision);
        return;
    }
    dfrt_trajectory ways = {
        .workers = all.workers, .frequencies = all.frequencies, .horizon = policy->horizon, .gamma = policy->gamma,
        .now_workers = (double)situation->now.workers - all.first_worker,
        .now_frequency = (double)situation->now.frequency - all.first_frequency,
    };
    dfrt_trajectory_lay(&ways, policy->room);
    enum dfrt_outlook outlook = horizon_costs(policy, model, situation, all, ways.stages);
    bool complete;
    unsigned taken = solve(policy, &ways, &complete);
    decision->setting = setting_of(all, taken, situation);
    dfrt_model_predict(&model, situation->limits, decision->setting, &decision->expected);
    decision->expected.cost = ways.totals[taken];
    tell_alternatives(&ways, all, &model, taken, situation, decision);
    tell_reason(policy, situation, outlook, complete, decision);
}

const dfrt_policy dfrt__policy_mpc = {
    .name = "mpc",
    .about = "model predictive control: the cheapest way of workers and frequency through the forecast",
    .parameters = mpc_parameters,
    .size = mpc_size,
    .start = mpc_start,
    .decide = mpc_decide,
};
