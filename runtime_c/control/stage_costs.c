/* Costs by strategy. Rows of one frequency are computed in one loop each: what depends on the frequency alone stands
 * before it. */
#include "stage_costs.h"

#include <math.h>

static bool can_be_kept(double latency)
{
    return latency > 0 && latency < INFINITY;
}

enum dfrt_strategy dfrt_strategy_for(enum dfrt_strategy asked, const dfrt_goals *goals)
{
    bool latency = can_be_kept(goals->latency);
    if (asked == DFRT_BY_GOALS && goals->minimize == DFRT_MINIMIZE_POWER)
        return latency ? DFRT_LAT_POWER : DFRT_TH_POWER;
    if (asked == DFRT_BY_GOALS)
        return latency ? DFRT_LAT_NODE : DFRT_TH_NODE;
    if (asked == DFRT_LAT_NODE && !latency)
        return DFRT_TH_NODE;
    return asked == DFRT_LAT_POWER && !latency ? DFRT_TH_POWER : asked;
}

bool dfrt_counts_power(enum dfrt_strategy strategy)
{
    return strategy == DFRT_TH_POWER || strategy == DFRT_LAT_POWER || strategy == DFRT_RHO_POWER;
}

bool dfrt_counts_latency(enum dfrt_strategy strategy)
{
    return strategy == DFRT_LAT_NODE || strategy == DFRT_LAT_POWER;
}

/* exp up to 20 and growing slowly from there: beyond every other cost already, and sums stay exact enough. */
static double exp_bounded(double exponent)
{
    static const double at_limit = 485165195.4097903;
    return exponent <= 20 ? exp(exponent) : at_limit * (1 + log(fmin(exponent, 1e300) / 20));
}

/* One configuration that keeps up. */
typedef struct candidate {
    double service, ideal, utilisation;
} candidate;

static candidate candidate_of(const dfrt_model *model, double service, unsigned workers)
{
    double ideal = dfrt_model_ideal(model, service, workers);
    return (candidate){service, ideal, dfrt_model_utilisation(model, ideal)};
}

static double candidate_latency(const dfrt_model *model, candidate one)
{
    return dfrt_model_latency(model, one.service, dfrt_model_waiting(model, one.utilisation, one.ideal));
}

static double quality_of(enum dfrt_strategy strategy, const dfrt_model *model, double latency_goal, candidate one,
                         double latency)
{
    switch (strategy) {
    case DFRT_LAT_NODE:
    case DFRT_LAT_POWER:
        /* An overhead beyond the goal would multiply what the rest costs, and buy workers for next to nothing. */
        return exp_bounded((latency - fmax(0, model->overhead - latency_goal)) / latency_goal);
    case DFRT_RHO_NODE:
    case DFRT_RHO_POWER:
        return exp_bounded(one.utilisation);
    default: /* milliseconds; where nothing comes the time between results has no end, and is the same for all */
        return fmin(1e3 * fmax(model->interarrival, one.ideal), 1e6);
    }
}

/* --- the latency goal ----------------------------------------------------------------------------- */

/* Where nothing keeps the goal, this much more than the lowest latency is allowed, so that not all workers are bought for
 * the last hundredth of it. */
static const double near_lowest = 1.05;

/* The longest latency that is allowed; INFINITY: any. The largest configuration has the lowest. */
static double longest_allowed(const dfrt_pricing *pricing, const dfrt_model *model, const dfrt_limits *limits,
                              double latency_goal, dfrt_grid grid, bool *kept)
{
    *kept = true;
    if (!(pricing->bound > 0) || !can_be_kept(latency_goal))
        return INFINITY;
    double service = dfrt_model_service(model, limits, grid.first_frequency + grid.frequencies - 1);
    double lowest = candidate_latency(model, candidate_of(model, service, grid.first_worker + grid.workers - 1));
    double goal = latency_goal + (model->overhead >= latency_goal ? model->overhead : 0); /* as dfrt__latency_bound */
    *kept = lowest <= goal;
    return *kept ? lowest + pricing->bound * (goal - lowest) : near_lowest * lowest;
}

/* --- costs ---------------------------------------------------------------------------------------- */

enum dfrt_outlook dfrt_stage_costs(const dfrt_pricing *pricing, const dfrt_model *model, const dfrt_limits *limits,
                                   double latency_goal, dfrt_grid grid, double *costs)
{
    enum dfrt_strategy strategy = pricing->strategy;
    bool keeps_up = false, goal_kept;
    double allowed = longest_allowed(pricing, model, limits, latency_goal, grid, &goal_kept), *cost = costs;
    for (unsigned row = 0; row < grid.frequencies; row++) {
        unsigned frequency = grid.first_frequency + row;
        double service = dfrt_model_service(model, limits, frequency);
        double idle = dfrt_counts_power(strategy) ? dfrt_model_power(limits, 0, frequency) : 0;
        double a_worker = dfrt_counts_power(strategy) ? dfrt_model_power(limits, 1, frequency) - idle : 1;
        for (unsigned column = 0; column < grid.workers; column++) {
            unsigned workers = grid.first_worker + column;
            candidate one = candidate_of(model, service, workers);
            double latency = candidate_latency(model, one);
            *cost = INFINITY;
            if (one.utilisation < 1 && latency <= allowed) {
                double quality = quality_of(strategy, model, latency_goal, one, latency);
                *cost = pricing->alpha * quality + pricing->beta * (idle + workers * a_worker);
                keeps_up = true;
            }
            cost++;
        }
    }
    if (!keeps_up)
        costs[(size_t)grid.frequencies * grid.workers - 1] = 0;
    return !keeps_up ? DFRT_NOTHING_KEEPS_UP : goal_kept ? DFRT_GOALS_KEPT : DFRT_NOTHING_KEEPS_THE_GOAL;
}
