#include "overhead.h"

#include <math.h>

/* The ratio of anything to next to nothing says nothing about waiting under load: a predicted wait counts as this share of
 * the goal at least. */
static const double share_of_goal = 0.01;

static const unsigned first_steps = 3;

void dfrt__overhead_note(dfrt__overhead *overhead, double beyond, double waiting)
{
    if (!(beyond >= 0 && beyond < INFINITY) || !(waiting >= 0 && waiting < INFINITY))
        return;
    overhead->seen[overhead->noted % DFRT__OVERHEADS] = fmax(0, beyond - waiting);
    overhead->noted = overhead->noted + 1 < 2 * DFRT__OVERHEADS ? overhead->noted + 1 : DFRT__OVERHEADS;
}

/* The lower quartile: bursts and stalls of the machine only add to what a result takes, so that the small values tell the
 * part that is always there; but a single step does not decide. */
double dfrt__overhead_of(const dfrt__overhead *overhead)
{
    double sorted[DFRT__OVERHEADS];
    unsigned count = overhead->noted < DFRT__OVERHEADS ? overhead->noted : DFRT__OVERHEADS;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;
        for (; at > 0 && overhead->seen[i] < sorted[at - 1]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = overhead->seen[i];
    }
    return count >= first_steps ? sorted[(count - 1) / 4] : 0;
}

/* All that a result takes beyond its service, wherever it waited: also for those before it in the order. */
static double beyond_service(const dfrt_measured *measured)
{
    double beyond = measured->latency - measured->service;
    return beyond > measured->waiting || isnan(measured->waiting) ? beyond : measured->waiting;
}

/* What the last of n results takes longer than one of them on average: 1 + 1/2 + … + 1/n, as where times are exponential. */
static double last_of(unsigned n)
{
    double sum = 1;
    for (unsigned i = 2; i <= n && i <= DFRT_MOST_WORKERS; i++)
        sum += 1.0 / i;
    return sum;
}

/* What the load may explain of it. Kingman's formula, for what came and not for what had been forecast, takes the workers
 * for one that is n times as fast; where each has a queue of its own, a trigger waits up to n times as long. But no longer
 * than was measured; and a result that keeps its place in the order comes out with the last of those that the other
 * workers have before it. */
static double waiting_explained(const dfrt_situation *situation)
{
    double waited = situation->measured->waiting;
    dfrt_model model;
    dfrt_prediction prediction;
    if (!dfrt_model_of(situation, &model))
        return NAN;
    dfrt_model_load(&model, situation->measured->arrivals / situation->measured->step);
    dfrt_model_predict(&model, situation->limits, situation->now, &prediction);
    double apart = prediction.waiting * (situation->now.workers > 0 ? situation->now.workers : 1);
    return waited >= 0 ? fmin(apart, fmax(last_of(situation->now.workers) * waited, prediction.waiting)) : apart;
}

void dfrt__latency_learn(dfrt__known_latency *learned, const dfrt_situation *situation, bool burdened, double predicted)
{
    double beyond = beyond_service(situation->measured), goal = situation->goals->latency;
    if (situation->measured->moved || burdened || isnan(beyond))
        return;
    dfrt__overhead_note(&learned->overhead, beyond, waiting_explained(situation));
    if (learned->overhead.noted < first_steps || isnan(predicted))
        return; /* what is left to correct is not known yet, or not what for */
    double least = goal > 0 && goal < INFINITY ? share_of_goal * goal : 0;
    double rest = fmax(0, beyond - dfrt__overhead_of(&learned->overhead));
    dfrt_correction_note(&learned->correction, rest, fmax(predicted, least));
}
