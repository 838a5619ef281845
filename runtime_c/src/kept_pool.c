#define _GNU_SOURCE
#include "kept_pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "dfrt/stage.h"

enum {
    FAST_GROWTH = 2048, /* up to here times 4, so that a group moves seldom; then times 2 */
    LARGEST_SMALL = 1 << 15,
    FIRST_CHUNK = 1 << 16,
    HUGE_PAGE = 1 << 21,
    LARGEST_CHUNK = 2 * HUGE_PAGE,
    ALIGNED = 16, /* states of aggregates in C ask for as much */
    HEADER = 64, /* of a chunk and of a large piece: room for the links, and the rest stays aligned */
    LOOSE_LIST = DFRT_POOL_SIZES - 1,
};

typedef struct piece {
    struct piece *next, *before;
} piece;

size_t dfrt__width_of(dfrt_widths widths)
{
    size_t width = 0;
    for (uint32_t i = 0; i < widths.count; i++) {
        width += widths.of[i];
    }
    return width;
}

uint32_t dfrt__kept_following(uint32_t capacity)
{
    if (capacity == 0) {
        return DFRT__FIRST_CAPACITY;
    }
    if (capacity > UINT32_MAX / 4) {
        dfrt_out_of_memory();
    }
    return capacity * (capacity < FAST_GROWTH ? 4 : 2);
}

/* Which list of free pieces has those of a capacity. */
static uint32_t list_of(uint32_t capacity)
{
    uint32_t list = 0;
    for (uint32_t c = DFRT__FIRST_CAPACITY; c < capacity; c = dfrt__kept_following(c)) {
        list++;
    }
    return list;
}

/* Many small groups lie in huge pages: without them every group is also a miss of the TLB. */
static void add_chunk(dfrt_pool *pool)
{
    size_t size = pool->chunk_size == 0 ? FIRST_CHUNK : pool->chunk_size < LARGEST_CHUNK ? pool->chunk_size * 2
                                                                                        : LARGEST_CHUNK;
    piece *chunk = aligned_alloc(size < HUGE_PAGE ? HEADER : HUGE_PAGE, size);
    if (chunk == NULL) {
        dfrt_out_of_memory();
    }
    if (size >= HUGE_PAGE) {
        (void)madvise(chunk, size, MADV_HUGEPAGE); /* a wish: small pages do too */
    }
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    pool->chunk_size = size;
    pool->left = size - HEADER;
}

static unsigned char *take_small(dfrt_pool *pool, size_t size, uint32_t list)
{
    piece *reused = pool->free_lists[list];
    if (reused != NULL) {
        pool->free_lists[list] = reused->next;
        return (unsigned char *)reused;
    }
    if (pool->left < size) {
        add_chunk(pool);
    }
    unsigned char *end = (unsigned char *)pool->chunks + pool->chunk_size;
    unsigned char *taken = end - pool->left;
    pool->left -= size;
    return taken;
}

static void link_large(dfrt_pool *pool, piece *large)
{
    large->before = NULL;
    large->next = pool->large;
    if (large->next != NULL) {
        large->next->before = large;
    }
    pool->large = large;
}

static void unlink_large(dfrt_pool *pool, const piece *large)
{
    if (large->next != NULL) {
        large->next->before = large->before;
    }
    if (large->before != NULL) {
        large->before->next = large->next;
    } else {
        pool->large = large->next;
    }
}

static unsigned char *take_large(dfrt_pool *pool, size_t size)
{
    piece *made = aligned_alloc(HEADER, (size + 2 * HEADER - 1) / HEADER * HEADER);
    if (made == NULL) {
        dfrt_out_of_memory();
    }
    link_large(pool, made);
    return (unsigned char *)made + HEADER;
}

static void release_large(dfrt_pool *pool, unsigned char *room)
{
    piece *old = (piece *)(void *)(room - HEADER);
    unlink_large(pool, old);
    free(old);
}

static bool is_small(size_t size, uint32_t list)
{
    return size <= LARGEST_SMALL && list < LOOSE_LIST;
}

unsigned char *dfrt__pool_take(dfrt_pool *pool, size_t width, uint32_t capacity)
{
    size_t size = (width * capacity + ALIGNED - 1) / ALIGNED * ALIGNED;
    uint32_t list = list_of(capacity);
    return is_small(size, list) ? take_small(pool, size, list) : take_large(pool, size);
}

void dfrt__pool_release(dfrt_pool *pool, unsigned char *room, size_t width, uint32_t capacity)
{
    uint32_t list = list_of(capacity);
    if (!is_small(width * capacity, list)) {
        release_large(pool, room);
        return;
    }
    piece *old = (piece *)(void *)room;
    old->next = pool->free_lists[list];
    pool->free_lists[list] = old;
}

/* A piece of a size that no other has. */
static size_t loose_size(size_t width)
{
    return sizeof(dfrt__loose) + (width * DFRT__FIRST_CAPACITY + ALIGNED - 1) / ALIGNED * ALIGNED;
}

dfrt__loose *dfrt__pool_take_loose(dfrt_pool *pool, size_t width)
{
    return (dfrt__loose *)(void *)take_small(pool, loose_size(width), LOOSE_LIST);
}

void dfrt__pool_release_loose(dfrt_pool *pool, dfrt__loose *loose)
{
    piece *old = (piece *)(void *)loose;
    old->next = pool->free_lists[LOOSE_LIST];
    pool->free_lists[LOOSE_LIST] = old;
}

bool dfrt__pool_adopt(dfrt_pool *to, dfrt_pool *from, unsigned char *room, size_t width, uint32_t capacity)
{
    if (is_small(width * capacity, list_of(capacity))) {
        return false;
    }
    piece *large = (piece *)(void *)(room - HEADER);
    unlink_large(from, large);
    link_large(to, large);
    return true;
}

static void free_all(piece *first)
{
    while (first != NULL) {
        piece *next = first->next;
        free(first);
        first = next;
    }
}

void dfrt_pool_close(dfrt_pool *pool)
{
    free_all(pool->chunks);
    free_all(pool->large);
    for (dfrt_share *share = pool->made_shares; share != NULL;) {
        dfrt_share *before = share->made;
        free(share);
        share = before;
    }
    *pool = (dfrt_pool){0};
}
