/* Reading numbers: integers digit by digit, floats by Clinger's exact case, then Eisel and Lemire's 128-bit product
 * ("Number parsing at a gigabyte per second", 2021), and for what these leave open the C library on a bounded copy. */
#include <dfrt/number.h>

#include <dfrt/digits.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "number_wide.h"

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* 8 to 15 digits, as timestamps mostly have, without a loop: the last eight bytes overlap the first, and what overlaps
 * is replaced by zeros. */
static bool parse_timestamp_like(const char *text, size_t size, uint64_t *out)
{
    static const uint64_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t head, tail;
    unsigned known = 8 * (unsigned)(16 - size);
    if (!dfrt__eight_digits(dfrt__load_eight(text), &head)) return false;
    if (size == 8) return *out = head, true;
    uint64_t word = dfrt__load_eight(text + size - 8) >> known << known;
    if (!dfrt__eight_digits(word | (DFRT__ALL_ZEROS & ((UINT64_C(1) << known) - 1)), &tail)) return false;
    *out = head * powers[size - 8] + tail;
    return true;
}

/* Apart, so that the usual numbers need no registers saved. */
static __attribute__((noinline)) bool parse_many_digits(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned char)(text[i] - '0');
        if (digit > 9) return false;
        /* 18 digits can't overflow; beyond that each step is checked. */
        if (i >= 18 && (value > UINT64_MAX / 10 || value * 10 > UINT64_MAX - digit)) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool parse_digits(const char *text, size_t size, uint64_t *out)
{
    if (size == 0) return false;
    if (size < 8) return dfrt__few_digits(dfrt__load_short(text, size), size, out);
    return size <= 15 ? parse_timestamp_like(text, size, out) : parse_many_digits(text, size, out);
}

bool dfrt_parse_u64(const char *text, size_t size, uint64_t *out)
{
    return parse_digits(text, size, out);
}

bool dfrt_parse_i64(const char *text, size_t size, int64_t *out)
{
    bool negative = size > 0 && text[0] == '-';
    uint64_t magnitude;
    if (!parse_digits(text + negative, size - negative, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *out = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

/* A float's text taken apart: value = digits * 10**exponent, where `digits` holds the first 19 significant ones. */
typedef struct decimal {
    uint64_t digits;
    int64_t exponent;
    bool negative;
    bool more; /* there were nonzero digits after the 19th */
    const char *mantissa, *mantissa_end;
} decimal;

static bool scan_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    if (at == end) return false;
    int64_t value = 0;
    for (; at < end; at++) {
        if (!is_digit(*at)) return false;
        if (value < 100000000) value = value * 10 + (*at - '0'); /* beyond this it is zero or infinity anyway */
    }
    *exponent += negative ? -value : value;
    return true;
}

/* The mantissa of a number that has more than 19 digits: counts significant ones only, and keeps the first 19. */
static void scan_long_mantissa(decimal *d)
{
    int kept = 0;
    bool fraction = false;
    d->digits = 0;
    d->exponent = 0;
    for (const char *at = d->mantissa; at < d->mantissa_end; at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        if (kept < 19) {
            d->digits = d->digits * 10 + (uint64_t)(*at - '0');
            if (d->digits != 0) kept++;
            d->exponent -= fraction;
        } else {
            d->more |= *at != '0';
            d->exponent += !fraction;
        }
    }
}

/* Adds the digits at `at` to *digits, which wraps when there are more than 19; answers where they end. */
static const char *scan_digits(const char *at, const char *end, uint64_t *digits)
{
    uint64_t eight;
    for (; end - at >= 8 && dfrt__eight_digits(dfrt__load_eight(at), &eight); at += 8)
        *digits = *digits * 100000000 + eight;
    for (; at < end && is_digit(*at); at++) *digits = *digits * 10 + (uint64_t)(*at - '0');
    return at;
}

static bool scan_decimal(const char *text, size_t size, decimal *d)
{
    const char *at = text, *end = text + size;
    uint64_t digits = 0;
    *d = (decimal){.negative = at < end && *at == '-'};
    at += d->negative;
    d->mantissa = at;
    at = scan_digits(at, end, &digits);
    ptrdiff_t count = at - d->mantissa;
    if (at < end && *at == '.') {
        const char *point = at;
        at = scan_digits(at + 1, end, &digits);
        ptrdiff_t fraction = at - point - 1;
        d->exponent = -(int64_t)fraction;
        count += fraction;
    }
    if (count == 0) return false;
    d->mantissa_end = at;
    d->digits = digits;
    if (count > 19) scan_long_mantissa(d);
    if (at == end) return true;
    return (*at == 'e' || *at == 'E') && scan_exponent(at + 1, end, &d->exponent);
}

/* What differs between f64 and f32 for the algorithm below. */
typedef struct float_shape {
    int mantissa_bits;  /* stored ones */
    int exponent_bias;
    int exponent_limit; /* the biased exponent of infinity */
    int tie_low, tie_high; /* powers of ten between which an exact tie can occur */
} float_shape;

static const float_shape shape_f64 = {52, 1023, 2047, -4, 23};
static const float_shape shape_f32 = {23, 127, 255, -17, 10};

/* The upper 128 bits of w * 10**q, w normalised. The second product is needed only when the first leaves the
 * rounding open. */
static dfrt__pair product_with_power(uint64_t w, int q, int precision)
{
    const uint64_t *power = dfrt__powers[q - DFRT__POWER_LOW];
    uint64_t high = power[0], low = power[1];
    if (q < 0) { /* reciprocals are rounded up: the table is rounded down */
        low++;
        high += low == 0;
    }
    dfrt__pair first = dfrt__multiply(w, high);
    uint64_t open = UINT64_MAX >> precision;
    if ((first.high & open) == open) {
        dfrt__pair second = dfrt__multiply(w, low);
        first.low += second.high;
        first.high += first.low < second.high;
    }
    return first;
}

/* Rounds a value below the normal range; its bits are the answer, also when it rounds up into that range. */
static uint64_t round_subnormal(uint64_t mantissa, int exponent)
{
    if (1 - exponent >= 64) return 0;
    mantissa >>= 1 - exponent;
    return (mantissa + (mantissa & 1)) >> 1;
}

/* The bits of w * 10**q without sign, or false when 128 bits do not decide the rounding. */
static bool eisel_lemire(uint64_t w, int64_t q64, const float_shape *shape, uint64_t *bits)
{
    uint64_t infinity = (uint64_t)shape->exponent_limit << shape->mantissa_bits;
    if (w == 0 || q64 < DFRT__POWER_LOW) return *bits = 0, true;
    if (q64 > 308) return *bits = infinity, true;
    int q = (int)q64;
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    dfrt__pair product = product_with_power(w, q, shape->mantissa_bits + 3);
    if (product.low == UINT64_MAX && (q < -27 || q > 55)) return false;
    int upper = (int)(product.high >> 63);
    int shift = upper + 64 - shape->mantissa_bits - 3;
    uint64_t mantissa = product.high >> shift;
    int exponent = dfrt__log2_of_power(q) + 63 + upper - zeros + shape->exponent_bias;
    if (exponent <= 0) return *bits = round_subnormal(mantissa, exponent), true;
    if (product.low <= 1 && q >= shape->tie_low && q <= shape->tie_high && (mantissa & 3) == 1 &&
        mantissa << shift == product.high)
        mantissa &= ~(uint64_t)1; /* exactly half way: to even, so down */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (shape->mantissa_bits + 1)) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent >= shape->exponent_limit) return *bits = infinity, true;
    *bits = (mantissa & (((uint64_t)1 << shape->mantissa_bits) - 1)) | (uint64_t)exponent << shape->mantissa_bits;
    return true;
}

/* The rare rest. 800 digits decide every double; a nonzero digit dropped after them is as good as a last 1. The copy
 * has no decimal point, so that the locale has no say. */
enum { KEPT_DIGITS = 800 };

static void write_plain(const decimal *d, char out[KEPT_DIGITS + 40])
{
    size_t used = 0;
    int64_t exponent = d->exponent;
    bool dropped = false, fraction = false;
    /* d->exponent belongs to the first 19 digits; count again from the digits that are kept here. */
    int64_t first19 = 0, kept = 0;
    int significant = 0;
    for (const char *at = d->mantissa; at < d->mantissa_end; at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        if (significant > 0 || *at != '0') significant++;
        if (significant <= 19) first19 -= fraction;
        else first19 += !fraction;
        if (significant <= KEPT_DIGITS) {
            kept -= fraction;
            if (significant > 0) out[used++] = *at;
        } else {
            kept += !fraction;
            dropped |= *at != '0';
        }
    }
    exponent += kept - first19;
    if (dropped) {
        out[used++] = '1';
        exponent--;
    }
    (void)snprintf(out + used, 40, "e%lld", (long long)exponent);
}

static double slow_f64(const decimal *d)
{
    char plain[KEPT_DIGITS + 40];
    write_plain(d, plain);
    return strtod(plain, NULL);
}

static float slow_f32(const decimal *d)
{
    char plain[KEPT_DIGITS + 40];
    write_plain(d, plain);
    return strtof(plain, NULL);
}

static bool decide(const decimal *d, const float_shape *shape, uint64_t *bits)
{
    if (!eisel_lemire(d->digits, d->exponent, shape, bits)) return false;
    /* With digits cut off the value lies between two neighbours; if both round alike, that is the answer. */
    uint64_t above;
    return !d->more || (eisel_lemire(d->digits + 1, d->exponent, shape, &above) && above == *bits);
}

static bool parse_word(const char *text, size_t size, double *out)
{
    bool negative = size > 0 && text[0] == '-';
    if (size - negative != 3) return false;
    if (memcmp(text + negative, "inf", 3) == 0) return *out = negative ? -INFINITY : INFINITY, true;
    if (!negative && memcmp(text, "nan", 3) == 0) return *out = NAN, true;
    return false;
}

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool dfrt_parse_f64(const char *text, size_t size, double *out)
{
    if (size >= 1 && size <= 8 && dfrt__short_decimal(dfrt__load_short(text, size), size, out)) return true;
    decimal d;
    if (!scan_decimal(text, size, &d)) return parse_word(text, size, out);
    double value;
    /* Both operands are exact, so the one operation rounds correctly (Clinger 1990). */
    if (!d.more && d.digits <= (uint64_t)1 << 53 && d.exponent >= -22 && d.exponent <= 22) {
        value = (double)d.digits;
        value = d.exponent < 0 ? value / exact_powers[-d.exponent] : value * exact_powers[d.exponent];
    } else {
        uint64_t bits;
        if (decide(&d, &shape_f64, &bits)) memcpy(&value, &bits, sizeof value);
        else value = slow_f64(&d);
    }
    *out = d.negative ? -value : value;
    return true;
}

bool dfrt_parse_f32(const char *text, size_t size, float *out)
{
    decimal d;
    double word;
    if (!scan_decimal(text, size, &d)) {
        if (!parse_word(text, size, &word)) return false;
        return *out = (float)word, true;
    }
    float value;
    uint64_t bits;
    if (decide(&d, &shape_f32, &bits)) {
        uint32_t narrow = (uint32_t)bits;
        memcpy(&value, &narrow, sizeof value);
    } else {
        value = slow_f32(&d);
    }
    *out = d.negative ? -value : value;
    return true;
}
