/* Each line is an object with the record's fields. */
#include <dfrt/jsonl.h>

#include <stdlib.h>

#include "line_reader.h"

typedef struct jsonl_state {
    dfrt__line_reader lines;
    dfrt_jsonl_reader *reader;
    dfrt_slice *row;
} jsonl_state;

static dfrt_status open_jsonl(dfrt_source *source, const char *path, dfrt_error *error)
{
    jsonl_state *state = calloc(1, sizeof *state);
    source->state = state;
    if (state == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    state->row = calloc(source->record->field_count + 1, sizeof *state->row);
    if (state->row == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    dfrt_status status = dfrt_jsonl_open(&state->reader, source->record, error);
    return status != DFRT_OK ? status : dfrt__lines_open(&state->lines, source, path, error);
}

/* True when the line gave a record. */
static bool take_object(dfrt_source *source, dfrt_slice line, char *record, dfrt_status *status)
{
    jsonl_state *state = source->state;
    *status = dfrt_jsonl_split(state->reader, line, state->row);
    if (*status == DFRT_OK) {
        int misfit = source->record->parse(state->row, record);
        if (misfit < 0) return true;
        dfrt__malformed_field(source, state->lines.line, misfit, state->row[misfit], line);
    } else if (*status == DFRT_MALFORMED) {
        dfrt__malformed(source, state->lines.line, dfrt_jsonl_reason(state->reader), line);
    } else if (*status == DFRT_MEMORY) {
        (void)dfrt_fail(&source->error, DFRT_MEMORY, "%s", dfrt_jsonl_reason(state->reader));
        return false;
    }
    *status = DFRT_OK;
    return false;
}

static dfrt_status read_jsonl(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    jsonl_state *state = source->state;
    uint64_t enough = source->malformed + DFRT__MALFORMED_RUN;
    dfrt_status status = DFRT_OK;
    while (status == DFRT_OK && *count < capacity && source->malformed < enough) {
        dfrt_slice line;
        status = dfrt__lines_next(&state->lines, &line, &source->error);
        if (status == DFRT_OK) {
            *count += take_object(source, line, records + *count * source->record->size, &status);
        } else if (status == DFRT_MALFORMED) {
            dfrt__malformed(source, state->lines.line, state->lines.reason, line);
            status = DFRT_OK;
        }
    }
    return status;
}

static int jsonl_poll_fd(const dfrt_source *source)
{
    const jsonl_state *state = source->state;
    return dfrt_input_poll_fd(state->lines.input);
}

static bool jsonl_is_live(const dfrt_source *source)
{
    const jsonl_state *state = source->state;
    return dfrt_input_is_live(state->lines.input);
}

static void close_jsonl(dfrt_source *source)
{
    jsonl_state *state = source->state;
    if (state == NULL) return;
    dfrt_jsonl_close(state->reader);
    dfrt_input_close(state->lines.input);
    free(state->row);
    free(state);
}

const dfrt__source_kind dfrt__jsonl_source = {"jsonl:",      open_jsonl,    read_jsonl,
                                              jsonl_poll_fd, jsonl_is_live, close_jsonl, NULL, NULL, NULL};
