/* `regression` of hft.c on a machine where a fit takes a millisecond longer. The time is waited for, not computed, so that
 * live.py can show many workers on few cores, also while they have other work. */
#define _GNU_SOURCE
#include "trading.h"

#include <time.h>

bool fit_next_quote(const trading_predict_regression_columns *window, trading_Forecast *result); /* in hft.c */

bool wait_and_fit(const trading_predict_regression_columns *window, trading_Forecast *result)
{
    struct timespec left = {.tv_nsec = 1000000};
    while (nanosleep(&left, &left) != 0) { /* a signal came: the rest is waited for */
    }
    return fit_next_quote(window, result);
}
