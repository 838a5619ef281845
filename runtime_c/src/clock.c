#define _GNU_SOURCE
#include "dfrt/clock.h"

#include <time.h>

static int64_t machine_time(const dfrt_clock *clock)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* can't fail for this clock */
    int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return ns > clock->last ? ns : clock->last; /* the machine's clock may be set back; ours is not */
}

int64_t dfrt_clock_read(dfrt_clock *clock)
{
    if (!clock->given) {
        return clock->last = machine_time(clock);
    }
    clock->last = clock->next;
    clock->next = dfrt_on_axis(dfrt_add_time(clock->next, clock->step));
    return clock->last;
}

int64_t dfrt_clock_look(dfrt_clock *clock)
{
    return clock->given ? clock->last : (clock->last = machine_time(clock));
}
