/* Forecasts of a series that is measured once a control step: Holt-Winters, exponentially weighted mean, last value.
 *
 * Threads:   none; a forecaster belongs to whoever calls it.
 * Ownership: the caller gives the memory (dfrt_forecaster_size) and owns it.
 * Progress:  O(1) a call, but O(season) at the end of the first season. No allocation, no I/O, no clock.
 *
 * The series is a rate: what is negative, not a number or larger than DFRT_MOST_RATE was not measured. Such a step
 * moves the season on and changes nothing else; zero is a measurement like others. Forecasts are never negative.
 */
#ifndef DFRT_CONTROL_FORECAST_H
#define DFRT_CONTROL_FORECAST_H

#include <stdbool.h>
#include <stddef.h>

#define DFRT_MOST_RATE 1e18

enum dfrt_forecast { DFRT_HOLT_WINTERS, DFRT_EWMA, DFRT_LAST_VALUE };

/* Weights are those of the newest value, 0…1; NaN: standard (level 0.67, trend 0.26, seasonal 0.3, smoothing 0.5). */
typedef struct dfrt_forecast_options {
    enum dfrt_forecast kind;
    double level, trend, seasonal; /* Holt-Winters */
    double smoothing;              /* EWMA */
    unsigned season;               /* steps; 0 or 1: none */
} dfrt_forecast_options;

/* All fields are the forecaster's own. */
typedef struct dfrt_forecaster {
    dfrt_forecast_options options;
    double smoothed, slope;  /* level and trend; the level is NaN before the first value */
    unsigned phase;          /* where in the season the next value falls */
    unsigned first_season;   /* steps of the first season that are behind us */
    double deviations[];     /* of the seasons' phases; in the first season the values themselves */
} dfrt_forecaster;

/* holt_winters, ewma, last or last_value; false: no such forecaster. */
bool dfrt_forecast_named(const char *name, enum dfrt_forecast *kind);

size_t dfrt_forecaster_size(const dfrt_forecast_options *options);
void dfrt_forecaster_start(dfrt_forecaster *forecaster, const dfrt_forecast_options *options);
/* One step is over, and this was measured in it. */
void dfrt_forecaster_note(dfrt_forecaster *forecaster, double value);
/* `steps` ahead of the last value, 1 is the step to come; NaN before the first value. */
double dfrt_forecaster_ahead(const dfrt_forecaster *forecaster, unsigned steps);

#endif
