/* What a stage's thread spends waiting, told to whoever asked for it: the monitor (time), and `--thread-times` (CPU time,
 * which spinning takes too).
 *
 * Threads:   all functions are called by the thread that runs the stage; its times are read when that has ended.
 * Ownership: nothing is kept.
 * Progress:  nothing waits here.
 */
#ifndef DFRT_SRC_WAITS_H
#define DFRT_SRC_WAITS_H

#include "dfrt/stage.h"

typedef struct dfrt__wait {
    uint64_t began_ns, cpu_ns; /* 0 where nobody asks */
} dfrt__wait;

dfrt__wait dfrt__wait_begin(const dfrt_stage *stage);
/* `blocked`: it has waited for room; otherwise for input. */
void dfrt__wait_end(dfrt_stage *stage, dfrt__wait wait, bool blocked);

/* CPU time of the thread that asks. */
uint64_t dfrt__thread_ns(void);

/* The thread begins to run the stage, and has ended it. */
void dfrt__thread_begin(dfrt_stage *stage);
void dfrt__thread_end(dfrt_stage *stage);

#endif
