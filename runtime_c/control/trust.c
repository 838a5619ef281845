#include "trust.h"

#include "reading.h"

#include <math.h>

/* One load that nobody could foresee must not count more than this; and after so many steps without a comparison the
 * policy gets another chance. */
static const double greatest_error = 2;
static const unsigned blind_steps = 20;

void dfrt__trust_start(dfrt__trust *trust, double most)
{
    *trust = (dfrt__trust){.most = most > 0 ? most : 0.5, .last = NAN};
}

/* Relative to what was measured, but not to less than `scale`: being wrong about next to nothing does no harm. */
static double relative_error(double predicted, double measured, double scale)
{
    return fmin(greatest_error, fabs(predicted - measured) / fmax(measured, scale));
}

static double error_of(const dfrt_prediction *predicted, const dfrt_measured *measured, const dfrt_goals *goals,
                       dfrt_setting now)
{
    double latency = dfrt__goal_latency(measured, goals), utilisation = dfrt__utilisation(measured, now);
    if (measured->moved || !dfrt__same_setting(predicted->setting, now))
        return NAN;
    if (goals->latency > 0 && isfinite(predicted->latency) && !isnan(latency))
        return relative_error(predicted->latency, latency, goals->latency);
    if (isfinite(predicted->utilisation) && !isnan(utilisation))
        return relative_error(predicted->utilisation, utilisation, 0.5);
    return NAN;
}

double dfrt__trust_mean(const dfrt__trust *trust)
{
    double sum = 0;
    unsigned count = trust->compared < DFRT__ERRORS ? trust->compared : DFRT__ERRORS;
    for (unsigned i = 0; i < count; i++)
        sum += trust->errors[i];
    return count > 0 ? sum / count : NAN;
}

void dfrt__trust_note(dfrt__trust *trust, const dfrt_prediction *predicted, const dfrt_measured *measured,
                      const dfrt_goals *goals, dfrt_setting now)
{
    trust->last = error_of(predicted, measured, goals, now);
    trust->blind = isnan(trust->last) ? trust->blind + 1 : 0;
    if (!isnan(trust->last)) {
        trust->errors[trust->compared % DFRT__ERRORS] = trust->last;
        trust->compared = trust->compared + 1 < 2 * DFRT__ERRORS ? trust->compared + 1 : DFRT__ERRORS;
    }
    if (!trust->fell_back) {
        trust->fell_back = trust->compared >= DFRT__ERRORS && dfrt__trust_mean(trust) > trust->most;
    } else if (dfrt__trust_mean(trust) <= trust->most || trust->blind >= blind_steps) {
        trust->fell_back = false;
        trust->compared = 0;
    }
}
