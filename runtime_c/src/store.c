#define _GNU_SOURCE
#include "dfrt/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dfrt/stage.h"

void *dfrt_allocate(size_t size)
{
    void *room = calloc(1, size);
    if (room == NULL) {
        dfrt_out_of_memory();
    }
    return room;
}

void *dfrt_resize(void *old, size_t size)
{
    void *room = realloc(old, size);
    if (room == NULL) {
        dfrt_out_of_memory();
    }
    return room;
}

enum { LARGE_PAGE = 2 << 20 };

/* Twice the alignment is mapped and the ends given back: what is left begins at a large page. NULL if there is no room. */
static void *map_aligned(size_t size, int protection, int flags)
{
    unsigned char *room = mmap(NULL, size + LARGE_PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (room == MAP_FAILED) {
        return NULL;
    }
    size_t before = (LARGE_PAGE - (uintptr_t)room % LARGE_PAGE) % LARGE_PAGE;
    /* Neither a failure to trim nor small pages make it wrong. */
    if (before > 0) {
        (void)munmap(room, before);
    }
    (void)munmap(room + before + size, LARGE_PAGE - before);
    (void)madvise(room + before, size, MADV_HUGEPAGE);
    return room + before;
}

static size_t whole_pages(size_t size)
{
    return (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

static void *allocate_lines(size_t size)
{
    size_t whole = (size + DFRT_LINE - 1) / DFRT_LINE * DFRT_LINE;
    void *room = aligned_alloc(DFRT_LINE, whole);
    if (room == NULL) {
        dfrt_out_of_memory();
    }
    return memset(room, 0, whole);
}

void *dfrt_pages_take(size_t size)
{
    if (size < LARGE_PAGE) {
        return allocate_lines(size);
    }
    void *pages = map_aligned(whole_pages(size), PROT_READ | PROT_WRITE, 0);
    if (pages == NULL) {
        dfrt_out_of_memory();
    }
    return pages;
}

void dfrt_pages_release(void *pages, size_t size)
{
    if (size < LARGE_PAGE) {
        free(pages);
    } else {
        (void)munmap(pages, whole_pages(size)); /* fails only for what was not mapped */
    }
}

uint32_t dfrt_slide(void **items, size_t item_size, uint32_t *head, uint32_t *tail, uint32_t *capacity)
{
    if (*tail < *capacity) {
        return 0;
    }
    uint32_t moved = *head;
    if (moved > 0 && moved >= *capacity / 2) {
        unsigned char *base = *items;
        memmove(base, base + (size_t)moved * item_size, (size_t)(*tail - moved) * item_size);
        *head = 0;
        *tail -= moved;
        return moved;
    }
    *capacity = *capacity == 0 ? 4 : *capacity * 2;
    *items = dfrt_resize(*items, (size_t)*capacity * item_size);
    return 0;
}

/* --- groups ----------------------------------------------------------------------------------------- */

enum { FIRST_USABLE = 1 << 14, LIMITED_PART = 512 };

/* Twice the memory of the machine, or more, as a power of two. Where addresses are limited (`ulimit -v`), other stores,
 * stacks and buffers need them too: a small part of them. */
static size_t most_room(void)
{
    struct rlimit limit;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t memory = pages > 0 && size > 0 ? (size_t)pages * (size_t)size : (size_t)1 << 30, room = LARGE_PAGE;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / LIMITED_PART < memory) {
        memory = (size_t)limit.rlim_cur / LIMITED_PART;
    }
    while (room < 2 * memory) room *= 2;
    return room;
}

/* Addresses only. Where so many are not to be had, fewer must do. */
static void reserve(dfrt_groups *groups, size_t least)
{
    size_t size = most_room();
    while (groups->room == NULL && size >= least) {
        groups->reserved = size;
        groups->room = map_aligned(size, PROT_NONE, MAP_NORESERVE);
        size /= 2;
    }
}

/* Twice as much each time, so that the kernel is seldom asked. */
static void make_usable(dfrt_groups *groups, size_t size)
{
    size_t usable = groups->usable == 0 ? FIRST_USABLE : groups->usable;
    while (usable < size) usable *= 2;
    if (groups->room == NULL) reserve(groups, usable);
    if (groups->room == NULL || usable > groups->reserved ||
        mprotect(groups->room, usable, PROT_READ | PROT_WRITE) != 0) {
        dfrt_out_of_memory();
    }
    groups->usable = usable;
}

/* A free number, or the first one behind what is usable. */
uint32_t dfrt__groups_take_slowly(dfrt_groups *groups, size_t group_size)
{
    if (groups->free_count > 0) {
        uint32_t group = groups->free_list[--groups->free_count];
        memset(dfrt_groups_at(groups, group, group_size), 0, group_size);
        return group;
    }
    if (groups->made == UINT32_MAX) {
        dfrt_out_of_memory();
    }
    make_usable(groups, ((size_t)groups->made + 2) * group_size); /* group 0 included */
    return ++groups->made;
}

void dfrt_groups_release(dfrt_groups *groups, uint32_t group)
{
    if (groups->free_count == groups->free_capacity) {
        groups->free_capacity = groups->free_capacity == 0 ? 64 : groups->free_capacity * 2;
        groups->free_list = dfrt_resize(groups->free_list, groups->free_capacity * sizeof *groups->free_list);
    }
    groups->free_list[groups->free_count++] = group;
}

unsigned char *dfrt_groups_live(const dfrt_groups *groups)
{
    unsigned char *live = dfrt_allocate(groups->made + (size_t)1);
    memset(live + 1, 1, groups->made);
    for (uint32_t i = 0; i < groups->free_count; i++) {
        live[groups->free_list[i]] = 0;
    }
    return live;
}

void dfrt_groups_close(dfrt_groups *groups)
{
    if (groups->room != NULL) {
        (void)munmap(groups->room, groups->reserved); /* fails only for what was not mapped */
    }
    free(groups->free_list);
}

/* --- order ------------------------------------------------------------------------------------------ */

void dfrt_order_add(dfrt_order *order, uint32_t group)
{
    if (order->count == order->capacity) {
        order->capacity = order->capacity == 0 ? 64 : order->capacity * 2;
        order->groups = dfrt_resize(order->groups, order->capacity * sizeof *order->groups);
        order->scratch = dfrt_resize(order->scratch, order->capacity * sizeof *order->scratch);
    }
    order->groups[order->count++] = group;
}

static void merge(const dfrt_order *order, uint32_t from, uint32_t middle, uint32_t to,
                  dfrt_group_compare compare, const void *context)
{
    uint32_t *groups = order->groups;
    uint32_t left = from;
    uint32_t right = middle;
    for (uint32_t at = from; at < to; at++) {
        bool take_left = right == to || (left < middle && compare(context, groups[left], groups[right]) <= 0);
        order->scratch[at] = take_left ? groups[left++] : groups[right++];
    }
    memcpy(groups + from, order->scratch + from, (to - from) * sizeof *groups);
}

static void sort_range(const dfrt_order *order, uint32_t from, uint32_t to, dfrt_group_compare compare,
                       const void *context)
{
    if (to - from < 2) {
        return;
    }
    uint32_t middle = from + (to - from) / 2;
    sort_range(order, from, middle, compare, context);
    sort_range(order, middle, to, compare, context);
    if (compare(context, order->groups[middle - 1], order->groups[middle]) > 0) {
        merge(order, from, middle, to, compare, context);
    }
}

void dfrt_order_sort(dfrt_order *order, dfrt_group_compare compare, const void *context)
{
    if (order->sorted == order->count) {
        return;
    }
    sort_range(order, order->sorted, order->count, compare, context);
    merge(order, 0, order->sorted, order->count, compare, context);
    order->sorted = order->count;
}

void dfrt_order_drop(dfrt_order *order, const uint32_t *moved)
{
    uint32_t kept = 0, sorted = 0;
    for (uint32_t i = 0; i < order->count; i++) {
        if (moved[order->groups[i]] == 0) {
            sorted += i < order->sorted;
            order->groups[kept++] = order->groups[i];
        }
    }
    order->count = kept;
    order->sorted = sorted;
}

void dfrt_order_close(dfrt_order *order)
{
    free(order->groups);
    free(order->scratch);
}
