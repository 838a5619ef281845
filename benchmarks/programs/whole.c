/* What the operator of windows_whole.dfl computes: five statistics of one window in one pass over its columns, with
 * several of each running side by side, so that no addition waits for the one before it. */
#include "windows_whole.h"

#include <math.h>

enum { LANES = 8 };

typedef struct sums {
    double distance[LANES], square[LANES], volume[LANES], worth[LANES], low[LANES], high[LANES];
} sums;

/* NaN is skipped: it is neither less nor greater. */
static void add(sums *s, int lane, double price, double volume, double shift)
{
    double distance = price - shift;
    s->distance[lane] += distance;
    s->square[lane] += distance * distance;
    s->volume[lane] += volume;
    s->worth[lane] += price * volume;
    s->low[lane] = price < s->low[lane] ? price : s->low[lane];
    s->high[lane] = price > s->high[lane] ? price : s->high[lane];
}

static void fold(sums *s)
{
    for (int k = 1; k < LANES; k++) {
        s->distance[0] += s->distance[k];
        s->square[0] += s->square[k];
        s->volume[0] += s->volume[k];
        s->worth[0] += s->worth[k];
        s->low[0] = s->low[k] < s->low[0] ? s->low[k] : s->low[0];
        s->high[0] = s->high[k] > s->high[0] ? s->high[k] : s->high[0];
    }
}

bool whole_window(const windows_whole_stats_whole_columns *window, windows_whole_Stats *result)
{
    const double *restrict price = window->price, *restrict volume = window->volume;
    size_t count = window->count, whole = count - count % LANES;
    double shift = price[0]; /* distances from one of the values: their squares do not cancel */
    sums s = {0};
    for (int k = 0; k < LANES; k++) s.low[k] = INFINITY, s.high[k] = -INFINITY;
    for (size_t i = 0; i < whole; i += LANES)
        for (int k = 0; k < LANES; k++) add(&s, k, price[i + (size_t)k], volume[i + (size_t)k], shift);
    for (size_t i = whole; i < count; i++) add(&s, 0, price[i], volume[i], shift);
    fold(&s);
    double n = (double)count, spread = s.square[0] - s.distance[0] * s.distance[0] / n;
    bool known = s.low[0] <= s.high[0]; /* else every price is NaN */
    *result = (windows_whole_Stats){
        .key = window->key.key,
        .mean = shift + s.distance[0] / n,
        .low = known ? s.low[0] : NAN,
        .high = known ? s.high[0] : NAN,
        .deviation = count > 1 ? sqrt(spread > 0.0 ? spread / (n - 1.0) : 0.0) : NAN,
        .weighted = s.worth[0] / s.volume[0],
    };
    return true;
}
