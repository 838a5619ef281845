/* Arithmetic of the language: 64-bit integers wrap, division by zero gives 0 and counts a fault.
 *
 * Threads:   pure functions; `faults` belongs to the calling thread.
 * Ownership: values only.
 * Progress:  nothing waits.
 */
#ifndef DFRT_ARITH_H
#define DFRT_ARITH_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int64_t dfrt_add_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t dfrt_sub_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t dfrt_mul_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static inline int64_t dfrt_neg_i64(int64_t a) { return (int64_t)(0 - (uint64_t)a); }

static inline int64_t dfrt_div_i64(int64_t a, int64_t b, uint64_t *faults)
{
    if (b == 0) {
        ++*faults;
        return 0;
    }
    return b == -1 ? dfrt_neg_i64(a) : a / b; /* the smallest integer by -1 wraps */
}

static inline int64_t dfrt_mod_i64(int64_t a, int64_t b, uint64_t *faults)
{
    if (b == 0) {
        ++*faults;
        return 0;
    }
    return b == -1 ? 0 : a % b;
}

static inline uint64_t dfrt_div_u64(uint64_t a, uint64_t b, uint64_t *faults)
{
    if (b == 0) {
        ++*faults;
        return 0;
    }
    return a / b;
}

static inline uint64_t dfrt_mod_u64(uint64_t a, uint64_t b, uint64_t *faults)
{
    if (b == 0) {
        ++*faults;
        return 0;
    }
    return a % b;
}

/* An element of an array of `size` elements; an index outside it is a fault and gives `zero`. */
static inline const void *dfrt_at(const void *array, const void *zero, size_t stride, int64_t index, int64_t size,
                                  uint64_t *faults)
{
    bool inside = index >= 0 && index < size;
    *faults += !inside;
    return inside ? (const char *)array + (size_t)index * stride : zero;
}

/* The better of what is known and a later value; NaN gives way to everything, and what is known only to a better one. Which
 * one is better is not a branch, since nobody could guess it; whether anything is known yet is one, since nearly always
 * something is. Written so that processors have one instruction for the rest: that of x86 gives its second operand when
 * either is NaN, and when both are equal. */
#define DFRT__BETTER(name, type, sign)                                                                                 \
    static inline type name(type known, type value)                                                                    \
    {                                                                                                                  \
        if (__builtin_expect(known != known, 0)) {                                                                     \
            return value;                                                                                              \
        }                                                                                                              \
        return value sign known ? value : known;                                                                       \
    }

DFRT__BETTER(dfrt_min_f64, double, <)
DFRT__BETTER(dfrt_max_f64, double, >)
DFRT__BETTER(dfrt_min_f32, float, <)
DFRT__BETTER(dfrt_max_f32, float, >)

#undef DFRT__BETTER

/* Towards minus infinity, for the time axis; `b` is positive. */
static inline int64_t dfrt_floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b < 0);
}

/* Truncates and saturates; NaN gives 0. */
static inline int64_t dfrt_f64_to_i64(double x)
{
    if (!(x == x)) {
        return 0;
    }
    return x >= 9223372036854775808.0 ? INT64_MAX : x < -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

static inline uint64_t dfrt_f64_to_u64(double x)
{
    if (!(x > 0.0)) {
        return 0;
    }
    return x >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)x;
}

/* Wraps into a narrower type without relying on what the compiler does out of range. */
static inline int8_t dfrt_wrap_i8(uint64_t x) { return (int8_t)((x & 0x7f) - (x & 0x80)); }
static inline int16_t dfrt_wrap_i16(uint64_t x) { return (int16_t)((x & 0x7fff) - (x & 0x8000)); }
static inline int32_t dfrt_wrap_i32(uint64_t x) { return (int32_t)((x & 0x7fffffff) - (x & 0x80000000)); }

static inline int64_t dfrt_clamp_i64(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* The axis of time ends 2^62 units from 0, so that the bounds of windows over every time fit 64 bits, too. */
#define DFRT_TIME_FURTHEST (INT64_C(1) << 62)

static inline int64_t dfrt_on_axis(int64_t time)
{
    return dfrt_clamp_i64(time, -DFRT_TIME_FURTHEST, DFRT_TIME_FURTHEST);
}

/* Sums and differences of times and lengths; what does not fit becomes the nearest that does. */
static inline int64_t dfrt_add_time(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

static inline int64_t dfrt_sub_time(int64_t a, int64_t b)
{
    int64_t rest;
    return __builtin_sub_overflow(a, b, &rest) ? (b > 0 ? INT64_MIN : INT64_MAX) : rest;
}

/* Narrows [*start, *end) to the pane around `time`, of panes cut at multiples of `slide` and `cut` behind each. */
static inline void dfrt_narrow_pane(int64_t *start, int64_t *end, int64_t time, int64_t slide, int64_t cut)
{
    int64_t past = time % slide;
    past += past < 0 ? slide : 0;
    int64_t from = dfrt_sub_time(time, past < cut ? past : past - cut);
    int64_t to = dfrt_add_time(time, (past < cut ? cut : slide) - past);
    *start = from > *start ? from : *start;
    *end = to < *end ? to : *end;
}

static inline int64_t dfrt_least_i64(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t dfrt_greatest_i64(int64_t a, int64_t b) { return b > a ? b : a; }
static inline uint64_t dfrt_least_u64(uint64_t a, uint64_t b) { return b < a ? b : a; }
static inline uint64_t dfrt_greatest_u64(uint64_t a, uint64_t b) { return b > a ? b : a; }
/* NaN only when both are. */
static inline double dfrt_least_f64(double a, double b) { return b < a || a != a ? b : a; }
static inline double dfrt_greatest_f64(double a, double b) { return b > a || a != a ? b : a; }

/* How far two numbers are apart; the largest distance needs all 64 bits. */
static inline uint64_t dfrt_distance_u64(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }
static inline uint64_t dfrt_distance_i64(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static inline int64_t dfrt_abs_i64(int64_t x) { return x < 0 ? dfrt_neg_i64(x) : x; }

#endif
