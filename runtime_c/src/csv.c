/* The reader: rows without quotes that lie whole in the buffer are split in one pass; any other row is first found
 * whole, by a search that can be interrupted at every byte, and then split. */
#include "csv_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "excerpt.h"

enum { DEFAULT_MAX_ROW = 16 << 20 };

static void search_from_here(dfrt_csv *csv)
{
    csv->searching = csv->skipping = false;
    csv->scanned = 0;
    csv->state = DFRT__CSV_FIELD_START;
    csv->newlines = 0;
}

/* The row is data[0 … length), and `end` more bytes are its newline. */
static void take(dfrt_csv *csv, size_t length, size_t end)
{
    csv->raw = (dfrt_slice){csv->input->data, length};
    if (length > 0 && csv->raw.data[length - 1] == '\r') csv->raw.size--;
    csv->line = csv->next_line;
    csv->next_line += csv->newlines + end;
    dfrt_input_consume(csv->input, length + end);
}

/* Finds the next row whole, as csv->raw. With *too_long its bytes are gone; with `give_up` its end, which may never come, is
 * not looked for then. */
static dfrt_status find_row(dfrt_csv *csv, bool give_up, bool *too_long)
{
    dfrt_input *input = csv->input;
    csv->searching = true;
    for (bool filled = false;;) {
        size_t end = dfrt__csv_find_end(input->data, csv->scanned, input->size, &csv->state, &csv->newlines);
        bool found = end < input->size;
        dfrt_status status = DFRT_OK;
        if (!found) {
            csv->scanned = end;
            csv->skipping |= end > csv->format.max_row + 1;
            if (csv->skipping) dfrt_input_consume(input, end), csv->scanned = 0;
            if (filled && csv->skipping && input->live && !give_up) return DFRT_AGAIN; /* somebody may want to stop */
            status = dfrt_input_fill(input, &csv->reason);
            filled = true;
            if (status == DFRT_MALFORMED) csv->skipping = true;
            *too_long = csv->skipping;
            if (give_up && *too_long) return DFRT_OK;
            if (status == DFRT_OK || status == DFRT_MALFORMED) continue;
            if (status != DFRT_END || (input->size == 0 && !csv->skipping)) return status;
            end = input->size;
        }
        *too_long = csv->skipping;
        csv->cut = !found && input->framed;
        take(csv, end, found);
        *too_long |= csv->raw.size > csv->format.max_row;
        search_from_here(csv);
        return DFRT_OK;
    }
}

static dfrt_status too_long(dfrt_csv *csv)
{
    csv->raw = (dfrt_slice){"", 0};
    return dfrt_fail(&csv->reason, DFRT_MALFORMED, "the row is longer than %zu bytes", csv->format.max_row);
}

static dfrt_status ensure_scratch(dfrt_csv *csv, size_t size)
{
    if (size <= csv->scratch_capacity) return DFRT_OK;
    size_t capacity = size < 4096 ? 4096 : size + size / 4;
    char *scratch = realloc(csv->scratch, capacity);
    if (scratch == NULL) return dfrt_fail(&csv->reason, DFRT_MEMORY, "no memory for a row of %zu bytes", size);
    csv->scratch = scratch;
    csv->scratch_capacity = capacity;
    return DFRT_OK;
}

/* Splits csv->raw; counts all fields, stores up to `room`. */
static dfrt_status split_raw(dfrt_csv *csv, dfrt_slice *fields, size_t room, size_t *count)
{
    dfrt_status status = ensure_scratch(csv, csv->raw.size);
    if (status != DFRT_OK) return status;
    const char *wrong = dfrt__csv_split_quoted(csv->raw.data, csv->raw.size, csv->scratch, fields, room, count);
    return wrong == NULL ? DFRT_OK : dfrt_fail(&csv->reason, DFRT_MALFORMED, "%s", wrong);
}

static dfrt_status hand_over(dfrt_csv *csv, size_t count, dfrt_slice *row)
{
    if (count != csv->format.columns)
        return dfrt_fail(&csv->reason, DFRT_MALFORMED, "%zu field%s, but there are %zu columns", count,
                         count == 1 ? "" : "s", csv->format.columns);
    if (!csv->format.in_order)
        for (size_t i = 0; i < csv->wanted; i++) row[i] = csv->fields[csv->format.map[i]];
    return DFRT_OK;
}

dfrt_status dfrt_csv_next(dfrt_csv *csv, dfrt_slice *row)
{
    dfrt_slice *fields = csv->format.in_order ? row : csv->fields;
    for (;;) {
        size_t count, length;
        if (!csv->searching && dfrt__csv_split_plain(csv->input->data, csv->input->size, fields, csv->format.columns,
                                                     &count, &length) == DFRT__CSV_ROW) {
            take(csv, length, 1);
            if (csv->raw.size == 0) continue;
            return csv->raw.size > csv->format.max_row ? too_long(csv) : hand_over(csv, count, row);
        }
        bool long_row;
        dfrt_status status = find_row(csv, false, &long_row);
        if (status != DFRT_OK) return status;
        if (long_row) return too_long(csv);
        if (csv->raw.size == 0) continue;
        if (csv->cut) return dfrt_fail(&csv->reason, DFRT_MALFORMED, "the connection ended within the row");
        status = split_raw(csv, fields, csv->format.columns, &count);
        return status == DFRT_OK ? hand_over(csv, count, row) : status;
    }
}

size_t dfrt_csv_records(dfrt_csv *csv, const dfrt_record *record, void *records, size_t capacity)
{
    if (csv->searching || csv->parser.bounds == NULL || record->parse_rows == NULL) return 0;
    size_t length, read = dfrt__csv_parse(&csv->parser, &csv->format, record, csv->input->data, csv->input->size,
                                          records, capacity, &length);
    dfrt__csv_count_rows(csv, read);
    dfrt_input_consume(csv->input, length);
    return read;
}

/* Waits while what is there could still become a byte-order mark. */
static dfrt_status skip_mark(dfrt_csv *csv, int stop_fd)
{
    static const char mark[] = "\xef\xbb\xbf";
    dfrt_input *input = csv->input;
    while (input->size < 3 && memcmp(input->data, mark, input->size) == 0) {
        dfrt_status status = dfrt_input_fill(input, &csv->reason);
        if (status == DFRT_AGAIN) status = dfrt_input_wait(input, stop_fd);
        else if (status == DFRT_END) return DFRT_OK;
        if (status != DFRT_OK) return status;
    }
    if (input->size >= 3 && memcmp(input->data, mark, 3) == 0) dfrt_input_consume(input, 3);
    return DFRT_OK;
}

/* Makes csv->raw the header's line. */
static dfrt_status await_header(dfrt_csv *csv, int stop_fd, dfrt_error *error)
{
    const char *path = csv->input->path;
    for (;;) {
        bool long_row = false;
        dfrt_status status = find_row(csv, true, &long_row);
        if (status == DFRT_OK && long_row)
            return dfrt_fail(error, DFRT_MALFORMED, "'%s': the header is longer than %zu bytes", path,
                             csv->format.max_row);
        if (status == DFRT_OK && csv->cut)
            return dfrt_fail(error, DFRT_MALFORMED, "'%s': the connection ended within the header", path);
        if (status == DFRT_OK && csv->raw.size > 0) return DFRT_OK;
        if (status == DFRT_END) return dfrt_fail(error, DFRT_MISSING, "'%s' is empty: it has no header line", path);
        if (status == DFRT_AGAIN) {
            status = dfrt_input_wait(csv->input, stop_fd);
            if (status == DFRT_END) return dfrt_fail(error, DFRT_END, "stopped while waiting for '%s'", path);
        }
        if (status != DFRT_OK) return dfrt_fail(error, status, "%s", csv->reason.text);
    }
}

static dfrt_status missing_column(const dfrt_csv *csv, const char *name, dfrt_error *error)
{
    char there[320];
    size_t used = 0;
    there[0] = '\0';
    for (size_t i = 0; i < csv->format.columns && used + DFRT__EXCERPT_ROOM + 8 < sizeof there; i++) {
        if (i > 0) used += (size_t)sprintf(there + used, ", ");
        used += dfrt__excerpt(there + used, DFRT__EXCERPT_ROOM, csv->fields[i]);
        if (i + 1 < csv->format.columns && used + DFRT__EXCERPT_ROOM + 8 >= sizeof there)
            (void)sprintf(there + used, ", …");
    }
    return dfrt_fail(error, DFRT_MISSING, "'%s' has no column '%s'; it has: %s", csv->input->path, name, there);
}

static int compare_slices(dfrt_slice a, dfrt_slice b)
{
    if (a.size != b.size) return a.size < b.size ? -1 : 1;
    return memcmp(a.data, b.data, a.size);
}

/* Of pointers into csv->fields. */
static int compare_columns(const void *a, const void *b)
{
    return compare_slices(**(const dfrt_slice *const *)a, **(const dfrt_slice *const *)b);
}

/* The first of the sorted columns that is not before this name. */
static size_t place_of(const dfrt_slice **sorted, size_t count, dfrt_slice name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_slices(*sorted[middle], name) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static dfrt_status find_column(const dfrt_csv *csv, const dfrt_slice **sorted, const char *text, uint32_t *at,
                               dfrt_error *error)
{
    dfrt_slice name = {text, strlen(text)};
    size_t count = csv->format.columns, first = place_of(sorted, count, name), hits = 0;
    while (first + hits < count && compare_slices(*sorted[first + hits], name) == 0) hits++;
    if (hits == 0) return missing_column(csv, text, error);
    if (hits > 1)
        return dfrt_fail(error, DFRT_MALFORMED, "'%s' has the column '%s' %zu times", csv->input->path, text, hits);
    *at = (uint32_t)(sorted[first] - csv->fields);
    return DFRT_OK;
}

/* Sorted, since an array may be thousands of columns. */
static dfrt_status find_columns(dfrt_csv *csv, const dfrt_csv_options *options, dfrt_error *error)
{
    const dfrt_slice **sorted = malloc((csv->format.columns + 1) * sizeof *sorted);
    if (sorted == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for the columns");
    for (size_t i = 0; i < csv->format.columns; i++) sorted[i] = &csv->fields[i];
    qsort(sorted, csv->format.columns, sizeof *sorted, compare_columns);
    dfrt_status status = DFRT_OK;
    for (size_t i = 0; i < csv->wanted && status == DFRT_OK; i++)
        status = find_column(csv, sorted, options->columns[i], &csv->format.map[i], error);
    free(sorted);
    return status;
}

static dfrt_status map_columns(dfrt_csv *csv, const dfrt_csv_options *options, dfrt_error *error)
{
    csv->format.map = calloc(csv->wanted + 1, sizeof *csv->format.map);
    if (csv->format.map == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for the columns");
    dfrt_status status = find_columns(csv, options, error);
    if (status != DFRT_OK) return status;
    csv->format.in_order = csv->wanted == csv->format.columns;
    for (size_t i = 0; i < csv->wanted; i++) csv->format.in_order &= csv->format.map[i] == i;
    if (dfrt__csv_parser_open(&csv->parser, &csv->format)) return DFRT_OK;
    return dfrt_fail(error, DFRT_MEMORY, "no memory for the rows of '%s'", csv->input->path);
}

static dfrt_status read_header(dfrt_csv *csv, const dfrt_csv_options *options, dfrt_error *error)
{
    dfrt_status status = await_header(csv, options->stop_fd, error);
    if (status != DFRT_OK) return status;
    csv->header = malloc(csv->raw.size);
    if (csv->header == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for the header");
    memcpy(csv->header, csv->raw.data, csv->raw.size);
    csv->header_size = csv->raw.size;
    status = split_raw(csv, NULL, 0, &csv->format.columns);
    if (status != DFRT_OK)
        return dfrt_fail(error, status, "'%s': the header: %s", csv->input->path, csv->reason.text);
    csv->fields = calloc(csv->format.columns, sizeof *csv->fields);
    if (csv->fields == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for the columns");
    (void)split_raw(csv, csv->fields, csv->format.columns, &csv->format.columns); /* went well just now */
    return map_columns(csv, options, error);
}

static dfrt_status prepare(dfrt_csv *csv, const char *path, const dfrt_csv_options *options, dfrt_error *error)
{
    csv->input = options->input;
    dfrt_status status =
        csv->input != NULL ? DFRT_OK : dfrt_input_open(&csv->input, path, csv->format.max_row + 2, error);
    if (status != DFRT_OK) return status;
    status = skip_mark(csv, options->stop_fd);
    if (status == DFRT_END) return dfrt_fail(error, DFRT_END, "stopped while waiting for '%s'", path);
    if (status != DFRT_OK) return dfrt_fail(error, status, "%s", csv->reason.text);
    return options->no_header ? DFRT_OK : read_header(csv, options, error);
}

dfrt_status dfrt_csv_open(dfrt_csv **out, const char *path, const dfrt_csv_options *options, dfrt_error *error)
{
    *out = NULL;
    dfrt_csv *csv = calloc(1, sizeof *csv);
    if (csv == NULL) {
        dfrt_input_close(options->input);
        return dfrt_fail(error, DFRT_MEMORY, "no memory to open '%s'", path);
    }
    csv->format.max_row = options->max_row == 0 ? DEFAULT_MAX_ROW : options->max_row;
    csv->wanted = csv->format.columns = options->column_count;
    csv->format.in_order = true; /* until a header says otherwise */
    csv->line = csv->next_line = 1;
    csv->raw = (dfrt_slice){"", 0};
    dfrt_status status = prepare(csv, path, options, error);
    if (status != DFRT_OK) return dfrt_csv_close(csv), status;
    *out = csv;
    return DFRT_OK;
}

uint64_t dfrt_csv_line(const dfrt_csv *csv)
{
    return csv->line;
}

dfrt_slice dfrt_csv_raw(const dfrt_csv *csv)
{
    return csv->raw;
}

const char *dfrt_csv_reason(const dfrt_csv *csv)
{
    return csv->reason.text;
}

dfrt_slice dfrt_csv_header(const dfrt_csv *csv)
{
    return (dfrt_slice){csv->header == NULL ? "" : csv->header, csv->header_size};
}

dfrt_input *dfrt_csv_input(dfrt_csv *csv)
{
    return csv->input;
}

void dfrt_csv_close(dfrt_csv *csv)
{
    if (csv == NULL) return;
    dfrt_input_close(csv->input);
    free(csv->fields);
    free(csv->format.map);
    dfrt__csv_parser_close(&csv->parser);
    free(csv->header);
    free(csv->scratch);
    free(csv);
}
