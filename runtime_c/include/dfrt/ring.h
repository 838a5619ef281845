/* A bounded queue of pointers between two threads.
 *
 * Threads:   exactly one producer calls dfrt_ring_push, exactly one consumer calls dfrt_ring_pop.
 * Ownership: what is pushed belongs to the ring until it is popped, then to the consumer.
 * Progress:  push and pop are wait-free; full and empty are answers, not waits.
 */
#ifndef DFRT_RING_H
#define DFRT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { DFRT_RING_CAPACITY = 16 }; /* a power of two: how many batches may be on the way */

typedef struct dfrt_ring {
    _Alignas(64) _Atomic size_t pushed; /* written by the producer */
    size_t seen_popped;                 /* producer's copy, refreshed when the ring looks full */
    _Alignas(64) _Atomic size_t popped; /* written by the consumer */
    size_t seen_pushed;                 /* consumer's copy, refreshed when the ring looks empty */
    _Alignas(64) void *items[DFRT_RING_CAPACITY];
} dfrt_ring;

/* Producer only. */
static inline bool dfrt_ring_push(dfrt_ring *ring, void *item)
{
    size_t at = atomic_load_explicit(&ring->pushed, memory_order_relaxed);
    if (at - ring->seen_popped == DFRT_RING_CAPACITY) {
        /* Partner: the release in dfrt_ring_pop; the slot's old content has been read. */
        ring->seen_popped = atomic_load_explicit(&ring->popped, memory_order_acquire);
        if (at - ring->seen_popped == DFRT_RING_CAPACITY) {
            return false;
        }
    }
    ring->items[at % DFRT_RING_CAPACITY] = item;
    /* Partner: the acquire in dfrt_ring_pop; publishes the item and all that it points at. */
    atomic_store_explicit(&ring->pushed, at + 1, memory_order_release);
    return true;
}

/* Consumer only. */
static inline bool dfrt_ring_is_empty(dfrt_ring *ring)
{
    size_t at = atomic_load_explicit(&ring->popped, memory_order_relaxed);
    if (at == ring->seen_pushed) {
        ring->seen_pushed = atomic_load_explicit(&ring->pushed, memory_order_acquire);
    }
    return at == ring->seen_pushed;
}

/* Consumer only. NULL: nothing there. */
static inline void *dfrt_ring_pop(dfrt_ring *ring)
{
    size_t at = atomic_load_explicit(&ring->popped, memory_order_relaxed);
    if (at == ring->seen_pushed) {
        ring->seen_pushed = atomic_load_explicit(&ring->pushed, memory_order_acquire);
        if (at == ring->seen_pushed) {
            return NULL;
        }
    }
    void *item = ring->items[at % DFRT_RING_CAPACITY];
    atomic_store_explicit(&ring->popped, at + 1, memory_order_release);
    return item;
}

#endif
