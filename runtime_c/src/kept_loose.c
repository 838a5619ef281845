/* The first tuples of a group, in a chain of small pieces: nothing is copied as it grows, and little stands empty. */
#include <string.h>

#include "kept_pool.h"

enum { MOST_LOOSE = 64 };

static dfrt__loose *piece_of(const dfrt_kept *kept)
{
    return (dfrt__loose *)(void *)kept->room - 1;
}

static void add_piece(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    dfrt__loose *made = dfrt__pool_take_loose(pool, widths.loose);
    made->before = kept->room == NULL ? NULL : piece_of(kept);
    kept->room = (unsigned char *)(made + 1);
    kept->capacity = DFRT__FIRST_CAPACITY;
    kept->in_order = (uint32_t)DFRT_KEPT_LOOSE;
}

int64_t dfrt_kept_room_loose(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    if (kept->room == NULL) {
        add_piece(pool, kept, widths);
    }
    if (kept->tail < kept->capacity) {
        return 0;
    }
    if (!dfrt_kept_is_loose(kept)) {
        return dfrt_kept_room(pool, kept, widths);
    }
    if (kept->tail - kept->head >= MOST_LOOSE) {
        return dfrt_kept_gather(pool, kept, widths);
    }
    /* Not side by side: a compiler would load both at once, and wait for the store of a new tail a tuple ago. */
    kept->head -= DFRT__FIRST_CAPACITY; /* it wraps: the first tuples are before the last piece */
    add_piece(pool, kept, widths);
    kept->tail -= DFRT__FIRST_CAPACITY;
    return DFRT__FIRST_CAPACITY;
}

/* The first `count` tuples of a piece go to place `at` of columns for `capacity`. */
static void copy_out(unsigned char *to, uint32_t capacity, uint32_t at, const dfrt__loose *piece, uint32_t count,
                     dfrt_widths widths)
{
    for (uint32_t i = 0; i < widths.count; i++) {
        const unsigned char *from = (const unsigned char *)(piece + 1) + widths.offsets[i];
        for (uint32_t j = 0; j < count; j++) {
            memcpy(to + (size_t)(at + j) * widths.of[i], from + (size_t)j * widths.loose, widths.of[i]);
        }
        to += (size_t)capacity * widths.of[i];
    }
}

int64_t dfrt_kept_gather(dfrt_pool *pool, dfrt_kept *kept, dfrt_widths widths)
{
    if (!dfrt_kept_is_loose(kept)) {
        return 0;
    }
    uint32_t count = kept->tail - kept->head, capacity = DFRT__FIRST_CAPACITY, held = kept->tail;
    while (capacity <= count) {
        capacity = dfrt__kept_following(capacity);
    }
    dfrt_kept gathered = {.room = dfrt__pool_take(pool, dfrt__width_of(widths), capacity), .tail = count,
                          .capacity = capacity};
    uint32_t at = count;
    for (const dfrt__loose *piece = piece_of(kept); piece != NULL; piece = piece->before) {
        at -= held;
        copy_out(gathered.room, capacity, at, piece, held, widths);
        held = DFRT__FIRST_CAPACITY;
    }
    int64_t moved = (int64_t)kept->tail - count;
    dfrt__loose_release(pool, kept);
    *kept = gathered;
    return moved;
}

void dfrt__loose_release(dfrt_pool *pool, const dfrt_kept *kept)
{
    for (dfrt__loose *piece = piece_of(kept); piece != NULL;) {
        dfrt__loose *before = piece->before;
        dfrt__pool_release_loose(pool, piece);
        piece = before;
    }
}

dfrt_kept dfrt__loose_move(dfrt_pool *to, dfrt_pool *from, const dfrt_kept *kept, dfrt_widths widths)
{
    dfrt__loose *last = NULL, **link = &last;
    for (const dfrt__loose *piece = piece_of(kept); piece != NULL; piece = piece->before) {
        *link = dfrt__pool_take_loose(to, widths.loose);
        memcpy(*link + 1, piece + 1, (size_t)widths.loose * DFRT__FIRST_CAPACITY);
        link = &(*link)->before;
    }
    *link = NULL;
    dfrt__loose_release(from, kept);
    dfrt_kept moved = *kept;
    moved.room = (unsigned char *)(last + 1);
    return moved;
}
