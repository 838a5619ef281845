/* Reproducible randomness: SplitMix64 (Steele, Lea and Flood, 2014), whole numbers and fractions from it, and keys
 * with a Zipf distribution. Everything is defined by integer arithmetic, so that another language gives the same.
 *
 * Threads:   a generator belongs to one thread; a dfrt_zipf is constant after it was made.
 * Ownership: dfrt_zipf_free what dfrt_zipf_make made.
 * Progress:  nothing waits.
 */
#ifndef DFRT_RANDOM_H
#define DFRT_RANDOM_H

#include <dfrt/status.h>

#include <stddef.h>
#include <stdint.h>

typedef struct dfrt_random {
    uint64_t state;
} dfrt_random;

__extension__ typedef unsigned __int128 dfrt__random_wide;

/* What a draw adds to the state: draw n needs none of those before it. */
#define DFRT_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline dfrt_random dfrt_random_seed(uint64_t seed)
{
    return (dfrt_random){seed};
}

static inline uint64_t dfrt_random_next(dfrt_random *random)
{
    uint64_t z = random->state += DFRT_RANDOM_STEP;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t dfrt__below_of(uint64_t draw, uint64_t bound)
{
    return bound == 0 ? draw : (uint64_t)((dfrt__random_wide)draw * bound >> 64);
}

/* The same for a bound from 1 to 2**32 - 1, from the two halves of the draw: no vector unit multiplies to 128 bits. */
static inline uint64_t dfrt__below_small_of(uint64_t draw, uint64_t bound)
{
    return ((draw >> 32) * bound + ((draw & UINT32_MAX) * bound >> 32)) >> 32;
}

/* 0 … bound-1: (next * bound) >> 64. A bound of 0 means 2**64. */
static inline uint64_t dfrt_random_below(dfrt_random *random, uint64_t bound)
{
    return dfrt__below_of(dfrt_random_next(random), bound);
}

/* [0, 1): (next >> 11) * 2**-53. */
static inline double dfrt__fraction_of(uint64_t draw)
{
    return (double)(int64_t)(draw >> 11) * 0x1p-53;
}

static inline double dfrt_random_fraction(dfrt_random *random)
{
    return dfrt__fraction_of(dfrt_random_next(random));
}

/* Key k of `keys` has weight (k + 1) ** -exponent. With the weights added up in order in double precision,
 * limit[k] = floor(sum(0 … k) / sum(all) * 2**53), and limit[keys - 1] = 2**53. A draw takes r = next >> 11 and answers
 * the first k with r < limit[k]. An exponent of 0 draws dfrt_random_below(keys) and has no table. */
typedef struct dfrt_zipf {
    uint64_t keys;
    uint64_t *limits;  /* NULL when uniform */
    uint32_t *starts;  /* [r >> (53 - start_bits)]: a key not above the answer, to begin the search at */
    unsigned start_bits;
} dfrt_zipf;

dfrt_status dfrt_zipf_make(dfrt_zipf *zipf, uint64_t keys, double exponent, dfrt_error *error);
/* The same table for weights that are given; their sum is above 0. */
dfrt_status dfrt_zipf_by_weights(dfrt_zipf *zipf, uint64_t keys, const double *weights, dfrt_error *error);
void dfrt_zipf_free(dfrt_zipf *zipf);

/* The key of a draw, where there is a table. */
static inline uint64_t dfrt_zipf_of(const dfrt_zipf *zipf, uint64_t draw)
{
    uint64_t r = draw >> 11;
    size_t part = (size_t)(r >> (53 - zipf->start_bits));
    uint64_t low = zipf->starts[part], high = zipf->starts[part + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (r < zipf->limits[middle]) high = middle;
        else low = middle + 1;
    }
    return low;
}

static inline uint64_t dfrt_zipf_draw(const dfrt_zipf *zipf, dfrt_random *random)
{
    return zipf->limits == NULL ? dfrt_random_below(random, zipf->keys) : dfrt_zipf_of(zipf, dfrt_random_next(random));
}

#endif
