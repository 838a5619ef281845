/* Least squares by Levenberg and Marquardt's method, for a parabola p0 + p1 t + p2 t².
 *
 * Threads:   pure functions.
 * Ownership: everything is borrowed.
 * Progress:  at most 100 rounds, each over all points.
 */
#ifndef TRADING_LEVENBERG_H
#define TRADING_LEVENBERG_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { TERMS = 3, MOST_ROUNDS = 100 };

static const double SMALL_ENOUGH = 1e-12; /* a round that improves less than this fraction is the last */

typedef struct point {
    double time, price;
} point;

typedef struct parabola {
    double of[TERMS];
} parabola;

static inline double value_at(const parabola *p, double time)
{
    return p->of[0] + time * (p->of[1] + time * p->of[2]);
}

static double squared_error(const parabola *p, const point *points, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        double miss = points[i].price - value_at(p, points[i].time);
        total += miss * miss;
    }
    return total;
}

/* The normal equations: `slopes` is the product of the Jacobian with itself, `pull` its product with the errors. */
static void normal_equations(const parabola *p, const point *points, size_t count, double slopes[TERMS][TERMS],
                             double pull[TERMS])
{
    for (int row = 0; row < TERMS; row++) {
        pull[row] = 0;
        for (int column = 0; column < TERMS; column++) slopes[row][column] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        double time = points[i].time, miss = points[i].price - value_at(p, time);
        double slope[TERMS] = {1, time, time * time};
        for (int row = 0; row < TERMS; row++) {
            pull[row] += slope[row] * miss;
            for (int column = 0; column < TERMS; column++) slopes[row][column] += slope[row] * slope[column];
        }
    }
}

/* Cholesky's method for `slopes` with its diagonal raised by `damping`; false where that is not positive. */
static bool solve(double slopes[TERMS][TERMS], const double pull[TERMS], double damping, double step[TERMS])
{
    double root[TERMS][TERMS];
    for (int row = 0; row < TERMS; row++) {
        for (int column = 0; column <= row; column++) {
            double rest = row == column ? slopes[row][row] * (1 + damping) : slopes[row][column];
            for (int k = 0; k < column; k++) rest -= root[row][k] * root[column][k];
            if (row == column && !(rest > 0)) return false;
            root[row][column] = row == column ? sqrt(rest) : rest / root[column][column];
        }
    }
    for (int row = 0; row < TERMS; row++) {
        step[row] = pull[row];
        for (int k = 0; k < row; k++) step[row] -= root[row][k] * step[k];
        step[row] /= root[row][row];
    }
    for (int row = TERMS - 1; row >= 0; row--) {
        for (int k = row + 1; k < TERMS; k++) step[row] -= root[k][row] * step[k];
        step[row] /= root[row][row];
    }
    return true;
}

/* A step that makes the error smaller is taken and trusted more; one that does not is tried again, shorter. */
static parabola fit(parabola start, const point *points, size_t count)
{
    parabola best = start;
    double error = squared_error(&best, points, count), damping = 1e-3;
    for (int round = 0; round < MOST_ROUNDS && damping < 1e12; round++) {
        double slopes[TERMS][TERMS], pull[TERMS], step[TERMS];
        normal_equations(&best, points, count, slopes, pull);
        parabola next = best;
        bool solved = solve(slopes, pull, damping, step);
        for (int i = 0; i < TERMS && solved; i++) next.of[i] += step[i];
        double next_error = squared_error(&next, points, count);
        if (!solved || !(next_error < error)) {
            damping *= 10;
            continue;
        }
        bool last = error - next_error <= SMALL_ENOUGH * error;
        best = next;
        error = next_error;
        damping /= 10;
        if (last) break;
    }
    return best;
}

#endif
