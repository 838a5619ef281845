#include "relief.h"

#include "models.h"
#include "reading.h"

#include <math.h>

/* A better alternate must leave this share of latency and utilisation unused, for so many steps in a row; and the limits
 * must have proved too narrow for so many before a cheaper one is taken, unless it is measured and the workers can't even
 * keep up. */
static const double room_for_better = 0.8;
static const unsigned steps_of_room = 2, steps_of_need = 2;

/* The model of an alternate that is not active rests on what was measured with another. So where it was given up is
 * remembered: it is taken again at a rate well below that only, which is forgotten by a hundredth a step. */
static const double below_failure = 0.9, forgets = 1.01;

/* What a step of an alternate is taken to cost that was neither measured nor declared, for trying it: less value is
 * expected to cost half, more value four times as much as the active one. */
static const double guess_for_less = 0.5, guess_for_more = 4;

void dfrt__relief_start(dfrt__relief *relief)
{
    *relief = (dfrt__relief){.short_for = 0};
    dfrt__costs_start(&relief->costs);
    for (unsigned alternate = 0; alternate < DFRT_MOST_ALTERNATES; alternate++)
        relief->failed[alternate] = INFINITY;
}

/* Costs with guesses for what is not known, so that it can be tried. */
static dfrt__costs with_guesses(const dfrt__costs *costs, const dfrt_situation *situation)
{
    const dfrt_limits *limits = situation->limits;
    dfrt__costs guessed = *costs;
    double active = dfrt__cost_of(costs, situation, situation->now.alternate);
    for (unsigned alternate = 0; alternate < limits->alternate_count; alternate++)
        if (isnan(dfrt__cost_of(costs, situation, alternate)))
            guessed.seen[alternate] = active
                * (limits->value[alternate] > limits->value[situation->now.alternate] ? guess_for_more : guess_for_less);
    return guessed;
}

static bool fits_limits(const dfrt__costs *costs, const dfrt_situation *situation, unsigned alternate, double rate,
                        double share)
{
    dfrt_setting setting = dfrt__at_the_limits(situation->now, situation->limits);
    setting.alternate = alternate;
    return dfrt__may_take(situation, alternate) && dfrt__feasible(costs, situation, setting, rate, share, NULL);
}

/* A cheaper one: the most valuable that fits, otherwise the cheapest that there is. */
static unsigned cheaper_alternate(const dfrt__costs *costs, const dfrt_situation *situation, double rate)
{
    const dfrt_limits *limits = situation->limits;
    unsigned active = situation->now.alternate, best = active;
    for (unsigned alternate = 0; alternate < limits->alternate_count; alternate++) {
        bool cheaper = dfrt__cost_of(costs, situation, alternate) < dfrt__cost_of(costs, situation, active);
        if (cheaper && fits_limits(costs, situation, alternate, rate, 1)
            && (best == active || limits->value[alternate] > limits->value[best]))
            best = alternate;
    }
    return best != active ? best : dfrt__cheapest(costs, situation);
}

/* The most valuable of those that are worth more than the active one and fit with room to spare. */
static unsigned better_alternate(const dfrt__relief *relief, const dfrt__costs *costs, const dfrt_situation *situation,
                                 double rate)
{
    const dfrt_limits *limits = situation->limits;
    unsigned best = situation->now.alternate;
    for (unsigned alternate = 0; alternate < limits->alternate_count; alternate++)
        if (limits->value[alternate] > limits->value[best] && rate < below_failure * relief->failed[alternate]
            && fits_limits(costs, situation, alternate, rate, room_for_better))
            best = alternate;
    return best;
}

static void take_cheaper(const dfrt__costs *costs, const dfrt_situation *situation, unsigned alternate, bool missed,
                         dfrt_decision *decision)
{
    unsigned active = situation->now.alternate;
    decision->setting.alternate = alternate;
    dfrt__say_more(decision, "alternate %u instead of %u, since %u workers are the most and %s (%.3g ms a trigger, not %.3g)",
                   alternate, active, situation->limits->workers_most,
                   missed ? "the goals are missed" : "would miss the goals",
                   1e3 * dfrt__cost_of(costs, situation, alternate), 1e3 * dfrt__cost_of(costs, situation, active));
}

/* Back to a better one, with the workers that it needs; the policy goes on from there. */
static void take_better(const dfrt__costs *costs, const dfrt_situation *situation, unsigned alternate, double rate,
                        dfrt_decision *decision)
{
    const dfrt_limits *limits = situation->limits;
    dfrt_setting setting = decision->setting;
    setting.alternate = alternate;
    setting.frequency = limits->frequency_count - 1;
    unsigned workers = dfrt__fewest_workers(costs, situation, setting, rate, room_for_better * room_for_better);
    if (dfrt__feasible(costs, situation, (dfrt_setting){decision->setting.workers, decision->setting.frequency, alternate, 0},
                       rate, room_for_better, NULL))
        decision->setting.alternate = alternate;
    else
        decision->setting = (dfrt_setting){workers > 0 ? workers : limits->workers_most, setting.frequency, alternate, 0};
    dfrt__say_more(decision, "back to alternate %u, which keeps the goals at %.4g/s with %u workers and room to spare",
                   alternate, rate, decision->setting.workers);
}

static void shed_or_not(const dfrt__costs *costs, const dfrt_situation *situation, bool full, bool missed,
                        dfrt_decision *decision)
{
    double now = situation->now.shed, shed = full ? dfrt__shed_next(costs, situation, decision->setting, missed) : 0;
    decision->setting.shed = shed;
    if (shed > 0 && shed != now)
        dfrt__say_more(decision, "sheds %.1f %%: %s and no more workers are left", 100 * shed,
                       situation->limits->alternate_held > 0 ? "the alternate is held" : "nothing cheaper");
    else if (now > 0 && shed <= 0)
        dfrt__say_more(decision, "sheds nothing any more");
}

/* What a step means for the alternate: whether the limits are too narrow for it, and whether a better one would fit. */
struct tightness {
    bool full;   /* the policy takes all that the limits allow */
    bool narrow; /* and that is not enough */
    unsigned better;
};

/* What came and what waits: a forecast that goes on with a jump, or with what was caught up behind it, is no reason to give
 * up an alternate. */
static double without_outlook(const dfrt_situation *situation, double rate)
{
    const dfrt_measured *measured = situation->measured;
    double waits = measured->backlog > 0 ? measured->backlog : 0, came = (measured->arrivals + waits) / measured->step;
    double kept = situation->now.shed < 1 ? 1 - situation->now.shed : 1;
    return came >= 0 ? fmin(rate, came / kept) : rate;
}

static struct tightness tightness_of(const dfrt__costs *costs, const dfrt_situation *situation, double rate, bool missed,
                                     dfrt__relief *relief, dfrt_setting wanted)
{
    const dfrt_limits *limits = situation->limits;
    dfrt_setting most = dfrt__at_the_limits(situation->now, limits);
    bool known = rate >= 0 && !isnan(dfrt__cost_of(costs, situation, most.alternate));
    dfrt_prediction at_most = dfrt__no_prediction(most);
    bool expected = known && !dfrt__feasible(costs, situation, most, without_outlook(situation, rate), 1, &at_most);
    bool beyond = !(at_most.utilisation < DFRT_MARGIN), hopeless = expected && missed && beyond;
    expected = expected && (missed || beyond); /* a latency that is measured within the goal refutes one that is expected beyond */
    bool measured = missed && dfrt__is_at_the_limits(situation->now, limits) && !situation->measured->moved;
    struct tightness tightness = {.full = dfrt__is_at_the_limits(wanted, limits), .better = most.alternate};
    relief->short_for = tightness.full && (expected || measured) ? relief->short_for + 1 : 0;
    tightness.narrow = (tightness.full && hopeless) || relief->short_for >= steps_of_need;
    if (!missed && !tightness.narrow && situation->now.shed <= 0)
        tightness.better = better_alternate(relief, costs, situation, rate);
    relief->room_for = tightness.better != most.alternate ? relief->room_for + 1 : 0;
    return tightness;
}

void dfrt__relieve(dfrt__relief *relief, const dfrt_situation *situation, bool missed, dfrt_decision *decision)
{
    unsigned active = situation->now.alternate;
    dfrt__costs costs = with_guesses(&relief->costs, situation);
    double rate = dfrt__peak_rate(situation, 2);
    decision->setting.alternate = active;
    for (unsigned alternate = 0; alternate < DFRT_MOST_ALTERNATES; alternate++)
        relief->failed[alternate] *= forgets;
    struct tightness tight = tightness_of(&costs, situation, rate, missed, relief, decision->setting);
    unsigned cheaper = tight.narrow ? cheaper_alternate(&costs, situation, rate) : active;
    if (cheaper != active) {
        take_cheaper(&costs, situation, cheaper, missed, decision);
        relief->failed[active] = rate;
        relief->short_for = 0;
    } else if (relief->room_for >= steps_of_room) {
        take_better(&costs, situation, tight.better, rate, decision);
        relief->room_for = 0;
    } else if (tight.narrow || situation->now.shed > 0) {
        shed_or_not(&costs, situation, tight.full, missed, decision);
    }
}
