/* What is behind a dfrt_embed: one run without a reader, fed by its owner.
 *
 * Threads:   the owner's, but for `run` and the results of collecting sinks, which have a lock.
 * Ownership: the instance owns all of it.
 * Progress:  as embed.h.
 */
#ifndef DFRT_EMBED_STATE_H
#define DFRT_EMBED_STATE_H

#include <pthread.h>

#include "dfrt/embed.h"
#include "run.h"
#include "threads.h"

/* Where the results of one sink go. */
typedef struct dfrt__embed_sink {
    const dfrt_embed *embed;
    size_t record_size;
    dfrt_embed_callback callback; /* NULL: they are collected, or dropped */
    pthread_mutex_t lock;
    dfrt_results collected; /* under `lock` */
} dfrt__embed_sink;

struct dfrt_embed {
    const dfrt_program *program;
    uint64_t number; /* from 1; no other instance of the process has it */
    dfrt_run_state run;
    dfrt__layout_plan layout;
    dfrt__threads threads;
    dfrt__embed_sink *sinks;
    void *options;   /* the caller's, copied, for the callbacks */
    bool *ended;     /* by source */
    bool fused;
    bool each_round; /* results are delivered at the end of every round, not only when the owner asks */
    bool drained;
    unsigned events; /* in the round at hand */
    uint64_t read_ns;
    dfrt_error error;
};

/* DFRT_OK when the instance still takes tuples. */
dfrt_status dfrt__embed_ready(dfrt_embed *embed);
/* Feeds segment 0 as dfrt_program.read; ends rounds as they fill up. */
size_t dfrt__embed_feed(dfrt_embed *embed, unsigned source, const void *records, size_t count, int64_t until);
/* DFRT_USAGE: the source has ended. */
dfrt_status dfrt__embed_watermark(dfrt_embed *embed, unsigned source, int64_t watermark);
void dfrt__embed_end_source(dfrt_embed *embed, unsigned source);
dfrt_status dfrt__embed_status(dfrt_embed *embed);

#endif
