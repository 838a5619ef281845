/* Kept tuples that other threads read: they stay where they are until the last reader is done, and their memory is used
 * again then. */
#define _GNU_SOURCE
#include <dfrt/kept.h>
#include <dfrt/ring.h>

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "check.h"

static const uint32_t sizes[] = {sizeof(int64_t), sizeof(int32_t)};
static const dfrt_widths widths = {sizes, 2, NULL, 0};

static int32_t *numbers_of(const dfrt_kept *kept)
{
    return (int32_t *)(void *)(kept->room + kept->capacity * sizeof(int64_t));
}

static void add(dfrt_pool *pool, dfrt_kept *kept, int64_t time)
{
    (void)dfrt_kept_room(pool, kept, widths);
    uint32_t at = dfrt_kept_place(kept, time, widths);
    ((int64_t *)(void *)kept->room)[at] = time;
    numbers_of(kept)[at] = (int32_t)(time * 3);
    kept->tail++;
}

/* Tuples [from, to) have the times from `first` on. */
static bool holds(const dfrt_kept *kept, uint32_t from, uint32_t to, int64_t first)
{
    for (uint32_t i = from; i < to; i++) {
        int64_t time = first + (int64_t)(i - from);
        if (dfrt_kept_times(kept)[i] != time || numbers_of(kept)[i] != (int32_t)(time * 3)) return false;
    }
    return true;
}

/* --- one thread ------------------------------------------------------------------------------------- */

static void test_memory_waits_for_its_readers(void)
{
    dfrt_pool pool = {0};
    dfrt_kept one = {0}, other = {0}, third = {0};
    add(&pool, &one, 1);
    unsigned char *room = one.room;
    dfrt_share *share = dfrt_kept_share(&pool, &one, 2);
    CHECK(dfrt_kept_share(&pool, &one, 1) == share); /* one count a piece of memory */
    dfrt_kept_release(&pool, &one, widths);
    CHECK(one.room == NULL && one.share == NULL);
    dfrt_share_done(share);
    dfrt_share_done(share);
    add(&pool, &other, 2);
    CHECK(other.room != room); /* one reader is left */
    dfrt_share_done(share);
    add(&pool, &third, 3);
    CHECK(third.room == room && third.share == NULL);
    CHECK(dfrt_kept_share(&pool, &third, 1) == share); /* the count is used again too */
    dfrt_share_done(share);
    dfrt_pool_close(&pool);
}

static void test_what_nobody_reads_comes_back_at_once(void)
{
    dfrt_pool pool = {0};
    dfrt_kept one = {0};
    add(&pool, &one, 1);
    unsigned char *room = one.room;
    dfrt_share_done(dfrt_kept_share(&pool, &one, 1));
    dfrt_kept_release(&pool, &one, widths);
    add(&pool, &one, 2);
    CHECK(one.room == room);
    dfrt_pool_close(&pool);
}

static void test_growth_while_it_is_read(void)
{
    dfrt_pool pool = {0};
    dfrt_kept kept = {0};
    for (int64_t time = 0; time < 6; time++) add(&pool, &kept, time);
    dfrt_kept before = kept;
    dfrt_share *share = dfrt_kept_share(&pool, &kept, 1);
    for (int64_t time = 6; time < 20000; time++) add(&pool, &kept, time); /* small pieces, then large ones */
    CHECK(kept.room != before.room && holds(&kept, 0, 20000, 0));
    CHECK(holds(&before, 0, 6, 0));
    dfrt_share_done(share);
    dfrt_kept large = kept;
    share = dfrt_kept_share(&pool, &kept, 1);
    for (int64_t time = 20000; time < 50000; time++) add(&pool, &kept, time);
    CHECK(kept.room != large.room && holds(&large, 0, 20000, 0));
    dfrt_share_done(share);
    dfrt_kept_release(&pool, &kept, widths);
    dfrt_pool_close(&pool);
}

/* Tuples move to the front, or to another room as long as somebody reads them. */
static void test_sliding_while_it_is_read(void)
{
    dfrt_pool pool = {0};
    dfrt_kept kept = {0};
    for (int64_t time = 0; time < 8; time++) add(&pool, &kept, time);
    kept.head = 4;
    dfrt_kept before = kept;
    dfrt_share *share = dfrt_kept_share(&pool, &kept, 1);
    add(&pool, &kept, 8);
    CHECK(kept.room != before.room && kept.head == 0 && holds(&kept, 0, 5, 4) && holds(&before, 0, 8, 0));
    dfrt_share_done(share);
    for (int64_t time = 9; time < 12; time++) add(&pool, &kept, time);
    kept.head = 4;
    before = kept;
    add(&pool, &kept, 12);
    CHECK(kept.room == before.room && kept.head == 0 && holds(&kept, 0, 5, 8));
    dfrt_pool_close(&pool);
}

/* What comes in disorder goes behind what was handed out. */
static void test_disorder_behind_what_is_read(void)
{
    dfrt_pool pool = {0};
    dfrt_kept kept = {0};
    for (int64_t time = 0; time < 4; time++) add(&pool, &kept, time);
    dfrt_share *share = dfrt_kept_share(&pool, &kept, 1);
    add(&pool, &kept, 6);
    add(&pool, &kept, 4);
    add(&pool, &kept, 5);
    CHECK(kept.share == share && holds(&kept, 0, 7, 0));
    dfrt_share_done(share);
    dfrt_pool_close(&pool);
}

/* Many pieces wait, and only some of their readers are done: none is given out twice, all come back in the end. */
static void test_many_waiting(void)
{
    enum { MANY = 3000 };
    static dfrt_share *shares[MANY];
    dfrt_pool pool = {0};
    for (int i = 0; i < MANY; i++) {
        dfrt_kept kept = {0};
        add(&pool, &kept, i);
        shares[i] = dfrt_kept_share(&pool, &kept, 1);
        dfrt_kept_release(&pool, &kept, widths);
    }
    for (int i = 0; i < MANY; i++) {
        for (int k = i > 0 && i % 100 == 0 ? i - 100 : i; k < i; k++) CHECK(shares[k] != shares[i]);
        dfrt_share_done(shares[i]);
    }
    unsigned char *chunks = pool.chunks;
    size_t left = pool.left;
    for (int i = 0; i < MANY; i++) {
        dfrt_kept kept = {0};
        add(&pool, &kept, i);
    }
    CHECK(pool.chunks == chunks && pool.left == left && pool.waiting == NULL); /* no new memory was needed */
    dfrt_pool_close(&pool);
}

static void test_pieces_are_aligned(void)
{
    static const uint32_t odd_sizes[] = {sizeof(int64_t), 1};
    dfrt_pool pool = {0};
    dfrt_kept kept[20] = {{0}};
    for (int i = 0; i < 20; i++) {
        (void)dfrt_kept_room(&pool, &kept[i], (dfrt_widths){odd_sizes, 2, NULL, 0});
        CHECK((uintptr_t)kept[i].room % 16 == 0);
    }
    dfrt_pool_close(&pool);
}

/* --- two threads ------------------------------------------------------------------------------------ */

enum { TASKS = 60000, WINDOW = 20, GROUPS = 7 };

typedef struct task {
    dfrt_kept kept;
    dfrt_share *share;
    uint32_t from, to;
    int64_t first;
} task;

static dfrt_ring rings[2];
static task tasks[2][TASKS];

/* Reads each window while its owner goes on. */
static void *read_all(void *argument)
{
    dfrt_ring *ring = argument;
    for (int done = 0; done < TASKS;) {
        task *next = dfrt_ring_pop(ring);
        if (next == NULL) {
            (void)sched_yield();
            continue;
        }
        CHECK(holds(&next->kept, next->from, next->to, next->first));
        dfrt_share_done(next->share);
        done++;
    }
    return NULL;
}

static void hand_out(dfrt_pool *pool, dfrt_kept *kept, int number)
{
    dfrt_share *share = dfrt_kept_share(pool, kept, 2);
    uint32_t from = kept->tail > WINDOW && kept->tail - WINDOW > kept->head ? kept->tail - WINDOW : kept->head;
    for (int reader = 0; reader < 2; reader++) {
        tasks[reader][number] = (task){*kept, share, from, kept->tail, dfrt_kept_times(kept)[from]};
        while (!dfrt_ring_push(&rings[reader], &tasks[reader][number])) (void)sched_yield();
    }
    kept->head = from;
}

/* Windows of some groups, which grow, slide and are given back, two tuples in the wrong order each time. */
static void test_readers_beside_the_owner(void)
{
    dfrt_pool pool = {0};
    dfrt_kept kept[GROUPS] = {{0}};
    int64_t next[GROUPS] = {0};
    pthread_t readers[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&readers[i], NULL, read_all, &rings[i]) == 0);
    for (int number = 0; number < TASKS; number++) {
        int g = number % GROUPS;
        add(&pool, &kept[g], next[g] + 1);
        add(&pool, &kept[g], next[g]);
        next[g] += 2;
        hand_out(&pool, &kept[g], number);
        if (number % 501 == 0) dfrt_kept_release(&pool, &kept[g], widths);
    }
    for (int i = 0; i < 2; i++) CHECK(pthread_join(readers[i], NULL) == 0);
    dfrt_pool_close(&pool);
}

int main(void)
{
    test_memory_waits_for_its_readers();
    test_what_nobody_reads_comes_back_at_once();
    test_growth_while_it_is_read();
    test_sliding_while_it_is_read();
    test_disorder_behind_what_is_read();
    test_many_waiting();
    test_pieces_are_aligned();
    test_readers_beside_the_owner();
    return 0;
}
