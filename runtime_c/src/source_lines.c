/* Each line is the one field of the record. No quoting, no header; an empty line is the empty text. */
#include <stdlib.h>

#include "line_reader.h"

dfrt_status dfrt__check_lines_record(const dfrt_source *source, dfrt_error *error)
{
    const dfrt_record *record = source->record;
    if (record->field_count == 1 && (record->fields[0].kind == DFRT_TEXT || record->fields[0].kind == DFRT_SYMBOL))
        return DFRT_OK;
    return dfrt_fail(error, DFRT_USAGE, "source '%s': lines: needs a record of one text or symbol field, not '%s'",
                     source->name, record->name);
}

static dfrt_status open_lines(dfrt_source *source, const char *path, dfrt_error *error)
{
    dfrt_status status = dfrt__check_lines_record(source, error);
    if (status != DFRT_OK) return status;
    dfrt__line_reader *lines = calloc(1, sizeof *lines);
    source->state = lines;
    if (lines == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    return dfrt__lines_open(lines, source, path, error);
}

static dfrt_status read_lines(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    dfrt__line_reader *lines = source->state;
    uint64_t enough = source->malformed + DFRT__MALFORMED_RUN;
    size_t filled = 0;
    dfrt_status status = DFRT_OK;
    while (filled < capacity && source->malformed < enough) {
        dfrt_slice line;
        status = dfrt__lines_next(lines, &line, &source->error);
        if (status == DFRT_OK) {
            if (source->record->parse(&line, records + filled * source->record->size) < 0) filled++;
            else dfrt__malformed_field(source, lines->line, 0, line, line);
        } else if (status == DFRT_MALFORMED) {
            dfrt__malformed(source, lines->line, lines->reason, line);
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
    const dfrt__line_reader *lines = source->state;
    return dfrt_input_poll_fd(lines->input);
}

static bool lines_is_live(const dfrt_source *source)
{
    const dfrt__line_reader *lines = source->state;
    return dfrt_input_is_live(lines->input);
}

static void close_lines(dfrt_source *source)
{
    dfrt__line_reader *lines = source->state;
    if (lines == NULL) return;
    dfrt_input_close(lines->input);
    free(lines);
}

const dfrt__source_kind dfrt__lines_source = {"lines:",      open_lines,    read_lines,
                                              lines_poll_fd, lines_is_live, close_lines, NULL, NULL, NULL};
