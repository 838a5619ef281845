/* Where the values of a window are densest: mean shift with a Gaussian kernel, from their mean. An expensive function that
 * needs the whole window: each step weighs every value by its distance from where the step before came to. */
#ifndef MODE_H
#define MODE_H

#include <math.h>
#include <stddef.h>

enum { MODE_STEPS = 160 };

static inline double mode_of(const double *restrict values, size_t count)
{
    const double width = 10.0;
    double at = 0.0;
    for (size_t i = 0; i < count; i++) at += values[i] / (double)count;
    for (int step = 0; step < MODE_STEPS; step++) {
        double weights = 0.0, total = 0.0;
        for (size_t i = 0; i < count; i++) {
            double distance = (values[i] - at) / width, weight = exp(-0.5 * distance * distance);
            weights += weight;
            total += weight * values[i];
        }
        at = total / weights;
    }
    return at;
}

#endif
