#include "measure.h"

#include <math.h>

/* What the samples of a step count one step later. */
static const double KEPT = 0.9;

static double over(double value, double by)
{
    return by > 0 ? value / by : NAN;
}

static dfrt__sum difference(const dfrt__sum *before, const dfrt__sum *now)
{
    return (dfrt__sum){now->count - before->count, now->ns - before->ns, now->squares - before->squares};
}

static double mean_ns(const dfrt__sum *sum)
{
    return over(sum->ns, sum->count);
}

/* Squared coefficient of variation. */
static double variation(const dfrt__sum *sum)
{
    double mean = mean_ns(sum);
    double variance = over(sum->squares, sum->count) - mean * mean;
    return sum->count >= 2 && mean > 0 ? fmax(variance, 0) / (mean * mean) : NAN;
}

/* Triggers a tuple: of this step where there was any, otherwise since the start. */
static double triggers_a_tuple(const dfrt__tally *before, const dfrt__tally *now)
{
    if (!now->watched) {
        return 1;
    }
    double taken = now->taken - before->taken;
    double ratio = taken > 0 ? (now->triggers - before->triggers) / taken : over(now->triggers, now->taken);
    return isnan(ratio) ? 1 : ratio;
}

/* Of the arrivals of a stream of which a share p is chosen at random; where each brings several, of all of them. */
static double thinned(double variation_of_all, double p)
{
    return p < 1 ? p * variation_of_all + 1 - p : p * variation_of_all;
}

static void measure_arrivals(dfrt_measured *m, const dfrt__tally *before, const dfrt__tally *now, double seconds)
{
    double ratio = triggers_a_tuple(before, now);
    dfrt__sum tuples = difference(&before->arrivals, &now->arrivals);
    m->arrivals = fmax(now->in - before->in, 0) * ratio;
    m->interarrival = over(seconds, m->arrivals);
    m->interarrival_sd = m->interarrival * sqrt(thinned(variation(&tuples), over(m->arrivals, tuples.count)));
    m->backlog = fmax(now->in - now->taken, 0) * ratio;
}

static void measure_workers(dfrt_measured *m, const dfrt__tally *before, const dfrt__tally *now, double seconds,
                            unsigned workers)
{
    double sum = 0, most = 0;
    for (unsigned w = 0; w < workers && w < DFRT_MOST_WORKERS; w++) {
        double busy = fmax(now->busy_ns[w] - before->busy_ns[w], 0);
        sum += busy;
        most = fmax(most, busy);
    }
    double done = now->watched ? now->triggers - before->triggers : now->taken - before->taken;
    m->service = over(sum / 1e9, done);
    m->busy = fmin(over(sum / 1e9, seconds * workers), 1);
    m->imbalance = sum > 0 ? most * workers / sum : 1;
}

/* Steps without samples leave what was seen as it is, however many there are. */
static void note_late(dfrt__late_samples *late, unsigned alternate, const dfrt__sum *step, double results)
{
    dfrt__sum *sum = &late->samples[alternate];
    if (step->count > 0) {
        *sum = (dfrt__sum){KEPT * sum->count + step->count, KEPT * sum->ns + step->ns, KEPT * sum->squares + step->squares};
        late->results[alternate] = KEPT * late->results[alternate] + results;
    }
}

static void measure_alternates(dfrt_measured *m, const dfrt__tally *before, const dfrt__tally *now, unsigned active,
                               dfrt__late_samples *late)
{
    dfrt__sum steps[DFRT_MOST_ALTERNATES];
    for (unsigned a = 0; a < DFRT_MOST_ALTERNATES; a++) {
        steps[a] = difference(&before->samples[a], &now->samples[a]);
    }
    double spread = active < DFRT_MOST_ALTERNATES ? sqrt(variation(&steps[active])) : NAN;
    m->service_sd = m->service * spread;
    /* What a trigger costs beside the alternate: taking in the tuples, handing on the result. */
    double beside = active < DFRT_MOST_ALTERNATES ? m->service - mean_ns(&steps[active]) / 1e9 : NAN;
    beside = beside > 0 ? beside : 0;
    for (unsigned a = 0; a < DFRT_MOST_ALTERNATES; a++) {
        double results = now->sample_results[a] - before->sample_results[a];
        note_late(late, a, &steps[a], results);
        bool now_seen = steps[a].count > 0;
        m->alternate_service[a] = mean_ns(now_seen ? &steps[a] : &late->samples[a]) / 1e9 + beside;
        m->alternate_selectivity[a] =
            now_seen ? results / steps[a].count : over(late->results[a], late->samples[a].count);
    }
}

void dfrt__measure(dfrt_measured *measured, const dfrt__tally *before, const dfrt__tally *now, double seconds,
                   unsigned workers, unsigned active, dfrt__late_samples *late)
{
    *measured = (dfrt_measured){.step = seconds, .latency = NAN, .latency_quantile = NAN, .power = NAN,
                                .downstream = NAN};
    measure_arrivals(measured, before, now, seconds);
    measure_workers(measured, before, now, seconds, workers);
    measure_alternates(measured, before, now, active, late);
    dfrt__sum spacing = difference(&before->spacing, &now->spacing);
    measured->result_spacing_cv = sqrt(variation(&spacing));
    measured->results = now->results - before->results;
    measured->waiting = over((now->waited_ns - before->waited_ns) / 1e9, now->waited - before->waited);
    measured->blocked = fmin(over((now->blocked_ns - before->blocked_ns) / 1e9, seconds), 1);
}
