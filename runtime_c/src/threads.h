/* The threads of a staged layout: one for every stage but the first, which belongs to whoever feeds it.
 *
 * Threads:   started and joined by the thread of stage 0.
 * Ownership: the caller owns the struct; it must outlive the threads.
 * Progress:  starting does not wait; joining waits until every stream has ended.
 */
#ifndef DFRT_SRC_THREADS_H
#define DFRT_SRC_THREADS_H

#include <pthread.h>

#include "layout.h"

typedef struct dfrt__threads {
    pthread_t *threads; /* by stage; 0 is not used */
    unsigned count;     /* started, stage 0 included */
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int gate; /* under `lock`: 0 closed, 1 run, 2 go home */
    struct dfrt__thread_start *starts;
} dfrt__threads;

/* All threads run, or none does and the error says why. */
dfrt_status dfrt__threads_start(dfrt__threads *threads, const dfrt__layout_plan *layout, dfrt_error *error);
void dfrt__threads_join(dfrt__threads *threads);

#endif
