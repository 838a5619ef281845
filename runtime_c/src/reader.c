#define _GNU_SOURCE
#include "reader.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dfrt/store.h"
#include "elastic_state.h"
#include "merge.h"
#include "run.h"
#include "waits.h"

/* Events in a round: enough to share the cost of passing it on, few enough to stay under a millisecond. Tests
 * build with tiny rounds, so that short streams pass many ends of rounds. */
#ifndef DFRT_ROUND_EVENTS
#define DFRT_ROUND_EVENTS 1024
#endif
/* Records that are read into a buffer stay in the nearest cache; those that lie where they came from need not. */
enum { ROUND_EVENTS = DFRT_ROUND_EVENTS, READ_RECORDS = 512, VIEWED_RECORDS = 1024 };
static const uint64_t FLUSH_NS = 100000000, TELL_NS = 500000000;
/* How exactly windows of processing time close while no tuple comes. */
enum { TICK_MS = 10 };

static dfrt_stage *reading_stage(const dfrt__reader *reader) { return reader->layout->stages[0]; }

/* With threads at hand the parser gets some, unless it may have to wait for its input, or has nothing to parse: where one
 * thread runs everything else, all workers but that one; else one a source. */
static dfrt_status read_ahead(dfrt__reader *reader, dfrt__input *input, size_t record_size,
                              const dfrt__options *options, dfrt_error *error)
{
    unsigned helpers = reading_stage(reader)->fused ? options->workers - 1 - reader->helpers : 1;
    if (helpers == 0 || dfrt_source_is_live(input->source) || dfrt_source_has_views(input->source)) {
        return DFRT_OK;
    }
    bool done;
    dfrt_status status = dfrt_source_read_ahead(input->source, helpers, &done, error);
    input->helpers = done ? helpers : 1;
    reader->helpers += input->helpers;
    if (status != DFRT_OK || done) {
        return status;
    }
    size_t batch = ROUND_EVENTS < READ_RECORDS ? ROUND_EVENTS : READ_RECORDS;
    dfrt_ahead_times *times = options->thread_times ? &input->ahead_times : NULL;
    return dfrt__ahead_open(&input->ahead, input->source, record_size, batch, times, error);
}

/* Where the file that the program itself names is not there: what else can be read. */
static void say_how(const dfrt_source_entry *entry, const char *spec, dfrt_error *error)
{
    const char *colon = strchr(spec, ':');
    if (spec != entry->spec || colon == NULL || access(colon + 1, F_OK) == 0) {
        return;
    }
    int kind = (int)(colon - spec);
    bool made = strncmp(spec, "lines", (size_t)kind) != 0;
    size_t used = strlen(error->text);
    (void)snprintf(error->text + used, sizeof error->text - used, "; --source %s=%.*s:FILE reads another one%s",
                   entry->name, kind, spec, made ? ", dfc generate makes one" : "");
}

static dfrt_status open_input(dfrt__reader *reader, unsigned i, const dfrt__options *options, int stop_fd,
                              dfrt_error *error)
{
    const dfrt_source_entry *entry = &reader->program->sources[i];
    dfrt__input *input = &reader->inputs[i];
    char *kept = dfrt__malformed_path(options, reader->program, entry->name);
    dfrt_source_options how = {.event_time = entry->time_field,
                               .used = entry->used,
                               .stop_fd = stop_fd,
                               .max_row = options->max_row,
                               .report_limit = options->report_limit,
                               .malformed_path = kept,
                               .quiet = options->quiet,
                               .replay = &reader->replay,
                               .ahead_times = options->thread_times ? &input->ahead_times : NULL};
    dfrt_status status =
        dfrt_source_open(&input->source, entry->name, options->source_specs[i], entry->record, &how, error);
    free(kept);
    if (status == DFRT_MISSING) {
        say_how(entry, options->source_specs[i], error);
    }
    input->open = status == DFRT_OK;
    input->room = dfrt_allocate(VIEWED_RECORDS * entry->record->size);
    if (status == DFRT_OK) {
        return read_ahead(reader, input, entry->record->size, options, error);
    }
    return status == DFRT_END ? DFRT_OK : status; /* told to stop while waiting for its header */
}

/* A reading end of every named pipe, so that whoever opens them one after the other for writing does not wait
 * for us to open the second while we wait for the header of the first. */
static int hold_pipe(const char *spec)
{
    const char *path = strchr(spec, ':');
    struct stat about;
    bool pipe = path != NULL && stat(path + 1, &about) == 0 && S_ISFIFO(about.st_mode);
    return pipe ? open(path + 1, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
}

dfrt_status dfrt__reader_open(dfrt__reader *reader, dfrt__layout_plan *layout, const dfrt__options *options,
                              dfrt_run_state *run, dfrt_error *error)
{
    const dfrt_program *program = layout->program;
    reader->program = program;
    reader->layout = layout;
    reader->replay = options->replay;
    reader->progress = !options->quiet && isatty(STDERR_FILENO) == 1;
    reader->inputs = dfrt_allocate((program->source_count + 1u) * sizeof *reader->inputs);
    int *held = dfrt_allocate((program->source_count + 1u) * sizeof *held);
    for (unsigned i = 0; i < program->source_count; i++) {
        held[i] = hold_pipe(options->source_specs[i]);
    }
    dfrt_status status = DFRT_OK;
    for (unsigned i = 0; i < program->source_count && status == DFRT_OK; i++) {
        status = open_input(reader, i, options, run->stop_fd, error);
    }
    for (unsigned i = 0; i < program->source_count; i++) {
        if (held[i] >= 0) {
            (void)close(held[i]); /* nothing was read from it */
        }
    }
    free(held);
    /* Partner: the acquire in dfrt__reader_malformed. */
    atomic_store_explicit(&reader->opened, true, memory_order_release);
    return status;
}

uint64_t dfrt__reader_malformed(const dfrt__reader *reader, unsigned source)
{
    if (!atomic_load_explicit(&reader->opened, memory_order_acquire)) {
        return 0; /* a source still waits for its header */
    }
    const dfrt__input *input = &reader->inputs[source];
    return input->source != NULL ? dfrt_source_malformed(input->source) : input->malformed;
}

void dfrt__reader_end(dfrt__reader *reader)
{
    for (unsigned i = 0; i < reader->program->source_count && reader->inputs != NULL; i++) {
        dfrt__input *input = &reader->inputs[i];
        dfrt_error error;
        if (input->ahead != NULL) {
            dfrt__ahead_close(input->ahead);
            input->ahead = NULL;
        }
        input->malformed = input->source != NULL ? dfrt_source_malformed(input->source) : 0;
        if (input->source != NULL && dfrt_source_close(input->source, &error) != DFRT_OK) {
            dfrt_stage_fail(reading_stage(reader), &error);
        }
        input->source = NULL;
    }
}

void dfrt__reader_close(dfrt__reader *reader)
{
    for (unsigned i = 0; i < reader->program->source_count && reader->inputs != NULL; i++) {
        free(reader->inputs[i].room);
    }
    free(reader->inputs);
    dfrt__script_close(&reader->script);
}

static bool asked_to_stop(const dfrt__reader *reader)
{
    return dfrt__run_stopped(reading_stage(reader)->run);
}

/* --- one source ------------------------------------------------------------------------------------- */

static void end_input(dfrt__reader *reader, unsigned i)
{
    dfrt_stage *stage = reading_stage(reader);
    reader->inputs[i].open = false;
    reader->program->end_source(stage->segment, i);
}

/* How many of so many tuples are dropped, because the controller says so: the last ones of a batch, which cost no copy. One
 * is always left, since an empty batch would mean that there is no input. */
static size_t count_shed(dfrt__reader *reader, size_t count)
{
    dfrt_run_state *run = reading_stage(reader)->run;
    unsigned share = atomic_load_explicit(&run->shedding, memory_order_relaxed);
    if (share == 0 || count == 0) {
        return 0;
    }
    reader->shed_credit += (uint64_t)count * share;
    size_t dropped = (size_t)(reader->shed_credit >> 16);
    dropped = dropped < count ? dropped : count - 1;
    reader->shed_credit = (reader->shed_credit - ((uint64_t)dropped << 16)) & 0xffffff; /* debts are forgotten */
    atomic_store_explicit(&run->shed, atomic_load_explicit(&run->shed, memory_order_relaxed) + dropped,
                          memory_order_relaxed);
    return dropped;
}

/* Refills the buffer; afterwards it holds tuples, or the input is dry or has ended. */
static void refill(dfrt__reader *reader, unsigned i, size_t most)
{
    dfrt__input *input = &reader->inputs[i];
    dfrt_view view = {NULL, 0};
    dfrt_status status = DFRT_OK;
    uint64_t due_ns = input->ahead == NULL ? dfrt_source_due_ns(input->source) : 0;
    /* A long run of malformed rows comes back empty-handed, so that a signal is heard in the middle of it. */
    while (view.count == 0 && status == DFRT_OK && !asked_to_stop(reader)) {
        status = input->ahead == NULL ? dfrt_source_view(input->source, input->room, most, &view)
                                      : dfrt__ahead_take(input->ahead, &view);
    }
    input->records = view.records;
    input->count = view.count - count_shed(reader, view.count);
    input->at = 0;
    input->dry = status == DFRT_AGAIN;
    if (input->count > 0 && due_ns > 0 && due_ns < reader->due_ns) {
        reader->due_ns = due_ns;
    }
    if (status == DFRT_OK || status == DFRT_AGAIN) {
        return;
    }
    if (status != DFRT_END) {
        dfrt_error error;
        (void)dfrt_fail(&error, status, "%s", dfrt_source_error(input->source));
        dfrt_stage_fail(reading_stage(reader), &error);
    }
    if (input->count == 0) {
        end_input(reader, i);
    }
}

static size_t read_only_source(dfrt__reader *reader, size_t room)
{
    dfrt__input *input = &reader->inputs[0];
    size_t most = dfrt_source_has_views(input->source) ? VIEWED_RECORDS : READ_RECORDS;
    refill(reader, 0, room < most ? room : most);
    if (input->count > 0) {
        (void)reader->program->read(reading_stage(reader)->segment, 0, input->records, input->count, INT64_MAX);
    }
    return input->count;
}

/* --- several sources -------------------------------------------------------------------------------- */

static bool is_ready(void *owner, unsigned i)
{
    dfrt__reader *reader = owner;
    dfrt__input *input = &reader->inputs[i];
    if (input->open && input->at == input->count && !input->dry) {
        refill(reader, i, READ_RECORDS);
    }
    return input->open && input->at < input->count;
}

static size_t take_tuples(void *owner, unsigned i, size_t most, int64_t until)
{
    dfrt__reader *reader = owner;
    dfrt__input *input = &reader->inputs[i];
    const void *records = input->records + input->at * reader->program->sources[i].record->size;
    size_t left = input->count - input->at;
    size_t taken =
        reader->program->read(reading_stage(reader)->segment, i, records, left < most ? left : most, until);
    input->at += taken;
    return taken;
}

static size_t read_several(dfrt__reader *reader, size_t room)
{
    dfrt__merge merge = {.program = reader->program,
                         .segment = reading_stage(reader)->segment,
                         .owner = reader,
                         .ready = is_ready,
                         .take = take_tuples};
    return dfrt__merge_turn(&merge, room);
}

/* --- rounds ----------------------------------------------------------------------------------------- */

static bool any_open(const dfrt__reader *reader)
{
    bool open = false;
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        open |= reader->inputs[i].open;
    }
    return open;
}

/* Until there is input, a reason to stop, or a change to take to the stages. */
static void sleep_for_input(dfrt__reader *reader)
{
    const dfrt_run_state *run = reading_stage(reader)->run;
    struct pollfd few[4], *fds = few;
    nfds_t count = 0;
    if (reader->program->source_count > 2) {
        fds = dfrt_allocate((reader->program->source_count + 2u) * sizeof *fds);
    }
    fds[count++] = (struct pollfd){.fd = run->stop_fd, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = run->wake_fd, .events = POLLIN};
    int timeout = reader->program->tick == NULL ? -1 : TICK_MS;
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (reader->inputs[i].open && reader->inputs[i].dry) {
            int fd = dfrt_source_poll_fd(reader->inputs[i].source);
            fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
            timeout = fd < 0 ? 0 : timeout; /* always ready */
        }
    }
    /* An interrupted wait only means another look at the sources. */
    (void)poll(fds, count, timeout);
    if ((fds[1].revents & POLLIN) != 0) {
        dfrt__run_woken(run);
    }
    if (fds != few) {
        free(fds);
    }
}

static void wait_for_input(dfrt__reader *reader)
{
    dfrt__wait wait = dfrt__wait_begin(reading_stage(reader));
    sleep_for_input(reader);
    dfrt__wait_end(reading_stage(reader), wait, false);
}

static void tell_progress(dfrt__reader *reader, uint64_t now)
{
    if (reader->progress && now - reader->told_ns > TELL_NS) {
        double rate = (double)(reader->tuples - reader->told_tuples) * 1e9 / (double)(now - reader->told_ns);
        (void)fprintf(stderr, "\r%s: %.1f M tuples, %.2f M/s  ", reader->program->name,
                      (double)reader->tuples / 1e6, rate / 1e6);
        reader->told_ns = now;
        reader->told_tuples = reader->tuples;
    }
}

static void end_round(dfrt__reader *reader, bool idle, bool ends)
{
    uint64_t now = dfrt_now_ns();
    bool flush = idle || now - reader->flushed_ns > FLUSH_NS;
    reader->flushed_ns = flush ? now : reader->flushed_ns;
    dfrt_stage *first = reading_stage(reader);
    dfrt_round_end end = {.flush = flush, .ends_stream = ends, .read_ns = reader->due_ns};
    if (!first->fused) {
        dfrt__script_round(&reader->script);
        end.configuration = ends ? first->configuration : dfrt__elastic_next(reader->layout->elastic);
    }
    for (unsigned i = 0; i < (first->fused ? reader->layout->stage_count : 1); i++) {
        dfrt_stage_end_round(reader->layout->stages[i], &end);
    }
    if (!first->fused) {
        dfrt__elastic_await(end.configuration);
    }
    tell_progress(reader, now);
}

/* True when no input has anything to offer now. */
static bool read_round(dfrt__reader *reader)
{
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        reader->inputs[i].dry = false; /* one that had nothing to offer is asked again, however busy the others are */
    }
    for (size_t events = 0; events < ROUND_EVENTS;) {
        size_t taken = reader->program->source_count == 1 && reader->inputs[0].open
                           ? read_only_source(reader, ROUND_EVENTS - events)
                           : read_several(reader, ROUND_EVENTS - events);
        events += taken;
        reader->tuples += taken;
        if (taken == 0 || (reader->program->source_count == 1 && (reader->inputs[0].dry || !reader->inputs[0].open))) {
            return true;
        }
    }
    return false;
}

static void count_round(dfrt__reader *reader, uint64_t read_ns)
{
    dfrt_stage_monitor *monitor = reading_stage(reader)->monitor;
    if (monitor != NULL) {
        dfrt_monitor_read(monitor, reader->tuples - reader->counted_tuples, read_ns);
        reader->counted_tuples = reader->tuples;
    }
}

/* No more input: what has been read is still worked on, then the sources end. */
static void stop_inputs(dfrt__reader *reader)
{
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (reader->inputs[i].open && reader->program->source_count > 1) {
            reader->tuples += take_tuples(reader, i, SIZE_MAX, INT64_MAX);
        }
        if (reader->inputs[i].open) {
            end_input(reader, i);
        }
    }
}

void dfrt__reader_run(dfrt__reader *reader)
{
    reader->started_ns = reader->told_ns = reader->flushed_ns = dfrt_now_ns();
    reading_stage(reader)->position = 0;
    if (reading_stage(reader)->monitor != NULL) {
        dfrt_monitor_start(reading_stage(reader)->monitor);
    }
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (!reader->inputs[i].open) { /* told to stop before its first row */
            end_input(reader, i);
        }
    }
    for (bool ends = false; !ends;) {
        uint64_t read_ns = reader->due_ns = dfrt_now_ns();
        bool idle = read_round(reader);
        count_round(reader, read_ns);
        if (idle && reader->program->tick != NULL) {
            reader->program->tick(reading_stage(reader)->segment);
        }
        if (asked_to_stop(reader)) {
            stop_inputs(reader);
        }
        ends = !any_open(reader);
        end_round(reader, idle, ends);
        reading_stage(reader)->position = 0;
        if (reader->after_round != NULL) {
            reader->after_round(reader->after_round_context);
        }
        if (idle && !ends) {
            wait_for_input(reader);
        }
    }
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        reading_stage(reader)->wait_cpu_ns += reader->inputs[i].ahead_times.waited;
    }
    reader->ended_ns = dfrt_now_ns();
    if (reader->progress) {
        (void)fprintf(stderr, "\r\033[K");
    }
}
