/* Each line is the one field of the record. No quoting, no header; an empty line is the empty text. */
#include <dfrt/input.h>

#include <stdlib.h>
#include <string.h>

#include "source_kind.h"

enum { DEFAULT_MAX_LINE = 16 << 20 };

typedef struct lines_state {
    dfrt_input *input;
    size_t max_line;
    size_t scanned;
    bool skipping; /* the present line is too long, its bytes are dropped */
    uint64_t line;
} lines_state;

static dfrt_status open_lines(dfrt_source *source, const char *path, dfrt_error *error)
{
    const dfrt_record *record = source->record;
    if (record->field_count != 1 || (record->fields[0].kind != DFRT_TEXT && record->fields[0].kind != DFRT_SYMBOL))
        return dfrt_fail(error, DFRT_USAGE, "source '%s': lines: needs a record of one text or symbol field, not '%s'",
                         source->name, record->name);
    lines_state *state = calloc(1, sizeof *state);
    source->state = state;
    if (state == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    state->max_line = source->options.max_row == 0 ? DEFAULT_MAX_LINE : source->options.max_row;
    return dfrt_input_open(&state->input, path, state->max_line + 2, error);
}

static dfrt_slice take_line(lines_state *state, size_t length, size_t end)
{
    dfrt_slice line = {state->input->data, length};
    dfrt_input_consume(state->input, length + end);
    state->scanned = 0;
    if (state->line++ == 0 && line.size >= 3 && memcmp(line.data, "\xef\xbb\xbf", 3) == 0)
        line = (dfrt_slice){line.data + 3, line.size - 3};
    if (line.size > 0 && line.data[line.size - 1] == '\r') line.size--;
    return line;
}

/* DFRT_OK with a line, DFRT_MALFORMED for one that is too long, or as dfrt_input_fill. */
static dfrt_status next_line(lines_state *state, dfrt_slice *line, dfrt_error *error)
{
    dfrt_input *input = state->input;
    for (;;) {
        size_t left = input->size - state->scanned;
        const char *newline = left == 0 ? NULL : memchr(input->data + state->scanned, '\n', left);
        size_t length = newline == NULL ? input->size : (size_t)(newline - input->data);
        if (newline == NULL) {
            state->scanned = input->size;
            state->skipping |= input->size > state->max_line + 1;
            if (state->skipping) dfrt_input_consume(input, input->size), state->scanned = 0;
            dfrt_status status = dfrt_input_fill(input, error);
            if (status == DFRT_OK) continue;
            if (status != DFRT_END || (input->size == 0 && !state->skipping)) return status;
            length = input->size;
        }
        *line = take_line(state, length, newline != NULL);
        bool too_long = state->skipping || line->size > state->max_line;
        state->skipping = false;
        return too_long ? DFRT_MALFORMED : DFRT_OK;
    }
}

static dfrt_status read_lines(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    lines_state *state = source->state;
    uint64_t enough = source->malformed + DFRT__MALFORMED_RUN;
    size_t filled = 0;
    dfrt_status status = DFRT_OK;
    while (filled < capacity && source->malformed < enough) {
        dfrt_slice line;
        status = next_line(state, &line, &source->error);
        if (status == DFRT_OK) {
            if (source->record->parse(&line, records + filled * source->record->size) < 0) filled++;
            else dfrt__malformed_field(source, state->line, 0, line, line);
        } else if (status == DFRT_MALFORMED) {
            dfrt__malformed(source, state->line, "the line is too long", (dfrt_slice){"", 0});
            status = DFRT_OK;
        } else {
            break;
        }
    }
    *count = filled;
    return status;
}

static int lines_poll_fd(const dfrt_source *source)
{
    const lines_state *state = source->state;
    return dfrt_input_poll_fd(state->input);
}

static bool lines_is_live(const dfrt_source *source)
{
    const lines_state *state = source->state;
    return dfrt_input_is_live(state->input);
}

static void close_lines(dfrt_source *source)
{
    lines_state *state = source->state;
    if (state == NULL) return;
    dfrt_input_close(state->input);
    free(state);
}

const dfrt__source_kind dfrt__lines_source = {"lines:",      open_lines,    read_lines,
                                              lines_poll_fd, lines_is_live, close_lines};
