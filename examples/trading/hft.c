/* The next price of a symbol: quotes of the same millisecond become one point, a parabola is fitted to the points
 * by Levenberg and Marquardt's method, and its value one step after the last point is the forecast. */
#include "trading.h"

#include <math.h>
#include <stdlib.h>

enum { DEGREES = 3, MOST_ROUNDS = 100 };

static const double SMALL_ENOUGH = 1e-12; /* a round that improves less than this fraction is the last */

/* One a millisecond. Time runs from 0 at the first point to 1 at the last, so that its powers stay comparable. */
typedef struct {
    double time, price;
} point;

typedef struct {
    double of[DEGREES];
} parabola;

static double value_at(const parabola *p, double time)
{
    return p->of[0] + time * (p->of[1] + time * p->of[2]);
}

/* The window comes in order of time: equal times stand together. Answers how many points there are. */
static size_t to_points(const trading_predict_window *window, point *points)
{
    const trading_Price *tuples = window->tuples;
    size_t count = 0;
    for (size_t i = 0; i < window->count;) {
        size_t first = i;
        double total = 0;
        for (; i < window->count && tuples[i].ts == tuples[first].ts; i++) {
            total += tuples[i].price;
        }
        points[count++] = (point){(double)(tuples[first].ts - tuples[0].ts), total / (double)(i - first)};
    }
    double span = points[count - 1].time;
    for (size_t i = 0; i < count && span > 0; i++) {
        points[i].time /= span;
    }
    return count;
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
static void normal_equations(const parabola *p, const point *points, size_t count, double slopes[DEGREES][DEGREES],
                             double pull[DEGREES])
{
    for (int row = 0; row < DEGREES; row++) {
        pull[row] = 0;
        for (int column = 0; column < DEGREES; column++) {
            slopes[row][column] = 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double time = points[i].time, miss = points[i].price - value_at(p, time);
        double slope[DEGREES] = {1, time, time * time};
        for (int row = 0; row < DEGREES; row++) {
            pull[row] += slope[row] * miss;
            for (int column = 0; column < DEGREES; column++) {
                slopes[row][column] += slope[row] * slope[column];
            }
        }
    }
}

/* Cholesky's method for `slopes` with its diagonal raised by `damping`; false where that is not positive. */
static bool solve(double slopes[DEGREES][DEGREES], const double pull[DEGREES], double damping, double step[DEGREES])
{
    double root[DEGREES][DEGREES];
    for (int row = 0; row < DEGREES; row++) {
        for (int column = 0; column <= row; column++) {
            double rest = row == column ? slopes[row][row] * (1 + damping) : slopes[row][column];
            for (int k = 0; k < column; k++) {
                rest -= root[row][k] * root[column][k];
            }
            if (row == column && !(rest > 0)) return false;
            root[row][column] = row == column ? sqrt(rest) : rest / root[column][column];
        }
    }
    for (int row = 0; row < DEGREES; row++) {
        step[row] = pull[row];
        for (int k = 0; k < row; k++) step[row] -= root[row][k] * step[k];
        step[row] /= root[row][row];
    }
    for (int row = DEGREES - 1; row >= 0; row--) {
        for (int k = row + 1; k < DEGREES; k++) step[row] -= root[k][row] * step[k];
        step[row] /= root[row][row];
    }
    return true;
}

/* A step that makes the error smaller is taken and trusted more; one that does not is tried again, shorter. */
static parabola fit(const point *points, size_t count)
{
    parabola best = {{points[count - 1].price, 0, 0}};
    double error = squared_error(&best, points, count), damping = 1e-3;
    for (int round = 0; round < MOST_ROUNDS && damping < 1e12; round++) {
        double slopes[DEGREES][DEGREES], pull[DEGREES], step[DEGREES];
        normal_equations(&best, points, count, slopes, pull);
        parabola next = best;
        bool solved = solve(slopes, pull, damping, step);
        for (int i = 0; i < DEGREES && solved; i++) {
            next.of[i] += step[i];
        }
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

static void candlestick(const trading_predict_window *window, trading_Forecast *result)
{
    const trading_Price *first = &window->tuples[0], *last = &window->tuples[window->count - 1];
    result->symbol = last->symbol;
    result->ts = last->ts;
    result->open = first->price;
    result->close = last->price;
    result->high = result->low = first->price;
    for (size_t i = 1; i < window->count; i++) {
        result->high = fmax(result->high, window->tuples[i].price);
        result->low = fmin(result->low, window->tuples[i].price);
    }
}

bool fit_next_price(const trading_predict_window *window, trading_Forecast *result)
{
    candlestick(window, result);
    point *points = malloc(window->count * sizeof *points);
    if (points == NULL) return false;
    size_t count = to_points(window, points);
    result->next = result->close; /* too few points for a parabola: no change */
    if (count > DEGREES) {
        parabola curve = fit(points, count);
        result->next = value_at(&curve, 1 + 1 / (double)(count - 1));
    }
    free(points);
    return true;
}
