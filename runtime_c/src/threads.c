#define _GNU_SOURCE
#include "threads.h"

#include <stdlib.h>
#include <string.h>

typedef struct dfrt__thread_start {
    dfrt__threads *threads;
    dfrt_stage *stage;
} dfrt__thread_start;

enum { GATE_CLOSED, GATE_RUN, GATE_LEAVE };

/* A stage that runs waits for stages before it: so no one begins before all are there. */
static void *run_stage(void *argument)
{
    dfrt__thread_start *start = argument;
    (void)pthread_mutex_lock(&start->threads->lock);
    while (start->threads->gate == GATE_CLOSED) {
        (void)pthread_cond_wait(&start->threads->opened, &start->threads->lock);
    }
    int gate = start->threads->gate;
    (void)pthread_mutex_unlock(&start->threads->lock);
    if (gate == GATE_RUN) {
        dfrt_stage_run(start->stage);
    }
    return NULL;
}

static void open_gate(dfrt__threads *threads, int gate)
{
    (void)pthread_mutex_lock(&threads->lock);
    threads->gate = gate;
    (void)pthread_cond_broadcast(&threads->opened);
    (void)pthread_mutex_unlock(&threads->lock);
}

void dfrt__threads_join(dfrt__threads *threads)
{
    if (threads->threads == NULL) {
        return;
    }
    for (unsigned i = 1; i < threads->count; i++) {
        (void)pthread_join(threads->threads[i], NULL); /* fails only for a thread that is not ours */
    }
    (void)pthread_cond_destroy(&threads->opened);
    (void)pthread_mutex_destroy(&threads->lock);
    free(threads->starts);
    free(threads->threads);
    *threads = (dfrt__threads){0};
}

static dfrt_status open_threads(dfrt__threads *threads, unsigned count, dfrt_error *error)
{
    *threads = (dfrt__threads){.count = 1};
    threads->threads = calloc(count, sizeof *threads->threads);
    threads->starts = calloc(count, sizeof *threads->starts);
    if (threads->threads == NULL || threads->starts == NULL) {
        free(threads->threads);
        free(threads->starts);
        *threads = (dfrt__threads){0};
        return dfrt_fail(error, DFRT_MEMORY, "no memory for %u threads", count);
    }
    (void)pthread_mutex_init(&threads->lock, NULL); /* can't fail with the default attributes */
    (void)pthread_cond_init(&threads->opened, NULL);
    return DFRT_OK;
}

dfrt_status dfrt__threads_start(dfrt__threads *threads, const dfrt__layout_plan *layout, dfrt_error *error)
{
    dfrt_status status = open_threads(threads, layout->stage_count, error);
    if (status != DFRT_OK) {
        return status;
    }
    for (unsigned i = 1; i < layout->stage_count; i++) {
        threads->starts[i] = (dfrt__thread_start){threads, layout->stages[i]};
        int code = pthread_create(&threads->threads[i], NULL, run_stage, &threads->starts[i]);
        if (code != 0) {
            open_gate(threads, GATE_LEAVE);
            dfrt__threads_join(threads);
            return dfrt_fail(error, DFRT_IO, "no thread for stage %u of %u: %s", i, layout->stage_count,
                             strerror(code));
        }
        threads->count = i + 1;
    }
    open_gate(threads, GATE_RUN);
    return DFRT_OK;
}
