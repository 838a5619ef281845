/* Alternates and resources in turn (004 §8.2): every few steps the active alternate may change within the resources that
 * there are, every few steps the resources may change for the alternate that is active. With one of the two held, each
 * stage is a short search, and a worker that proves to be too many can be used for a better alternate instead of being
 * given back.
 *
 * Among the alternates that fit, 004 takes the best ratio of value to cost; here it is its objective itself, value less
 * sigma times cost, in both stages. The cost is that of 004's central scheduler: also what the results of an alternate cost
 * the operators that follow, by its selectivity. */
#include "capacity.h"
#include "models.h"
#include "policies.h"
#include "reading.h"

#include <math.h>

enum { ALTERNATES_EVERY, RESOURCES_EVERY, ALTERNATES_HORIZON, ALTERNATES_SIGMA };

static const dfrt_parameter alternates_parameters[] = {
    {"alternate_every", 2, 1, 1e6, NULL},
    {"resources_every", 5, 1, 1e6, NULL},
    {"horizon", 1, 1, DFRT_MOST_HORIZON, NULL},
    {"sigma", 0.1, 0, 1e6, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* 004's ε: nothing changes while the observed throughput lies this near to the goal. A better alternate must leave this
 * share of latency and utilisation unused, and workers are given back only if the rest keep a little less. */
static const double near_goal = 0.05, room_to_rise = 0.8, room_to_shrink = 0.9;

/* From so many times the measured rate on, a forecast is about another load than that whose latency was measured. */
static const double rising = 1.1;

struct alternation {
    unsigned alternate_every, resources_every, horizon;
    double sigma;
    uint64_t steps;
    double backlog;
    dfrt__costs costs;
};

static size_t size_of_alternates(const double *values, const dfrt_limits *limits)
{
    (void)values;
    (void)limits;
    return sizeof(struct alternation);
}

static void start_alternates(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    (void)limits;
    (void)goals;
    const dfrt_parameter *table = alternates_parameters;
    struct alternation *turn = state;
    turn->alternate_every = (unsigned)dfrt_parameter_of(&table[ALTERNATES_EVERY], values[ALTERNATES_EVERY]);
    turn->resources_every = (unsigned)dfrt_parameter_of(&table[RESOURCES_EVERY], values[RESOURCES_EVERY]);
    turn->horizon = (unsigned)dfrt_parameter_of(&table[ALTERNATES_HORIZON], values[ALTERNATES_HORIZON]);
    turn->sigma = dfrt_parameter_of(&table[ALTERNATES_SIGMA], values[ALTERNATES_SIGMA]);
    dfrt__costs_start(&turn->costs);
}

/* What a step looks like to both stages. */
struct outlook {
    double rate;
    bool missed;     /* measured */
    bool overloaded; /* measured, of what was let in: shedding more helps */
    bool short_of; /* measured; or expected of the present setting, for a load that is not the one just measured */
};

static struct outlook look_ahead(const struct alternation *turn, const dfrt_situation *situation)
{
    struct outlook outlook = {.rate = dfrt__peak_rate(situation, turn->horizon)};
    dfrt_goals goals = *situation->goals;
    goals.throughput -= near_goal;
    goals.latency = dfrt__latency_bound(situation);
    dfrt_setting let_in = situation->now;
    let_in.shed = 0;
    bool behind = dfrt__falls_behind(situation->measured, situation->now, turn->backlog);
    outlook.missed = dfrt__goal_missed(situation->measured, &goals, situation->now, NULL) || behind;
    outlook.overloaded = dfrt__goal_missed(situation->measured, &goals, let_in, NULL) || behind;
    dfrt_prediction expected = dfrt__no_prediction(situation->now);
    bool fits = dfrt__feasible(&turn->costs, situation, situation->now, outlook.rate, 1, &expected);
    bool beyond = !(expected.utilisation < DFRT_MARGIN);
    bool rises = outlook.rate > rising * dfrt__rate(situation->measured, situation->now);
    outlook.short_of = outlook.missed || (!fits && (beyond || rises));
    return outlook;
}

/* --- alternates --------------------------------------------------------------------------------------------------- */

/* 004's objective: what the alternate is worth, less what the workers cost that it keeps busy, here and in what follows. */
static double worth_of(const struct alternation *turn, const dfrt_situation *situation, unsigned alternate, double rate)
{
    double busy = rate * dfrt__whole_cost_of(&turn->costs, situation, alternate) / situation->limits->workers_most;
    return situation->limits->value[alternate] - turn->sigma * (isfinite(busy) ? busy : 0);
}

/* By the same measure as everything here, so that two alternates are not cheaper than each other. */
static unsigned cheapest_with_followers(const struct alternation *turn, const dfrt_situation *situation)
{
    unsigned best = situation->now.alternate;
    for (unsigned alternate = 0; alternate < situation->limits->alternate_count; alternate++)
        if (dfrt__may_take(situation, alternate)
            && dfrt__whole_cost_of(&turn->costs, situation, alternate) < dfrt__whole_cost_of(&turn->costs, situation, best))
            best = alternate;
    return best;
}

/* When the goals are missed only cheaper ones come into question, otherwise only those that use more (004, algorithm 2);
 * in between, only what uses more and is worth more. */
static bool comes_into_question(const struct alternation *turn, const dfrt_situation *situation, unsigned alternate,
                     const struct outlook *outlook)
{
    double cost = dfrt__whole_cost_of(&turn->costs, situation, alternate);
    double present = dfrt__whole_cost_of(&turn->costs, situation, situation->now.alternate);
    dfrt_setting setting = situation->now;
    setting.alternate = alternate;
    if (!dfrt__may_take(situation, alternate))
        return false;
    if (outlook->short_of)
        return cost < present && dfrt__feasible(&turn->costs, situation, setting, outlook->rate, 1, NULL);
    return dfrt__feasible(&turn->costs, situation, setting, outlook->rate, room_to_rise, NULL);
}

static unsigned best_alternate(const struct alternation *turn, const dfrt_situation *situation,
                               const struct outlook *outlook)
{
    unsigned active = situation->now.alternate, best = active;
    bool found = !outlook->short_of;
    for (unsigned alternate = 0; alternate < situation->limits->alternate_count; alternate++) {
        if (alternate == active || !comes_into_question(turn, situation, alternate, outlook))
            continue;
        if (!found
            || worth_of(turn, situation, alternate, outlook->rate) > worth_of(turn, situation, best, outlook->rate)) {
            best = alternate;
            found = true;
        }
    }
    return found ? best : cheapest_with_followers(turn, situation);
}

static bool choose_alternate(const struct alternation *turn, const dfrt_situation *situation,
                             const struct outlook *outlook, dfrt_decision *decision)
{
    unsigned active = situation->now.alternate;
    if (situation->limits->alternate_count < 2 || situation->now.shed > 0)
        return false;
    decision->setting.alternate = best_alternate(turn, situation, outlook);
    if (decision->setting.alternate == active)
        return false;
    dfrt__say(decision, "alternate %u instead of %u: %s with %u workers, %.4g/s; costs %.4g ms instead of %.4g ms",
              decision->setting.alternate, active,
              outlook->missed     ? "the goals are missed"
              : outlook->short_of ? "the goals would be missed"
                                  : "worth more, and it fits",
              situation->now.workers, outlook->rate,
              1e3 * dfrt__cost_of(&turn->costs, situation, decision->setting.alternate),
              1e3 * dfrt__cost_of(&turn->costs, situation, active));
    if (!isnan(turn->costs.downstream))
        dfrt__say_more(decision, "with what follows %.4g ms instead of %.4g ms",
                       1e3 * dfrt__whole_cost_of(&turn->costs, situation, decision->setting.alternate),
                       1e3 * dfrt__whole_cost_of(&turn->costs, situation, active));
    return true;
}

/* --- resources ---------------------------------------------------------------------------------------------------- */

/* The fewest workers that keep the goals with an alternate; 0: there is no such number. */
static unsigned workers_for(const struct alternation *turn, const dfrt_situation *situation, unsigned alternate,
                            double rate, double share)
{
    dfrt_setting setting = situation->now;
    setting.workers = situation->limits->workers_least;
    setting.alternate = alternate;
    return dfrt__fewest_workers(&turn->costs, situation, setting, rate, share);
}

/* Resources are for the alternate that is worth most with the workers it needs, which the next turn of the alternates can
 * then take: sized for the active one alone, a program that once went to a cheap one would stay there. */
static unsigned worth_resources(const struct alternation *turn, const dfrt_situation *situation, double rate,
                                unsigned *workers)
{
    const dfrt_limits *limits = situation->limits;
    unsigned best = situation->now.alternate;
    double best_worth = -INFINITY;
    *workers = limits->workers_most;
    for (unsigned alternate = 0; alternate < limits->alternate_count; alternate++) {
        double share = alternate == situation->now.alternate ? room_to_shrink : room_to_rise;
        unsigned needed = workers_for(turn, situation, alternate, rate, share);
        double behind = rate * (dfrt__whole_cost_of(&turn->costs, situation, alternate)
                                - dfrt__cost_of(&turn->costs, situation, alternate));
        double worth = limits->value[alternate] - turn->sigma * (needed + behind) / limits->workers_most;
        if (needed > 0 && dfrt__may_take(situation, alternate) && worth > best_worth) {
            best = alternate;
            best_worth = worth;
            *workers = needed;
        }
    }
    return best;
}

static bool choose_resources(const struct alternation *turn, const dfrt_situation *situation,
                             const struct outlook *outlook, dfrt_decision *decision)
{
    dfrt_setting now = situation->now, *setting = &decision->setting;
    bool known = !isnan(outlook->rate) && !isnan(dfrt__cost_of(&turn->costs, situation, now.alternate));
    unsigned aim = now.alternate, workers = now.workers;
    if (known)
        aim = worth_resources(turn, situation, outlook->rate, &workers);
    if (workers > now.workers || (!outlook->short_of && now.shed <= 0))
        setting->workers = workers;
    else if (outlook->short_of)
        (void)dfrt__more(setting, situation->limits);
    *setting = dfrt__within(*setting, situation->limits);
    if (outlook->short_of && setting->workers == situation->limits->workers_most)
        setting->frequency = situation->limits->frequency_count - 1;
    if (dfrt__same_setting(*setting, now))
        return false;
    dfrt__say(decision, "%u workers instead of %u for alternate %u: %s at %.4g/s", setting->workers, now.workers, aim,
              outlook->missed        ? "the goals are missed"
              : outlook->short_of    ? "the goals would be missed"
              : aim != now.alternate ? "worth what it costs"
                                     : "as many as keep the goals",
              outlook->rate);
    return true;
}

/* --- the last step ------------------------------------------------------------------------------------------------ */

/* Shedding begins when there is nothing cheaper and nothing more to add, and ends before anything else changes. */
static bool choose_shedding(const struct alternation *turn, const dfrt_situation *situation,
                            const struct outlook *outlook, dfrt_decision *decision)
{
    dfrt_setting now = situation->now;
    bool last = dfrt__is_at_the_limits(now, situation->limits) && cheapest_with_followers(turn, situation) == now.alternate;
    if (!(situation->limits->shed_most > 0) || (now.shed <= 0 && !(last && outlook->short_of)))
        return false;
    decision->setting.shed = last ? dfrt__shed_next(&turn->costs, situation, now, outlook->overloaded) : 0;
    if (decision->setting.shed == now.shed)
        return false;
    if (!last)
        dfrt__say(decision, "shedding ends: alternate %u and %u workers are not the last that is left", now.alternate,
                  now.workers);
    else
        dfrt__say(decision, "shedding %.1f %% instead of %.1f %%: %.4g/s with alternate %u, %s, and %u workers, the most",
                  100 * decision->setting.shed, 100 * now.shed, outlook->rate, now.alternate,
                  situation->limits->alternate_held > 0 ? "which is held" : "the cheapest", now.workers);
    return true;
}

static void decide_alternates(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    struct alternation *turn = state;
    dfrt__stay(decision, situation);
    dfrt__costs_note(&turn->costs, situation);
    struct outlook outlook = look_ahead(turn, situation);
    turn->backlog = situation->measured->backlog;
    turn->steps++;
    bool alternates_due = turn->steps % turn->alternate_every == 0, resources_due = turn->steps % turn->resources_every == 0;
    bool chosen = (alternates_due && choose_alternate(turn, situation, &outlook, decision))
               || (resources_due && choose_resources(turn, situation, &outlook, decision))
               || choose_shedding(turn, situation, &outlook, decision);
    double not_shed = outlook.rate * (1 - decision->setting.shed);
    (void)dfrt__feasible(&turn->costs, situation, decision->setting, not_shed, 1, &decision->expected);
    decision->expected.setting = decision->setting;
    if (!chosen)
        dfrt__say(decision, "alternate %u and %u workers stay: %s at %.4g/s%s", decision->setting.alternate,
                  decision->setting.workers, outlook.short_of ? "short of the goals" : "the goals are kept", outlook.rate,
                  !alternates_due && !resources_due ? ", and no stage is due"
                  : outlook.short_of                ? ", and nothing better is allowed"
                                                    : "");
}

const dfrt_policy dfrt__policy_alternates = {
    .name = "alternates",
    .about = "the best alternate that the resources allow and the fewest workers for it, in turn (004)",
    .parameters = alternates_parameters,
    .size = size_of_alternates,
    .start = start_alternates,
    .decide = decide_alternates,
};
