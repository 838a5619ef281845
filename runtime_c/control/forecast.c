/* Forecasts (002 §7.2.3): the level follows the last one-step forecast, the trend the level, the season what is left.
 *
 * In the first season nothing is known of its shape: the level and the trend go on without it while the values are
 * kept. At its end their mean becomes the level and what each differs from it the first shape.
 */
#include "forecast.h"

#include <math.h>
#include <string.h>

static double weight_or(double weight, double standard)
{
    return isnan(weight) ? standard : fmin(fmax(weight, 0), 1);
}

static bool has_season(const dfrt_forecast_options *options)
{
    return options->kind == DFRT_HOLT_WINTERS && options->season > 1;
}

bool dfrt_forecast_named(const char *name, enum dfrt_forecast *kind)
{
    static const struct {
        const char *word;
        enum dfrt_forecast meaning;
    } words[] = {{"holt_winters", DFRT_HOLT_WINTERS}, {"ewma", DFRT_EWMA}, {"last", DFRT_LAST_VALUE},
                 {"last_value", DFRT_LAST_VALUE}};
    for (unsigned n = 0; n < sizeof words / sizeof *words; n++)
        if (strcmp(words[n].word, name) == 0) {
            *kind = words[n].meaning;
            return true;
        }
    return false;
}

size_t dfrt_forecaster_size(const dfrt_forecast_options *options)
{
    return sizeof(dfrt_forecaster) + (has_season(options) ? options->season * sizeof(double) : 0);
}

void dfrt_forecaster_start(dfrt_forecaster *forecaster, const dfrt_forecast_options *options)
{
    *forecaster = (dfrt_forecaster){.options = *options, .smoothed = NAN};
    dfrt_forecast_options *own = &forecaster->options;
    own->level = weight_or(own->level, 0.67);
    own->trend = weight_or(own->trend, 0.26);
    own->seasonal = weight_or(own->seasonal, 0.3);
    own->smoothing = weight_or(own->smoothing, 0.5);
    own->season = has_season(own) ? own->season : 0;
    for (unsigned phase = 0; phase < own->season; phase++)
        forecaster->deviations[phase] = NAN;
}

static bool shape_is_known(const dfrt_forecaster *forecaster)
{
    return forecaster->options.season > 0 && forecaster->first_season == forecaster->options.season;
}

/* The end of the first season: values become deviations from their mean; a phase without value has none. */
static void learn_shape(dfrt_forecaster *forecaster)
{
    double sum = 0;
    unsigned seen = 0, season = forecaster->options.season;
    for (unsigned phase = 0; phase < season; phase++)
        if (!isnan(forecaster->deviations[phase])) {
            sum += forecaster->deviations[phase];
            seen++;
        }
    if (seen > 0) {
        forecaster->smoothed = sum / seen;
        forecaster->slope = 0;
    }
    for (unsigned phase = 0; phase < season; phase++) {
        double value = forecaster->deviations[phase];
        forecaster->deviations[phase] = isnan(value) ? 0 : value - forecaster->smoothed;
    }
}

static void move_season_on(dfrt_forecaster *forecaster)
{
    if (forecaster->options.season == 0)
        return;
    forecaster->phase = (forecaster->phase + 1) % forecaster->options.season;
    if (shape_is_known(forecaster))
        return;
    forecaster->first_season++;
    if (shape_is_known(forecaster))
        learn_shape(forecaster);
}

static void follow(dfrt_forecaster *forecaster, double value, double level, double trend)
{
    double before = forecaster->smoothed;
    if (isnan(before)) {
        forecaster->smoothed = value;
        return;
    }
    forecaster->smoothed = level * value + (1 - level) * (before + forecaster->slope);
    forecaster->slope = trend * (forecaster->smoothed - before) + (1 - trend) * forecaster->slope;
}

static void note_holt_winters(dfrt_forecaster *forecaster, double value)
{
    const dfrt_forecast_options *options = &forecaster->options;
    double *deviation = &forecaster->deviations[forecaster->phase];
    if (!shape_is_known(forecaster)) {
        if (options->season > 0)
            *deviation = value;
        follow(forecaster, value, options->level, options->trend);
        return;
    }
    follow(forecaster, value - *deviation, options->level, options->trend);
    *deviation = options->seasonal * (value - forecaster->smoothed) + (1 - options->seasonal) * *deviation;
}

void dfrt_forecaster_note(dfrt_forecaster *forecaster, double value)
{
    if (value >= 0 && value <= DFRT_MOST_RATE) {
        if (forecaster->options.kind == DFRT_HOLT_WINTERS)
            note_holt_winters(forecaster, value);
        else
            follow(forecaster, value, forecaster->options.kind == DFRT_EWMA ? forecaster->options.smoothing : 1, 0);
    }
    move_season_on(forecaster);
}

double dfrt_forecaster_ahead(const dfrt_forecaster *forecaster, unsigned steps)
{
    double value = forecaster->smoothed + steps * forecaster->slope;
    if (shape_is_known(forecaster) && steps > 0)
        value += forecaster->deviations[(forecaster->phase + steps - 1) % forecaster->options.season];
    return isnan(value) ? NAN : fmax(value, 0);
}
