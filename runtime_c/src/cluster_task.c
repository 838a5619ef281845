/* The program over some of its tuples: rows that came from elsewhere, or whole files that are read here. Each result is
 * marked with the tuple that released it. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "cluster_state.h"
#include "embed_state.h"
#include "saved_state.h"

enum { READ_ROWS = 1024 };

/* The files of one source, one after the other. */
typedef struct task_input {
    char **specs;
    size_t file_count, opened;
    uint64_t max_row, report_limit, malformed;
    dfrt_source *source;
    unsigned char *records;
    dfrt__reports *reports;
} task_input;

struct dfrt_task {
    const dfrt_program *program;
    dfrt_embed *embed;
    unsigned char *record;
    dfrt__travel_room *rooms; /* by sink: results, and the marks of those that wait in the sink */
    task_input *inputs;
    dfrt_embed_input *entries;
    dfrt__reports reports;
    dfrt_bytes saved;
};

static dfrt_status no_memory(const dfrt_program *program, dfrt_error *error)
{
    return dfrt_fail(error, DFRT_MEMORY, "no memory for a task of %s", program->name);
}

static size_t largest_record(const dfrt_program *program)
{
    size_t most = 1;
    for (unsigned i = 0; i < program->source_count; i++) {
        size_t size = program->sources[i].record->size;
        most = size > most ? size : most;
    }
    return most;
}

static dfrt_status open_program(dfrt_task *task, dfrt_error *error)
{
    const dfrt_program *program = task->program;
    dfrt_embed_callback *none = calloc(program->sink_count + 1u, sizeof *none);
    if (none == NULL) {
        return no_memory(program, error);
    }
    dfrt_embed_options options = {.workers = 1, .collect = true, .callbacks = none};
    dfrt_status status = dfrt_embed_create(&task->embed, program, &options, error);
    free(none);
    return status;
}

dfrt_status dfrt__task_open(dfrt_task **out, const dfrt_program *program, dfrt_error *error)
{
    *out = NULL;
    dfrt_task *task = calloc(1, sizeof *task);
    if (task == NULL) {
        return no_memory(program, error);
    }
    task->program = program;
    task->record = malloc(largest_record(program));
    task->rooms = calloc(program->sink_count + 1u, sizeof *task->rooms);
    task->inputs = calloc(program->source_count + 1u, sizeof *task->inputs);
    task->entries = calloc(program->source_count + 1u, sizeof *task->entries);
    bool good = task->record != NULL && task->rooms != NULL && task->inputs != NULL && task->entries != NULL;
    dfrt_status status = good ? open_program(task, error) : no_memory(program, error);
    if (status != DFRT_OK) {
        dfrt__task_close(task);
        return status;
    }
    *out = task;
    return DFRT_OK;
}

static void close_input(task_input *input)
{
    dfrt_error ignored; /* nothing is written */
    (void)dfrt_source_close(input->source, &ignored);
    for (size_t i = 0; i < input->file_count; i++) {
        free(input->specs[i]);
    }
    free(input->specs);
    free(input->records);
}

void dfrt__task_close(dfrt_task *task)
{
    if (task == NULL) {
        return;
    }
    for (unsigned i = 0; task->inputs != NULL && i < task->program->source_count; i++) {
        close_input(&task->inputs[i]);
    }
    for (unsigned i = 0; task->rooms != NULL && i < task->program->sink_count; i++) {
        dfrt__travel_free(&task->rooms[i]);
    }
    dfrt_embed_destroy(task->embed);
    dfrt_bytes_free(&task->reports.text);
    dfrt_bytes_free(&task->saved);
    free(task->entries);
    free(task->inputs);
    free(task->rooms);
    free(task->record);
    free(task);
}

dfrt_status dfrt__task_set_alternate(dfrt_task *task, const char *step, const char *alternate)
{
    return dfrt_embed_set_alternate(task->embed, step, alternate);
}

static dfrt_status with_line(dfrt_task *task, dfrt_status status, dfrt_error *error)
{
    return status == DFRT_OK ? DFRT_OK : dfrt_fail(error, status, "%s", dfrt_embed_error(task->embed));
}

/* --- rows from elsewhere ---------------------------------------------------------------------------- */

/* How many results wait in a sink: the program runs in this thread, so they are all there. */
static size_t results_waiting(const dfrt_task *task, unsigned sink)
{
    const dfrt__layout_plan *layout = &task->embed->layout;
    return layout->stages[layout->first_stage[task->program->sinks[sink].segment]]->sinks[sink]->results.count;
}

static void mark_results(dfrt_task *task, int64_t order, int32_t source, int64_t index)
{
    for (unsigned i = 0; i < task->program->sink_count; i++) {
        dfrt__travel_room *room = &task->rooms[i];
        for (size_t marked = room->index.size / sizeof index; marked < results_waiting(task, i); marked++) {
            dfrt__travel_put(&room->order, order);
            dfrt__travel_put(&room->index, index);
            dfrt_bytes_append(&room->source, &source, sizeof source);
        }
    }
}

static void clear_results(dfrt_task *task)
{
    for (unsigned i = 0; i < task->program->sink_count; i++) {
        dfrt__travel_clear(&task->rooms[i]);
    }
}

dfrt_status dfrt__task_push(dfrt_task *task, const dfrt_row_columns *rows, dfrt_error *error)
{
    clear_results(task);
    for (uint64_t i = 0; i < rows->count; i++) {
        unsigned source = (unsigned)rows->source[i];
        if (source >= task->program->source_count) {
            return dfrt_fail(error, DFRT_USAGE, "%s has no source number %u", task->program->name, source);
        }
        dfrt_status status = dfrt__travel_take(rows, i, task->program->sources[source].record, task->record, error);
        if (status == DFRT_OK) {
            status = with_line(task, dfrt_embed_push_at(task->embed, source, task->record, &rows->watermark[i], 1), error);
        }
        if (status != DFRT_OK) {
            return status;
        }
        mark_results(task, rows->order[i], rows->source[i], rows->index[i]);
    }
    return with_line(task, dfrt_embed_poll(task->embed), error);
}

/* The results of the end are marked as behind everything. */
dfrt_status dfrt__task_end(dfrt_task *task, dfrt_error *error)
{
    clear_results(task);
    return with_line(task, dfrt_embed_drain(task->embed), error);
}

/* Its results are marked as behind those of all rows. */
dfrt_status dfrt__task_watermark(dfrt_task *task, uint32_t source, int64_t watermark, dfrt_error *error)
{
    clear_results(task);
    if (source >= task->program->source_count) {
        return dfrt_fail(error, DFRT_USAGE, "%s has no source number %u", task->program->name, source);
    }
    dfrt_status status = dfrt__embed_watermark(task->embed, source, watermark);
    return with_line(task, status == DFRT_OK ? dfrt_embed_poll(task->embed) : status, error);
}

dfrt_status dfrt__task_save(dfrt_task *task, const uint8_t **bytes, uint64_t *size, dfrt_error *error)
{
    task->saved.size = 0;
    dfrt_status status = dfrt__state_save(task->embed, &task->saved, error);
    *bytes = task->saved.data;
    *size = task->saved.size;
    return status;
}

dfrt_status dfrt__task_load(dfrt_task *task, const uint8_t *bytes, uint64_t size, dfrt_error *error)
{
    return dfrt__state_load(task->embed, bytes, size, error);
}

static dfrt_status add_results(dfrt_task *task, unsigned sink, const unsigned char *records, size_t count,
                               dfrt_error *error)
{
    const dfrt_record *form = task->program->sinks[sink].record;
    dfrt__travel_room *room = &task->rooms[sink];
    dfrt_status status = DFRT_OK;
    for (size_t i = 0; i < count && status == DFRT_OK; i++) {
        status = dfrt__travel_add(room, form, records + i * form->size, error);
    }
    int32_t last = INT32_MAX;
    for (size_t marked = room->index.size / sizeof(int64_t); marked < count; marked++) {
        dfrt__travel_put(&room->order, INT64_MAX);
        dfrt__travel_put(&room->index, INT64_MAX);
        dfrt_bytes_append(&room->source, &last, sizeof last);
    }
    return status;
}

dfrt_status dfrt__task_results(dfrt_task *task, uint32_t sink, dfrt_row_columns *rows, dfrt_error *error)
{
    size_t count = 0;
    void *records = dfrt_embed_take(task->embed, sink, &count);
    dfrt_status status = with_line(task, dfrt__embed_status(task->embed), error);
    if (status == DFRT_OK) {
        status = add_results(task, sink, records, count, error);
    }
    free(records);
    *rows = dfrt__travel_columns(&task->rooms[sink]);
    return status;
}

/* --- whole files ------------------------------------------------------------------------------------ */

static void report_row(void *context, uint64_t number, const char *text)
{
    task_input *input = context;
    if (input->report_limit > 0) { /* what a file before this one has told counts, too */
        input->report_limit--;
        dfrt__reports_add(input->reports, number, text);
    }
}

dfrt_status dfrt__task_add_file(dfrt_task *task, uint32_t source, const char *spec, uint64_t max_row,
                                uint64_t report_limit, dfrt_error *error)
{
    task_input *input = &task->inputs[source];
    size_t size = task->program->sources[source].record->size;
    char **specs = realloc(input->specs, (input->file_count + 1) * sizeof *specs);
    input->specs = specs == NULL ? input->specs : specs;
    input->records = input->records == NULL ? calloc(READ_ROWS, size) : input->records;
    char *copy = strdup(spec);
    if (specs == NULL || input->records == NULL || copy == NULL) {
        free(copy);
        return no_memory(task->program, error);
    }
    specs[input->file_count++] = copy;
    input->max_row = max_row;
    input->report_limit = report_limit;
    input->reports = &task->reports;
    return DFRT_OK;
}

static dfrt_status open_next(dfrt_task *task, unsigned source, dfrt_error *error)
{
    const dfrt_source_entry *entry = &task->program->sources[source];
    task_input *input = &task->inputs[source];
    dfrt_source_options how = DFRT_SOURCE_DEFAULTS;
    how.event_time = entry->time_field;
    how.used = entry->used;
    how.max_row = input->max_row;
    how.report_limit = UINT64_MAX;
    how.report = report_row;
    how.report_context = input;
    return dfrt_source_open(&input->source, entry->name, input->specs[input->opened++], entry->record, &how, error);
}

static dfrt_status close_file(task_input *input, dfrt_error *error)
{
    input->malformed += dfrt_source_malformed(input->source);
    dfrt_status status = dfrt_source_close(input->source, error);
    input->source = NULL;
    return status;
}

/* Gives a source that is used up its next tuples; from the next file when one has ended. */
static dfrt_status fill_input(dfrt_task *task, unsigned source, dfrt_error *error)
{
    task_input *input = &task->inputs[source];
    dfrt_embed_input *entry = &task->entries[source];
    dfrt_status status = DFRT_OK;
    entry->records = input->records;
    entry->at = entry->count = 0;
    task->reports.name = task->program->sources[source].name;
    while (entry->count == 0 && status == DFRT_OK) {
        if (input->source == NULL && input->opened == input->file_count) {
            entry->ended = true;
            return DFRT_OK;
        }
        status = input->source == NULL ? open_next(task, source, error) : DFRT_OK;
        if (status == DFRT_OK) {
            status = dfrt_source_read(input->source, input->records, READ_ROWS, &entry->count);
            if (status != DFRT_OK && status != DFRT_END && status != DFRT_AGAIN) {
                (void)dfrt_fail(error, status, "%s", dfrt_source_error(input->source));
            }
        }
        if (status == DFRT_AGAIN) {
            status = entry->count > 0 ? DFRT_OK : dfrt_source_wait(input->source);
        } else if (status == DFRT_END) {
            status = close_file(input, error);
        }
    }
    return status;
}

dfrt_status dfrt__task_read(dfrt_task *task, dfrt_error *error)
{
    clear_results(task);
    for (unsigned i = 0; i < task->program->source_count; i++) {
        dfrt_embed_input *entry = &task->entries[i];
        if (entry->at == entry->count && !entry->ended) {
            dfrt_status status = fill_input(task, i, error);
            if (status != DFRT_OK) {
                return status;
            }
        }
    }
    dfrt_status status = dfrt_embed_merge(task->embed, task->entries);
    if (status != DFRT_AGAIN && status != DFRT_END) {
        return with_line(task, status, error);
    }
    dfrt_status polled = with_line(task, dfrt_embed_poll(task->embed), error);
    return polled != DFRT_OK || status == DFRT_AGAIN ? polled : DFRT_END;
}

const char *dfrt__task_reports(const dfrt_task *task)
{
    return dfrt__reports_text(&task->reports);
}

uint64_t dfrt__task_malformed(const dfrt_task *task, uint32_t source)
{
    return task->inputs[source].malformed;
}
