#include "dfrt/kept.h"

#include <string.h>

#include "dfrt/store.h"
#include "kept_pool.h"

enum { COLLECTED = 4 }; /* pieces that are asked for their readers at a time */

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
        dfrt__pool_release(pool, kept->room, width, kept->capacity);
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
            dfrt__pool_release(pool, share->room, width, share->capacity);
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
    unsigned char *room = is_read(kept) ? dfrt__pool_take(pool, dfrt__width_of(widths), kept->capacity) : kept->room;
    move_all(room, kept->capacity, 0, kept, widths);
    if (room != kept->room) {
        let_go(pool, kept, dfrt__width_of(widths));
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
    size_t width = dfrt__width_of(widths);
    uint32_t capacity = dfrt__kept_following(kept->capacity);
    unsigned char *room = dfrt__pool_take(pool, width, capacity);
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
    collect(pool, dfrt__width_of(widths));
    if (kept->head > 0 && kept->head >= kept->capacity / 4) {
        return move_to_front(pool, kept, widths);
    }
    grow(pool, kept, widths);
    return 0;
}

void dfrt_kept_release(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    if (dfrt_kept_is_loose(kept)) {
        dfrt__loose_release(pool, kept);
    } else if (kept->room != NULL) {
        let_go(pool, kept, dfrt__width_of(widths));
    }
    *kept = (dfrt_kept){0};
}

dfrt_kept dfrt_kept_copy(dfrt_pool *pool, const dfrt_kept *kept, dfrt_widths widths)
{
    dfrt_kept copy = {.tail = kept->tail - kept->head, .capacity = DFRT__FIRST_CAPACITY};
    collect(pool, dfrt__width_of(widths));
    while (copy.capacity < copy.tail) {
        copy.capacity = dfrt__kept_following(copy.capacity);
    }
    copy.room = dfrt__pool_take(pool, dfrt__width_of(widths), copy.capacity);
    move_all(copy.room, copy.capacity, 0, kept, widths);
    return copy;
}

dfrt_kept dfrt_kept_move(dfrt_pool *to, dfrt_pool *from, dfrt_kept *kept, dfrt_widths widths)
{
    dfrt_kept moved = *kept;
    size_t width = dfrt__width_of(widths);
    moved.share = NULL;
    if (kept->room == NULL) {
        return moved;
    }
    if (dfrt_kept_is_loose(kept)) {
        moved = dfrt__loose_move(to, from, kept, widths);
    } else if (kept->share != NULL || !dfrt__pool_adopt(to, from, kept->room, width, kept->capacity)) {
        moved.room = dfrt__pool_take(to, width, kept->capacity);
        move_all(moved.room, kept->capacity, kept->head, kept, widths);
        let_go(from, kept, width);
    }
    *kept = (dfrt_kept){0};
    return moved;
}

void dfrt_kept_reserve(dfrt_pool *pool, dfrt_kept *kept, uint32_t count, dfrt_widths widths)
{
    kept->capacity = DFRT__FIRST_CAPACITY;
    while (kept->capacity <= count) {
        kept->capacity = dfrt__kept_following(kept->capacity);
    }
    kept->room = dfrt__pool_take(pool, dfrt__width_of(widths), kept->capacity);
    memset(kept->room, 0, dfrt__width_of(widths) * kept->capacity);
}
