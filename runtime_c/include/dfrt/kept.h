/* Tuples that a window keeps, as columns: each field that somebody reads in an array of its own, all arrays of a
 * group in one piece of memory out of a pool.
 *
 * Threads:   a pool and what came out of it belong to the stage whose segment holds them. Other stages may read
 *            tuples that were shared with them (dfrt_kept_share) until they say that they are done.
 * Ownership: the pool owns all memory; pointers into columns are valid until the next call that may make room, of
 *            shared tuples until the last reader is done.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_KEPT_H
#define DFRT_KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sizes of the elements of all columns. Where tuples have times, these are the first column. */
typedef struct dfrt_widths {
    const uint32_t *of;
    uint32_t count;
    const uint32_t *offsets; /* where they are in a tuple that lies loose; NULL when none does */
    uint32_t loose;          /* bytes of such a tuple */
} dfrt_widths;

/* Small pieces come out of chunks, and go to a list of their size when they are not needed any more; large ones are
 * allocated each for itself. A pool of zeroes is empty. All its pieces are for the same columns. */
enum { DFRT_POOL_SIZES = 16 };

/* A piece of memory that other stages look at. The pool uses it again when nobody does any more. */
typedef struct dfrt_share {
    /* The pool's thread adds (relaxed: the channel publishes what it shares), readers take away (release), and the
     * pool's thread looks at it (acquire) before it writes to what they have read. */
    _Atomic uint32_t readers;
    uint32_t capacity;
    unsigned char *room;
    struct dfrt_share *next; /* of those that are free, or that wait for their readers */
    struct dfrt_share *made; /* the one that was made before it */
} dfrt_share;

typedef struct dfrt_pool {
    dfrt_share *made_shares, *free_shares; /* all, and those of no group */
    dfrt_share *waiting, *last_waiting; /* for their readers, those that have waited longest first */
    void *free_lists[DFRT_POOL_SIZES];
    void *chunks; /* each points to the one before it */
    void *large;  /* a list in both directions */
    size_t left;  /* bytes of the last chunk that are free, at its end */
    size_t chunk_size;
} dfrt_pool;

/* Tuples [head, tail) of a group. `room` has `capacity` elements of the first column, then of the second, and so
 * on; the capacity is a multiple of 8, so that every column is aligned. */
typedef struct dfrt_kept {
    unsigned char *room;
    uint32_t head, tail, capacity;
    uint32_t in_order; /* no tuple behind this one is older than the tuple before it */
    dfrt_share *share; /* of `room`; NULL when it was never shared */
} dfrt_kept;

/* How many tuples before its own a block asks for the places of a tuple; fewer than it is ahead with groups. */
enum { DFRT_KEPT_AHEAD = 16 };

/* Room for one more tuple at the end: moves all to the front when a quarter of the room is free there, else grows.
 * Answers how far they moved. */
uint32_t dfrt_kept_room(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths);

/* The same for a group that may never have many tuples; tuples without times only, none of which is forgotten before they
 * are gathered. Its first ones lie loose, in a chain of small pieces, one tuple behind the other, not as columns: storing
 * one touches one cache line. `room` is the last piece, and places count from its beginning: those of tuples in other
 * pieces are below 0 and wrap. Who reads tuples gathers them first, into columns in one piece, where they are from place 0
 * on. Both answer how far the tuples moved to the front. */
int64_t dfrt_kept_room_loose(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths);
int64_t dfrt_kept_gather(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths);

enum { DFRT_KEPT_LOOSE = -1 }; /* as `in_order`, which says nothing of tuples without times */

static inline bool dfrt_kept_is_loose(const dfrt_kept *kept)
{
    return kept->in_order == (uint32_t)DFRT_KEPT_LOOSE;
}

/* Gives the memory back; the group holds nothing then. */
void dfrt_kept_release(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths);

/* The same tuples at the same places, in another pool: large pieces change hands, small ones are copied. `kept` holds
 * nothing then. Nobody else reads them. */
dfrt_kept dfrt_kept_move(dfrt_pool *to, dfrt_pool *from, dfrt_kept *kept, dfrt_widths widths);

/* Room for `count` tuples and one more, from place 0 on, for a group that has none. It is zeroed. */
void dfrt_kept_reserve(dfrt_pool *pool, dfrt_kept *kept, uint32_t count, dfrt_widths widths);

/* Lets `readers` other stages read the tuples that are there now: they stay where they are until dfrt_share_done was
 * called as often. Tuples may be added behind them, and among those that nobody was told of. */
dfrt_share *dfrt_kept_share(dfrt_pool *pool, dfrt_kept *kept, uint32_t readers);

/* Where the share of a worker among tuples [from, to) begins; the next one's is its end. */
static inline uint32_t dfrt_share_begin(uint32_t from, uint32_t to, uint32_t part, uint32_t parts)
{
    return from + (uint32_t)((uint64_t)(to - from) * part / parts);
}

/* For readers, from any thread. */
static inline void dfrt_share_done(dfrt_share *share)
{
    (void)atomic_fetch_sub_explicit(&share->readers, 1, memory_order_release);
}

/* Frees everything that came out of the pool; nobody reads any more. */
void dfrt_pool_close(dfrt_pool *pool);

/* --- order of time: only where the first column has the times --- */

static inline const int64_t *dfrt_kept_times(const dfrt_kept *kept)
{
    return (const int64_t *)(const void *)kept->room;
}

/* Where a tuple of this time goes among tuples that are kept by time; there is room for it, and later tuples have
 * been moved behind it. */
uint32_t dfrt_kept_open(dfrt_kept *kept, int64_t time, dfrt_widths widths);

static inline uint32_t dfrt_kept_place(dfrt_kept *kept, int64_t time, dfrt_widths widths)
{
    if (kept->tail == kept->head || dfrt_kept_times(kept)[kept->tail - 1] <= time) {
        return kept->tail;
    }
    return dfrt_kept_open(kept, time, widths);
}

/* The first tuple, of those kept by time, that is not before `time`. */
uint32_t dfrt_kept_from(const dfrt_kept *kept, int64_t time);

/* Notes whether the tuple at the end, of this time, is in order, of tuples that are kept as they arrive. */
static inline void dfrt_kept_note(dfrt_kept *kept, int64_t time)
{
    uint32_t at = kept->tail;
    if (at == kept->head || dfrt_kept_times(kept)[at - 1] > time) {
        kept->in_order = at;
    }
}

/* The same tuples in memory of their own, from place 0 on. */
dfrt_kept dfrt_kept_copy(dfrt_pool *pool, const dfrt_kept *kept, dfrt_widths widths);

/* Tuples from `*from` on in order of time, ties by arrival: they themselves, or a copy in `sorted` when they came in
 * disorder. `*from` becomes the first of them there. `sorted` grows, and its owner frees `sorted->room`. */
const dfrt_kept *dfrt_kept_by_time(dfrt_kept *sorted, const dfrt_kept *kept, uint32_t *from, dfrt_widths widths);

#endif
