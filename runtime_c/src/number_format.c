/* Printing numbers. Floats: what is a short decimal is found by one multiplication, the rest by Schubfach (Giulietti,
 * "The Schubfach way to render doubles", 2020), which picks the shortest, and of these the closest, decimal. */
#include <dfrt/number.h>

#include <math.h>

#include "number_wide.h"

static const char two_digits[201] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                    "8081828384858687888990919293949596979899";

static const uint64_t powers_of_ten[20] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
    10000000000000000000u,
};

static size_t digit_count(uint64_t value)
{
    /* 1233/4096 is log10(2), near enough for 64 bits; the table settles the last step. */
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    size_t guess = bits * 1233 >> 12;
    return guess + (guess > 19 || value >= powers_of_ten[guess] || value == 0);
}

/* Eight digits with 32-bit divisions that do not wait for each other. */
static void write_eight(uint32_t value, char *out)
{
    uint32_t upper = value / 10000, lower = value % 10000;
    memcpy(out, two_digits + 2 * (upper / 100), 2);
    memcpy(out + 2, two_digits + 2 * (upper % 100), 2);
    memcpy(out + 4, two_digits + 2 * (lower / 100), 2);
    memcpy(out + 6, two_digits + 2 * (lower % 100), 2);
}

/* Writes exactly `count` digits, the last at out[count - 1]. */
static void write_digits(uint64_t value, char *out, size_t count)
{
    for (; count >= 8; count -= 8, value /= 100000000) write_eight((uint32_t)(value % 100000000), out + count - 8);
    uint32_t rest = (uint32_t)value; /* at most seven digits are left */
    for (; count >= 2; count -= 2, rest /= 100) memcpy(out + count - 2, two_digits + 2 * (rest % 100), 2);
    if (count == 1) out[0] = (char)('0' + rest);
}

size_t dfrt_format_u64(uint64_t value, char *out)
{
    size_t count = digit_count(value);
    write_digits(value, out, count);
    return count;
}

size_t dfrt_format_i64(int64_t value, char *out)
{
    if (value >= 0) return dfrt_format_u64((uint64_t)value, out);
    out[0] = '-';
    return 1 + dfrt_format_u64(0 - (uint64_t)value, out + 1);
}

/* value = digits * 10**exponent */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

static size_t write_exponent(int exponent, char *out)
{
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    out[0] = 'e';
    out[1] = exponent < 0 ? '-' : '+';
    size_t count = magnitude >= 100 ? 3 : 2;
    write_digits(magnitude, out + 2, count);
    return 2 + count;
}

static size_t write_scientific(uint64_t digits, size_t count, int exponent, char *out)
{
    write_digits(digits, out + 1, count);
    out[0] = out[1];
    size_t used = 1;
    if (count > 1) {
        out[1] = '.';
        used = count + 1;
    }
    return used + write_exponent(exponent, out + used);
}

/* Layout of repr(float): the point stands `point` digits from the left; outside -4 < point <= 16 an exponent. */
static size_t write_decimal(decimal d, char *out)
{
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    size_t count = digit_count(d.digits);
    int point = (int)count + d.exponent;
    if (point > 16 || point < -3) return write_scientific(d.digits, count, point - 1, out);
    if (point <= 0) {
        size_t zeros = (size_t)-point;
        memcpy(out, "0.000", 5);
        write_digits(d.digits, out + 2 + zeros, count);
        return 2 + zeros + count;
    }
    size_t whole = (size_t)point;
    if (whole >= count) {
        write_digits(d.digits, out, count);
        memset(out + count, '0', whole - count);
        memcpy(out + whole, ".0", 2);
        return whole + 2;
    }
    write_digits(d.digits, out + 1, count);
    memmove(out, out + 1, whole);
    out[whole] = '.';
    return count + 1;
}

/* Schubfach's inputs for one float: value = mantissa * 2**exponent; `closer` marks the powers of two, whose lower
 * neighbour is only half as far away as the upper one. */
typedef struct binary {
    uint64_t mantissa;
    int exponent;
    bool closer;
} binary;

static int scale_of(binary b)
{
    /* floor(log10(2**e)), and floor(log10(3/4 * 2**e)) at a power of two */
    return (b.exponent * 1262611 - (b.closer ? 524031 : 0)) >> 22;
}

/* The upper 128 bits of 10**k, rounded up. */
static dfrt__pair power_above(int k)
{
    const uint64_t *power = dfrt__powers[k - DFRT__POWER_LOW];
    dfrt__pair above = {power[0], power[1]};
    if (k < 0 || k > 55) {
        above.low++;
        above.high += above.low == 0;
    }
    return above;
}

/* The scaled product with everything below its integer part folded into the last bit: enough to compare with. */
static uint64_t scale_f64(dfrt__pair power, uint64_t factor)
{
    dfrt__pair low = dfrt__multiply(power.low, factor), high = dfrt__multiply(power.high, factor);
    uint64_t fraction = high.low + low.high;
    uint64_t whole = high.high + (fraction < low.high);
    return whole | (fraction > 1);
}

static uint64_t scale_f32(uint64_t power, uint64_t factor)
{
    dfrt__pair product = dfrt__multiply(power, factor);
    return product.high | ((product.low >> 32) > 1);
}

/* The three scaled numbers (times four): the value, and the two ends of the interval that reads back to it. */
typedef struct interval {
    uint64_t low, value, high;
} interval;

static decimal shortest_in(interval v, bool ends_included, int scale)
{
    uint64_t low = v.low + !ends_included, high = v.high - !ends_included;
    uint64_t s = v.value / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool down = low <= 40 * tens, up = 40 * tens + 40 <= high;
        if (down != up) return (decimal){tens + up, scale + 1};
    }
    bool down = low <= 4 * s, up = 4 * s + 4 <= high;
    if (down != up) return (decimal){s + up, scale};
    uint64_t middle = 4 * s + 2;
    bool round_up = v.value > middle || (v.value == middle && (s & 1) != 0);
    return (decimal){s + round_up, scale};
}

static decimal shortest_f64(binary b)
{
    int scale = scale_of(b);
    int shift = b.exponent + dfrt__log2_of_power(-scale) + 1;
    dfrt__pair power = power_above(-scale);
    uint64_t middle = 4 * b.mantissa;
    interval v = {scale_f64(power, (middle - 2 + b.closer) << shift), scale_f64(power, middle << shift),
                  scale_f64(power, (middle + 2) << shift)};
    return shortest_in(v, b.mantissa % 2 == 0, scale);
}

static decimal shortest_f32(binary b)
{
    int scale = scale_of(b);
    int shift = b.exponent + dfrt__log2_of_power(-scale) + 1;
    uint64_t power = dfrt__powers[-scale - DFRT__POWER_LOW][0] + (-scale < 0 || -scale > 27);
    uint64_t middle = 4 * b.mantissa;
    interval v = {scale_f32(power, (middle - 2 + b.closer) << shift), scale_f32(power, middle << shift),
                  scale_f32(power, (middle + 2) << shift)};
    return shortest_in(v, b.mantissa % 2 == 0, scale);
}

static size_t write_special(bool is_nan, char *out)
{
    memcpy(out, is_nan ? "nan" : "inf", 3);
    return 3;
}

/* Most values of most streams are decimals of few places. If n / 10000 is this very double and n has at most 15
 * digits, then no other decimal of up to 15 digits reads back to it, so n is the shortest one. */
static bool short_decimal(double value, decimal *out)
{
    if (value >= 1e11) return false;
    uint64_t scaled = (uint64_t)(value * 10000.0 + 0.5);
    if ((double)scaled / 10000.0 != value) return false;
    *out = (decimal){scaled, -4};
    return true;
}

size_t dfrt_format_f64(double value, char *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    bool negative = bits >> 63;
    if (exponent == 0x7ff && fraction != 0) return write_special(true, out);
    if (negative) *out++ = '-';
    if (exponent == 0x7ff) return negative + write_special(false, out);
    if (exponent == 0 && fraction == 0) return memcpy(out, "0.0", 3), negative + (size_t)3;
    decimal d;
    if (!short_decimal(fabs(value), &d)) {
        binary b = {fraction, exponent - 1075, fraction == 0 && exponent > 1};
        if (exponent != 0) b.mantissa |= (uint64_t)1 << 52;
        else b.exponent = -1074;
        d = shortest_f64(b);
    }
    return negative + write_decimal(d, out);
}

size_t dfrt_format_f32(float value, char *out)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
    int exponent = (int)(bits >> 23 & 0xff);
    bool negative = bits >> 31;
    if (exponent == 0xff && fraction != 0) return write_special(true, out);
    if (negative) *out++ = '-';
    if (exponent == 0xff) return negative + write_special(false, out);
    if (exponent == 0 && fraction == 0) return memcpy(out, "0.0", 3), negative + (size_t)3;
    binary b = {fraction, exponent - 150, fraction == 0 && exponent > 1};
    if (exponent != 0) b.mantissa |= (uint32_t)1 << 23;
    else b.exponent = -149;
    return negative + write_decimal(shortest_f32(b), out);
}
