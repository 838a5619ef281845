#include <dfrt/csv.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv_blocks.h"
#include "source_kind.h"

typedef struct csv_state {
    dfrt_csv *csv;
    dfrt__csv_blocks *blocks; /* what is parsed ahead, or NULL */
    dfrt_slice *row;
} csv_state;

static dfrt_status open_reader(dfrt_source *source, csv_state *state, const char *path, dfrt_error *error)
{
    const dfrt_record *record = source->record;
    const char **columns = calloc(record->field_count + 1, sizeof *columns);
    if (columns == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    for (size_t i = 0; i < record->field_count; i++) columns[i] = record->fields[i].name;
    dfrt_csv_options options = {.columns = columns,
                                .column_count = record->field_count,
                                .max_row = source->options.max_row,
                                .stop_fd = source->options.stop_fd,
                                .input = source->connection};
    source->connection = NULL;
    dfrt_status status = dfrt_csv_open(&state->csv, path, &options, error);
    free(columns);
    return status;
}

static dfrt_status open_csv(dfrt_source *source, const char *path, dfrt_error *error)
{
    csv_state *state = calloc(1, sizeof *state);
    source->state = state;
    if (state == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    state->row = calloc(source->record->field_count + 1, sizeof *state->row);
    if (state->row == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    dfrt_status status = open_reader(source, state, path, error);
    if (status != DFRT_OK || source->kept.buffer == NULL || source->kept_header) return status;
    source->kept_header = true;
    dfrt_slice header = dfrt_csv_header(state->csv); /* so that the file of malformed rows can be mended and read */
    dfrt_put_bytes(&source->kept, header.data, header.size);
    dfrt_put_char(&source->kept, '\n');
    return DFRT_OK;
}

/* Only a file that nobody else reads, or has read a part of. */
static dfrt_status csv_ahead(dfrt_source *source, unsigned helpers, bool *done, dfrt_error *error)
{
    csv_state *state = source->state;
    const dfrt_input *input = dfrt_csv_input(state->csv);
    *done = !input->live && input->fd > STDIN_FILENO && source->record->parse_rows != NULL;
    if (!*done) return DFRT_OK;
    return dfrt__csv_blocks_open(&state->blocks, state->csv, source->record, helpers, source->options.ahead_times,
                                 error);
}

/* Rows that need no closer look, from the blocks or from the buffer. */
static size_t read_plain(csv_state *state, const dfrt_record *record, char *records, size_t capacity)
{
    const void *ready;
    size_t read = state->blocks == NULL ? 0 : dfrt__csv_blocks_take(state->blocks, capacity, &ready);
    if (read == 0) return dfrt_csv_records(state->csv, record, records, capacity);
    memcpy(records, ready, read * record->size);
    return read;
}

static dfrt_status view_csv(dfrt_source *source, size_t capacity, dfrt_view *view)
{
    csv_state *state = source->state;
    view->count = dfrt__csv_blocks_take(state->blocks, capacity, &view->records);
    return DFRT_OK;
}

static bool csv_has_views(const dfrt_source *source)
{
    const csv_state *state = source->state;
    return state->blocks != NULL;
}

static dfrt_status read_csv(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    csv_state *state = source->state;
    const dfrt_record *record = source->record;
    uint64_t enough = source->malformed + DFRT__MALFORMED_RUN;
    size_t filled = 0;
    dfrt_status status = DFRT_OK;
    while (filled < capacity && source->malformed < enough) {
        size_t plain = read_plain(state, record, records + filled * record->size, capacity - filled);
        filled += plain;
        if (plain > 0) continue;
        status = dfrt_csv_next(state->csv, state->row);
        if (status == DFRT_OK) {
            int misfit = record->parse(state->row, records + filled * record->size);
            if (misfit < 0) filled++;
            else
                dfrt__malformed_field(source, dfrt_csv_line(state->csv), misfit, state->row[misfit],
                                      dfrt_csv_raw(state->csv));
        } else if (status == DFRT_MALFORMED) {
            dfrt__malformed(source, dfrt_csv_line(state->csv), dfrt_csv_reason(state->csv), dfrt_csv_raw(state->csv));
            status = DFRT_OK;
        } else {
            if (status != DFRT_AGAIN && status != DFRT_END)
                (void)dfrt_fail(&source->error, status, "%s", dfrt_csv_reason(state->csv));
            break;
        }
    }
    *count = filled;
    return status;
}

static int csv_poll_fd(const dfrt_source *source)
{
    const csv_state *state = source->state;
    return dfrt_input_poll_fd(dfrt_csv_input(state->csv));
}

static bool csv_is_live(const dfrt_source *source)
{
    const csv_state *state = source->state;
    return dfrt_input_is_live(dfrt_csv_input(state->csv));
}

static void close_csv(dfrt_source *source)
{
    csv_state *state = source->state;
    if (state == NULL) return;
    dfrt__csv_blocks_close(state->blocks);
    dfrt_csv_close(state->csv);
    free(state->row);
    free(state);
}

const dfrt__source_kind dfrt__csv_source = {"csv:",      open_csv,  read_csv, csv_poll_fd,
                                            csv_is_live, close_csv, view_csv, csv_has_views, csv_ahead};
