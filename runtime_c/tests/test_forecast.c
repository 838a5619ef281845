#define _GNU_SOURCE
#include "../control/forecast.h"

#include <math.h>

#include "check.h"

static dfrt_forecaster *made(dfrt_forecast_options options)
{
    dfrt_forecaster *forecaster = malloc(dfrt_forecaster_size(&options));
    CHECK(forecaster != NULL);
    dfrt_forecaster_start(forecaster, &options);
    return forecaster;
}

static bool near(double got, double wanted)
{
    return fabs(got - wanted) <= 1e-9 * fmax(1, fabs(wanted));
}

static void note_all(dfrt_forecaster *forecaster, const double *values, unsigned count)
{
    for (unsigned n = 0; n < count; n++)
        dfrt_forecaster_note(forecaster, values[n]);
}

static void test_holt(void)
{
    dfrt_forecaster *holt = made((dfrt_forecast_options){DFRT_HOLT_WINTERS, 0.5, 0.25, NAN, NAN, 0});
    CHECK(isnan(dfrt_forecaster_ahead(holt, 1)));
    dfrt_forecaster_note(holt, 100);
    CHECK(near(dfrt_forecaster_ahead(holt, 1), 100) && near(dfrt_forecaster_ahead(holt, 3), 100));
    dfrt_forecaster_note(holt, 120); /* level 0.5·120 + 0.5·100, trend 0.25·10 */
    CHECK(near(dfrt_forecaster_ahead(holt, 1), 112.5) && near(dfrt_forecaster_ahead(holt, 4), 120));
    dfrt_forecaster_note(holt, 120); /* level from the one-step forecast 112.5: 116.25; trend 0.25·6.25 + 0.75·2.5 */
    CHECK(near(dfrt_forecaster_ahead(holt, 1), 116.25 + 3.4375));
    CHECK(near(dfrt_forecaster_ahead(holt, 2), 116.25 + 6.875));
    free(holt);
}

static void test_a_line_is_learned(void)
{
    dfrt_forecaster *holt = made((dfrt_forecast_options){DFRT_HOLT_WINTERS, NAN, NAN, NAN, NAN, 0});
    for (unsigned n = 0; n < 200; n++)
        dfrt_forecaster_note(holt, 1000 + 7.0 * n);
    for (unsigned ahead = 1; ahead < 5; ahead++)
        CHECK(fabs(dfrt_forecaster_ahead(holt, ahead) - (1000 + 7.0 * (199 + ahead))) < 1e-6);
    for (unsigned n = 0; n < 100; n++)
        dfrt_forecaster_note(holt, fmax(0, 500 - 50.0 * n));
    CHECK(dfrt_forecaster_ahead(holt, 16) >= 0);
    free(holt);
}

static void test_season(void)
{
    static const double shape[] = {10, 40, 25, 5, 80};
    dfrt_forecaster *seasonal = made((dfrt_forecast_options){DFRT_HOLT_WINTERS, 0.3, 0.1, 0.3, NAN, 5});
    note_all(seasonal, shape, 5);
    for (unsigned ahead = 1; ahead <= 12; ahead++) /* the mean, and the shape of the first season on it */
        CHECK(near(dfrt_forecaster_ahead(seasonal, ahead), shape[(ahead - 1) % 5]));
    for (unsigned n = 0; n < 400; n++)
        dfrt_forecaster_note(seasonal, shape[n % 5]);
    CHECK(near(dfrt_forecaster_ahead(seasonal, 2), 40));
    dfrt_forecaster_note(seasonal, NAN); /* a step without a value moves the season on */
    for (unsigned ahead = 1; ahead <= 12; ahead++)
        CHECK(near(dfrt_forecaster_ahead(seasonal, ahead), shape[ahead % 5]));
    free(seasonal);
}

static void test_season_with_gaps(void)
{
    static const double gaps[] = {10, NAN, 30, INFINITY, -1}, nothing[] = {NAN, NAN, NAN, NAN, NAN};
    dfrt_forecast_options options = {DFRT_HOLT_WINTERS, NAN, NAN, NAN, NAN, 5};
    dfrt_forecaster *seasonal = made(options);
    note_all(seasonal, gaps, 5);
    CHECK(near(dfrt_forecaster_ahead(seasonal, 1), 10) && near(dfrt_forecaster_ahead(seasonal, 2), 20));
    free(seasonal);
    seasonal = made(options);
    note_all(seasonal, nothing, 5);
    CHECK(isnan(dfrt_forecaster_ahead(seasonal, 1)));
    dfrt_forecaster_note(seasonal, 7);
    CHECK(near(dfrt_forecaster_ahead(seasonal, 1), 7));
    free(seasonal);
}

static void test_simple_ones(void)
{
    static const double values[] = {10, 20, 40};
    dfrt_forecaster *ewma = made((dfrt_forecast_options){DFRT_EWMA, NAN, NAN, NAN, 0.25, 9});
    dfrt_forecaster *last = made((dfrt_forecast_options){DFRT_LAST_VALUE, NAN, NAN, NAN, NAN, 9});
    note_all(ewma, values, 3);
    note_all(last, values, 3);
    CHECK(near(dfrt_forecaster_ahead(ewma, 1), 0.25 * 40 + 0.75 * 12.5));
    CHECK(near(dfrt_forecaster_ahead(ewma, 7), dfrt_forecaster_ahead(ewma, 1)));
    CHECK(near(dfrt_forecaster_ahead(last, 1), 40) && near(dfrt_forecaster_ahead(last, 9), 40));
    free(ewma);
    free(last);
}

static void test_nothing_poisons(void)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -5, 1e300, 0, DFRT_MOST_RATE, 0, 0, NAN};
    for (int kind = DFRT_HOLT_WINTERS; kind <= DFRT_LAST_VALUE; kind++)
        for (unsigned season = 0; season < 4; season++) {
            dfrt_forecaster *any = made((dfrt_forecast_options){(enum dfrt_forecast)kind, NAN, 7, -1, NAN, season});
            note_all(any, odd, sizeof odd / sizeof *odd);
            for (unsigned ahead = 1; ahead < 16; ahead++)
                CHECK(dfrt_forecaster_ahead(any, ahead) >= 0 && isfinite(dfrt_forecaster_ahead(any, ahead)));
            for (unsigned n = 0; n < 3000; n++)
                dfrt_forecaster_note(any, 50);
            CHECK(fabs(dfrt_forecaster_ahead(any, 1) - 50) < 1e-3);
            free(any);
        }
}

static void test_names(void)
{
    enum dfrt_forecast kind;
    CHECK(dfrt_forecast_named("holt_winters", &kind) && kind == DFRT_HOLT_WINTERS);
    CHECK(dfrt_forecast_named("ewma", &kind) && kind == DFRT_EWMA);
    CHECK(dfrt_forecast_named("last", &kind) && dfrt_forecast_named("last_value", &kind) && kind == DFRT_LAST_VALUE);
    CHECK(!dfrt_forecast_named("holt", &kind));
}

int main(void)
{
    test_holt();
    test_a_line_is_learned();
    test_season();
    test_season_with_gaps();
    test_simple_ones();
    test_nothing_poisons();
    test_names();
    return 0;
}
