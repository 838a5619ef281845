/* `regression` of hft.c for a program that computes much: a fit is made again and again until 10,000 quotes have been
 * looked at, some tenths of a millisecond, however full the window is. The reader hardly needs a core then, so that
 * live.py can show two workers on two cores. */
#include "trading.h"

enum { QUOTES = 10000 };

bool fit_next_quote(const trading_predict_regression_columns *window, trading_Forecast *result); /* in hft.c */

bool compute_and_fit(const trading_predict_regression_columns *window, trading_Forecast *result)
{
    bool gave = fit_next_quote(window, result);
    for (size_t seen = window->count; seen < QUOTES; seen += window->count) {
        gave = fit_next_quote(window, result);
    }
    return gave;
}
