#define _GNU_SOURCE
#include "../control/models.h"

#include "control_sample.h"

static dfrt_limits limits;
static dfrt_goals goals;

static dfrt_model model_for(const dfrt_measured *measured, unsigned workers, unsigned frequency)
{
    dfrt_situation situation = sample_situation(measured, &limits, &goals, workers, frequency);
    dfrt_model model;
    CHECK(dfrt_model_of(&situation, &model));
    return model;
}

static dfrt_prediction predicted(const dfrt_model *model, unsigned workers, unsigned frequency)
{
    dfrt_prediction prediction;
    dfrt_model_predict(model, &limits, (dfrt_setting){workers, frequency, 0, 0}, &prediction);
    return prediction;
}

static void test_numbers(void)
{
    dfrt_measured measured = sample_measured(8000); /* a trigger each 0.125 ms, 0.45 ms each at 2 GHz */
    dfrt_model model = model_for(&measured, 6, 8);
    double service = 0.45e-3 * 2.0 / 1.5, ideal = service / 7, rho = ideal / (0.95 * 0.125e-3);
    double waiting = rho / (1 - rho) * (1 + 0.64) / 2 * ideal;
    dfrt_prediction seven = predicted(&model, 7, 3); /* 1.5 GHz */
    CHECK(nearly(seven.utilisation, ideal / 0.125e-3) && nearly(seven.waiting, waiting));
    CHECK(nearly(seven.latency, waiting + service) && nearly(seven.throughput, 1) && isnan(seven.cost));
    CHECK(nearly(seven.power, 0.86 * 0.86 * 1.5 * (7 + 3)));
    dfrt_prediction three = predicted(&model, 3, 8);
    CHECK(nearly(three.utilisation, 1.2) && nearly(three.throughput, 1 / 1.2));
    CHECK(three.latency == INFINITY && three.waiting == INFINITY);
    dfrt_prediction four = predicted(&model, 4, 8);
    CHECK(nearly(four.utilisation, 0.9) && isfinite(four.latency)); /* 0.947 with the margin */
    model.correction = 0.5;
    CHECK(nearly(predicted(&model, 4, 8).waiting, four.waiting));
    CHECK(nearly(predicted(&model, 4, 8).latency, 0.5 * four.waiting + 0.45e-3));
}

static void test_imbalance(void)
{
    dfrt_measured measured = sample_measured(1000);
    measured.imbalance = 1.5;
    dfrt_model model = model_for(&measured, 6, 8);
    CHECK(nearly(predicted(&model, 6, 8).utilisation, 1.5 * 0.45 / 6));
    CHECK(nearly(predicted(&model, 1, 8).utilisation, 0.45)); /* one worker alone is not out of balance */
    measured.imbalance = 0.2;
    model = model_for(&measured, 6, 8);
    CHECK(nearly(predicted(&model, 6, 8).utilisation, 0.45 / 6));
}

static void test_service_follows_the_present_frequency(void)
{
    dfrt_measured measured = sample_measured(1000);
    dfrt_model model = model_for(&measured, 6, 0); /* measured at 1.2 GHz */
    CHECK(nearly(dfrt_model_service(&model, &limits, 0), 0.45e-3));
    CHECK(nearly(dfrt_model_service(&model, &limits, 8), 0.27e-3));
}

static void test_backlog_is_load_of_the_first_step(void)
{
    dfrt_measured measured = sample_measured(1000);
    measured.backlog = 500;
    measured.step = 2;
    dfrt_situation situation = sample_situation(&measured, &limits, &goals, 1, 8);
    CHECK(nearly(dfrt_load_of(&situation, 0), 500 + 250) && nearly(dfrt_load_of(&situation, 1), 500));
    situation.forecast[0] = NAN; /* the last step says as much */
    CHECK(nearly(dfrt_load_of(&situation, 0), 750));
    measured.arrivals = measured.interarrival = NAN;
    CHECK(nearly(dfrt_load_of(&situation, 0), 250));
    measured.backlog = NAN;
    CHECK(isnan(dfrt_load_of(&situation, 0)) && nearly(dfrt_load_of(&situation, 1), 500));
    CHECK(isnan(dfrt_load_of(&situation, DFRT_MOST_HORIZON)));
}

static void test_quantile_goals(void)
{
    dfrt_measured measured = sample_measured(8000);
    goals.latency_of = DFRT_GOAL_QUANTILE;
    goals.quantile = 0.95;
    dfrt_model model = model_for(&measured, 6, 8);
    CHECK(nearly(model.tail, log(20))); /* nothing measured: as where waiting is exponential */
    measured.latency = 2e-3;
    measured.latency_quantile = 5e-3;
    model = model_for(&measured, 6, 8);
    CHECK(nearly(model.tail, 2.5));
    goals = sample_goals(7e-3);
}

static void test_what_is_not_known(void)
{
    dfrt_measured measured = sample_measured(1000);
    dfrt_situation situation = sample_situation(&measured, &limits, &goals, 4, 0);
    dfrt_model model;
    measured.service = measured.service_sd = measured.interarrival_sd = measured.result_spacing_cv = NAN;
    CHECK(!dfrt_model_of(&situation, &model));
    limits.cost[0] = 0.6e-3; /* declared, at the highest frequency */
    CHECK(dfrt_model_of(&situation, &model) && nearly(model.service, 1e-3));
    CHECK(model.arrival_cv2 == 1 && model.service_cv2 == 1);
    measured.alternate_service[0] = 0.8e-3;
    CHECK(dfrt_model_of(&situation, &model) && nearly(model.service, 0.8e-3));
    limits.cost[0] = NAN;
    measured.service = 1e-3;
    measured.arrivals = NAN;
    situation.forecast[0] = NAN;
    CHECK(dfrt_model_of(&situation, &model) && nearly(model.interarrival, 1e-3)); /* from the inter-arrival time */
    measured.interarrival = 0;
    CHECK(!dfrt_model_of(&situation, &model));
}

static void test_power(void)
{
    dfrt_limits plain = {.frequency_count = 1, .service_threads = 2};
    CHECK(nearly(dfrt_model_power(&plain, 5, 0), 7)); /* frequency not known: threads */
    plain = sample_limits(12, 9);
    plain.voltages[4] = NAN;
    CHECK(nearly(dfrt_model_power(&plain, 5, 4), 0.8 * 0.8 * 1.6 * 8)); /* grows like the frequency */
    dfrt_measured measured = sample_measured(1000);
    measured.power = 2 * dfrt_model_power(&limits, 4, 8);
    dfrt_model model = model_for(&measured, 4, 8);
    CHECK(nearly(predicted(&model, 8, 2).power, 2 * dfrt_model_power(&limits, 8, 2)));
}

static void test_correction(void)
{
    dfrt_correction correction = {0};
    CHECK(dfrt_correction_factor(&correction) == 1);
    dfrt_correction_note(&correction, 2, 1);
    dfrt_correction_note(&correction, 4, 1);
    CHECK(dfrt_correction_factor(&correction) == 1);
    dfrt_correction_note(&correction, 3, 1);
    CHECK(nearly(dfrt_correction_factor(&correction), 3));
    static const double bad[][2] = {{NAN, 1}, {1, NAN}, {1, 0}, {1, INFINITY}, {INFINITY, 1}, {-1, 1}, {1, -1}, {0, 0}};
    for (unsigned n = 0; n < sizeof bad / sizeof *bad; n++)
        dfrt_correction_note(&correction, bad[n][0], bad[n][1]);
    CHECK(nearly(dfrt_correction_factor(&correction), 3));
    dfrt_correction_note(&correction, 8, 1); /* takes the place of the 2 */
    CHECK(nearly(dfrt_correction_factor(&correction), 5));
    for (unsigned n = 0; n < 7; n++)
        dfrt_correction_note(&correction, 1e9, 1e-9);
    CHECK(nearly(dfrt_correction_factor(&correction), 20));
    for (unsigned n = 0; n < 7; n++)
        dfrt_correction_note(&correction, 0, 1);
    CHECK(nearly(dfrt_correction_factor(&correction), 0.05));
}

int main(void)
{
    limits = sample_limits(12, 9);
    goals = sample_goals(7e-3);
    test_numbers();
    test_imbalance();
    test_service_follows_the_present_frequency();
    test_backlog_is_load_of_the_first_step();
    test_quantile_goals();
    test_what_is_not_known();
    test_power();
    test_correction();
    return 0;
}
