/* The generated program as a table, and the frame that runs it: command line, layout, threads, summary.
 *
 * Threads:   dfrt_main is called once, from main. The run state is shared by all stages of a run.
 * Ownership: the table and all it points at are constant.
 * Progress:  dfrt_main returns when the sources have ended (or were told to stop) and every stage has drained.
 */
#ifndef DFRT_PROGRAM_H
#define DFRT_PROGRAM_H

#include <stdatomic.h>

#include "dfrt/clock.h"
#include "dfrt/source.h"
#include "dfrt/stage.h"

typedef struct dfrt_source_entry {
    const char *name;
    const char *spec; /* the connector of the program's text; the command line may replace it */
    const dfrt_record *record;
    int time_field; /* index of the event-time field, -1 if there is none */
    const bool *used; /* by field: whether anything looks at it */
    unsigned step;
} dfrt_source_entry;

typedef struct dfrt_sink_entry {
    const char *name;
    const char *spec;
    const dfrt_record *record;
    unsigned segment; /* whose stage writes it */
    unsigned step;
} dfrt_sink_entry;

/* A step of the program, for the summary. `same`: as many tuples out as in, not counted on its own. */
typedef struct dfrt_step_entry {
    const char *name;
    const char *kind;
    const unsigned *inputs;
    unsigned input_count;
    bool same;
    unsigned segment;
} dfrt_step_entry;

/* An operator with alternates; which one is active is part of the run (dfrt_run_state). */
typedef struct dfrt_alternates {
    const char *step;
    const char *const *names;
    unsigned count;
    unsigned active; /* at the start of a run */
} dfrt_alternates;

typedef struct dfrt_program {
    unsigned abi;
    const char *name;
    const char *version; /* of the compiler that wrote it, and a digest of the program's text */
    const char *const *control; /* the controller configuration, line by line, NULL behind the last (see configuration.h) */
    const char *const *plan;    /* its text, in the same way */
    uint64_t identity;   /* of the program whose state is saved: a digest of its C; 0: it can't be */
    bool light;          /* parsing is most of the work, if the sources are files of text */
    bool staged;         /* planned with threads, also where no segment has several */
    unsigned source_count, sink_count, segment_count, edge_count, step_count, alternates_count;
    const dfrt_source_entry *sources;
    const dfrt_sink_entry *sinks;
    const dfrt_segment *segments; /* in an order in which edges go forward; 0 reads the sources */
    const dfrt_edge *edges;
    const dfrt_step_entry *steps;
    const dfrt_alternates *alternates;
    /* Tuples of one source, as events, into segment 0: as long as the source's watermark, if it has one, is at most
     * `until`. Answers how many it has taken. */
    size_t (*read)(void *segment, unsigned source, const void *records, size_t count, int64_t until);
    void (*end_source)(void *segment, unsigned source);
    /* The watermark of a source (DFRT_TIME_NONE before its first tuple). */
    int64_t (*source_watermark)(const void *segment, unsigned source);
    /* The watermark of a timed source is at least this: somebody knows of tuples that are not pushed here. */
    void (*give_watermark)(void *segment, unsigned source, int64_t watermark);
    /* Time has passed without tuples; NULL when no source goes by processing time. */
    void (*tick)(void *segment);
} dfrt_program;

/* What the stages of a run share. */
typedef struct dfrt_run_state {
    _Atomic int failed; /* 0 good, 1 being written, 2 `error` is complete (release; readers acquire) */
    dfrt_error error;
    _Atomic int stop; /* no more input is to be read: a signal came, or a stage has failed */
    int stop_fd;      /* becomes readable when the run is to end; -1 when nobody waits for input */
    int stop_write_fd;
    int wake_fd; /* readable: a change waits for a round; -1 where nobody waits for input */
    dfrt_clock clock; /* of the thread that reads the sources */
    _Atomic unsigned *alternates; /* by entry of program->alternates: the active one; relaxed, read at every result */
    _Atomic unsigned shedding; /* in 65536ths: the share of tuples that sources drop; relaxed, read at every batch */
    _Atomic uint64_t shed;     /* tuples that were dropped; written by the thread that reads the sources, relaxed */
} dfrt_run_state;

static inline bool dfrt_run_failed(dfrt_run_state *run)
{
    /* Only a hint that makes stages drop what they get; the error itself is read after the threads ended. */
    return atomic_load_explicit(&run->failed, memory_order_relaxed) != 0;
}

/* Switches the active alternate of an operator, from any thread; takes effect at its next result. False: the
 * program has no such operator, or the operator no such alternate. */
bool dfrt_set_alternate(dfrt_run_state *run, const dfrt_program *program, const char *step, const char *alternate);

/* From now on sources drop this share (0 … 1) of what they read, behind the parser, and count it. From any thread. */
void dfrt_set_shedding(dfrt_run_state *run, double share);

/* 0 good, 2 wrong usage, 4 the run failed. */
int dfrt_main(const dfrt_program *program, int argc, char **argv);

#endif
