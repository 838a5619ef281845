/* Index from hash to group number (from 1); the generated code compares keys.
 *
 * A cache line has twelve groups, five bytes each. A search begins at the line that the lower bits of the hash name; the
 * eight bits above them are a byte of the group's own, and the twelve bytes of a line are compared at once. The bits
 * above those share a word with the number of the group: numbers are dense, so that one of as many bits as line and byte
 * take is large enough. So the whole hash is known of every group, from little memory: with a million keys how much of
 * the index is in the cache decides. Nearly every search is one line and no branch that depends on the key: the
 * processor would often guess such a branch wrong, and what it has begun of later tuples meanwhile, fetching their
 * groups, would be in vain.
 *
 * Groups that have no room in their line are in further ones, which only searches that begin there look at.
 *
 * Threads:   an index belongs to the stage whose segment holds it.
 * Ownership: the index owns its memory.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_INDEX_H
#define DFRT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#if defined __SSE2__
#include <emmintrin.h>
#endif

enum { DFRT_LINE_GROUPS = 12 };

typedef struct dfrt_index_line {
    _Alignas(64) uint8_t bytes[DFRT_LINE_GROUPS]; /* of the hashes */
    uint32_t further;                             /* the line with more of them, from 1; 0: there is none */
    uint32_t words[DFRT_LINE_GROUPS];             /* the hash's upper bits, the group's number; 0: free, and behind others */
} dfrt_index_line;

typedef struct dfrt_index {
    dfrt_index_line *lines; /* where searches begin; NULL before the first group */
    uint32_t mask;          /* lines - 1 */
    uint32_t bits;          /* of the mask */
    uint32_t used;          /* groups */
    size_t most;            /* groups before it grows */
    uint32_t further_made, further_room, further_free; /* the last: a list, linked as lines are */
    dfrt_index_line *further;
} dfrt_index;

void dfrt__index_insert_slowly(dfrt_index *index, uint32_t hash, uint32_t group);
void dfrt_index_remove(dfrt_index *index, uint32_t hash, uint32_t group); /* which is there */
void dfrt_index_close(dfrt_index *index);

/* All slots, one after the other: how many there are, and the group of one, 0 if it is free. */
size_t dfrt_index_size(const dfrt_index *index);
uint32_t dfrt_index_at(const dfrt_index *index, size_t slot);

/* The bits of a word that are the number. */
static inline uint32_t dfrt__index_numbers(const dfrt_index *index)
{
    return index->mask << 8 | 0xff;
}

static inline uint8_t dfrt__index_byte(const dfrt_index *index, uint32_t hash)
{
    return (uint8_t)(hash >> index->bits);
}

/* How many groups a line has: they come before its free slots. No branch depends on how many. */
static inline uint32_t dfrt__groups_of(const dfrt_index_line *line)
{
#if defined __SSE2__
    const __m128i *words = (const __m128i *)line->words, none = _mm_setzero_si128();
    __m128i first = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(words), none),
                                    _mm_cmpeq_epi32(_mm_load_si128(words + 1), none));
    __m128i last = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(words + 2), none), none);
    uint32_t free_slots = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(first, last));
    return (uint32_t)__builtin_ctz(free_slots | 1u << DFRT_LINE_GROUPS);
#else
    uint32_t count = 0;
    for (uint32_t i = 0; i < DFRT_LINE_GROUPS; i++) count += line->words[i] != 0;
    return count;
#endif
}

/* A bit for each slot with this byte: also for free ones, when it is 0. */
static inline uint32_t dfrt__slots_with(const dfrt_index_line *line, uint8_t byte)
{
#if defined __SSE2__
    __m128i same = _mm_cmpeq_epi8(_mm_load_si128((const __m128i *)line->bytes), _mm_set1_epi8((char)byte));
    return (uint32_t)_mm_movemask_epi8(same) & ((1u << DFRT_LINE_GROUPS) - 1);
#else
    uint32_t found = 0;
    for (uint32_t i = 0; i < DFRT_LINE_GROUPS; i++) found |= (uint32_t)(line->bytes[i] == byte) << i;
    return found;
#endif
}

/* A group that is not there yet. Here is what happens nearly always: there is room in the line where its search begins. */
static inline void dfrt_index_insert(dfrt_index *index, uint32_t hash, uint32_t group)
{
    uint32_t numbers = dfrt__index_numbers(index);
    if (__builtin_expect(index->used < index->most && group <= numbers, 1)) {
        dfrt_index_line *line = &index->lines[hash & index->mask];
        uint32_t slot = dfrt__groups_of(line);
        if (__builtin_expect(slot < DFRT_LINE_GROUPS, 1)) {
            line->bytes[slot] = dfrt__index_byte(index, hash);
            line->words[slot] = (hash & ~numbers) | group;
            index->used++;
            return;
        }
    }
    dfrt__index_insert_slowly(index, hash, group);
}

/* A search for all groups with one hash. There has been a group: while there are no lines, nothing can be looked for. */
typedef struct dfrt_seek {
    const dfrt_index_line *line;
    uint32_t hash;
    uint32_t left; /* slots of the line that were not looked at yet */
} dfrt_seek;

static inline dfrt_seek dfrt_index_seek(const dfrt_index *index, uint32_t hash)
{
    const dfrt_index_line *line = &index->lines[hash & index->mask];
    return (dfrt_seek){line, hash, dfrt__slots_with(line, dfrt__index_byte(index, hash))};
}

/* The next one; 0 when there is none any more. */
static inline uint32_t dfrt_index_next(const dfrt_index *index, dfrt_seek *seek)
{
    uint32_t numbers = dfrt__index_numbers(index), upper = seek->hash & ~numbers;
    for (;;) {
        while (__builtin_expect(seek->left != 0, 1)) {
            uint32_t number = seek->line->words[__builtin_ctz(seek->left)] ^ upper;
            seek->left &= seek->left - 1;
            if (__builtin_expect(number - 1 < numbers, 1)) return number; /* 0 is free, what is more has another hash */
        }
        if (seek->line->further == 0) return 0;
        seek->line = &index->further[seek->line->further - 1];
        seek->left = dfrt__slots_with(seek->line, dfrt__index_byte(index, seek->hash));
    }
}

/* The line where a search begins comes nearer. There has been a group. */
static inline void dfrt_index_prefetch(const dfrt_index *index, uint32_t hash)
{
    __builtin_prefetch(&index->lines[hash & index->mask]);
}

#endif
