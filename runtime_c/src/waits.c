#define _GNU_SOURCE
#include "waits.h"

#include <time.h>

uint64_t dfrt__thread_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* can't fail for this clock */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

dfrt__wait dfrt__wait_begin(const dfrt_stage *stage)
{
    return (dfrt__wait){stage->monitor != NULL ? dfrt_now_ns() : 0, stage->thread_timed ? dfrt__thread_ns() : 0};
}

void dfrt__wait_end(dfrt_stage *stage, dfrt__wait wait, bool blocked)
{
    if (stage->monitor != NULL) {
        (blocked ? dfrt_monitor_blocked : dfrt_monitor_idle)(stage->monitor, wait.began_ns);
    }
    if (stage->thread_timed) {
        stage->wait_cpu_ns += dfrt__thread_ns() - wait.cpu_ns;
    }
}

void dfrt__thread_begin(dfrt_stage *stage)
{
    if (stage->thread_timed) {
        stage->begin_cpu_ns = dfrt__thread_ns();
    }
}

void dfrt__thread_end(dfrt_stage *stage)
{
    if (stage->thread_timed) {
        stage->busy_cpu_ns = dfrt__thread_ns() - stage->begin_cpu_ns - stage->wait_cpu_ns;
    }
}
