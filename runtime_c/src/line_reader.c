#include "line_reader.h"

#include <string.h>

dfrt_status dfrt__lines_open(dfrt__line_reader *lines, dfrt_source *source, const char *path, dfrt_error *error)
{
    lines->max_line = dfrt__max_row(source);
    return dfrt__source_input(source, path, lines->max_line + 2, &lines->input, error);
}

static bool begins_with_mark(const dfrt__line_reader *lines, dfrt_slice line)
{
    return lines->line == 0 && line.size >= 3 && memcmp(line.data, "\xef\xbb\xbf", 3) == 0;
}

/* Nothing is left, or only the byte-order mark, which is no line. */
static bool is_empty(const dfrt__line_reader *lines)
{
    dfrt_slice rest = {lines->input->data, lines->input->size};
    return rest.size == 0 || (rest.size == 3 && begins_with_mark(lines, rest));
}

static dfrt_slice take_line(dfrt__line_reader *lines, size_t length, size_t end)
{
    dfrt_slice line = {lines->input->data, length};
    dfrt_input_consume(lines->input, length + end);
    lines->scanned = 0;
    if (begins_with_mark(lines, line)) line = (dfrt_slice){line.data + 3, line.size - 3};
    lines->line++;
    if (line.size > 0 && line.data[line.size - 1] == '\r') line.size--;
    return line;
}

static dfrt_status judge(dfrt__line_reader *lines, dfrt_slice *line, bool ended)
{
    bool too_long = lines->skipping || line->size > lines->max_line;
    lines->skipping = false;
    if (too_long) {
        *line = (dfrt_slice){"", 0};
        lines->reason = "the line is too long";
        return DFRT_MALFORMED;
    }
    lines->reason = "the connection ended within the line";
    return ended || !lines->input->framed ? DFRT_OK : DFRT_MALFORMED;
}

dfrt_status dfrt__lines_next(dfrt__line_reader *lines, dfrt_slice *line, dfrt_error *error)
{
    dfrt_input *input = lines->input;
    for (bool filled = false;;) {
        size_t left = input->size - lines->scanned;
        const char *newline = left == 0 ? NULL : memchr(input->data + lines->scanned, '\n', left);
        size_t length = newline == NULL ? input->size : (size_t)(newline - input->data);
        if (newline == NULL) {
            lines->scanned = input->size;
            lines->skipping |= input->size > lines->max_line + 1;
            if (lines->skipping) dfrt_input_consume(input, input->size), lines->scanned = 0;
            if (filled && lines->skipping && input->live) return DFRT_AGAIN; /* somebody may want to stop */
            dfrt_status status = dfrt_input_fill(input, error);
            filled = true;
            if (status == DFRT_OK) continue;
            if (status != DFRT_END || (is_empty(lines) && !lines->skipping)) return status;
            length = input->size;
        }
        *line = take_line(lines, length, newline != NULL);
        return judge(lines, line, newline != NULL);
    }
}
