/* Waiting: no wake-up is lost, none is left over for a later sleep, whoever comes first. */
#define _GNU_SOURCE
#include <dfrt/wait.h>

#include <pthread.h>
#include <stdint.h>

#include "check.h"

enum { TURNS = 5000, WAKERS = 3 };

static dfrt_waiter waiter;
static _Atomic int turn; /* whose turn it is: release and acquire publish `plain` */
static int plain;

static void wait_for(dfrt_waiter *mine, int wanted)
{
    while (atomic_load_explicit(&turn, memory_order_acquire) != wanted) {
        if (dfrt_waiter_pause(mine)) continue;
        if (atomic_load_explicit(&turn, memory_order_acquire) == wanted) {
            dfrt_waiter_cancel(mine);
            break;
        }
        dfrt_waiter_sleep(mine);
    }
    mine->rounds = 0;
}

static dfrt_waiter sides[2];

/* Each side sleeps until the other hands the turn over: one lost wake-up, and both sleep for ever. */
static void *play(void *side)
{
    int me = side == &sides[1];
    for (int i = 0; i < TURNS; i++) {
        wait_for(&sides[me], me);
        CHECK(plain == 2 * i + me);
        plain++;
        atomic_store_explicit(&turn, 1 - me, memory_order_release);
        dfrt_waiter_wake(&sides[1 - me]);
    }
    return NULL;
}

static void test_ping_pong(void)
{
    pthread_t other;
    CHECK(dfrt_waiter_open(&sides[0]) == 0 && dfrt_waiter_open(&sides[1]) == 0);
    CHECK(pthread_create(&other, NULL, play, &sides[1]) == 0);
    (void)play(&sides[0]);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(plain == 2 * TURNS);
    for (int i = 0; i < 2; i++) {
        int posts = -1;
        CHECK(sem_getvalue(&sides[i].signal, &posts) == 0 && posts == 0);
        dfrt_waiter_close(&sides[i]);
    }
}

static _Atomic uint64_t made;

static void *wake_often(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        (void)atomic_fetch_add_explicit(&made, 1, memory_order_release);
        dfrt_waiter_wake(&waiter);
    }
    return unused;
}

/* Several wakers: at most one post is outstanding, also when the owner changes its mind. */
static void test_many_wakers(void)
{
    pthread_t wakers[WAKERS];
    CHECK(dfrt_waiter_open(&waiter) == 0);
    for (int i = 0; i < WAKERS; i++) CHECK(pthread_create(&wakers[i], NULL, wake_often, NULL) == 0);
    uint64_t seen = 0;
    while (seen < (uint64_t)WAKERS * TURNS) {
        uint64_t now = atomic_load_explicit(&made, memory_order_acquire);
        if (now != seen) {
            seen = now;
            waiter.rounds = 0;
            continue;
        }
        if (dfrt_waiter_pause(&waiter)) continue;
        if (atomic_load_explicit(&made, memory_order_acquire) != seen) dfrt_waiter_cancel(&waiter);
        else dfrt_waiter_sleep(&waiter);
    }
    for (int i = 0; i < WAKERS; i++) CHECK(pthread_join(wakers[i], NULL) == 0);
    int posts = -1;
    CHECK(sem_getvalue(&waiter.signal, &posts) == 0 && posts == 0);
    dfrt_waiter_close(&waiter);
}

int main(void)
{
    test_ping_pong();
    test_many_wakers();
    return 0;
}
