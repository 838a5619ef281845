/* Rates that change: a file of lines `SECOND RATE`, each holding from its second until that of the next line.
 *
 *     0    300000
 *     1    304969
 *     2.5  290000
 *
 * Seconds go up; they count from the first line. The last rate holds as long as the one before it, a single one without
 * end. A rate is rounded to a whole number of tuples a second, floor(rate + 0.5); seconds likewise to nanoseconds. A
 * first line with one number (how many follow), empty lines and those that begin with # are skipped. Where every line has
 * one number only, each is the rate of a second.
 *
 * While a rate r holds from S to E nanoseconds, tuple j of that time is at S + j * 10**9 // r, for all j with which
 * that is before E.
 *
 * Threads:   constant after it was read.
 * Ownership: dfrt_rates_free what dfrt_rates_read or dfrt_rates_one made.
 * Progress:  reading waits for the file.
 */
#ifndef DFRT_RATES_H
#define DFRT_RATES_H

#include <dfrt/status.h>

#include <stddef.h>
#include <stdint.h>

typedef struct dfrt_rate_step {
    uint64_t start_ns, end_ns;
    uint64_t rate;
    uint64_t tuples; /* that come while it holds, when they come evenly */
} dfrt_rate_step;

typedef struct dfrt_rates {
    dfrt_rate_step *steps;
    size_t count; /* at least 1 */
} dfrt_rates;

/* One rate of at least 1, without end. */
dfrt_status dfrt_rates_one(dfrt_rates *rates, uint64_t rate, dfrt_error *error);
dfrt_status dfrt_rates_read(dfrt_rates *rates, const char *path, dfrt_error *error);
void dfrt_rates_free(dfrt_rates *rates);

/* Where the numbers of a file of keys' weights come from: blanks and line ends separate them, # begins a line of words.
 * Each is at least 0, their sum above 0. `*weights` is the caller's to free. */
dfrt_status dfrt_weights_read(double **weights, size_t *count, const char *path, dfrt_error *error);

#endif
