/* Stores of generated operators: arrays that grow at the end and shrink at the front, groups that an index (index.h)
 * finds, and an order of groups that is kept sorted between firings.
 *
 * Threads:   a store belongs to the stage whose segment holds it.
 * Ownership: the store owns its memory; pointers into an array are valid until the next call that may grow it.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_STORE_H
#define DFRT_STORE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dfrt/index.h"

void *dfrt_allocate(size_t size);                  /* zeroed; never NULL */
void *dfrt_resize(void *old, size_t size);         /* never NULL */
/* Zeroed too, from the beginning of a cache line on, in large pages where the machine has them and that pays; given back
 * with the same size. */
void *dfrt_pages_take(size_t size);
void dfrt_pages_release(void *pages, size_t size);

enum { DFRT_BLOCK = 256 };  /* tuples that generated code takes at once */
/* How many tuples it is ahead of itself with groups, and twice as many with their lines of the index: where the groups are in the
 * second cache, and where they must come from memory. */
enum { DFRT_NEAR = 32, DFRT_NEAR_MANY = 64 };
/* And so many, when a group of many must come on from the second cache to the first. */
enum { DFRT_NEXT = 4 };
/* The same for groups whose windows end, and for what they point to. */
enum { DFRT_FIRE_NEAR = 8, DFRT_FIRE_FAR = 16 };
enum { DFRT_LINE = 64 };    /* bytes of a cache line */

/* Groups of up to so many bytes are in the second cache anyway. */
enum { DFRT_FEW_BYTES = 1 << 20 };

/* What comes behind a tuple of the input is wanted soon. The processor's own guesses end with a page. To the second cache:
 * what is on its way to the first one has a place among few, which groups need more. */
static inline void dfrt_prefetch_input(const void *tuple)
{
    __builtin_prefetch((const char *)tuple + 4096, 0, 2);
}

/* The first cache can wait for twenty lines or so at once, the second for more. So what comes from memory is fetched to the
 * second one, which is near enough when its time has come, and what is there already to the first. */
static inline void dfrt_prefetch_group(const void *line, size_t bytes_of_all)
{
    if (bytes_of_all > DFRT_FEW_BYTES) {
        __builtin_prefetch(line, 0, 2);
    } else {
        __builtin_prefetch(line, 1);
    }
}

/* From the second cache to the first, for those whose turn comes next. */
static inline void dfrt_prefetch_next(const void *group, size_t size)
{
    __builtin_prefetch(group, 1);
    if (size > DFRT_LINE) {
        __builtin_prefetch((const char *)group + DFRT_LINE, 1);
    }
}

/* A few cache lines, to be written, too. */
static inline void dfrt_prefetch_all(const void *item, size_t size)
{
    for (size_t at = 0; at < size; at += DFRT_LINE) __builtin_prefetch((const char *)item + at, 1);
}

/* Room for one more element at the end of a sliding array [head, tail) of `capacity` elements: moves the
 * elements to the front when half the room before them is free, else doubles. Answers how far they moved. */
uint32_t dfrt_slide(void **items, size_t item_size, uint32_t *head, uint32_t *tail, uint32_t *capacity);

/* Groups that never move, one behind the other, numbered from 1, with a list of free numbers. As many addresses as the
 * machine has memory for are reserved at first, and get memory as groups come: so the number of a group is its place. */
/* From one group to the next: one that fits into a cache line lies in one. */
#define DFRT_STRIDE(size) ((size) > DFRT_LINE ? (size) : (size) > 32 ? (size_t)DFRT_LINE : (size) > 16 ? 32 : 16)

typedef struct dfrt_groups {
    unsigned char *room; /* NULL before the first one; group 0 is not used */
    size_t reserved;     /* bytes of addresses */
    size_t usable;       /* bytes that have been asked for */
    uint32_t *free_list;
    uint32_t free_count, free_capacity;
    uint32_t made; /* numbers handed out so far, freed ones included */
} dfrt_groups;

/* How many new groups ahead memory is asked for. */
enum { DFRT_FRESH_AHEAD = 16 };

uint32_t dfrt__groups_take_slowly(dfrt_groups *groups, size_t group_size);

/* The group's memory is zeroed. */
static inline uint32_t dfrt_groups_take(dfrt_groups *groups, size_t group_size)
{
    size_t needed = ((size_t)groups->made + 2) * group_size; /* group 0 included */
    if (__builtin_expect(groups->free_count > 0 || needed > groups->usable || groups->made == UINT32_MAX, 0)) {
        return dfrt__groups_take_slowly(groups, group_size);
    }
    /* Nothing has looked at what comes behind yet. Stores become visible in order: one to a line that is not there holds up all
     * that follow. Where there is no memory behind, nothing happens. */
    __builtin_prefetch(groups->room + needed + DFRT_FRESH_AHEAD * group_size, 1);
    return ++groups->made;
}

void dfrt_groups_release(dfrt_groups *groups, uint32_t group);
void dfrt_groups_close(dfrt_groups *groups);
/* For each number whether there is such a group. The caller frees it. In the order of numbers groups come out of memory
 * one behind the other. */
unsigned char *dfrt_groups_live(const dfrt_groups *groups);

static inline void *dfrt_groups_at(const dfrt_groups *groups, size_t group, size_t group_size)
{
    return groups->room + group * group_size;
}

static inline uint32_t dfrt_groups_number(const dfrt_groups *groups, const void *group, size_t group_size)
{
    return (uint32_t)((size_t)((const unsigned char *)group - groups->room) / group_size);
}

/* A group that is very likely the one that is looked for: the first with this hash, NULL if there is none. There has been a
 * group. Its first cache line, or two of a group of more `size`, come nearer. */
static inline void *dfrt_groups_guess(const dfrt_groups *groups, const dfrt_index *index, uint32_t hash, size_t size)
{
    dfrt_seek seek = dfrt_index_seek(index, hash);
    uint32_t number = dfrt_index_next(index, &seek);
    if (__builtin_expect(number == 0, 0)) {
        return NULL;
    }
    unsigned char *group = dfrt_groups_at(groups, number, DFRT_STRIDE(size));
    dfrt_prefetch_group(group, groups->usable);
    if (size > DFRT_LINE) {
        dfrt_prefetch_group(group + DFRT_LINE, groups->usable);
    }
    return group;
}

/* Numbers of live groups; [0, sorted) is in order, what came later is not yet. */
typedef struct dfrt_order {
    uint32_t *groups;
    uint32_t *scratch;
    uint32_t count, sorted, capacity;
} dfrt_order;

typedef int (*dfrt_group_compare)(const void *context, uint32_t left, uint32_t right);

void dfrt_order_add(dfrt_order *order, uint32_t group);
void dfrt_order_sort(dfrt_order *order, dfrt_group_compare compare, const void *context);
void dfrt_order_close(dfrt_order *order);
/* Forgets the groups that have moved (`moved` is not 0 for them), and keeps the order of the others. */
void dfrt_order_drop(dfrt_order *order, const uint32_t *moved);

/* The value at position q·(n−1) of the sorted values, interpolated; NaNs are skipped, NaN when none is left.
 * Reorders the values. */
double dfrt_quantile(double *values, size_t count, double q);

/* e = x0, then e = alpha·x + (1 − alpha)·e, in the given order. */
double dfrt_ewma(const double *values, size_t count, double alpha);

/* Sums of distances from one of the values, and of their squares: no division a value, and no cancellation that
 * matters, because that value's own distance from the mean is one of those asked for. What was combined stands as its
 * mean, no distance, and the squares around it. The shift is finite, so that the sum of infinite values is what it is;
 * NaN before the first value. */
typedef struct dfrt_moments {
    double shift, distance, square;
} dfrt_moments;

#define DFRT_NO_MOMENTS ((dfrt_moments){(double)NAN, 0.0, 0.0})

static inline void dfrt_moments_add(dfrt_moments *m, double value)
{
    if (__builtin_expect(m->shift != m->shift, 0)) {
        m->shift = value - value == 0.0 ? value : 0.0;
    }
    double distance = value - m->shift;
    m->distance += distance;
    m->square += distance * distance;
}

/* The sum of squared distances from the mean of `count` values, one at least. */
static inline double dfrt_moments_squares(const dfrt_moments *m, int64_t count)
{
    double squares = m->square - m->distance * m->distance / (double)count;
    return squares < 0.0 ? 0.0 : squares; /* NaN stays */
}

/* The mean of `count` values, one at least. */
static inline double dfrt_moments_mean(const dfrt_moments *m, int64_t count)
{
    return m->distance == 0.0 ? m->shift : (m->shift * (double)count + m->distance) / (double)count;
}

/* Takes `count` later values into `before` values. */
void dfrt_moments_combine(dfrt_moments *m, int64_t before, const dfrt_moments *later, int64_t count);

/* A scratch array of the stage's thread that grows; for the values of one window. */
typedef struct dfrt_scratch {
    double *values;
    size_t capacity;
} dfrt_scratch;

static inline double *dfrt_scratch_take(dfrt_scratch *scratch, size_t count)
{
    if (count > scratch->capacity) {
        scratch->capacity = count * 2;
        scratch->values = dfrt_resize(scratch->values, scratch->capacity * sizeof *scratch->values);
    }
    return scratch->values;
}

#endif
