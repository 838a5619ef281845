#define _GNU_SOURCE
#include "dfrt/store.h"

#include <math.h>

/* --- quantile --------------------------------------------------------------------------------------- */

/* Puts the k-th smallest at its place, smaller ones before it (quickselect, median of three). */
static double select_rank(double *v, size_t count, size_t k)
{
    size_t low = 0;
    size_t high = count - 1;
    while (low < high) {
        double a = v[low], b = v[low + (high - low) / 2], c = v[high];
        double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i >= j) break;
            double swapped = v[i];
            v[i++] = v[j];
            v[j--] = swapped;
        }
        /* [low, j] holds nothing above the pivot, [j + 1, high] nothing below it. */
        if (k <= j) high = j; else low = j + 1;
    }
    return v[k];
}

/* What equal values look like, -0.0 and 0.0, depends on their order: + 0.0 leaves one zero. */
double dfrt_quantile(double *values, size_t count, double q)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] == values[i]) {
            values[kept++] = values[i];
        }
    }
    if (kept == 0) {
        return NAN;
    }
    double position = q * (double)(kept - 1);
    size_t below = (size_t)position;
    double share = position - (double)below;
    double low = select_rank(values, kept, below);
    if (share == 0.0 || below + 1 >= kept) {
        return low + 0.0;
    }
    double high = values[below + 1];
    for (size_t i = below + 2; i < kept; i++) {
        high = values[i] < high ? values[i] : high;
    }
    /* Equal neighbours need no interpolation, which would make NaN of two infinities. */
    return (low == high ? low : low + (high - low) * share) + 0.0;
}

/* --- order-dependent -------------------------------------------------------------------------------- */

double dfrt_ewma(const double *values, size_t count, double alpha)
{
    double smooth = values[0];
    for (size_t i = 1; i < count; i++) {
        smooth = alpha * values[i] + (1.0 - alpha) * smooth;
    }
    return smooth;
}

/* --- moments ---------------------------------------------------------------------------------------- */

void dfrt_moments_combine(dfrt_moments *m, int64_t before, const dfrt_moments *later, int64_t count)
{
    if (before == 0 || count == 0) {
        *m = before == 0 ? *later : *m;
        return;
    }
    double first = (double)before, second = (double)count, total = first + second;
    double mean = dfrt_moments_mean(m, before), other = dfrt_moments_mean(later, count), gap = other - mean;
    if (gap - gap != 0.0) { /* infinite, or NaN */
        *m = (dfrt_moments){0.0, mean + other, (double)NAN};
        return;
    }
    double squares = dfrt_moments_squares(m, before) + dfrt_moments_squares(later, count);
    *m = (dfrt_moments){mean + gap * (second / total), 0.0, squares + gap * gap * (first * second / total)};
}
