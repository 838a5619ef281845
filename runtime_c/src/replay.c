#include "replay.h"

#include <dfrt/number.h>

#include <string.h>

/* A positive number of at most 10**12, and where it ends: beyond that there is nothing to hold back. */
static bool read_factor(const char *word, double *out, const char **end)
{
    size_t size = strspn(word, "0123456789.");
    *end = word + size;
    return dfrt_parse_f64(word, size, out) && *out > 0 && *out <= 1e12;
}

/* DFRT_USAGE when a way to replay files is known already. */
static dfrt_status refuse_second(const dfrt_replay *replay, const char *option, dfrt_error *error)
{
    const char *given = replay->rate > 0 ? "--rate" : replay->rates.count > 0 ? "--rates" : "--speed";
    bool any = replay->rate > 0 || replay->rates.count > 0 || replay->speed > 0;
    if (!any || strcmp(given, option) == 0) return DFRT_OK;
    return dfrt_fail(error, DFRT_USAGE, "%s and %s are two ways to replay a file: give one of them", given, option);
}

dfrt_status dfrt__read_rate(dfrt_replay *replay, const char *word, dfrt_error *error)
{
    const char *end;
    double rate;
    dfrt_status status = refuse_second(replay, "--rate", error);
    if (status != DFRT_OK) return status;
    bool good = read_factor(word, &rate, &end);
    if (good && (*end == 'k' || *end == 'M')) rate *= *end++ == 'k' ? 1e3 : 1e6;
    if (!good || strcmp(end, "/s") != 0 || rate < 1e-6)
        return dfrt_fail(error, DFRT_USAGE, "--rate takes tuples a second such as 500/s, 200k/s or 1.5M/s, not '%s'",
                         word);
    replay->rate = rate;
    return DFRT_OK;
}

dfrt_status dfrt__read_speed(dfrt_replay *replay, const char *word, dfrt_error *error)
{
    const char *end;
    double speed;
    dfrt_status status = refuse_second(replay, "--speed", error);
    if (status != DFRT_OK) return status;
    if (!read_factor(word, &speed, &end) || strcmp(end, "x") != 0 || speed < 1e-6)
        return dfrt_fail(error, DFRT_USAGE, "--speed takes a factor such as 1x, 10x or 0.5x, not '%s'", word);
    replay->speed = speed;
    return DFRT_OK;
}

dfrt_status dfrt__read_rates(dfrt_replay *replay, const char *path, dfrt_error *error)
{
    dfrt_status status = refuse_second(replay, "--rates", error);
    if (status != DFRT_OK) return status;
    dfrt_error found;
    dfrt_rates_free(&replay->rates);
    status = dfrt_rates_read(&replay->rates, path, &found);
    if (status != DFRT_OK) return dfrt_fail(error, DFRT_USAGE, "--rates: %s", found.text);
    if (replay->rates.steps[replay->rates.count - 1].rate > 0) return DFRT_OK;
    return dfrt_fail(error, DFRT_USAGE, "--rates: the last rate of '%s' is 0, so nothing would come any more", path);
}
