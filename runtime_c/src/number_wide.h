/* Powers of ten and 128-bit products: what number.c (reading) and number_format.c (printing) share. */
#ifndef DFRT_NUMBER_WIDE_H
#define DFRT_NUMBER_WIDE_H

#include <stdint.h>

#define DFRT__POWER_LOW (-342)
#define DFRT__POWER_HIGH 324

/* [k - DFRT__POWER_LOW] is the upper 128 bits of 10**k, rounded down; exact for 0 <= k <= 55. */
extern const uint64_t dfrt__powers[DFRT__POWER_HIGH - DFRT__POWER_LOW + 1][2];

__extension__ typedef unsigned __int128 dfrt__u128;

typedef struct dfrt__pair {
    uint64_t high, low;
} dfrt__pair;

static inline dfrt__pair dfrt__multiply(uint64_t a, uint64_t b)
{
    dfrt__u128 product = (dfrt__u128)a * b;
    return (dfrt__pair){(uint64_t)(product >> 64), (uint64_t)product};
}

/* floor(log2(10**k)) for |k| <= 1233; right shifts of negatives are arithmetic with every compiler we meet. */
static inline int dfrt__log2_of_power(int k)
{
    return (k * 1741647) >> 19;
}

#endif
