#define _GNU_SOURCE
#include "reader.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "dfrt/store.h"

/* Events in a round: enough to share the cost of passing it on, few enough to stay under a millisecond. */
enum { ROUND_EVENTS = 1024, READ_RECORDS = 256 };
static const uint64_t FLUSH_NS = 100000000, TELL_NS = 500000000;

_Atomic int dfrt__stop;

static dfrt_stage *reading_stage(const dfrt__reader *reader) { return reader->layout->stages[0]; }

dfrt_status dfrt__reader_open(dfrt__reader *reader, dfrt__layout_plan *layout, const dfrt__options *options,
                              dfrt_run_state *run, dfrt_error *error)
{
    const dfrt_program *program = layout->program;
    *reader = (dfrt__reader){.program = program, .layout = layout};
    reader->progress = !options->quiet && isatty(STDERR_FILENO) == 1;
    reader->inputs = dfrt_allocate((program->source_count + 1u) * sizeof *reader->inputs);
    for (unsigned i = 0; i < program->source_count; i++) {
        const dfrt_source_entry *entry = &program->sources[i];
        dfrt_source_options how = DFRT_SOURCE_DEFAULTS;
        how.event_time = entry->time_field;
        how.stop_fd = run->stop_fd;
        how.max_row = options->max_row;
        how.report_limit = options->report_limit;
        how.malformed_path = options->malformed_path;
        dfrt__input *input = &reader->inputs[i];
        dfrt_status status =
            dfrt_source_open(&input->source, entry->name, options->source_specs[i], entry->record, &how, error);
        if (status != DFRT_OK && status != DFRT_END) {
            return status;
        }
        input->open = status == DFRT_OK;
        input->records = dfrt_allocate(READ_RECORDS * entry->record->size);
    }
    return DFRT_OK;
}

void dfrt__reader_close(dfrt__reader *reader)
{
    for (unsigned i = 0; i < reader->program->source_count && reader->inputs != NULL; i++) {
        dfrt_error error;
        if (reader->inputs[i].source != NULL && dfrt_source_close(reader->inputs[i].source, &error) != DFRT_OK) {
            dfrt_stage_fail(reading_stage(reader), &error);
        }
        free(reader->inputs[i].records);
    }
    free(reader->inputs);
}

/* --- one source ------------------------------------------------------------------------------------- */

static void end_input(dfrt__reader *reader, unsigned i)
{
    dfrt_stage *stage = reading_stage(reader);
    reader->inputs[i].open = false;
    reader->program->end_source(stage->segment, i);
}

/* Refills the buffer; afterwards it holds tuples, or the input is dry or has ended. */
static void refill(dfrt__reader *reader, unsigned i, size_t most)
{
    dfrt__input *input = &reader->inputs[i];
    input->count = input->at = 0;
    dfrt_status status = DFRT_OK;
    while (input->count == 0 && status == DFRT_OK) {
        status = dfrt_source_read(input->source, input->records, most, &input->count);
    }
    input->dry = status == DFRT_AGAIN;
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
    refill(reader, 0, room < READ_RECORDS ? room : READ_RECORDS);
    if (input->count > 0) {
        reader->program->read(reading_stage(reader)->segment, 0, input->records, input->count);
    }
    return input->count;
}

/* --- several sources: the untimed ones in turn, then the timed one that is furthest behind ----------- */

static bool ready(dfrt__reader *reader, unsigned i)
{
    dfrt__input *input = &reader->inputs[i];
    if (input->open && input->at == input->count && !input->dry) {
        refill(reader, i, READ_RECORDS);
    }
    return input->open && input->at < input->count;
}

static void read_one(dfrt__reader *reader, unsigned i)
{
    dfrt__input *input = &reader->inputs[i];
    const void *record = input->records + input->at++ * reader->program->sources[i].record->size;
    reader->program->read(reading_stage(reader)->segment, i, record, 1);
}

/* The open timed source with the smallest watermark that has a tuple; -1 if there is none. */
static int furthest_behind(dfrt__reader *reader)
{
    int chosen = -1;
    int64_t smallest = 0;
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (reader->program->sources[i].time_field < 0 || !ready(reader, i)) {
            continue;
        }
        int64_t watermark = reader->program->source_watermark(reading_stage(reader)->segment, i);
        if (chosen < 0 || watermark < smallest) {
            chosen = (int)i;
            smallest = watermark;
        }
    }
    return chosen;
}

static size_t read_turn(dfrt__reader *reader)
{
    size_t taken = 0;
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (reader->program->sources[i].time_field < 0 && ready(reader, i)) {
            read_one(reader, i);
            taken++;
        }
    }
    int timed = furthest_behind(reader);
    if (timed >= 0) {
        read_one(reader, (unsigned)timed);
        taken++;
    }
    return taken;
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

static void wait_for_input(dfrt__reader *reader)
{
    if (reader->program->source_count == 1) {
        (void)dfrt_source_wait(reader->inputs[0].source); /* the stop flag says whether to go on */
        return;
    }
    struct pollfd *fds = dfrt_allocate((reader->program->source_count + 1u) * sizeof *fds);
    nfds_t count = 0;
    fds[count++] = (struct pollfd){.fd = reading_stage(reader)->run->stop_fd, .events = POLLIN};
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (reader->inputs[i].open && reader->inputs[i].dry) {
            fds[count++] = (struct pollfd){.fd = dfrt_source_poll_fd(reader->inputs[i].source), .events = POLLIN};
        }
    }
    (void)poll(fds, count, -1); /* an interrupted wait only means another look at the sources */
    free(fds);
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        reader->inputs[i].dry = false;
    }
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

static void end_round(dfrt__reader *reader, bool idle, bool ends, uint64_t read_ns)
{
    uint64_t now = dfrt_now_ns();
    bool flush = idle || now - reader->flushed_ns > FLUSH_NS;
    reader->flushed_ns = flush ? now : reader->flushed_ns;
    unsigned stages = reading_stage(reader)->fused ? reader->layout->stage_count : 1;
    for (unsigned i = 0; i < stages; i++) {
        dfrt_stage_end_round(reader->layout->stages[i], flush, ends, read_ns);
    }
    tell_progress(reader, now);
}

/* True when no input has anything to offer now. */
static bool read_round(dfrt__reader *reader)
{
    for (size_t events = 0; events < ROUND_EVENTS;) {
        size_t taken = reader->program->source_count == 1 && reader->inputs[0].open
                           ? read_only_source(reader, ROUND_EVENTS - events)
                           : read_turn(reader);
        events += taken;
        reader->tuples += taken;
        if (reader->program->source_count == 1 ? reader->inputs[0].dry || !reader->inputs[0].open : taken == 0) {
            return true;
        }
    }
    return false;
}

/* No more input: what has been read is still worked on, then the sources end. */
static void stop_inputs(dfrt__reader *reader)
{
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        while (reader->inputs[i].open && reader->program->source_count > 1 &&
               reader->inputs[i].at < reader->inputs[i].count) {
            read_one(reader, i);
            reader->tuples++;
        }
        if (reader->inputs[i].open) {
            end_input(reader, i);
        }
    }
}

static bool asked_to_stop(const dfrt__reader *reader)
{
    return atomic_load_explicit(&dfrt__stop, memory_order_relaxed) != 0 ||
           dfrt_run_failed(reading_stage(reader)->run);
}

void dfrt__reader_run(dfrt__reader *reader)
{
    reader->started_ns = reader->told_ns = reader->flushed_ns = dfrt_now_ns();
    reading_stage(reader)->position = 0;
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (!reader->inputs[i].open) { /* told to stop before its first row */
            end_input(reader, i);
        }
    }
    for (bool ends = false; !ends;) {
        uint64_t read_ns = dfrt_now_ns();
        bool idle = read_round(reader);
        if (asked_to_stop(reader)) {
            stop_inputs(reader);
        }
        ends = !any_open(reader);
        end_round(reader, idle, ends, read_ns);
        reading_stage(reader)->position = 0;
        if (idle && !ends) {
            wait_for_input(reader);
        }
    }
    reader->ended_ns = dfrt_now_ns();
    if (reader->progress) {
        (void)fprintf(stderr, "\r\033[K");
    }
}
