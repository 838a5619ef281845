#include "capacity.h"

#include "models.h"

#include <math.h>

static bool is_cost(double value)
{
    return value > 0 && value < INFINITY;
}

/* How much longer something takes at frequency `to` than at `from`. */
static double slower_at(const dfrt_limits *limits, unsigned from, unsigned to)
{
    dfrt_model unit = {.service = 1, .frequency = from};
    return dfrt_model_service(&unit, limits, to);
}

/* A cost is believed for 24 steps, and half of it after 197; after each failure that takes twice as long, up to sixteen times. An
 * alternate that stayed for so many steps has not failed. */
static const double fresh = 1.1, fades = 0.004;
static const unsigned stays_for = 30, most_failures = 4;

/* --- costs ------------------------------------------------------------------------------------------------------- */

void dfrt__costs_start(dfrt__costs *costs)
{
    *costs = (dfrt__costs){.downstream = NAN};
    for (unsigned alternate = 0; alternate < DFRT_MOST_ALTERNATES; alternate++)
        costs->seen[alternate] = costs->selectivity[alternate] = NAN;
    for (unsigned alternate = 0; alternate < DFRT_MOST_ALTERNATES; alternate++)
        costs->belief[alternate] = fresh;
}

static void fade_beliefs(dfrt__costs *costs, unsigned active, unsigned count)
{
    unsigned before = costs->active;
    if (before != active && costs->active_for < stays_for && costs->failures[before] < most_failures)
        costs->failures[before]++;
    costs->active_for = before != active ? 1 : costs->active_for < stays_for ? costs->active_for + 1 : stays_for;
    costs->active = active;
    if (costs->active_for == stays_for)
        costs->failures[active] = 0;
    for (unsigned alternate = 0; alternate < count; alternate++)
        costs->belief[alternate] *= 1 - fades / (1u << costs->failures[alternate]);
    costs->belief[active] = fresh;
}

void dfrt__costs_note(dfrt__costs *costs, const dfrt_situation *situation)
{
    const dfrt_measured *measured = situation->measured;
    const dfrt_limits *limits = situation->limits;
    double faster = slower_at(limits, situation->now.frequency, limits->frequency_count - 1);
    fade_beliefs(costs, situation->now.alternate, limits->alternate_count);
    for (unsigned alternate = 0; alternate < limits->alternate_count; alternate++) {
        double service = measured->alternate_service[alternate];
        if (!is_cost(service) && alternate == situation->now.alternate && !measured->moved)
            service = measured->service;
        if (is_cost(service) && is_cost(service * faster))
            costs->seen[alternate] = service * faster;
        double selectivity = measured->alternate_selectivity[alternate];
        if (selectivity >= 0 && selectivity < INFINITY)
            costs->selectivity[alternate] = selectivity;
    }
    if (is_cost(measured->downstream) && is_cost(measured->downstream * faster))
        costs->downstream = measured->downstream * faster;
}

double dfrt__cost_of(const dfrt__costs *costs, const dfrt_situation *situation, unsigned alternate)
{
    double declared = situation->limits->cost[alternate];
    unsigned active = situation->now.alternate;
    double seen = costs->seen[alternate];
    if (is_cost(seen))
        return seen > costs->seen[active] ? fmax(costs->seen[active], fmin(1, costs->belief[alternate]) * seen) : seen;
    double scale = costs->seen[active] / situation->limits->cost[active];
    return is_cost(declared) ? declared * (is_cost(scale) ? scale : 1) : NAN;
}

double dfrt__whole_cost_of(const dfrt__costs *costs, const dfrt_situation *situation, unsigned alternate)
{
    double selectivity = costs->selectivity[alternate], of_active = costs->selectivity[situation->now.alternate];
    selectivity = !isnan(selectivity) ? selectivity : !isnan(of_active) ? of_active : 1;
    double behind = is_cost(costs->downstream) ? selectivity * costs->downstream : 0;
    return dfrt__cost_of(costs, situation, alternate) + behind;
}

bool dfrt__may_take(const dfrt_situation *situation, unsigned alternate)
{
    unsigned held = situation->limits->alternate_held;
    return held > 0 ? alternate + 1 == held : !(situation->limits->value[alternate] < situation->goals->value);
}

unsigned dfrt__cheapest(const dfrt__costs *costs, const dfrt_situation *situation)
{
    unsigned best = situation->now.alternate;
    for (unsigned alternate = 0; alternate < situation->limits->alternate_count; alternate++)
        if (dfrt__may_take(situation, alternate)
            && dfrt__cost_of(costs, situation, alternate) < dfrt__cost_of(costs, situation, best))
            best = alternate;
    return best;
}

/* --- settings ---------------------------------------------------------------------------------------------------- */

dfrt_setting dfrt__at_the_limits(dfrt_setting setting, const dfrt_limits *limits)
{
    setting.workers = limits->workers_most;
    setting.frequency = limits->frequency_count - 1;
    return setting;
}

bool dfrt__is_at_the_limits(dfrt_setting setting, const dfrt_limits *limits)
{
    return setting.workers >= limits->workers_most && setting.frequency + 1 >= limits->frequency_count;
}

double dfrt__latency_bound(const dfrt_situation *situation)
{
    double goal = situation->goals->latency;
    return situation->overhead >= goal && isfinite(situation->overhead) ? goal + situation->overhead : goal;
}

bool dfrt__feasible(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting, double rate,
                    double share, dfrt_prediction *prediction)
{
    dfrt_prediction expected;
    dfrt_model model;
    (void)dfrt_model_of(situation, &model); /* its service time, the one thing that may be missing, is replaced */
    double cost = dfrt__cost_of(costs, situation, setting.alternate);
    if (isnan(cost) || !(rate >= 0))
        return false;
    model.service = cost;
    model.frequency = situation->limits->frequency_count - 1;
    dfrt_model_load(&model, rate);
    dfrt_model_predict(&model, situation->limits, setting, &expected);
    if (prediction != NULL)
        *prediction = expected;
    double bound = dfrt__latency_bound(situation);
    bool in_time = isnan(bound) || expected.latency <= share * bound;
    return in_time && expected.utilisation < share * DFRT_MARGIN;
}

unsigned dfrt__fewest_workers(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting,
                              double rate, double share)
{
    for (; setting.workers <= situation->limits->workers_most; setting.workers++)
        if (dfrt__feasible(costs, situation, setting, rate, share, NULL))
            return setting.workers;
    return 0;
}

double dfrt__peak_rate(const dfrt_situation *situation, unsigned steps)
{
    double peak = dfrt_load_of(situation, 0);
    for (unsigned step = 1; step < steps && step < DFRT_MOST_HORIZON; step++)
        peak = fmax(peak, dfrt_load_of(situation, step));
    return peak;
}

/* --- shedding ---------------------------------------------------------------------------------------------------- */

double dfrt__shed_needed(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting, double rate)
{
    double least = 0, most = situation->limits->shed_most;
    if (!(most > 0) || !(rate > 0) || dfrt__feasible(costs, situation, setting, rate, 1, NULL))
        return 0;
    if (isnan(dfrt__cost_of(costs, situation, setting.alternate)))
        return 0;
    for (unsigned halving = 0; halving < 12; halving++) { /* to a four-thousandth of what is allowed */
        double middle = (least + most) / 2;
        if (dfrt__feasible(costs, situation, setting, rate * (1 - middle), 1, NULL))
            most = middle;
        else
            least = middle;
    }
    return most;
}

double dfrt__shed_next(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting, bool missed)
{
    double most = situation->limits->shed_most, now = situation->now.shed > 0 ? situation->now.shed : 0;
    double needed = dfrt__shed_needed(costs, situation, setting, dfrt_load_of(situation, 0));
    double smaller = now / 2 < 0.01 ? 0 : now / 2;
    return fmin(most, fmax(needed, missed ? now + 0.05 : smaller));
}
