/* Numbers from text and to text: exact, locale-free, and in the one textual form that dfc's CSV has.
 *
 * Threads:   pure functions; any thread, any time.
 * Ownership: input is borrowed for the call; output goes to the caller's buffer, without a closing NUL.
 * Progress:  nothing waits; work is linear in the input.
 */
#ifndef DFRT_NUMBER_H
#define DFRT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes of room that a dfrt_format_… call may use. */
#define DFRT_NUMBER_ROOM 32

/* Integers are -?[0-9]+ and must fit; unsigned ones take no minus. The output is untouched on failure. */
bool dfrt_parse_i64(const char *text, size_t size, int64_t *out);
bool dfrt_parse_u64(const char *text, size_t size, uint64_t *out);

/* Floats: -?digits[.digits][(e|E)[+-]digits], ".5", "5.", nan, inf, -inf; correctly rounded. */
bool dfrt_parse_f64(const char *text, size_t size, double *out);
bool dfrt_parse_f32(const char *text, size_t size, float *out);

#define DFRT__NARROW(name, type, wide, parse_wide, low, high)                                                          \
    static inline bool name(const char *text, size_t size, type *out)                                                  \
    {                                                                                                                  \
        wide value;                                                                                                    \
        if (!parse_wide(text, size, &value) || value < (low) || value > (high)) return false;                          \
        *out = (type)value;                                                                                            \
        return true;                                                                                                   \
    }
#define DFRT__NARROW_UNSIGNED(name, type, high)                                                                        \
    static inline bool name(const char *text, size_t size, type *out)                                                  \
    {                                                                                                                  \
        uint64_t value;                                                                                                \
        if (!dfrt_parse_u64(text, size, &value) || value > (high)) return false;                                       \
        *out = (type)value;                                                                                            \
        return true;                                                                                                   \
    }

DFRT__NARROW(dfrt_parse_i8, int8_t, int64_t, dfrt_parse_i64, INT8_MIN, INT8_MAX)
DFRT__NARROW(dfrt_parse_i16, int16_t, int64_t, dfrt_parse_i64, INT16_MIN, INT16_MAX)
DFRT__NARROW(dfrt_parse_i32, int32_t, int64_t, dfrt_parse_i64, INT32_MIN, INT32_MAX)
DFRT__NARROW_UNSIGNED(dfrt_parse_u8, uint8_t, UINT8_MAX)
DFRT__NARROW_UNSIGNED(dfrt_parse_u16, uint16_t, UINT16_MAX)
DFRT__NARROW_UNSIGNED(dfrt_parse_u32, uint32_t, UINT32_MAX)

#undef DFRT__NARROW
#undef DFRT__NARROW_UNSIGNED

static inline bool dfrt_parse_bool(const char *text, size_t size, bool *out)
{
    if (size == 4 && memcmp(text, "true", 4) == 0) return *out = true, true;
    if (size == 5 && memcmp(text, "false", 5) == 0) return *out = false, true;
    return false;
}

/* Each answers how many bytes it wrote. */
size_t dfrt_format_i64(int64_t value, char *out);
size_t dfrt_format_u64(uint64_t value, char *out);

/* The fewest digits that read back to the same value, in the form of Python's repr(float): 1.0, 0.1, 1e-05, 1e+16,
 * -0.0, nan, inf. An f32 is printed with the digits an f32 needs. */
size_t dfrt_format_f64(double value, char *out);
size_t dfrt_format_f32(float value, char *out);

#endif
