#define _GNU_SOURCE
#include "dfrt/kept.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dfrt/stage.h"
#include "dfrt/store.h"

enum {
    FIRST_CAPACITY = 8,
    FAST_GROWTH = 2048, /* up to here times 4, so that a group moves seldom; then times 2 */
    LARGEST_SMALL = 1 << 15,
    FIRST_CHUNK = 1 << 16,
    HUGE_PAGE = 1 << 21,
    LARGEST_CHUNK = 2 * HUGE_PAGE,
    COLLECTED = 4, /* pieces that are asked for their readers at a time */
    ALIGNED = 16, /* states of aggregates in C ask for as much */
    HEADER = 64, /* of a chunk and of a large piece: room for the links, and the rest stays aligned */
};

/* --- pool ------------------------------------------------------------------------------------------- */

typedef struct piece {
    struct piece *next, *before;
} piece;

static size_t width_of(dfrt_widths widths)
{
    size_t width = 0;
    for (uint32_t i = 0; i < widths.count; i++) {
        width += widths.of[i];
    }
    return width;
}

static uint32_t following(uint32_t capacity)
{
    if (capacity == 0) {
        return FIRST_CAPACITY;
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
    for (uint32_t c = FIRST_CAPACITY; c < capacity; c = following(c)) {
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
    return size <= LARGEST_SMALL && list < DFRT_POOL_SIZES;
}

static unsigned char *take(dfrt_pool *pool, size_t width, uint32_t capacity)
{
    size_t size = (width * capacity + ALIGNED - 1) / ALIGNED * ALIGNED;
    uint32_t list = list_of(capacity);
    return is_small(size, list) ? take_small(pool, size, list) : take_large(pool, size);
}

static void release(dfrt_pool *pool, unsigned char *room, size_t width, uint32_t capacity)
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

/* --- sharing ---------------------------------------------------------------------------------------- */

static bool is_read(const dfrt_kept *kept)
{
    return kept->share != NULL && atomic_load_explicit(&kept->share->readers, memory_order_acquire) > 0;
}

static dfrt_share *new_share(dfrt_pool *pool)
{
    dfrt_share *share = pool->free_shares;
    if (share != NULL) {
        pool->free_shares = share->next;
        return share;
    }
    share = dfrt_allocate(sizeof *share);
    share->made = pool->made_shares;
    return pool->made_shares = share;
}

dfrt_share *dfrt_kept_share(dfrt_pool *pool, dfrt_kept *kept, uint32_t readers)
{
    if (kept->share == NULL) {
        kept->share = new_share(pool);
    }
    (void)atomic_fetch_add_explicit(&kept->share->readers, readers, memory_order_relaxed);
    return kept->share;
}

static void free_share(dfrt_pool *pool, dfrt_share *share)
{
    share->next = pool->free_shares;
    pool->free_shares = share;
}

static void await_readers(dfrt_pool *pool, dfrt_share *share)
{
    share->next = NULL;
    *(pool->waiting != NULL ? &pool->last_waiting->next : &pool->waiting) = share;
    pool->last_waiting = share;
}

/* Gives the group's memory back, or lets it wait until nobody reads it. */
static void let_go(dfrt_pool *pool, dfrt_kept *kept, size_t width)
{
    dfrt_share *share = kept->share;
    if (is_read(kept)) {
        share->room = kept->room;
        share->capacity = kept->capacity;
        await_readers(pool, share);
    } else {
        release(pool, kept->room, width, kept->capacity);
        if (share != NULL) {
            free_share(pool, share);
        }
    }
    kept->share = NULL;
}

/* Memory whose readers are done is used again. A few pieces are looked at whenever one is wanted: more come back than
 * are taken, and however many wait, no tuple pays for all of them. */
static void collect(dfrt_pool *pool, size_t width)
{
    for (int looked_at = 0; looked_at < COLLECTED && pool->waiting != NULL; looked_at++) {
        dfrt_share *share = pool->waiting;
        pool->waiting = share->next;
        if (atomic_load_explicit(&share->readers, memory_order_acquire) > 0) {
            await_readers(pool, share);
        } else {
            release(pool, share->room, width, share->capacity);
            free_share(pool, share);
        }
    }
}

/* --- room ------------------------------------------------------------------------------------------- */

/* All that is kept goes to place `at` of a room, which may be its own. */
static void move_all(unsigned char *to, uint32_t capacity, uint32_t at, const dfrt_kept *kept, dfrt_widths widths)
{
    const unsigned char *from = kept->room;
    for (uint32_t i = 0; i < widths.count; i++) {
        memmove(to + (size_t)at * widths.of[i], from + (size_t)kept->head * widths.of[i],
                (size_t)(kept->tail - kept->head) * widths.of[i]);
        from += (size_t)kept->capacity * widths.of[i];
        to += (size_t)capacity * widths.of[i];
    }
}

/* What others read stays where it is. */
static uint32_t move_to_front(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    uint32_t moved = kept->head;
    unsigned char *room = is_read(kept) ? take(pool, width_of(widths), kept->capacity) : kept->room;
    move_all(room, kept->capacity, 0, kept, widths);
    if (room != kept->room) {
        let_go(pool, kept, width_of(widths));
        kept->room = room;
    }
    kept->head = 0;
    kept->tail -= moved;
    kept->in_order = kept->in_order > moved ? kept->in_order - moved : 0;
    return moved;
}

/* Only what is held moves over, and to the same places. */
static void grow(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    size_t width = width_of(widths);
    uint32_t capacity = following(kept->capacity);
    unsigned char *room = take(pool, width, capacity);
    if (kept->room != NULL) {
        move_all(room, capacity, kept->head, kept, widths);
        let_go(pool, kept, width);
    }
    kept->room = room;
    kept->capacity = capacity;
}

uint32_t dfrt_kept_room(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    if (kept->tail < kept->capacity) {
        return 0;
    }
    collect(pool, width_of(widths));
    if (kept->head > 0 && kept->head >= kept->capacity / 4) {
        return move_to_front(pool, kept, widths);
    }
    grow(pool, kept, widths);
    return 0;
}

void dfrt_kept_release(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    if (kept->room != NULL) {
        let_go(pool, kept, width_of(widths));
    }
    *kept = (dfrt_kept){0};
}

dfrt_kept dfrt_kept_copy(dfrt_pool *pool, const dfrt_kept *kept, dfrt_widths widths)
{
    dfrt_kept copy = {.tail = kept->tail - kept->head, .capacity = FIRST_CAPACITY};
    collect(pool, width_of(widths));
    while (copy.capacity < copy.tail) {
        copy.capacity = following(copy.capacity);
    }
    copy.room = take(pool, width_of(widths), copy.capacity);
    move_all(copy.room, copy.capacity, 0, kept, widths);
    return copy;
}

dfrt_kept dfrt_kept_move(dfrt_pool *to, dfrt_pool *from, dfrt_kept *kept, dfrt_widths widths)
{
    dfrt_kept moved = *kept;
    size_t width = width_of(widths);
    moved.share = NULL;
    if (kept->room == NULL) {
        return moved;
    }
    if (kept->share == NULL && !is_small(width * kept->capacity, list_of(kept->capacity))) {
        piece *large = (piece *)(void *)(kept->room - HEADER);
        unlink_large(from, large);
        link_large(to, large);
    } else {
        moved.room = take(to, width, kept->capacity);
        move_all(moved.room, kept->capacity, kept->head, kept, widths);
        let_go(from, kept, width);
    }
    *kept = (dfrt_kept){0};
    return moved;
}

void dfrt_kept_reserve(dfrt_pool *pool, dfrt_kept *kept, uint32_t count, dfrt_widths widths)
{
    kept->capacity = FIRST_CAPACITY;
    while (kept->capacity <= count) {
        kept->capacity = following(kept->capacity);
    }
    kept->room = take(pool, width_of(widths), kept->capacity);
    memset(kept->room, 0, width_of(widths) * kept->capacity);
}

/* --- order of time ---------------------------------------------------------------------------------- */

/* Disorder is bounded by the slack: the place is near the end. */
uint32_t dfrt_kept_open(dfrt_kept *kept, int64_t time, dfrt_widths widths)
{
    const int64_t *times = dfrt_kept_times(kept);
    uint32_t at = kept->tail;
    while (at > kept->head && times[at - 1] > time) {
        at--;
    }
    unsigned char *column = kept->room;
    for (uint32_t i = 0; i < widths.count; i++) {
        unsigned char *place = column + (size_t)at * widths.of[i];
        memmove(place + widths.of[i], place, (size_t)(kept->tail - at) * widths.of[i]);
        column += (size_t)kept->capacity * widths.of[i];
    }
    return at;
}

uint32_t dfrt_kept_from(const dfrt_kept *kept, int64_t time)
{
    const int64_t *times = dfrt_kept_times(kept);
    uint32_t low = kept->head, high = kept->tail;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

typedef struct moment {
    int64_t time;
    size_t at;
} moment;

static void order_by_time(moment *order, const dfrt_kept *kept, uint32_t from)
{
    const int64_t *times = dfrt_kept_times(kept);
    for (size_t i = 0; i < kept->tail - from; i++) {
        moment one = {times[from + i], from + i};
        size_t at = i;
        for (; at > 0 && order[at - 1].time > one.time; at--) {
            order[at] = order[at - 1];
        }
        order[at] = one;
    }
}

/* `order` says which element of the one goes next into the other. */
static void copy_column(unsigned char *to, const unsigned char *from, uint32_t width, const moment *order,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * width, from + order[i].at * width, width);
    }
}

const dfrt_kept *dfrt_kept_by_time(dfrt_kept *sorted, const dfrt_kept *kept, uint32_t *from, dfrt_widths widths)
{
    if (kept->in_order <= *from) {
        return kept;
    }
    uint32_t count = kept->tail - *from;
    if (count > sorted->capacity) {
        sorted->capacity = (count + FIRST_CAPACITY - 1) / FIRST_CAPACITY * FIRST_CAPACITY;
        sorted->room = dfrt_resize(sorted->room, sorted->capacity * (width_of(widths) + sizeof(moment)));
    }
    moment *order = (moment *)(void *)(sorted->room + sorted->capacity * width_of(widths));
    order_by_time(order, kept, *from);
    unsigned char *to = sorted->room, *column = kept->room;
    for (uint32_t i = 0; i < widths.count; i++) {
        copy_column(to, column, widths.of[i], order, count);
        to += (size_t)sorted->capacity * widths.of[i];
        column += (size_t)kept->capacity * widths.of[i];
    }
    sorted->head = 0;
    sorted->tail = count;
    *from = 0;
    return sorted;
}
