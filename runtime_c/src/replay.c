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

static dfrt_status both_given(dfrt_error *error)
{
    return dfrt_fail(error, DFRT_USAGE, "--rate and --speed are two ways to replay a file: give one of them");
}

dfrt_status dfrt__read_rate(dfrt_replay *replay, const char *word, dfrt_error *error)
{
    const char *end;
    double rate;
    if (replay->speed > 0) return both_given(error);
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
    if (replay->rate > 0) return both_given(error);
    if (!read_factor(word, &speed, &end) || strcmp(end, "x") != 0 || speed < 1e-6)
        return dfrt_fail(error, DFRT_USAGE, "--speed takes a factor such as 1x, 10x or 0.5x, not '%s'", word);
    replay->speed = speed;
    return DFRT_OK;
}
