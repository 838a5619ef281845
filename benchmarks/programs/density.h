/* How dense the values of a window are at 128 places: a sum of Gaussian kernels, which parts of a window can be added of.
 * About a microsecond a value, a millisecond a window of 1000. */
#ifndef DENSITY_H
#define DENSITY_H

#include <math.h>

enum { DENSITY_PLACES = 128 };

typedef struct density {
    double heights[DENSITY_PLACES];
} density;

static inline void density_put(density *d, double value)
{
    const double first = 100.0, step = 100.0 / DENSITY_PLACES, width = 10.0;
    for (int i = 0; i < DENSITY_PLACES; i++) {
        double distance = (value - (first + step * i)) / width;
        d->heights[i] += exp(-0.5 * distance * distance);
    }
}

static inline void density_join(density *left, const density *right)
{
    for (int i = 0; i < DENSITY_PLACES; i++) left->heights[i] += right->heights[i];
}

static inline double density_peak(const density *d)
{
    double highest = 0.0;
    for (int i = 0; i < DENSITY_PLACES; i++) highest = fmax(highest, d->heights[i]);
    return highest;
}

#endif
