/* What tests of elastic stages share: numbers with a key that run through hand-written segments. Included once. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <dfrt/stage.h>

#include <time.h>

typedef struct number {
    uint32_t key;
    uint64_t count; /* of the key, or of whatever else a test counts */
} number;

static inline dfrt_status open_nothing(void *segment, dfrt_error *error)
{
    (void)segment;
    (void)error;
    return DFRT_OK;
}

static inline void close_nothing(void *segment) { (void)segment; }

static inline void wait_a_little(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

#endif
