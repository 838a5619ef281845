/* chain_generate.dfl by hand: chain_generate COUNT OUTPUT
 *
 * SplitMix64 is a counter that is scrambled, so draws that nobody looks at need not be made, and blocks of columns are
 * made by loops that the compiler turns into vectors. Draws of one tuple, in the order of the fields: key, bid, ask,
 * price, volume, size, flags, id. */
#include "chain.h"

static const uint64_t STEP = UINT64_C(0x9e3779b97f4a7c15), SEED = 7;
enum { DRAWS = 8, BID = 1, ASK = 2, SIZE = 5 };

static inline uint64_t scramble(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline void floats(double *out, uint64_t state, double low, double width)
{
    for (size_t i = 0; i < BLOCK; i++)
        out[i] = low + width * ((double)(int64_t)(scramble(state + i * (DRAWS * STEP)) >> 11) * 0x1p-53);
}

/* The upper half of z * 1000, from two halves of z: no vector unit multiplies to 128 bits. */
static inline void sizes(int32_t *out, uint64_t state)
{
    for (size_t i = 0; i < BLOCK; i++) {
        uint64_t z = scramble(state + i * (DRAWS * STEP));
        out[i] = (int32_t)(((z >> 32) * 1000 + ((z & UINT32_MAX) * 1000 >> 32)) >> 32);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    size_t count = strtoull(argv[1], NULL, 10);
    static double bid[BLOCK], ask[BLOCK], value[BLOCK + 1], cost[BLOCK + 1];
    static int32_t size[BLOCK];
    sums s;
    open_sums(&s, argv[2]);
    for (size_t from = 0; from < count; from += BLOCK) {
        size_t here = count - from < BLOCK ? count - from : BLOCK, kept = 0;
        uint64_t state = SEED + (from * DRAWS + 1) * STEP;
        floats(bid, state + BID * STEP, 100.0, 50.0);
        floats(ask, state + ASK * STEP, 145.0, 55.0);
        sizes(size, state + SIZE * STEP);
        for (size_t i = 0; i < here; i++) kept = chain(bid[i], ask[i], size[i], value, cost, kept);
        add(&s, value, cost, kept);
    }
    flush(s.out);
    return 0;
}
