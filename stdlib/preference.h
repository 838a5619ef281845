/* The kernels of std.preference, for C functions over windows and panes: `#include "stdlib/preference.h"`.
 *
 * Points have eight values, and smaller is better. A point dominates another that it is nowhere worse than, and
 * somewhere better. Equal points do not dominate each other, and nothing is better, worse or equal where one has NaN: a
 * point with NaN is never dominated.
 *
 * The loops are a block nested loop over columns. They are plain C that compilers turn into vectors; on x86 also for
 * AVX2, which is used where the processor has it. With AVX-512 a comparison of eight points in a dimension is one
 * instruction that gives a mask, so there the loop is written out.
 */
#ifndef DFC_STDLIB_PREFERENCE_H
#define DFC_STDLIB_PREFERENCE_H

#include <dfrt/bytes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

enum { STD_DIMENSIONS = 8, STD__BLOCK = 16 };

/* Value d of point i is of[d][i]. Each point has an id, which means something to the caller only. */
typedef struct std_points {
    const double *of[STD_DIMENSIONS];
    const int64_t *ids;
    size_t count;
} std_points;

#define STD__INLINE static inline __attribute__((always_inline, unused))
#if defined(__GNUC__) && !defined(__clang__)
#define STD__VECTORS __attribute__((optimize("O3"), unused))
#else
#define STD__VECTORS __attribute__((unused))
#endif

/* --- candidates: points that were not dominated so far ------------------------------------------------------------- */

typedef struct std__candidates {
    double *values; /* of each dimension `stride`; those behind the last candidate are NaN */
    uint32_t *places;
    size_t stride, count;
} std__candidates;

STD__INLINE std__candidates std__candidates_in(dfrt_bytes *room, size_t most)
{
    size_t stride = (most + STD__BLOCK) / STD__BLOCK * STD__BLOCK;
    size_t size = stride * STD_DIMENSIONS * sizeof(double);
    double *values = dfrt_bytes_add(room, size + stride * sizeof(uint32_t));
    for (size_t i = 0; i < stride * STD_DIMENSIONS; i++) {
        values[i] = __builtin_nan("");
    }
    return (std__candidates){values, (uint32_t *)(void *)(values + stride * STD_DIMENSIONS), stride, 0};
}

STD__INLINE void std__candidates_add(std__candidates *all, const double *p, uint32_t place)
{
    for (int d = 0; d < STD_DIMENSIONS; d++) {
        all->values[(size_t)d * all->stride + all->count] = p[d];
    }
    all->places[all->count++] = place;
}

STD__INLINE void std__candidates_swap(std__candidates *all, size_t i, size_t j)
{
    for (int d = 0; d < STD_DIMENSIONS; d++) {
        double *column = all->values + (size_t)d * all->stride, kept = column[i];
        column[i] = column[j];
        column[j] = kept;
    }
    uint32_t kept = all->places[i];
    all->places[i] = all->places[j];
    all->places[j] = kept;
}

STD__INLINE void std__candidates_remove(std__candidates *all, size_t at)
{
    std__candidates_swap(all, at, --all->count);
    for (int d = 0; d < STD_DIMENSIONS; d++) {
        all->values[(size_t)d * all->stride + all->count] = __builtin_nan("");
    }
}

/* --- dominance ----------------------------------------------------------------------------------------------------- */

/* Whether one of a block of candidates dominates p or is dominated by it. All dimensions of all of them are compared:
 * with no way out in between, this is a few vector instructions a dimension. */
STD__INLINE bool std__block_differs(const std__candidates *all, size_t from, const double *restrict p)
{
    const double *restrict values = all->values;
    const size_t stride = all->stride;
    int64_t found = 0;
    for (size_t i = from; i < from + STD__BLOCK; i++) {
        int64_t no_worse = -1, no_better = -1;
#pragma GCC unroll 8
        for (int d = 0; d < STD_DIMENSIONS; d++) {
            double value = values[(size_t)d * stride + i];
            no_worse &= -(int64_t)(value <= p[d]);
            no_better &= -(int64_t)(value >= p[d]);
        }
        found |= no_worse ^ no_better;
    }
    return found != 0;
}

/* What one candidate is to p: 1 dominates it, -1 is dominated by it, 0 neither. */
STD__INLINE int std__compare(const std__candidates *all, size_t at, const double *p)
{
    bool no_worse = true, no_better = true;
    for (int d = 0; d < STD_DIMENSIONS; d++) {
        double value = all->values[(size_t)d * all->stride + at];
        no_worse &= value <= p[d];
        no_better &= value >= p[d];
    }
    return no_worse - no_better;
}

/* Removes those of a block that p dominates; true when one dominates p. That one comes forward: it will others too. */
STD__INLINE bool std__block_decide(std__candidates *all, size_t from, const double *p)
{
    if (!std__block_differs(all, from, p)) {
        return false;
    }
    for (size_t i = from; i < from + STD__BLOCK && i < all->count;) {
        int what = std__compare(all, i, p);
        if (what > 0) {
            std__candidates_swap(all, i, i / 2);
            return true;
        }
        if (what < 0) {
            std__candidates_remove(all, i);
        } else {
            i++;
        }
    }
    return false;
}

/* The function `name`, which leaves the points that no other dominates; `decide` is for blocks of candidates. */
#define STD__FILTER(name, decide)                                                                                      \
    static void name(const std_points *points, std__candidates *all)                                                   \
    {                                                                                                                  \
        for (size_t i = 0; i < points->count; i++) {                                                                   \
            double p[STD_DIMENSIONS];                                                                                  \
            for (int d = 0; d < STD_DIMENSIONS; d++) {                                                                 \
                p[d] = points->of[d][i];                                                                               \
            }                                                                                                          \
            bool dominated = false;                                                                                    \
            for (size_t from = 0; from < all->count && !dominated; from += STD__BLOCK) {                               \
                dominated = decide(all, from, p);                                                                      \
            }                                                                                                          \
            if (!dominated) {                                                                                          \
                std__candidates_add(all, p, (uint32_t)i);                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

/* In how many dimensions, at most, a candidate that is somewhere better than candidate `at` is no worse. */
STD__INLINE int64_t std__level(const std__candidates *all, size_t at)
{
    const double *restrict values = all->values;
    const size_t stride = all->stride, end = (all->count + STD__BLOCK - 1) / STD__BLOCK * STD__BLOCK;
    double p[STD_DIMENSIONS];
    for (int d = 0; d < STD_DIMENSIONS; d++) {
        p[d] = values[(size_t)d * stride + at];
    }
    int64_t highest = 0;
    for (size_t i = 0; i < end; i++) {
        int64_t no_worse = 0, better = 0;
#pragma GCC unroll 8
        for (int d = 0; d < STD_DIMENSIONS; d++) {
            double value = values[(size_t)d * stride + i];
            no_worse += value <= p[d];
            better |= -(int64_t)(value < p[d]);
        }
        no_worse &= better;
        highest = no_worse > highest ? no_worse : highest;
    }
    return highest;
}

STD__INLINE void std__levels(const std__candidates *all, int64_t *levels)
{
    for (size_t i = 0; i < all->count; i++) {
        levels[i] = std__level(all, i);
    }
}

/* --- for this processor -------------------------------------------------------------------------------------------- */

STD__VECTORS STD__FILTER(std__filter_anywhere, std__block_decide)

STD__VECTORS static void std__levels_anywhere(const std__candidates *all, int64_t *levels)
{
    std__levels(all, levels);
}

#if defined(__x86_64__) && defined(__GNUC__)
STD__VECTORS __attribute__((target("avx2"))) STD__FILTER(std__filter_avx2, std__block_decide)

STD__VECTORS __attribute__((target("avx2"))) static void std__levels_avx2(const std__candidates *all, int64_t *levels)
{
    std__levels(all, levels);
}

#define STD__AVX512 __attribute__((target("avx512f"), unused))

/* Which of a block of candidates dominate p, and which are dominated by it. */
typedef struct std__relation {
    unsigned dominate, dominated;
} std__relation;

STD__AVX512 static inline std__relation std__relation_avx512(const std__candidates *all, size_t from, const double *p)
{
    const __mmask8 every = 0xff;
    __mmask8 no_worse[2] = {every, every}, no_better[2] = {every, every};
#pragma GCC unroll 8
    for (int d = 0; d < STD_DIMENSIONS; d++) {
        const double *column = all->values + (size_t)d * all->stride + from;
        __m512d one = _mm512_set1_pd(p[d]);
#pragma GCC unroll 2
        for (int half = 0; half < 2; half++) {
            __m512d values = _mm512_loadu_pd(column + 8 * half);
            no_worse[half] = _mm512_mask_cmp_pd_mask(no_worse[half], values, one, _CMP_LE_OQ);
            no_better[half] = _mm512_mask_cmp_pd_mask(no_better[half], values, one, _CMP_GE_OQ);
        }
    }
    unsigned least = no_worse[0] | (unsigned)no_worse[1] << 8, most = no_better[0] | (unsigned)no_better[1] << 8;
    return (std__relation){least & ~most, most & ~least};
}

/* As std__block_decide. What is removed makes room for a candidate that may not have been compared yet. */
STD__AVX512 static inline bool std__block_decide_avx512(std__candidates *all, size_t from, const double *p)
{
    std__relation found = std__relation_avx512(all, from, p);
    while (__builtin_expect(found.dominated != 0, 0)) {
        std__candidates_remove(all, from + 31 - (size_t)__builtin_clz(found.dominated));
        found = std__relation_avx512(all, from, p);
    }
    if (__builtin_expect(found.dominate == 0, 1)) {
        return false;
    }
    size_t at = from + (size_t)__builtin_ctz(found.dominate);
    std__candidates_swap(all, at, at / 2);
    return true;
}

STD__AVX512 STD__FILTER(std__filter_avx512, std__block_decide_avx512)

STD__INLINE void std__filter_here(const std_points *points, std__candidates *all)
{
    if (__builtin_cpu_supports("avx512f")) {
        std__filter_avx512(points, all);
    } else if (__builtin_cpu_supports("avx2")) {
        std__filter_avx2(points, all);
    } else {
        std__filter_anywhere(points, all);
    }
}

STD__INLINE void std__levels_here(const std__candidates *all, int64_t *levels)
{
    if (__builtin_cpu_supports("avx2")) {
        std__levels_avx2(all, levels);
    } else {
        std__levels_anywhere(all, levels);
    }
}
#else
#define std__filter_here std__filter_anywhere
#define std__levels_here std__levels_anywhere
#endif

/* --- what is called ------------------------------------------------------------------------------------------------ */

/* Back to the order of the points: what was removed brought disorder. `chosen` has a byte for each point. */
static inline size_t std__in_order(const unsigned char *chosen, size_t count, uint32_t *places)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (chosen[i]) {
            places[found++] = (uint32_t)i;
        }
    }
    return found;
}

/* The skyline: the places of the points that no other dominates, in order; at most `count`. Answers how many. */
static inline size_t std_skyline(const std_points *points, uint32_t *places)
{
    dfrt_bytes room = {0}, marks = {0};
    std__candidates all = std__candidates_in(&room, points->count);
    std__filter_here(points, &all);
    unsigned char *chosen = memset(dfrt_bytes_add(&marks, points->count), 0, points->count);
    for (size_t i = 0; i < all.count; i++) {
        chosen[all.places[i]] = 1;
    }
    size_t found = std__in_order(chosen, points->count, places);
    dfrt_bytes_free(&room);
    dfrt_bytes_free(&marks);
    return found;
}

/* The top-delta dominant points: of the least `*k` that gives more than `delta` of them, those that no other is better
 * than in one dimension and no worse than in k; the skyline (k = 8) when no k gives as many. In order. */
static inline size_t std_top_delta(const std_points *points, size_t delta, uint32_t *places, int *k)
{
    dfrt_bytes room = {0}, marks = {0}, counted = {0};
    std__candidates all = std__candidates_in(&room, points->count);
    std__filter_here(points, &all);
    int64_t *levels = dfrt_bytes_add(&counted, (all.count + 1) * sizeof *levels);
    std__levels_here(&all, levels);
    size_t of_level[STD_DIMENSIONS + 1] = {0}, below = 0;
    for (size_t i = 0; i < all.count; i++) {
        of_level[levels[i]]++;
    }
    *k = 0;
    do {
        below += of_level[(*k)++];
    } while (below <= delta && *k < STD_DIMENSIONS);
    unsigned char *chosen = memset(dfrt_bytes_add(&marks, points->count), 0, points->count);
    for (size_t i = 0; i < all.count; i++) {
        chosen[all.places[i]] = levels[i] < *k;
    }
    size_t found = std__in_order(chosen, points->count, places);
    dfrt_bytes_free(&room);
    dfrt_bytes_free(&marks);
    dfrt_bytes_free(&counted);
    return found;
}

/* Appends the chosen points to the result of a pane: their ids, then column by column their values. */
static inline void std_points_append(dfrt_bytes *result, const std_points *points, const uint32_t *places, size_t count)
{
    int64_t *ids = dfrt_bytes_add(result, count * (sizeof *ids + STD_DIMENSIONS * sizeof(double)));
    double *values = (double *)(void *)(ids + count);
    for (size_t i = 0; i < count; i++) {
        ids[i] = points->ids == NULL ? (int64_t)places[i] : points->ids[places[i]];
        for (size_t d = 0; d < STD_DIMENSIONS; d++) {
            values[d * count + i] = points->of[d][places[i]];
        }
    }
}

/* The points of all panes, one pane after the other; they lie in `room`. */
static inline std_points std_points_of(const dfrt_pane *panes, size_t pane_count, dfrt_bytes *room)
{
    const size_t size = sizeof(int64_t) + STD_DIMENSIONS * sizeof(double);
    size_t count = 0;
    for (size_t i = 0; i < pane_count; i++) {
        count += panes[i].size / size;
    }
    int64_t *ids = dfrt_bytes_add(room, count * size);
    double *values = (double *)(void *)(ids + count);
    std_points points = {.ids = ids, .count = count};
    for (size_t d = 0; d < STD_DIMENSIONS; d++) {
        points.of[d] = values + d * count;
    }
    for (size_t i = 0, at = 0; i < pane_count; i++) {
        size_t some = panes[i].size / size;
        const int64_t *from = panes[i].data;
        memcpy(ids + at, from, some * sizeof *ids);
        for (size_t d = 0; d < STD_DIMENSIONS && some > 0; d++) {
            memcpy(values + d * count + at, (const double *)(const void *)(from + some) + d * some, some * sizeof *values);
        }
        at += some;
    }
    return points;
}

#endif
