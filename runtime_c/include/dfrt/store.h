/* Stores of generated operators: arrays that grow at the end and shrink at the front, a hash index, an order
 * of groups that is kept sorted between firings, and a heap of timers.
 *
 * Threads:   a store belongs to the stage whose segment holds it.
 * Ownership: the store owns its memory; pointers into an array are valid until the next call that may grow it.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_STORE_H
#define DFRT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *dfrt_allocate(size_t size);                  /* zeroed; never NULL */
void *dfrt_resize(void *old, size_t size);         /* never NULL */

/* Room for one more element at the end of a sliding array [head, tail) of `capacity` elements: moves the
 * elements to the front when half the room before them is free, else doubles. Answers how far they moved. */
uint32_t dfrt_slide(void **items, size_t item_size, uint32_t *head, uint32_t *tail, uint32_t *capacity);

/* Index from hash to group number (from 1). Linear probing; the generated code compares keys. */
typedef struct dfrt_index_entry {
    uint32_t hash;
    uint32_t group; /* 0: free */
} dfrt_index_entry;

typedef struct dfrt_index {
    dfrt_index_entry *entries;
    uint32_t mask;
    uint32_t used;
} dfrt_index;

void dfrt_index_insert(dfrt_index *index, uint32_t hash, uint32_t group);
void dfrt_index_remove(dfrt_index *index, uint32_t hash, uint32_t group);

/* Groups in chunks that never move, numbered from 1, with a list of free numbers. */
enum { DFRT_CHUNK = 256 };

typedef struct dfrt_groups {
    unsigned char **chunks;
    uint32_t *free_list;
    uint32_t free_count, free_capacity;
    uint32_t made; /* numbers handed out so far, freed ones included */
    uint32_t chunk_capacity;
} dfrt_groups;

uint32_t dfrt_groups_take(dfrt_groups *groups, size_t group_size); /* the group's memory is zeroed */
void dfrt_groups_release(dfrt_groups *groups, uint32_t group);
void dfrt_groups_close(dfrt_groups *groups);

static inline void *dfrt_groups_at(const dfrt_groups *groups, uint32_t group, size_t group_size)
{
    return groups->chunks[(group - 1) / DFRT_CHUNK] + (size_t)((group - 1) % DFRT_CHUNK) * group_size;
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

/* The smallest time first, equal times in the order of their groups' keys. */
typedef struct dfrt_timer {
    int64_t time;
    uint32_t group;
} dfrt_timer;

typedef struct dfrt_timers {
    dfrt_timer *heap;
    uint32_t count, capacity;
} dfrt_timers;

void dfrt_timers_push(dfrt_timers *timers, dfrt_timer timer, dfrt_group_compare compare, const void *context);
dfrt_timer dfrt_timers_pop(dfrt_timers *timers, dfrt_group_compare compare, const void *context);

/* The value at position q·(n−1) of the sorted values, interpolated; NaNs are skipped, NaN when none is left.
 * Reorders the values. */
double dfrt_quantile(double *values, size_t count, double q);

/* e = x0, then e = alpha·x + (1 − alpha)·e, in the given order. */
double dfrt_ewma(const double *values, size_t count, double alpha);

/* Mean and sum of squared distances of two sets, the first of `before` values, the second of `count`. */
void dfrt_combine_moments(double *mean, double *m2, int64_t before, double later_mean, double later_m2,
                          int64_t count);

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
