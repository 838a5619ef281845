/* The next bid and ask of a symbol, from its last quotes (De Matteis and Mencagli, Proactive elasticity and
 * energy awareness in data stream processing, section 5.1).
 *
 * `fit_next_quote`: for each side, quotes of the same millisecond become one point, a parabola is fitted to the points
 * by Levenberg and Marquardt's method, and its value one step after the last point is the forecast. The fit starts
 * from a flat line every time: a function over a window keeps nothing from one window to the next, so that any replica
 * may compute any window, and the result is a function of the window only.
 * `average_quote`: for each side, the average price of the last slide, weighted by size. */
#include "trading.h"

#include <stdlib.h>

#include "levenberg.h"

enum { SLIDE = 25 }; /* of the window of `predict` */

/* One side of the quotes of a window; a price without a size was not quoted. */
typedef struct side {
    const int64_t *times;
    const double *prices;
    const int32_t *sizes;
    size_t count;
} side;

static size_t last_slide(size_t count)
{
    return count > SLIDE ? count - SLIDE : 0;
}

/* The last price that was quoted before `end`; NaN if there is none. */
static double last_price(const side *s, size_t end)
{
    while (end > 0 && s->sizes[end - 1] <= 0) end--;
    return end > 0 ? s->prices[end - 1] : (double)NAN;
}

/* --- candlestick ----------------------------------------------------------------------------------------- */

/* The middle of bid and ask, or the one that is known. */
static double middle(double bid, double ask)
{
    return isnan(bid) ? ask : isnan(ask) ? bid : (bid + ask) / 2;
}

/* Of the middle price over the last slide; a side that a quote leaves out stays as it was. */
static void candlestick(const side *bids, const side *asks, trading_Forecast *result)
{
    size_t first = last_slide(bids->count);
    double bid = last_price(bids, first), ask = last_price(asks, first);
    result->open = result->high = result->low = result->close = (double)NAN;
    for (size_t i = first; i < bids->count; i++) {
        bid = bids->sizes[i] > 0 ? bids->prices[i] : bid;
        ask = asks->sizes[i] > 0 ? asks->prices[i] : ask;
        result->close = middle(bid, ask);
        if (isnan(result->open)) result->open = result->close;
        result->high = fmax(result->high, result->close); /* of a number and NaN, the number */
        result->low = fmin(result->low, result->close);
    }
    result->ts = bids->times[bids->count - 1];
}

/* --- forecasts ------------------------------------------------------------------------------------------- */

/* One point a millisecond. The window comes in order of time: equal times stand together. Time runs from 0 at the
 * oldest point to 1 at the last, so that its powers stay comparable. Answers how many points there are. */
static size_t to_points(const side *s, point *points)
{
    size_t count = 0, same = 0;
    int64_t oldest = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->sizes[i] <= 0) continue;
        if (count == 0) oldest = s->times[i];
        double time = (double)(s->times[i] - oldest);
        if (count == 0 || points[count - 1].time < time) {
            points[count++] = (point){time, 0};
            same = 0;
        }
        same++;
        points[count - 1].price += (s->prices[i] - points[count - 1].price) / (double)same;
    }
    double span = count > 0 ? points[count - 1].time : 0;
    for (size_t i = 0; i < count && span > 0; i++) points[i].time /= span;
    return count;
}

static double fit_next(const side *s, point *points)
{
    size_t count = to_points(s, points);
    if (count <= TERMS) return last_price(s, s->count); /* too few for a parabola: no change */
    parabola curve = fit((parabola){{points[count - 1].price, 0, 0}}, points, count);
    return value_at(&curve, 1 + 1 / (double)(count - 1));
}

static double average(const side *s)
{
    double total = 0, weight = 0;
    for (size_t i = last_slide(s->count); i < s->count; i++) {
        if (s->sizes[i] <= 0) continue;
        total += s->prices[i] * s->sizes[i];
        weight += s->sizes[i];
    }
    return weight > 0 ? total / weight : last_price(s, s->count);
}

bool fit_next_quote(const trading_predict_regression_columns *window, trading_Forecast *result)
{
    side bids = {window->times, window->bid, window->bid_size, window->count};
    side asks = {window->times, window->ask, window->ask_size, window->count};
    point *points = malloc(window->count * sizeof *points);
    if (points == NULL) return false;
    result->symbol = window->key.symbol;
    candlestick(&bids, &asks, result);
    result->next_bid = fit_next(&bids, points);
    result->next_ask = fit_next(&asks, points);
    free(points);
    return true;
}

bool average_quote(const trading_predict_average_columns *window, trading_Forecast *result)
{
    side bids = {window->times, window->bid, window->bid_size, window->count};
    side asks = {window->times, window->ask, window->ask_size, window->count};
    result->symbol = window->key.symbol;
    candlestick(&bids, &asks, result);
    result->next_bid = average(&bids);
    result->next_ask = average(&asks);
    return true;
}
