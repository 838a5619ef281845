/* Where the columns of kept tuples come from (dfrt/kept.h).
 *
 * Threads:   a pool belongs to the stage whose segment holds it.
 * Ownership: the pool owns all pieces; who takes one gives it back, or leaves it to dfrt_pool_close.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_KEPT_POOL_H
#define DFRT_KEPT_POOL_H

#include <stdbool.h>

#include "dfrt/kept.h"

enum { DFRT__FIRST_CAPACITY = 8 };

/* A piece for the first tuples of a group, in a chain: DFRT__FIRST_CAPACITY tuples follow. */
typedef struct dfrt__loose {
    _Alignas(16) struct dfrt__loose *before;
} dfrt__loose;

size_t dfrt__width_of(dfrt_widths widths);

/* The capacity that comes after this one; after none, the first. */
uint32_t dfrt__kept_following(uint32_t capacity);

/* Columns of together `width` bytes for `capacity` tuples. */
unsigned char *dfrt__pool_take(dfrt_pool *pool, size_t width, uint32_t capacity);
void dfrt__pool_release(dfrt_pool *pool, unsigned char *room, size_t width, uint32_t capacity);
/* A large piece changes hands; false for a small one, which stays. */
bool dfrt__pool_adopt(dfrt_pool *to, dfrt_pool *from, unsigned char *room, size_t width, uint32_t capacity);

dfrt__loose *dfrt__pool_take_loose(dfrt_pool *pool, size_t width);
void dfrt__pool_release_loose(dfrt_pool *pool, dfrt__loose *loose);

/* --- loose tuples (kept_loose.c) --- */

void dfrt__loose_release(dfrt_pool *pool, const dfrt_kept *kept);
/* The same chain at the same places, in another pool. */
dfrt_kept dfrt__loose_move(dfrt_pool *to, dfrt_pool *from, const dfrt_kept *kept, dfrt_widths widths);

#endif
