#define _GNU_SOURCE
#include "embed_state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* As in reader.c: enough to share the cost of passing a round on, few enough to stay under a millisecond. */
#ifndef DFRT_ROUND_EVENTS
#define DFRT_ROUND_EVENTS 1024
#endif
enum { MOST_WORKERS = 256 };

/* --- failures --------------------------------------------------------------------------------------- */

static _Atomic uint64_t created; /* relaxed: only gives each instance a number of its own */

/* Any thread may name an alternate, while `error` is the owner's: the line of what was refused is kept by the thread that
 * asked, until another of its calls fails. By number, since another instance may come to lie at the same place. */
static _Thread_local struct {
    uint64_t instance;
    dfrt_error error;
} refused;

/* The status of an owner's call: its line, in `error`, is the latest one. */
static dfrt_status latest(dfrt_status status)
{
    if (status != DFRT_OK) {
        refused.instance = 0;
    }
    return status;
}

/* --- results ---------------------------------------------------------------------------------------- */

static void call_back(void *context, dfrt_results *results)
{
    const dfrt__embed_sink *sink = context;
    sink->callback(sink->embed->options, results->records, results->count);
}

static void drop(void *context, dfrt_results *results)
{
    (void)context;
    results->count = 0;
}

/* The room itself is handed over when the owner has taken everything before. */
static void collect_results(void *context, dfrt_results *results)
{
    dfrt__embed_sink *sink = context;
    (void)pthread_mutex_lock(&sink->lock);
    if (sink->collected.count == 0 && !sink->collected.out_of_memory) {
        dfrt_results empty = sink->collected;
        sink->collected = *results;
        *results = empty;
    } else {
        dfrt_results_append(&sink->collected, results->records, results->count, sink->record_size);
    }
    (void)pthread_mutex_unlock(&sink->lock);
}

void *dfrt_embed_take(dfrt_embed *embed, unsigned sink, size_t *count)
{
    dfrt__embed_sink *from = &embed->sinks[sink];
    (void)pthread_mutex_lock(&from->lock);
    dfrt_results taken = from->collected;
    from->collected = (dfrt_results){0};
    (void)pthread_mutex_unlock(&from->lock);
    if (taken.out_of_memory) {
        (void)latest(dfrt_fail(&embed->error, DFRT_MEMORY, "no memory for the results of a sink"));
        dfrt_stage_fail(embed->layout.stages[0], &embed->error);
    }
    *count = taken.count;
    return taken.records;
}

/* --- rounds ----------------------------------------------------------------------------------------- */

static void end_round(dfrt_embed *embed, bool flush, bool ends)
{
    unsigned stages = embed->fused ? embed->layout.stage_count : 1;
    dfrt_round_end end = {.flush = flush || embed->each_round,
                          .ends_stream = ends,
                          .read_ns = embed->read_ns,
                          .configuration = embed->layout.stages[0]->configuration};
    for (unsigned i = 0; i < stages; i++) {
        dfrt_stage_end_round(embed->layout.stages[i], &end);
    }
    embed->layout.stages[0]->position = 0;
    embed->events = 0;
}

static void begin_event(dfrt_embed *embed)
{
    if (embed->events == 0) {
        embed->read_ns = dfrt_now_ns();
    }
}

size_t dfrt__embed_feed(dfrt_embed *embed, unsigned source, const void *records, size_t count, int64_t until)
{
    const unsigned char *from = records;
    size_t size = embed->program->sources[source].record->size;
    size_t fed = 0;
    for (bool more = true; more && fed < count;) {
        size_t part = DFRT_ROUND_EVENTS - embed->events;
        part = part < count - fed ? part : count - fed;
        begin_event(embed);
        size_t taken =
            embed->program->read(embed->layout.stages[0]->segment, source, from + fed * size, part, until);
        more = taken == part;
        fed += taken;
        embed->events += (unsigned)taken;
        if (embed->events >= DFRT_ROUND_EVENTS) {
            end_round(embed, false, false);
        }
    }
    return fed;
}

void dfrt__embed_end_source(dfrt_embed *embed, unsigned source)
{
    if (!embed->ended[source]) {
        begin_event(embed);
        embed->ended[source] = true;
        embed->program->end_source(embed->layout.stages[0]->segment, source);
    }
}

dfrt_status dfrt__embed_status(dfrt_embed *embed)
{
    return latest(dfrt__run_status(&embed->run, &embed->error));
}

dfrt_status dfrt__embed_ready(dfrt_embed *embed)
{
    dfrt_status status = dfrt__embed_status(embed);
    if (status == DFRT_OK && embed->drained) {
        status = dfrt_fail(&embed->error, DFRT_USAGE, "%s has been drained", embed->program->name);
    }
    return latest(status);
}

static dfrt_status takes_tuples(dfrt_embed *embed, unsigned source)
{
    dfrt_status status = dfrt__embed_ready(embed);
    if (status == DFRT_OK && embed->ended[source]) {
        status = dfrt_fail(&embed->error, DFRT_USAGE, "source '%s' has ended", embed->program->sources[source].name);
    }
    return latest(status);
}

dfrt_status dfrt_embed_push(dfrt_embed *embed, unsigned source, const void *records, size_t count)
{
    dfrt_status status = takes_tuples(embed, source);
    if (status != DFRT_OK) {
        return status;
    }
    (void)dfrt__embed_feed(embed, source, records, count, INT64_MAX);
    return dfrt__embed_status(embed);
}

dfrt_status dfrt__embed_watermark(dfrt_embed *embed, unsigned source, int64_t watermark)
{
    dfrt_status status = takes_tuples(embed, source);
    if (status == DFRT_OK) {
        begin_event(embed);
        embed->program->give_watermark(embed->layout.stages[0]->segment, source, watermark);
        status = dfrt__embed_status(embed);
    }
    return status;
}

dfrt_status dfrt_embed_push_at(dfrt_embed *embed, unsigned source, const void *records, const int64_t *watermarks,
                               size_t count)
{
    dfrt_status status = takes_tuples(embed, source);
    if (status != DFRT_OK) {
        return status;
    }
    size_t size = embed->program->sources[source].record->size;
    for (size_t i = 0; i < count; i++) {
        begin_event(embed);
        embed->program->give_watermark(embed->layout.stages[0]->segment, source, watermarks[i]);
        (void)dfrt__embed_feed(embed, source, (const unsigned char *)records + i * size, 1, INT64_MAX);
    }
    return dfrt__embed_status(embed);
}

dfrt_status dfrt_embed_end(dfrt_embed *embed, unsigned source)
{
    dfrt_status status = dfrt__embed_ready(embed);
    if (status == DFRT_OK) {
        dfrt__embed_end_source(embed, source);
        status = dfrt__embed_status(embed);
    }
    return status;
}

dfrt_status dfrt_embed_poll(dfrt_embed *embed)
{
    dfrt_status status = dfrt__embed_ready(embed);
    if (status == DFRT_OK) {
        begin_event(embed);
        if (embed->program->tick != NULL) {
            embed->program->tick(embed->layout.stages[0]->segment);
        }
        end_round(embed, true, false);
        status = dfrt__embed_status(embed);
    }
    return status;
}

dfrt_status dfrt_embed_drain(dfrt_embed *embed)
{
    dfrt_status status = dfrt__embed_ready(embed);
    if (status != DFRT_OK) {
        return status;
    }
    begin_event(embed);
    for (unsigned i = 0; i < embed->program->source_count; i++) {
        dfrt__embed_end_source(embed, i);
    }
    embed->drained = true;
    end_round(embed, true, true);
    dfrt__threads_join(&embed->threads);
    return dfrt__embed_status(embed);
}

/* --- questions -------------------------------------------------------------------------------------- */

dfrt_status dfrt_embed_set_alternate(dfrt_embed *embed, const char *step, const char *alternate)
{
    if (dfrt_set_alternate(&embed->run, embed->program, step, alternate)) {
        return DFRT_OK;
    }
    refused.instance = embed->number;
    return dfrt_fail(&refused.error, DFRT_USAGE, "there is no alternate '%s' of '%s'", alternate, step);
}

const char *dfrt_embed_error(const dfrt_embed *embed)
{
    return refused.instance == embed->number ? refused.error.text : embed->error.text;
}

static void add_counts(const dfrt_embed *embed, unsigned step, dfrt_embed_counts *sum)
{
    const dfrt_step_entry *entry = &embed->program->steps[step];
    for (unsigned i = 0; i < entry->input_count && entry->same; i++) { /* not counted on its own */
        dfrt_embed_counts input = {0};
        add_counts(embed, entry->inputs[i], &input);
        sum->out += input.out;
    }
    for (unsigned i = 0; i < embed->layout.stage_count; i++) {
        const dfrt_segment_head *head = embed->layout.stages[i]->segment;
        sum->out += entry->same ? 0 : head->counts[step].out;
        sum->late += head->counts[step].late;
        sum->faults += head->counts[step].faults;
    }
}

dfrt_status dfrt_embed_count(dfrt_embed *embed, const char *step, dfrt_embed_counts *counts)
{
    *counts = (dfrt_embed_counts){0};
    if (!embed->drained) {
        return latest(dfrt_fail(&embed->error, DFRT_USAGE, "%s has not been drained yet", embed->program->name));
    }
    for (unsigned i = 0; i < embed->program->step_count; i++) {
        if (strcmp(embed->program->steps[i].name, step) == 0) {
            add_counts(embed, i, counts);
            return DFRT_OK;
        }
    }
    return latest(dfrt_fail(&embed->error, DFRT_USAGE, "there is no step '%s'", step));
}

/* --- the whole -------------------------------------------------------------------------------------- */

static dfrt_status check_options(const dfrt_program *program, const dfrt_embed_options *options, dfrt_error *error)
{
    if (program->abi != DFRT_ABI_VERSION) {
        return dfrt_fail(error, DFRT_USAGE, "%s was generated for version %u of the runtime, this is %u",
                         program->name, program->abi, DFRT_ABI_VERSION);
    }
    if (options->workers > MOST_WORKERS) {
        return dfrt_fail(error, DFRT_USAGE, "%u workers; there can be %d", options->workers, MOST_WORKERS);
    }
    if (options->given_clock && options->clock_step < 0) {
        return dfrt_fail(error, DFRT_USAGE, "clock_step is %lld, and time does not go back",
                         (long long)options->clock_step);
    }
    return DFRT_OK;
}

static dfrt_status open_sinks(dfrt_embed *embed, const dfrt_embed_options *options, dfrt_error *error)
{
    const dfrt_program *program = embed->program;
    for (unsigned i = 0; i < program->sink_count; i++) {
        const dfrt_sink_entry *entry = &program->sinks[i];
        dfrt__embed_sink *sink = &embed->sinks[i];
        sink->embed = embed;
        sink->record_size = entry->record->size;
        sink->callback = options->callbacks[i];
        embed->each_round |= sink->callback != NULL;
        dfrt_deliver deliver = sink->callback != NULL ? call_back : options->collect ? collect_results : drop;
        dfrt_sink **place = &embed->layout.stages[embed->layout.first_stage[entry->segment]]->sinks[i];
        dfrt_status status = dfrt_sink_open_results(place, entry->record, deliver, sink, error);
        if (status != DFRT_OK) {
            return status;
        }
    }
    return DFRT_OK;
}

static dfrt_status copy_options(dfrt_embed *embed, const dfrt_embed_options *options, dfrt_error *error)
{
    const dfrt_program *program = embed->program;
    embed->options = malloc(options->options_size + 1);
    embed->ended = calloc(program->source_count + 1u, sizeof *embed->ended);
    embed->sinks = calloc(program->sink_count + 1u, sizeof *embed->sinks);
    if (embed->options == NULL || embed->ended == NULL || embed->sinks == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for an instance of %s", program->name);
    }
    if (options->options_size > 0) {
        memcpy(embed->options, options->options, options->options_size);
    }
    for (unsigned i = 0; i < program->sink_count; i++) {
        (void)pthread_mutex_init(&embed->sinks[i].lock, NULL); /* can't fail with the default attributes */
    }
    return DFRT_OK;
}

static dfrt_status open_all(dfrt_embed *embed, const dfrt_embed_options *options, dfrt_error *error)
{
    unsigned workers = options->workers == 0 ? 1 : options->workers;
    embed->fused = workers == 1;
    embed->each_round = !embed->fused;
    dfrt_status status = copy_options(embed, options, error);
    if (status == DFRT_OK) {
        status = dfrt__run_open(&embed->run, embed->program, error);
    }
    if (status == DFRT_OK && options->given_clock) {
        embed->run.clock = dfrt_clock_of(options->clock_start, options->clock_step);
    }
    if (status == DFRT_OK) {
        status = dfrt__layout_open(&embed->layout, embed->program, &embed->run, (dfrt__degrees){.workers = workers},
                                   embed->fused, error);
    }
    if (status == DFRT_OK) {
        status = open_sinks(embed, options, error);
    }
    return status == DFRT_OK && !embed->fused ? dfrt__threads_start(&embed->threads, &embed->layout, error) : status;
}

dfrt_status dfrt_embed_create(dfrt_embed **out, const dfrt_program *program, const dfrt_embed_options *options,
                              dfrt_error *error)
{
    *out = NULL;
    dfrt_status status = check_options(program, options, error);
    if (status != DFRT_OK) {
        return status;
    }
    dfrt_embed *embed = calloc(1, sizeof *embed);
    if (embed == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for an instance of %s", program->name);
    }
    embed->program = program;
    embed->number = 1 + atomic_fetch_add_explicit(&created, 1, memory_order_relaxed);
    embed->layout.program = program;
    status = open_all(embed, options, error);
    if (status != DFRT_OK) {
        embed->drained = true; /* nothing runs that would have to be ended */
        dfrt_embed_destroy(embed);
        return status;
    }
    *out = embed;
    return DFRT_OK;
}

static void close_sinks(dfrt_embed *embed)
{
    for (unsigned i = 0; i < embed->program->sink_count && embed->sinks != NULL; i++) {
        unsigned segment = embed->program->sinks[i].segment;
        dfrt_stage *stage = embed->layout.stages == NULL ? NULL
                                                         : embed->layout.stages[embed->layout.first_stage[segment]];
        dfrt_error ignored; /* these sinks hold no file */
        if (stage != NULL && stage->sinks != NULL) {
            (void)dfrt_sink_close(stage->sinks[i], &ignored);
        }
        free(embed->sinks[i].collected.records);
        (void)pthread_mutex_destroy(&embed->sinks[i].lock);
    }
}

/* Makes the stages drop what they get, and ends their streams. */
static void abandon(dfrt_embed *embed)
{
    int good = 0;
    (void)atomic_compare_exchange_strong_explicit(&embed->run.failed, &good, 1, memory_order_relaxed,
                                                  memory_order_relaxed);
    end_round(embed, false, true);
    dfrt__threads_join(&embed->threads);
}

void dfrt_embed_destroy(dfrt_embed *embed)
{
    if (embed == NULL) {
        return;
    }
    if (!embed->drained && !embed->fused) {
        abandon(embed);
    }
    close_sinks(embed);
    if (embed->layout.degree != NULL) {
        dfrt__layout_close(&embed->layout);
    }
    dfrt__run_close(&embed->run);
    free(embed->sinks);
    free(embed->ended);
    free(embed->options);
    free(embed);
}
