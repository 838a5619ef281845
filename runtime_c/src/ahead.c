#define _GNU_SOURCE
#include "ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dfrt/ring.h"
#include "dfrt/wait.h"
#include "waits.h"

typedef struct batch {
    size_t count;
    dfrt_status status; /* of the call of dfrt_source_read that filled it */
    _Alignas(16) unsigned char records[];
} batch;

struct dfrt__ahead {
    dfrt_source *source;
    size_t capacity;
    dfrt_ahead_times *times; /* `parsers` is the parser's until it has ended, the rest the taker's; or NULL */
    pthread_t thread;
    _Atomic int stop; /* relaxed: a hint, looked at once a batch */
    dfrt_ring full;   /* parser → taker */
    dfrt_ring empty;  /* taker → parser */
    dfrt_waiter parser, taker;
    batch *taken;
    batch *all[DFRT_RING_CAPACITY];
};

/* *waited: CPU time that went by here is added; NULL: nobody asks. */
static batch *wait_for(dfrt_ring *ring, dfrt_waiter *waiter, uint64_t *waited)
{
    batch *found = dfrt_ring_pop(ring);
    if (found != NULL) {
        return found;
    }
    uint64_t began = waited == NULL ? 0 : dfrt__thread_ns();
    while ((found = dfrt_ring_pop(ring)) == NULL) {
        if (dfrt_waiter_pause(waiter)) {
            continue;
        }
        if ((found = dfrt_ring_pop(ring)) != NULL) {
            dfrt_waiter_cancel(waiter);
            break;
        }
        dfrt_waiter_sleep(waiter);
    }
    waiter->rounds = 0;
    if (waited != NULL) {
        *waited += dfrt__thread_ns() - began;
    }
    return found;
}

/* There are as many batches as places in a ring, so that there is always room for one. */
static void hand_over(dfrt_ring *ring, batch *item, dfrt_waiter *waiter)
{
    (void)dfrt_ring_push(ring, item);
    dfrt_waiter_wake(waiter);
}

static void *parse(void *argument)
{
    dfrt__ahead *ahead = argument;
    dfrt_status status = DFRT_OK;
    uint64_t waited = 0, began = ahead->times == NULL ? 0 : dfrt__thread_ns();
    while (status == DFRT_OK && atomic_load_explicit(&ahead->stop, memory_order_relaxed) == 0) {
        batch *next = wait_for(&ahead->empty, &ahead->parser, ahead->times == NULL ? NULL : &waited);
        status = dfrt_source_read(ahead->source, next->records, ahead->capacity, &next->count);
        next->status = status;
        hand_over(&ahead->full, next, &ahead->taker);
    }
    if (ahead->times != NULL) {
        ahead->times->parsers += dfrt__thread_ns() - began - waited;
    }
    return NULL;
}

static dfrt_status make_batches(dfrt__ahead *ahead, size_t record_size)
{
    for (size_t i = 0; i < DFRT_RING_CAPACITY; i++) {
        ahead->all[i] = calloc(1, sizeof(batch) + ahead->capacity * record_size); /* zeros: see `used` in source.h */
        if (ahead->all[i] == NULL) {
            return DFRT_MEMORY;
        }
        (void)dfrt_ring_push(&ahead->empty, ahead->all[i]);
    }
    return DFRT_OK;
}

static void free_all(dfrt__ahead *ahead)
{
    for (size_t i = 0; i < DFRT_RING_CAPACITY; i++) {
        free(ahead->all[i]);
    }
    dfrt_waiter_close(&ahead->parser);
    dfrt_waiter_close(&ahead->taker);
    free(ahead);
}

dfrt_status dfrt__ahead_open(dfrt__ahead **out, dfrt_source *source, size_t record_size, size_t capacity,
                             dfrt_ahead_times *times, dfrt_error *error)
{
    void *room = NULL;
    if (posix_memalign(&room, _Alignof(dfrt__ahead), sizeof(dfrt__ahead)) != 0) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory to read ahead");
    }
    dfrt__ahead *ahead = memset(room, 0, sizeof *ahead);
    ahead->source = source;
    ahead->capacity = capacity;
    ahead->times = times;
    if (dfrt_waiter_open(&ahead->parser) != 0 || dfrt_waiter_open(&ahead->taker) != 0 ||
        make_batches(ahead, record_size) != DFRT_OK) {
        free_all(ahead);
        return dfrt_fail(error, DFRT_MEMORY, "no memory to read ahead");
    }
    int code = pthread_create(&ahead->thread, NULL, parse, ahead);
    if (code != 0) {
        free_all(ahead);
        return dfrt_fail(error, DFRT_IO, "no thread to read ahead: %s", strerror(code));
    }
    *out = ahead;
    return DFRT_OK;
}

dfrt_status dfrt__ahead_take(dfrt__ahead *ahead, dfrt_view *view)
{
    if (ahead->taken != NULL && ahead->taken->status != DFRT_OK) {
        *view = (dfrt_view){NULL, 0}; /* the parser has ended; its last answer stays */
        return ahead->taken->status;
    }
    if (ahead->taken != NULL) {
        hand_over(&ahead->empty, ahead->taken, &ahead->parser);
    }
    ahead->taken = wait_for(&ahead->full, &ahead->taker, ahead->times == NULL ? NULL : &ahead->times->waited);
    *view = (dfrt_view){ahead->taken->records, ahead->taken->count};
    return ahead->taken->status;
}

void dfrt__ahead_close(dfrt__ahead *ahead)
{
    atomic_store_explicit(&ahead->stop, 1, memory_order_relaxed);
    /* A parser that waits for room gets it; what it parsed meanwhile is not taken. */
    batch *given;
    while ((given = dfrt_ring_pop(&ahead->full)) != NULL) {
        hand_over(&ahead->empty, given, &ahead->parser);
    }
    if (ahead->taken != NULL) {
        hand_over(&ahead->empty, ahead->taken, &ahead->parser);
    }
    (void)pthread_join(ahead->thread, NULL); /* fails only for a thread that is not ours */
    free_all(ahead);
}
