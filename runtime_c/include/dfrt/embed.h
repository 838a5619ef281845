/* A generated program inside another one: the caller pushes tuples and gets results, in its own process.
 *
 * Programs are not called through this header but through the typed functions that dfc writes into APP.h
 * (`dfc compile --emit lib`); those are these, with APP_ in front.
 *
 * Threads:   an instance has one owner at a time: create, push, end, merge, poll, drain, take and destroy are called
 *            by one thread, or by several that take turns under a lock of their own. set_alternate may be called by
 *            any thread at any time until destroy. Instances, of one program or of many, know nothing of each
 *            other and may run side by side. They share only the table of symbols (symbol.h).
 *            With one worker everything, callbacks too, happens in the calls of the owner. With more there is a
 *            thread a stage, and a callback is called by the thread whose stage holds its sink: one sink is never
 *            called twice at once, two sinks may be.
 * Ownership: tuples are borrowed for the call. Results are borrowed for the callback; what `take` answers belongs to
 *            the caller and is freed with free(). The options are copied.
 * Progress:  push waits only when the stages behind it are full, and then until there is room. poll does not wait
 *            for the other threads, drain does. A callback must not call its own instance, and while it runs its
 *            stage stands still. Nothing here exits, prints or handles signals, with one exception: when there is
 *            no memory left for the state of an operator, the process ends with a line on stderr.
 */
#ifndef DFRT_EMBED_H
#define DFRT_EMBED_H

#include <dfrt/cluster.h>
#include <dfrt/columns.h>
#include <dfrt/record.h>
#include <dfrt/status.h>

/* Visible outside of a shared library whose other names are hidden. */
#define DFRT_API __attribute__((visibility("default")))

struct dfrt_program;
typedef struct dfrt_embed dfrt_embed;

/* Results of one sink, in order; `options` is the copy of the caller's. */
typedef void (*dfrt_embed_callback)(const void *options, const void *results, size_t count);

typedef struct dfrt_embed_options {
    unsigned workers; /* replicas of each operator that can be replicated; 0 and 1: no threads at all */
    bool collect;     /* keep the results of sinks without a callback for `take`; else they are only counted */
    bool given_clock; /* processing time is clock_start, clock_start + clock_step, … tuple by tuple */
    int64_t clock_start, clock_step; /* nanoseconds; the step is not negative */
    const dfrt_embed_callback *callbacks; /* by sink, NULL where there is none */
    const void *options;                  /* copied and handed to the callbacks */
    size_t options_size;
} dfrt_embed_options;

/* One source of `merge`: records[at … count) are still to be taken. `ended`: nothing comes after them. */
typedef struct dfrt_embed_input {
    const void *records;
    size_t count, at;
    bool ended;
} dfrt_embed_input;

typedef struct dfrt_embed_counts {
    uint64_t out, late, faults;
} dfrt_embed_counts;

/* *out is NULL after a failure, and the error says why: DFRT_USAGE, DFRT_IO (no thread), DFRT_MEMORY. */
dfrt_status dfrt_embed_create(dfrt_embed **out, const struct dfrt_program *program, const dfrt_embed_options *options,
                              dfrt_error *error);

/* Tuples of one source in order of arrival. DFRT_USAGE: the source has ended. DFRT_IO, DFRT_MEMORY: the run has
 * failed, now or before, and takes no more. Every failure has its line in dfrt_embed_error. */
dfrt_status dfrt_embed_push(dfrt_embed *embed, unsigned source, const void *records, size_t count);

/* As push, of a stream of which only a part comes here: before each tuple the watermark of its source is at least the
 * one given with it (INT64_MIN: no more than it is), so that lateness, windows and expiry are those of the whole stream.
 * `slack auto` then measures nothing itself. Sources without event time have no watermarks, and theirs are ignored. */
dfrt_status dfrt_embed_push_at(dfrt_embed *embed, unsigned source, const void *records, const int64_t *watermarks,
                               size_t count);

/* Nothing more comes from this source; the others go on. */
dfrt_status dfrt_embed_end(dfrt_embed *embed, unsigned source);

/* Takes from several sources in the order in which the program reads files: the untimed ones in turn, then the timed
 * one that is furthest behind. `inputs` has one entry a source; `at` moves on. DFRT_AGAIN: an input that has not
 * ended is used up; give it more and call again. DFRT_END: all have ended. Otherwise as push. */
dfrt_status dfrt_embed_merge(dfrt_embed *embed, dfrt_embed_input *inputs);

/* Hands everything pushed so far on, and lets processing time pass. With one worker the results have been delivered
 * when this returns; with more they are delivered soon. Call it when the input pauses. */
dfrt_status dfrt_embed_poll(dfrt_embed *embed);

/* Ends all sources and waits for the last result. Afterwards only take, counts and destroy make sense. */
dfrt_status dfrt_embed_drain(dfrt_embed *embed);

/* What a collecting sink has got since the last call: *count records at the answer, or NULL. */
void *dfrt_embed_take(dfrt_embed *embed, unsigned sink, size_t *count);

/* DFRT_USAGE: no such operator or alternate; the line is for the thread that asked. Any thread. */
dfrt_status dfrt_embed_set_alternate(dfrt_embed *embed, const char *step, const char *alternate);

/* What a step has put out, refused as late, and computed with a fault; after drain only, else DFRT_USAGE. */
dfrt_status dfrt_embed_count(dfrt_embed *embed, const char *step, dfrt_embed_counts *counts);

/* The line of the last failure, "" if there was none; valid until the next call. The owner, and a thread whose
 * dfrt_embed_set_alternate was refused. */
const char *dfrt_embed_error(const dfrt_embed *embed);

/* Without a drain before, what is on its way is dropped; a callback may still be called until this returns. */
void dfrt_embed_destroy(dfrt_embed *embed);

#endif
