/* The table of functions, and what writes results where they belong. */
#include <dfrt/sink.h>

#include <stdlib.h>

#include "cluster_state.h"

struct dfrt_writer {
    const dfrt_record *form;
    dfrt_sink *sink;
    unsigned char *record;
};

static dfrt_status open_writer(dfrt_writer **out, const dfrt_program *program, uint32_t sink, const char *spec,
                               dfrt_error *error)
{
    *out = NULL;
    const dfrt_sink_entry *entry = &program->sinks[sink];
    dfrt_writer *writer = calloc(1, sizeof *writer);
    unsigned char *record = malloc(entry->record->size);
    dfrt_status status = writer == NULL || record == NULL
                             ? dfrt_fail(error, DFRT_MEMORY, "no memory for sink '%s'", entry->name)
                             : dfrt_sink_open(&writer->sink, entry->name, spec, entry->record, error);
    if (status != DFRT_OK) {
        free(record);
        free(writer);
        return status;
    }
    writer->form = entry->record;
    writer->record = record;
    *out = writer;
    return DFRT_OK;
}

static dfrt_status write_rows(dfrt_writer *writer, const dfrt_row_columns *rows, dfrt_error *error)
{
    dfrt_status status = DFRT_OK;
    for (uint64_t i = 0; i < rows->count && status == DFRT_OK; i++) {
        status = dfrt__travel_take(rows, i, writer->form, writer->record, error);
        if (status == DFRT_OK) {
            dfrt_sink_write(writer->sink, writer->record);
        }
    }
    dfrt_status flushed = dfrt_sink_flush(writer->sink, error);
    return status == DFRT_OK ? flushed : status;
}

static dfrt_status close_writer(dfrt_writer *writer, dfrt_error *error)
{
    dfrt_status status = dfrt_sink_close(writer->sink, error);
    free(writer->record);
    free(writer);
    return status;
}

const dfrt_cluster dfrt_cluster_functions = {
    .version = DFRT_ABI_VERSION,
    .range_open = dfrt__range_open,
    .range_measure = dfrt__range_measure,
    .range_rows = dfrt__range_rows,
    .range_reports = dfrt__range_reports,
    .range_close = dfrt__range_close,
    .task_open = dfrt__task_open,
    .task_set_alternate = dfrt__task_set_alternate,
    .task_push = dfrt__task_push,
    .task_add_file = dfrt__task_add_file,
    .task_read = dfrt__task_read,
    .task_reports = dfrt__task_reports,
    .task_malformed = dfrt__task_malformed,
    .task_end = dfrt__task_end,
    .task_watermark = dfrt__task_watermark,
    .task_save = dfrt__task_save,
    .task_load = dfrt__task_load,
    .task_results = dfrt__task_results,
    .task_close = dfrt__task_close,
    .writer_open = open_writer,
    .writer_rows = write_rows,
    .writer_close = close_writer,
};
