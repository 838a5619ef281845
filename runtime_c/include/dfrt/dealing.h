/* Which worker gets the next window: who hands them out counts what he sent, and workers count what they did.
 *
 * Threads:   a dfrt_dealing belongs to the stage that hands out; each dfrt_done is counted up by one worker.
 * Ownership: the dealing owns the counters; workers borrow theirs with every window.
 * Progress:  nothing waits.
 */
#ifndef DFRT_DEALING_H
#define DFRT_DEALING_H

#include <stdatomic.h>
#include <stdint.h>

/* On a cache line of its own. Relaxed: it is a hint, and publishes nothing. */
typedef struct dfrt_done {
    _Alignas(64) _Atomic uint64_t count;
} dfrt_done;

typedef struct dfrt_dealing {
    uint64_t handed; /* windows so far */
    uint64_t *sent;  /* of each worker */
    dfrt_done *done;
    unsigned most;   /* workers that there are counters of */
    unsigned chosen; /* who gets the rest of a batch */
} dfrt_dealing;

/* Notes that a worker gets something, of at most `most` in the whole run, and of `workers` now; answers what he counts up
 * when it is done. */
dfrt_done *dfrt_dealing_send(dfrt_dealing *dealing, unsigned most, unsigned workers, unsigned worker);
/* The worker with the least to do, the first of them in turn; the same one for all windows of a batch. */
unsigned dfrt_dealing_least(dfrt_dealing *dealing, unsigned most, unsigned workers, uint64_t batch);
void dfrt_dealing_close(dfrt_dealing *dealing);

static inline void dfrt_done_one(dfrt_done *done)
{
    /* One writer: no read-modify-write is needed. */
    uint64_t count = atomic_load_explicit(&done->count, memory_order_relaxed);
    atomic_store_explicit(&done->count, count + 1, memory_order_relaxed);
}

#endif
