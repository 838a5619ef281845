/* Reads the sources in their fixed order and feeds segment 0, round by round.
 *
 * Threads:   the thread of stage 0.
 * Ownership: the reader owns the opened sources and their buffers.
 * Progress:  waits for input only after everything read so far has been handed on.
 */
#ifndef DFRT_SRC_READER_H
#define DFRT_SRC_READER_H

#include "ahead.h"
#include "layout.h"
#include "options.h"
#include "reconfigure.h"

typedef struct dfrt__input {
    dfrt_source *source;
    dfrt__ahead *ahead;     /* the source's parser on a thread of its own, or NULL */
    unsigned char *room;    /* for records that are read here */
    const unsigned char *records; /* in `room`, in the source's own memory, or what was read ahead */
    size_t count, at;
    bool open;
    bool dry; /* nothing to be had without waiting */
    uint64_t malformed; /* of a source that has been closed */
    unsigned helpers; /* threads that parse for it */
    dfrt_ahead_times ahead_times; /* what they take, if somebody asks */
} dfrt__input;

typedef struct dfrt__reader {
    const dfrt_program *program;
    dfrt__layout_plan *layout;
    dfrt__input *inputs;
    atomic_bool opened; /* others may look at the sources: released by dfrt__reader_open */
    dfrt__script script; /* what is to change at which round */
    dfrt_replay replay; /* what files that are replayed by event time share */
    unsigned helpers; /* of all sources */
    bool progress;
    void (*after_round)(void *context); /* NULL: nobody wants to know */
    void *after_round_context;
    uint64_t tuples;
    uint64_t due_ns; /* of the round at hand: when its first tuple came, or should have been read */
    uint64_t started_ns, ended_ns;
    uint64_t told_ns, told_tuples, flushed_ns, counted_tuples;
    uint64_t shed_credit; /* tuples to drop that did not come out even, in 65536ths */
} dfrt__reader;

dfrt_status dfrt__reader_open(dfrt__reader *reader, dfrt__layout_plan *layout, const dfrt__options *options,
                              dfrt_run_state *run, dfrt_error *error);
void dfrt__reader_run(dfrt__reader *reader);
/* Malformed records of a source so far; from any thread until dfrt__reader_end. */
uint64_t dfrt__reader_malformed(const dfrt__reader *reader, unsigned source);
/* Closes the sources, which say how much was malformed. */
void dfrt__reader_end(dfrt__reader *reader);
void dfrt__reader_close(dfrt__reader *reader);

#endif
