#define _POSIX_C_SOURCE 200809L
#include "queue.h"

#include <time.h>

static int64_t clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Computes until so many nanoseconds have passed, or sleeps for as many where they are negative, and says how many it were:
 * more where the thread had to wait for a core. */
bool spend(const queue_served_window *window, queue_Done *result)
{
    int64_t work = window->tuples[0].work, begin = clock_ns(), now = begin;
    if (work < 0) {
        struct timespec left = {-work / 1000000000, -work % 1000000000};
        (void)nanosleep(&left, NULL);
        now = clock_ns();
    }
    while (now < begin + work)
        now = clock_ns();
    *result = (queue_Done){.key = window->tuples[0].key, .spent = now - begin};
    return true;
}
