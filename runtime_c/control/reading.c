#include "reading.h"

#include "models.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* With everything shed nobody would see when the load has gone. */
static const double most_shed = 0.99;

/* NaN for what can't be a measurement: negative or not finite. */
static double sound_reading(double value)
{
    return isfinite(value) && value >= 0 ? value : NAN;
}

static double let_in(const dfrt_measured *measured)
{
    double step = sound_reading(measured->step), arrivals = sound_reading(measured->arrivals);
    return step > 0 ? arrivals / step : NAN;
}

double dfrt__rate(const dfrt_measured *measured, dfrt_setting now)
{
    double kept = now.shed > 0 && now.shed < 1 ? 1 - now.shed : 1;
    return let_in(measured) / kept;
}

double dfrt__utilisation(const dfrt_measured *measured, dfrt_setting now)
{
    double load = let_in(measured) * sound_reading(measured->service) / (now.workers > 0 ? now.workers : 1);
    return isfinite(load) ? load : sound_reading(measured->busy);
}

double dfrt__goal_latency(const dfrt_measured *measured, const dfrt_goals *goals)
{
    double quantile = sound_reading(measured->latency_quantile);
    return goals->latency_of == DFRT_GOAL_QUANTILE && !isnan(quantile) ? quantile : sound_reading(measured->latency);
}

double dfrt_throughput(const dfrt_measured *measured, dfrt_setting now)
{
    unsigned active = now.alternate < DFRT_MOST_ALTERNATES ? now.alternate : 0;
    double selectivity = sound_reading(measured->alternate_selectivity[active]);
    double came = dfrt__rate(measured, now) * measured->step, due = came * (isnan(selectivity) ? 1 : selectivity);
    return due > 0 ? sound_reading(measured->results) / due : NAN;
}

bool dfrt__goal_missed(const dfrt_measured *measured, const dfrt_goals *goals, dfrt_setting now, const char **why)
{
    const char *words = NULL;
    if (dfrt__goal_latency(measured, goals) > goals->latency)
        words = "the latency goal is missed";
    else if (dfrt_throughput(measured, now) < goals->throughput)
        words = "the throughput goal is missed";
    if (why != NULL && words != NULL)
        *why = words;
    return words != NULL;
}

bool dfrt__much_waits(const dfrt_measured *measured, dfrt_setting now)
{
    double waits = sound_reading(measured->backlog), step = sound_reading(measured->step);
    double work = waits * sound_reading(measured->service) / (now.workers > 0 ? now.workers : 1);
    return isnan(work) ? waits > 0.05 * sound_reading(measured->arrivals) : work > 0.05 * step;
}

bool dfrt__is_burdened(const dfrt_measured *measured, dfrt_setting now)
{
    return dfrt__much_waits(measured, now) || dfrt__utilisation(measured, now) >= DFRT_MARGIN
        || measured->busy >= DFRT_MARGIN;
}

bool dfrt__falls_behind(const dfrt_measured *measured, dfrt_setting now, double before)
{
    return dfrt__much_waits(measured, now) && sound_reading(measured->backlog) > before;
}

dfrt_setting dfrt__within(dfrt_setting setting, const dfrt_limits *limits)
{
    if (setting.workers < limits->workers_least)
        setting.workers = limits->workers_least;
    if (setting.workers > limits->workers_most)
        setting.workers = limits->workers_most;
    if (setting.frequency >= limits->frequency_count)
        setting.frequency = limits->frequency_count - 1;
    if (setting.alternate >= limits->alternate_count)
        setting.alternate = limits->alternate_count - 1;
    if (limits->alternate_held > 0)
        setting.alternate = limits->alternate_held - 1;
    if (!(setting.shed > 0))
        setting.shed = 0;
    if (setting.shed > limits->shed_most)
        setting.shed = limits->shed_most;
    return setting;
}

static unsigned between(unsigned value, unsigned least, unsigned most)
{
    return value < least ? least : value > most ? most : value;
}

void dfrt__usable_limits(const dfrt_limits *limits, dfrt_limits *usable)
{
    *usable = *limits;
    usable->workers_most = between(limits->workers_most, 1, DFRT_MOST_WORKERS);
    usable->workers_least = between(limits->workers_least, 1, usable->workers_most);
    usable->frequency_count = between(limits->frequency_count, 1, DFRT_MOST_FREQUENCIES);
    usable->alternate_count = between(limits->alternate_count, 1, DFRT_MOST_ALTERNATES);
    usable->alternate_held = limits->alternate_held <= usable->alternate_count ? limits->alternate_held : 0;
    usable->shed_most = limits->shed_most > 0 ? fmin(limits->shed_most, most_shed) : 0;
}

bool dfrt__same_setting(dfrt_setting one, dfrt_setting other)
{
    return one.workers == other.workers && one.frequency == other.frequency && one.alternate == other.alternate
        && one.shed == other.shed;
}

dfrt_prediction dfrt__no_prediction(dfrt_setting setting)
{
    return (dfrt_prediction){setting, NAN, NAN, NAN, NAN, NAN, NAN};
}

void dfrt__stay(dfrt_decision *decision, const dfrt_situation *situation)
{
    *decision = (dfrt_decision){.setting = dfrt__within(situation->now, situation->limits),
                                .forecast = situation->forecast[0]};
    decision->expected = dfrt__no_prediction(decision->setting);
}

bool dfrt__more(dfrt_setting *setting, const dfrt_limits *limits)
{
    if (setting->workers < limits->workers_most)
        setting->workers++;
    else if (setting->frequency + 1 < limits->frequency_count)
        setting->frequency = limits->frequency_count - 1;
    else
        return false;
    return true;
}

bool dfrt__fewer(dfrt_setting *setting, const dfrt_limits *limits)
{
    if (setting->workers <= limits->workers_least)
        return false;
    setting->workers--;
    return true;
}

void dfrt__say(dfrt_decision *decision, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    if (vsnprintf(decision->reason, sizeof decision->reason, format, words) < 0)
        decision->reason[0] = '\0';
    va_end(words);
}

void dfrt__say_more(dfrt_decision *decision, const char *format, ...)
{
    size_t used = strlen(decision->reason);
    if (used > 0 && used + 3 < sizeof decision->reason) {
        memcpy(decision->reason + used, "; ", 3);
        used += 2;
    }
    va_list words;
    va_start(words, format);
    if (vsnprintf(decision->reason + used, sizeof decision->reason - used, format, words) < 0)
        decision->reason[used] = '\0';
    va_end(words);
}
