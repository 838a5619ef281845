/* From an int64_t to the number of its group, where there are many: a slot has the lower half of the hash and the number,
 * 8 bytes, so that the slots of a million keys are 16 MB. The group has the upper half; `mix` is one to one, so both
 * together say whether it is the key's. Any key may come; group numbers count from 0. Nearly every key is found
 * where its search begins, so a group is guessed from the slots alone, fetched, and looked at later. */
#ifndef TAGGED_H
#define TAGGED_H

#include "limit.h"

typedef struct tag {
    uint32_t low;
    uint32_t group; /* + 1; 0 is free */
} tag;

typedef struct tags {
    tag *slots;
    uint64_t mask, used;
} tags;

/* One loop is ahead of itself: with the group of a later tuple, and with the slot and the input of still later ones. */
enum { NEAR = 32, FAR = 2 * NEAR, INPUT_AHEAD = 4096, FEW = 1 << 14 };

/* Few lines can be on their way to the first cache at once, more to the second: groups go there unless they are there
 * already. */
static inline void fetch_group(const void *group, uint64_t groups)
{
    if (groups > FEW) {
        __builtin_prefetch(group, 0, 2);
    } else {
        __builtin_prefetch(group, 1);
    }
}

/* A new group's memory is asked for some groups before: stores wait for each other, and nothing else has looked there. */
static inline void fetch_fresh(const void *last, size_t group_size)
{
    __builtin_prefetch((const char *)last + 16 * group_size, 1);
}

static inline tags new_tags(void)
{
    size_t slots = 1 << 12;
    return (tags){.slots = allocate_huge(slots * sizeof(tag)), .mask = slots - 1};
}

/* Zeroes for as many groups as there may ever be: addresses, which get memory when they are used. Nothing moves. */
static inline void *reserve(size_t group_size)
{
    size_t size = group_size << 32;
    void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) die("memory");
    (void)madvise(room, size, MADV_HUGEPAGE);
    return room;
}

static inline void put_tag(tags *t, tag one)
{
    uint64_t at = one.low & t->mask;
    while (t->slots[at].group != 0) at = (at + 1) & t->mask;
    t->slots[at] = one;
}

static __attribute__((noinline)) uint32_t add_group(tags *t, uint64_t hash)
{
    if ((t->used + 1) * 2 > t->mask + 1) {
        tags old = *t;
        t->mask = 2 * old.mask + 1;
        t->slots = allocate_huge((t->mask + 1) * sizeof(tag));
        for (uint64_t i = 0; i <= old.mask; i++)
            if (old.slots[i].group != 0) put_tag(t, old.slots[i]);
        free(old.slots);
    }
    put_tag(t, (tag){(uint32_t)hash, (uint32_t)++t->used});
    return (uint32_t)t->used - 1;
}

/* The next group from `*at` on that has the lower half of the hash; false if there is none. */
static inline bool next_group(const tags *t, uint64_t hash, uint64_t *at, uint32_t *group)
{
    for (;; ++*at) {
        tag found = t->slots[*at & t->mask];
        if (found.group == 0) return false;
        if (found.low != (uint32_t)hash) continue;
        *group = found.group - 1;
        return true;
    }
}

#endif
