#define _GNU_SOURCE
#include "dfrt/wait.h"

#include <errno.h>

/* A hand-over between running threads takes well under a microsecond: spin that long. On a machine with
 * fewer cores than threads spinning only delays the thread we wait for: yield soon, then sleep. */
enum { SPINS = 64, YIELDS = 16 };

int dfrt_waiter_open(dfrt_waiter *waiter)
{
    atomic_init(&waiter->asleep, 0);
    waiter->rounds = 0;
    return sem_init(&waiter->signal, 0, 0);
}

void dfrt_waiter_close(dfrt_waiter *waiter)
{
    (void)sem_destroy(&waiter->signal); /* fails only for a semaphore that was never opened */
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

bool dfrt_waiter_pause(dfrt_waiter *waiter)
{
    if (waiter->rounds < SPINS) {
        waiter->rounds++;
        relax();
        return true;
    }
    if (waiter->rounds < SPINS + YIELDS) {
        waiter->rounds++;
        (void)sched_yield();
        return true;
    }
    /* Announces, and sees what every waker before us did; partner: the exchange in dfrt_waiter_wake. */
    (void)atomic_exchange_explicit(&waiter->asleep, 1, memory_order_acq_rel);
    return false;
}

void dfrt_waiter_sleep(dfrt_waiter *waiter)
{
    while (sem_wait(&waiter->signal) != 0 && errno == EINTR) {
    }
    waiter->rounds = 0;
}

void dfrt_waiter_cancel(dfrt_waiter *waiter)
{
    waiter->rounds = 0;
    if (atomic_exchange_explicit(&waiter->asleep, 0, memory_order_acq_rel) == 0) {
        /* A waker took the announcement: its post is on the way and must not be left for the next sleep. */
        while (sem_wait(&waiter->signal) != 0 && errno == EINTR) {
        }
    }
}
