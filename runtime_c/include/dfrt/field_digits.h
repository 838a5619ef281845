/* The usual numbers of a text field: up to sixteen digits, perhaps with a point among them. Everything else is left to
 * number.h.
 *
 * Threads, Ownership, Progress: pure functions. Sixteen bytes can be loaded from where a field begins, though what lies
 * behind it means nothing.
 */
#ifndef DFRT_FIELD_DIGITS_H
#define DFRT_FIELD_DIGITS_H

#include <dfrt/digits.h>
#include <dfrt/record.h>

#if defined __SSE4_1__
#include <smmintrin.h>

/* The bytes of a field less '0', moved to the end of the vector behind zeros. 1 <= size <= 16. */
static inline __m128i dfrt__digits_at_end(dfrt_slice field)
{
    static const signed char places[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                           0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)field.data);
    __m128i moved = _mm_loadu_si128((const __m128i *)(const void *)(places + field.size));
    return _mm_shuffle_epi8(_mm_sub_epi8(bytes, _mm_set1_epi8('0')), moved);
}

/* Sixteen digits: pairs, then fours, then eights; false when one is none. */
static inline bool dfrt__sum_digits(__m128i digits, uint64_t *out)
{
    __m128i above = _mm_subs_epu8(digits, _mm_set1_epi8(9));
    if (!_mm_testz_si128(above, above)) return false;
    __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(10 | 1 << 8));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(10000 | 1 << 16));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    *out = (both & UINT32_MAX) * 100000000 + (both >> 32);
    return true;
}

static inline bool dfrt__field_digits(dfrt_slice field, uint64_t *out)
{
    return field.size - 1 < 16 && dfrt__sum_digits(dfrt__digits_at_end(field), out);
}

/* With a point: what stands before it moves up over it. Fifteen digits are exact in a double, and so is the power of
 * ten; so one division rounds correctly. */
static inline bool dfrt__field_decimal(dfrt_slice field, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    if (field.size - 1 >= 16) return false;
    const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m128i bytes = dfrt__digits_at_end(field);
    unsigned points = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.' - '0')));
    uint64_t digits;
    if (points == 0) {
        if (field.size > 15 || !dfrt__sum_digits(bytes, &digits)) return false;
        *out = (double)(int64_t)digits;
        return true;
    }
    unsigned point = (unsigned)__builtin_ctz(points);
    __m128i behind = _mm_cmpgt_epi8(places, _mm_set1_epi8((char)point));
    bytes = _mm_blendv_epi8(_mm_slli_si128(bytes, 1), bytes, behind);
    if (field.size == 1 || !dfrt__sum_digits(bytes, &digits)) return false; /* a second point is no digit */
    *out = (double)(int64_t)digits / powers[15 - point];
    return true;
}

#else

static inline bool dfrt__field_digits(dfrt_slice field, uint64_t *out)
{
    uint64_t high, low;
    if (field.size - 1 < 8) return dfrt__few_digits(dfrt__load_eight(field.data), field.size, out);
    if (field.size - 9 >= 8 || !dfrt__few_digits(dfrt__load_eight(field.data), field.size - 8, &high) ||
        !dfrt__eight_digits(dfrt__load_eight(field.data + field.size - 8), &low))
        return false;
    *out = high * 100000000 + low;
    return true;
}

static inline bool dfrt__field_decimal(dfrt_slice field, double *out)
{
    if (field.size - 1 >= 8) return false;
    uint64_t word = dfrt__load_eight(field.data) & UINT64_MAX >> (64 - 8 * field.size);
    return dfrt__short_decimal(word, field.size, out);
}

#endif
#endif
