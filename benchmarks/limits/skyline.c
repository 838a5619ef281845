/* skyline.dfl by hand: skyline INPUT OUTPUT
 *
 * A block nested loop over candidates in blocks of eight: with AVX-512 a comparison of a dimension is an instruction, and
 * masks go from one to the next; elsewhere the compiler turns the loop over a block into vectors. A candidate that
 * dominates a point moves forward. */
#include "limit.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

enum { WINDOW = 2000, DIMENSIONS = 8, LANES = 8, BLOCKS = (WINDOW + LANES) / LANES };

typedef struct point {
    double v[DIMENSIONS];
} point;

typedef struct block {
    double v[DIMENSIONS][LANES];
} block;

typedef struct result {
    int64_t count;
    double sum;
} result;

typedef struct masks {
    unsigned dominates, dominated;
} masks;

static inline masks compare(const block *b, const point *p)
{
#ifdef __AVX512F__
    __mmask8 le = 0xff, ge = 0xff;
    for (int d = 0; d < DIMENSIONS; d++) {
        __m512d values = _mm512_load_pd(b->v[d]), one = _mm512_set1_pd(p->v[d]);
        le = _mm512_mask_cmp_pd_mask(le, values, one, _CMP_LE_OQ);
        ge = _mm512_mask_cmp_pd_mask(ge, values, one, _CMP_GE_OQ);
    }
    return (masks){le & ~(unsigned)ge, ge & ~(unsigned)le};
#else
    int64_t le[LANES], ge[LANES];
    for (int k = 0; k < LANES; k++) le[k] = ge[k] = -1;
    for (int d = 0; d < DIMENSIONS; d++) {
        for (int k = 0; k < LANES; k++) {
            le[k] &= -(int64_t)(b->v[d][k] <= p->v[d]);
            ge[k] &= -(int64_t)(b->v[d][k] >= p->v[d]);
        }
    }
    masks found = {0, 0};
    for (int k = 0; k < LANES; k++) {
        found.dominates |= (unsigned)(le[k] & ~ge[k] & 1) << k;
        found.dominated |= (unsigned)(ge[k] & ~le[k] & 1) << k;
    }
    return found;
#endif
}

static inline double *place(block *all, size_t at, int d)
{
    return &all[at / LANES].v[d][at % LANES];
}

static void swap(block *all, uint32_t *ids, size_t a, size_t b)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        double kept = *place(all, a, d);
        *place(all, a, d) = *place(all, b, d);
        *place(all, b, d) = kept;
    }
    uint32_t kept = ids[a];
    ids[a] = ids[b];
    ids[b] = kept;
}

static size_t skyline(const point *points, block *all, uint32_t *ids)
{
    size_t count = 0;
    for (uint32_t i = 0; i < WINDOW; i++) {
        bool dominated = false;
        for (size_t b = 0; b * LANES < count && !dominated; b++) {
            masks found = compare(&all[b], &points[i]);
            if (UNLIKELY(found.dominates != 0)) {
                size_t at = b * LANES + (size_t)__builtin_ctz(found.dominates);
                swap(all, ids, at, at / 2);
                dominated = true;
            }
            while (UNLIKELY(found.dominated != 0)) {
                unsigned lane = 31u - (unsigned)__builtin_clz(found.dominated);
                swap(all, ids, b * LANES + lane, --count);
                for (int d = 0; d < DIMENSIONS; d++) *place(all, count, d) = NAN;
                found = compare(&all[b], &points[i]); /* another candidate has come here */
                if (b * LANES >= count) break;
            }
        }
        if (dominated) continue;
        if (count % LANES == 0)
            for (int d = 0; d < DIMENSIONS; d++)
                for (int k = 0; k < LANES; k++) all[count / LANES].v[d][k] = NAN;
        for (int d = 0; d < DIMENSIONS; d++) *place(all, count, d) = points[i].v[d];
        ids[count++] = i;
    }
    return count;
}

/* In the order of the points: what floats add up to depends on it. */
static result total(const point *points, const uint32_t *ids, size_t count)
{
    static bool chosen[WINDOW];
    memset(chosen, 0, sizeof chosen);
    for (size_t i = 0; i < count; i++) chosen[ids[i]] = true;
    result r = {(int64_t)count, 0.0};
    for (size_t i = 0; i < WINDOW; i++) {
        double sum = 0.0;
        for (int d = 0; d < DIMENSIONS && chosen[i]; d++) sum += points[i].v[d];
        r.sum += sum;
    }
    return r;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const point *points = (const point *)(const void *)file.data;
    size_t count = file.size / sizeof *points;
    output *out = create(argv[2]);
    block *all = allocate(BLOCKS * sizeof *all);
    uint32_t *ids = allocate(WINDOW * sizeof *ids);
    for (size_t from = 0; from + WINDOW <= count; from += WINDOW) {
        result r = total(points + from, ids, skyline(points + from, all, ids));
        memcpy(room(out, sizeof r), &r, sizeof r);
        out->used += sizeof r;
    }
    flush(out);
    return 0;
}
