/* Index from hash to group number (from 1); the generated code compares keys.
 *
 * A cache line has the hashes and the numbers of eight groups. A search begins at the line that the hash names, and goes on
 * to the next one only when that is full; the eight hashes of a line are compared at once. So nearly every search is one
 * line and no branch that depends on the key: with many keys the processor would often guess such a branch wrong, and
 * what it has begun of later tuples meanwhile, fetching their groups, would be in vain.
 *
 * Threads:   an index belongs to the stage whose segment holds it.
 * Ownership: the index owns its memory.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_INDEX_H
#define DFRT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#if defined __AVX2__
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h>
#endif

enum { DFRT_LINE_GROUPS = 8 };

typedef struct dfrt_index_line {
    _Alignas(64) uint32_t hashes[DFRT_LINE_GROUPS];
    uint32_t groups[DFRT_LINE_GROUPS]; /* 0: free; free ones are behind the others, and so are their hashes, 0 too */
} dfrt_index_line;

typedef struct dfrt_index {
    dfrt_index_line *lines; /* NULL before the first group */
    uint32_t mask;          /* lines - 1 */
    uint32_t used;          /* groups */
} dfrt_index;

void dfrt_index_insert(dfrt_index *index, uint32_t hash, uint32_t group);
void dfrt_index_remove(dfrt_index *index, uint32_t hash, uint32_t group); /* which is there */
void dfrt_index_close(dfrt_index *index);

/* All slots, one after the other: how many there are, and the group of one, 0 if it is free. */
static inline size_t dfrt_index_size(const dfrt_index *index)
{
    return index->lines == NULL ? 0 : ((size_t)index->mask + 1) * DFRT_LINE_GROUPS;
}

static inline uint32_t dfrt_index_at(const dfrt_index *index, size_t slot)
{
    return index->lines[slot / DFRT_LINE_GROUPS].groups[slot % DFRT_LINE_GROUPS];
}

/* A bit for each slot that has this hash: also for free ones, when it is 0. */
static inline uint32_t dfrt__slots_with(const dfrt_index_line *line, uint32_t hash)
{
#if defined __AVX2__
    __m256i same = _mm256_cmpeq_epi32(_mm256_load_si256((const __m256i *)line->hashes), _mm256_set1_epi32((int)hash));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same));
#elif defined __SSE2__
    const __m128i *hashes = (const __m128i *)line->hashes;
    __m128i wanted = _mm_set1_epi32((int)hash);
    __m128i first = _mm_cmpeq_epi32(_mm_load_si128(hashes), wanted);
    __m128i second = _mm_cmpeq_epi32(_mm_load_si128(hashes + 1), wanted);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(first, second), _mm_setzero_si128()));
#else
    uint32_t found = 0;
    for (uint32_t i = 0; i < DFRT_LINE_GROUPS; i++) found |= (uint32_t)(line->hashes[i] == hash) << i;
    return found;
#endif
}

/* A search for all groups with one hash. There has been a group: while there are no lines, nothing can be looked for. */
typedef struct dfrt_seek {
    uint32_t hash, at; /* the line */
    uint32_t left;     /* slots of it that were not looked at yet */
} dfrt_seek;

static inline dfrt_seek dfrt_index_seek(const dfrt_index *index, uint32_t hash)
{
    uint32_t at = hash & index->mask;
    return (dfrt_seek){hash, at, dfrt__slots_with(&index->lines[at], hash)};
}

/* The next one; 0 when there is none any more. Never more than half of the slots are taken: a line that is not full comes. */
static inline uint32_t dfrt_index_next(const dfrt_index *index, dfrt_seek *seek)
{
    while (__builtin_expect(seek->left == 0, 0)) {
        if (index->lines[seek->at].groups[DFRT_LINE_GROUPS - 1] == 0) {
            return 0;
        }
        seek->at = (seek->at + 1) & index->mask;
        seek->left = dfrt__slots_with(&index->lines[seek->at], seek->hash);
    }
    uint32_t slot = (uint32_t)__builtin_ctz(seek->left);
    seek->left &= seek->left - 1;
    return index->lines[seek->at].groups[slot];
}

/* The line where a search begins comes nearer. There has been a group. */
static inline void dfrt_index_prefetch(const dfrt_index *index, uint32_t hash)
{
    __builtin_prefetch(&index->lines[hash & index->mask]);
}

#endif
