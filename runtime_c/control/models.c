/* The models of 002 §6.2.2, guarded: what was not measured is replaced by what is known instead. */
#include "models.h"

#include "forecast.h"

#include <math.h>

static bool is_positive(double value)
{
    return value > 0 && value < INFINITY;
}

static double within(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

/* --- loads ---------------------------------------------------------------------------------------- */

static double measured_rate(const dfrt_measured *measured)
{
    if (is_positive(measured->step) && measured->arrivals >= 0 && measured->arrivals < INFINITY)
        return measured->arrivals / measured->step;
    return is_positive(measured->interarrival) ? 1 / measured->interarrival : NAN;
}

double dfrt_load_of(const dfrt_situation *situation, unsigned step)
{
    const dfrt_measured *measured = situation->measured;
    double rate = step < DFRT_MOST_HORIZON ? situation->forecast[step] : NAN;
    if (!(rate >= 0 && rate < INFINITY)) /* without a forecast the step to come is like the last one */
        rate = measured_rate(measured);
    if (step == 0 && is_positive(measured->backlog) && is_positive(measured->step))
        rate = (isnan(rate) ? 0 : rate) + measured->backlog / measured->step;
    return rate;
}

void dfrt_model_load(dfrt_model *model, double rate)
{
    model->interarrival = rate > 0 ? 1 / fmin(rate, DFRT_MOST_RATE) : INFINITY;
}

/* --- what was measured ---------------------------------------------------------------------------- */

/* Hertz, where the machine's frequencies are known. */
static double hertz_of(const dfrt_limits *limits, unsigned frequency)
{
    bool known = frequency < limits->frequency_count && frequency < DFRT_MOST_FREQUENCIES;
    double hertz = known ? limits->frequencies[frequency] : NAN;
    return hertz >= 1 && hertz <= 1e15 ? hertz : NAN;
}

static unsigned highest(const dfrt_limits *limits)
{
    return limits->frequency_count > 0 ? limits->frequency_count - 1 : 0;
}

static double slowdown(const dfrt_limits *limits, unsigned from, unsigned to)
{
    double factor = hertz_of(limits, from) / hertz_of(limits, to);
    return isnan(factor) ? 1 : factor;
}

static double service_of(const dfrt_situation *situation)
{
    unsigned alternate = situation->now.alternate;
    if (is_positive(situation->measured->service))
        return situation->measured->service;
    if (alternate >= DFRT_MOST_ALTERNATES)
        return NAN;
    if (is_positive(situation->measured->alternate_service[alternate]))
        return situation->measured->alternate_service[alternate];
    double declared = situation->limits->cost[alternate];
    const dfrt_limits *limits = situation->limits;
    return is_positive(declared) ? declared * slowdown(limits, highest(limits), situation->now.frequency) : NAN;
}

/* Of arrivals or services whose variation is not known: that of independent ones (exponential times). */
static double squared_variation(double variation)
{
    return variation >= 0 ? within(variation * variation, 0, 100) : 1;
}

static double service_variation(const dfrt_measured *measured)
{
    if (measured->result_spacing_cv >= 0)
        return measured->result_spacing_cv;
    return is_positive(measured->service) ? measured->service_sd / measured->service : NAN;
}

/* How far the goal's quantile lies above the mean, the overhead apart: as measured, otherwise as where waiting times are
 * exponential. */
static double tail_of(const dfrt_measured *measured, const dfrt_goals *goals, double overhead)
{
    if (goals->latency_of != DFRT_GOAL_QUANTILE)
        return 1;
    double apart = fmax(0, fmin(overhead, measured->latency - measured->service)); /* of this step it may be less */
    double seen = (measured->latency_quantile - apart) / (measured->latency - apart);
    if (is_positive(seen))
        return within(seen, 1, 20);
    return goals->quantile > 0 ? within(-log1p(-fmin(goals->quantile, 0.999999)), 1, 20) : 1;
}

bool dfrt_model_of(const dfrt_situation *situation, dfrt_model *model)
{
    const dfrt_measured *measured = situation->measured;
    double model_power = dfrt_model_power(situation->limits, situation->now.workers, situation->now.frequency);
    double service = service_of(situation), watts = measured->power / model_power;
    double overhead = is_positive(situation->overhead) ? fmin(situation->overhead, 1e12) : 0;
    *model = (dfrt_model){
        .service = within(service, 1e-12, 1e12),
        .frequency = situation->now.frequency,
        .arrival_cv2 = squared_variation(measured->interarrival_sd / measured->interarrival),
        .service_cv2 = squared_variation(service_variation(measured)),
        .imbalance = measured->imbalance > 1 ? measured->imbalance : 1,
        .correction = is_positive(situation->correction) ? situation->correction : 1,
        .overhead = overhead,
        .tail = tail_of(measured, situation->goals, overhead),
        .watts = is_positive(watts) ? within(watts, 1e-9, 1e9) : 1,
    };
    double rate = dfrt_load_of(situation, 0);
    dfrt_model_load(model, rate);
    return is_positive(service) && !isnan(rate);
}

/* --- predictions ---------------------------------------------------------------------------------- */

double dfrt_model_service(const dfrt_model *model, const dfrt_limits *limits, unsigned frequency)
{
    return model->service * slowdown(limits, model->frequency, frequency);
}

double dfrt_model_ideal(const dfrt_model *model, double service, unsigned workers)
{
    double count = workers > 0 ? workers : 1; /* the busiest of n has at most n times the mean load */
    return service / count * fmin(model->imbalance, count);
}

double dfrt_model_utilisation(const dfrt_model *model, double ideal)
{
    return ideal / (DFRT_MARGIN * model->interarrival);
}

double dfrt_model_waiting(const dfrt_model *model, double utilisation, double ideal)
{
    if (utilisation >= 1)
        return INFINITY;
    return utilisation / (1 - utilisation) * (model->arrival_cv2 + model->service_cv2) / 2 * ideal;
}

double dfrt_model_latency(const dfrt_model *model, double service, double waiting)
{
    return model->overhead + model->tail * (model->correction * waiting + service);
}

double dfrt_model_power(const dfrt_limits *limits, unsigned workers, unsigned frequency)
{
    double gigahertz = hertz_of(limits, frequency) / 1e9, threads = workers;
    if (limits->service_threads > 0)
        threads += fmin(limits->service_threads, 1e6);
    if (isnan(gigahertz))
        return threads;
    double voltage = limits->voltages[frequency];
    if (!(voltage > 0 && voltage < 1e3)) { /* not known: taken to grow like the frequency, 1 at the highest */
        double share = hertz_of(limits, frequency) / hertz_of(limits, highest(limits));
        voltage = isnan(share) ? 1 : share;
    }
    return voltage * voltage * gigahertz * threads;
}

void dfrt_model_predict(const dfrt_model *model, const dfrt_limits *limits, dfrt_setting setting,
                        dfrt_prediction *prediction)
{
    double service = dfrt_model_service(model, limits, setting.frequency);
    double ideal = dfrt_model_ideal(model, service, setting.workers);
    double utilisation = dfrt_model_utilisation(model, ideal), waiting = dfrt_model_waiting(model, utilisation, ideal);
    *prediction = (dfrt_prediction){
        .setting = setting,
        .utilisation = ideal / model->interarrival,
        .latency = dfrt_model_latency(model, service, waiting),
        .throughput = fmin(1, model->interarrival / ideal),
        .power = model->watts * dfrt_model_power(limits, setting.workers, setting.frequency),
        .cost = NAN,
        .waiting = waiting,
    };
}

/* --- correction ----------------------------------------------------------------------------------- */

void dfrt_correction_note(dfrt_correction *correction, double measured, double predicted)
{
    if (!(measured >= 0 && measured < INFINITY) || !is_positive(predicted))
        return;
    correction->ratios[correction->noted % 3] = within(measured / predicted, 0.05, 20);
    correction->noted = correction->noted < 3 ? correction->noted + 1 : 3 + (correction->noted + 1) % 3;
}

double dfrt_correction_factor(const dfrt_correction *correction)
{
    if (correction->noted < 3)
        return 1;
    return (correction->ratios[0] + correction->ratios[1] + correction->ratios[2]) / 3;
}
