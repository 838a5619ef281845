/* Waiting without burning a core: spin a little, yield a little, then sleep until somebody wakes us.
 *
 * Threads:   one thread sleeps on a waiter (its owner); any thread may wake it.
 * Ownership: the waiter lives in the stage of its owner and outlives all rings that name it.
 * Progress:  dfrt_waiter_wake never blocks. A sleeper that has announced itself and finds its condition
 *            still false sleeps; whoever makes the condition true afterwards sees the announcement.
 */
#ifndef DFRT_WAIT_H
#define DFRT_WAIT_H

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct dfrt_waiter {
    _Alignas(64) _Atomic int asleep; /* 1: announced; the waker that takes it back to 0 posts */
    sem_t signal;
    unsigned rounds; /* owner only: how long this wait has lasted */
} dfrt_waiter;

int dfrt_waiter_open(dfrt_waiter *waiter);
void dfrt_waiter_close(dfrt_waiter *waiter);

/* Any thread, after it has made something true that the owner may wait for. */
static inline void dfrt_waiter_wake(dfrt_waiter *waiter)
{
    /* One variable decides: either this exchange takes an announcement and posts, or it comes before the
     * announcement, which then (acquire, partner: dfrt_waiter_pause) sees what we did before it. */
    if (atomic_exchange_explicit(&waiter->asleep, 0, memory_order_acq_rel) != 0) {
        (void)sem_post(&waiter->signal); /* can only fail on overflow: at most one post is outstanding */
    }
}

/* Owner: the condition is false. True means: look at it again at once; false: announced, look once more and
 * then call dfrt_waiter_sleep or dfrt_waiter_cancel. */
bool dfrt_waiter_pause(dfrt_waiter *waiter);
void dfrt_waiter_sleep(dfrt_waiter *waiter);
void dfrt_waiter_cancel(dfrt_waiter *waiter);

#endif
