/* From an int64_t to the number of its group: open addressing, at most half full. Keys lie in the table, so that one
 * cache line answers. Any key may come; group numbers count from 0. */
#ifndef KEYED_H
#define KEYED_H

#include "limit.h"

typedef struct slot {
    int64_t key;
    uint32_t group; /* + 1; 0 is free */
} slot;

typedef struct table {
    slot *slots;
    uint64_t mask;
    uint32_t groups; /* numbers handed out, free ones included */
    uint32_t used;   /* slots */
    uint32_t *free_numbers, free_count;
    /* Whether a group still holds anything: asked when the table is full. NULL: they all do. */
    bool (*live)(void *context, uint32_t group);
    void *context;
} table;

static inline table new_table(size_t slots)
{
    return (table){.slots = allocate_huge(slots * sizeof(slot)), .mask = slots - 1};
}

static inline slot *probe(const table *t, int64_t key, uint64_t hash)
{
    for (uint64_t at = hash & t->mask;; at = (at + 1) & t->mask)
        if (t->slots[at].group == 0 || t->slots[at].key == key) return &t->slots[at];
}

/* Leaves out the groups that hold nothing any more; grows if that was not enough. */
static inline void make_room(table *t)
{
    slot *old = t->slots;
    uint64_t old_mask = t->mask, kept = 0;
    t->free_numbers = realloc(t->free_numbers, (t->groups + 1) * sizeof *t->free_numbers);
    if (t->free_numbers == NULL) die("memory");
    for (uint64_t i = 0; i <= old_mask; i++) {
        if (old[i].group == 0) continue;
        if (t->live != NULL && !t->live(t->context, old[i].group - 1)) {
            t->free_numbers[t->free_count++] = old[i].group - 1;
            old[i].group = 0;
        } else {
            kept++;
        }
    }
    if (kept * 4 > old_mask) t->mask = old_mask * 4 + 3;
    t->slots = allocate_huge((t->mask + 1) * sizeof(slot));
    for (uint64_t i = 0; i <= old_mask; i++)
        if (old[i].group != 0) *probe(t, old[i].key, mix((uint64_t)old[i].key)) = old[i];
    t->used = (uint32_t)kept;
    free(old);
}

static __attribute__((noinline)) uint32_t insert(table *t, int64_t key)
{
    if ((t->used + 1) * (uint64_t)2 > t->mask + 1) make_room(t);
    uint32_t number = t->free_count > 0 ? t->free_numbers[--t->free_count] : t->groups++;
    *probe(t, key, mix((uint64_t)key)) = (slot){key, number + 1};
    t->used++;
    return number;
}

/* The group of a key. A number that is not below the caller's capacity is new; others may be used again. */
static inline uint32_t group_of(table *t, int64_t key)
{
    uint32_t group = probe(t, key, mix((uint64_t)key))->group;
    return LIKELY(group != 0) ? group - 1 : insert(t, key);
}

/* Groups that are large each have memory of their own: zeroes, when the group is new. */
typedef struct rooms {
    void **of;
    size_t capacity;
} rooms;

static inline void *room_of(rooms *r, uint32_t group, size_t size)
{
    if (UNLIKELY(group >= r->capacity)) {
        size_t more = r->capacity == 0 ? 4096 : 4 * r->capacity;
        r->of = realloc(r->of, more * sizeof *r->of);
        if (r->of == NULL) die("memory");
        memset(r->of + r->capacity, 0, (more - r->capacity) * sizeof *r->of);
        r->capacity = more;
    }
    if (UNLIKELY(r->of[group] == NULL)) r->of[group] = memset(allocate(size), 0, size);
    return r->of[group];
}

#endif
