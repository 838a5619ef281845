/* Decimal digits, eight at a time: what whole numbers and floats have in common.
 *
 * Threads, Ownership, Progress: pure functions.
 */
#ifndef DFRT_DIGITS_H
#define DFRT_DIGITS_H

#include <dfrt/short_bytes.h>

#include <stdbool.h>

#define DFRT__ALL_ZEROS UINT64_C(0x3030303030303030) /* eight digits 0 */

/* Eight digits at once, the first in the lowest byte. What is below '0' borrows and has its top bit set, as has what is
 * above '9' when 0x76 is added. Then neighbours are added up to pairs, and the pairs, each with its weight, in the
 * upper half of two products. */
static inline bool dfrt__eight_digits(uint64_t word, uint64_t *out)
{
    uint64_t digits = word - DFRT__ALL_ZEROS;
    if (((digits | (digits + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080)) != 0) return false;
    uint64_t pairs = digits * 10 + (digits >> 8), every_other = UINT64_C(0x000000ff000000ff);
    *out = ((pairs & every_other) * (100 + (UINT64_C(1000000) << 32)) +
            (pairs >> 16 & every_other) * (1 + (UINT64_C(10000) << 32))) >> 32;
    return true;
}

/* `size` digits, 1 to 8, in the lowest bytes of the word: moved to the top, behind zeros. What lies above them in the
 * word is lost. */
static inline bool dfrt__few_digits(uint64_t word, size_t size, uint64_t *out)
{
    unsigned missing = 64 - 8 * (unsigned)size;
    return dfrt__eight_digits(word << missing | (DFRT__ALL_ZEROS & ((UINT64_C(1) << missing) - 1)), out);
}

/* One to eight bytes, the first in the lowest and zeros above: all of them digits, but for one point perhaps, which is
 * taken out of the word. Both operands of the division are exact, so it rounds correctly. */
static inline bool dfrt__short_decimal(uint64_t word, size_t size, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    uint64_t digits, other = word ^ UINT64_C(0x2e2e2e2e2e2e2e2e);
    uint64_t point = (other - UINT64_C(0x0101010101010101)) & ~other & UINT64_C(0x8080808080808080);
    if (point == 0) return dfrt__few_digits(word, size, &digits) && (*out = (double)(int64_t)digits, true);
    unsigned place = (unsigned)__builtin_ctzll(point) & ~7u;
    uint64_t before = word & ((UINT64_C(1) << place) - 1), behind = word >> place >> 8;
    if (size == 1 || !dfrt__few_digits(before | behind << place, size - 1, &digits)) return false;
    *out = (double)(int64_t)digits / powers[size - 1 - place / 8];
    return true;
}

#endif
