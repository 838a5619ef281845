/* The reader: rows without quotes that lie whole in the buffer are split in one pass; any other row is first found
 * whole, by a search that can be interrupted at every byte, and then split. */
#include <dfrt/csv.h>

#include <dfrt/rows.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "csv_scan.h"
#include "excerpt.h"

enum {
    DEFAULT_MAX_ROW = 16 << 20,
    MOST_BOUNDS = 4096,       /* looked for at once, if a row has no more columns; with their rows they stay in the cache */
    MOST_SCANNED = 1 << 20,   /* bytes, likewise */
    FIRST_TRUSTED = 8,        /* behind a row that was not plain: so that many of these cost little */
};

struct dfrt_csv {
    dfrt_input *input;
    size_t max_row;

    size_t columns;     /* of the file */
    dfrt_slice *fields; /* one a column of the file */
    size_t wanted;
    uint32_t *map;      /* wanted[i] is the file's column map[i] */
    bool in_order;      /* the file has the wanted columns only, in their order */
    char *header;
    size_t header_size;

    char *scratch;      /* fields with quotes, unescaped */
    size_t scratch_capacity;

    /* Rows that are read as records. */
    uint32_t *bounds;   /* of their fields; NULL when rows are only split */
    size_t trusted;     /* how many are looked for at once: grows while all are plain */
    dfrt_recent_symbol *recent;

    /* The row that is being searched for. */
    bool searching, skipping; /* skipping: it is too long, its bytes are dropped */
    size_t scanned;
    dfrt__csv_state state;
    uint64_t newlines;

    bool cut; /* the last row: the connection ended before its newline came */
    uint64_t line, next_line;
    dfrt_slice raw;
    dfrt_error reason;
};

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

/* Finds the next row whole, as csv->raw. With *too_long its bytes are gone. */
static dfrt_status find_row(dfrt_csv *csv, bool *too_long)
{
    dfrt_input *input = csv->input;
    csv->searching = true;
    for (;;) {
        size_t end = dfrt__csv_find_end(input->data, csv->scanned, input->size, &csv->state, &csv->newlines);
        bool found = end < input->size;
        dfrt_status status = DFRT_OK;
        if (!found) {
            csv->scanned = end;
            csv->skipping |= end > csv->max_row + 1;
            if (csv->skipping) dfrt_input_consume(input, end), csv->scanned = 0;
            status = dfrt_input_fill(input, &csv->reason);
            if (status == DFRT_MALFORMED) csv->skipping = true;
            if (status == DFRT_OK || status == DFRT_MALFORMED) continue;
            if (status != DFRT_END || (input->size == 0 && !csv->skipping)) return status;
            end = input->size;
        }
        *too_long = csv->skipping;
        csv->cut = !found && input->framed;
        take(csv, end, found);
        *too_long |= csv->raw.size > csv->max_row;
        search_from_here(csv);
        return DFRT_OK;
    }
}

static dfrt_status too_long(dfrt_csv *csv)
{
    csv->raw = (dfrt_slice){"", 0};
    return dfrt_fail(&csv->reason, DFRT_MALFORMED, "the row is longer than %zu bytes", csv->max_row);
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
    if (count != csv->columns)
        return dfrt_fail(&csv->reason, DFRT_MALFORMED, "%zu field%s, but there are %zu columns", count,
                         count == 1 ? "" : "s", csv->columns);
    if (!csv->in_order)
        for (size_t i = 0; i < csv->wanted; i++) row[i] = csv->fields[csv->map[i]];
    return DFRT_OK;
}

dfrt_status dfrt_csv_next(dfrt_csv *csv, dfrt_slice *row)
{
    dfrt_slice *fields = csv->in_order ? row : csv->fields;
    for (;;) {
        size_t count, length;
        if (!csv->searching && dfrt__csv_split_plain(csv->input->data, csv->input->size, fields, csv->columns, &count,
                                                     &length) == DFRT__CSV_ROW) {
            take(csv, length, 1);
            if (csv->raw.size == 0) continue;
            return csv->raw.size > csv->max_row ? too_long(csv) : hand_over(csv, count, row);
        }
        bool long_row;
        dfrt_status status = find_row(csv, &long_row);
        if (status != DFRT_OK) return status;
        if (long_row) return too_long(csv);
        if (csv->raw.size == 0) continue;
        if (csv->cut) return dfrt_fail(&csv->reason, DFRT_MALFORMED, "the connection ended within the row");
        status = split_raw(csv, fields, csv->columns, &count);
        return status == DFRT_OK ? hand_over(csv, count, row) : status;
    }
}

/* Room for the bounds of some rows, or of a single one that is wide. */
static dfrt_status prepare_records(dfrt_csv *csv, dfrt_error *error)
{
    size_t most = csv->columns < MOST_BOUNDS ? MOST_BOUNDS : csv->columns;
    csv->bounds = calloc(most + 2 * DFRT__CSV_BLOCK + 1, sizeof *csv->bounds);
    csv->recent = calloc(DFRT_RECENT_SYMBOLS, sizeof *csv->recent);
    csv->trusted = FIRST_TRUSTED;
    if (csv->bounds != NULL && csv->recent != NULL) return DFRT_OK;
    return dfrt_fail(error, DFRT_MEMORY, "no memory for rows");
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t first = a < b ? a : b;
    return first < c ? first : c;
}

size_t dfrt_csv_records(dfrt_csv *csv, const dfrt_record *record, void *records, size_t capacity)
{
    if (csv->searching || csv->bounds == NULL || record->parse_rows == NULL) return 0;
    dfrt_input *input = csv->input;
    size_t fit = csv->columns < MOST_BOUNDS ? MOST_BOUNDS / csv->columns : 1;
    size_t wanted = smallest(capacity, csv->trusted, fit);
    size_t size = input->size < MOST_SCANNED ? input->size : MOST_SCANNED;
    size_t found = dfrt__csv_bounds(input->data, size, csv->bounds + 1, wanted * csv->columns) / csv->columns;
    dfrt_rows rows = {.data = input->data,
                      .bounds = csv->bounds,
                      .count = found < wanted ? found : wanted,
                      .width = csv->columns,
                      .columns = csv->map,
                      .in_order = csv->in_order,
                      .max_row = csv->max_row,
                      .recent = csv->recent};
    size_t read = record->parse_rows(&rows, records);
    csv->trusted = read < rows.count ? FIRST_TRUSTED : smallest(2 * csv->trusted, MOST_BOUNDS, MOST_BOUNDS);
    csv->next_line += read;
    csv->line = csv->next_line - 1;
    dfrt_input_consume(input, csv->bounds[read * csv->columns]);
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
        dfrt_status status = find_row(csv, &long_row);
        if (status == DFRT_OK && long_row)
            return dfrt_fail(error, DFRT_MALFORMED, "'%s': the header is longer than %zu bytes", path, csv->max_row);
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
    for (size_t i = 0; i < csv->columns && used + DFRT__EXCERPT_ROOM + 8 < sizeof there; i++) {
        if (i > 0) used += (size_t)sprintf(there + used, ", ");
        used += dfrt__excerpt(there + used, DFRT__EXCERPT_ROOM, csv->fields[i]);
        if (i + 1 < csv->columns && used + DFRT__EXCERPT_ROOM + 8 >= sizeof there) (void)sprintf(there + used, ", …");
    }
    return dfrt_fail(error, DFRT_MISSING, "'%s' has no column '%s'; it has: %s", csv->input->path, name, there);
}

static dfrt_status find_column(const dfrt_csv *csv, const char *name, uint32_t *at, dfrt_error *error)
{
    size_t size = strlen(name), hits = 0;
    for (size_t i = csv->columns; i-- > 0;) {
        if (csv->fields[i].size != size || memcmp(csv->fields[i].data, name, size) != 0) continue;
        *at = (uint32_t)i;
        hits++;
    }
    if (hits == 0) return missing_column(csv, name, error);
    if (hits > 1)
        return dfrt_fail(error, DFRT_MALFORMED, "'%s' has the column '%s' %zu times", csv->input->path, name, hits);
    return DFRT_OK;
}

static dfrt_status map_columns(dfrt_csv *csv, const dfrt_csv_options *options, dfrt_error *error)
{
    csv->map = calloc(csv->wanted + 1, sizeof *csv->map);
    if (csv->map == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for the columns");
    csv->in_order = csv->wanted == csv->columns;
    for (size_t i = 0; i < csv->wanted; i++) {
        dfrt_status status = find_column(csv, options->columns[i], &csv->map[i], error);
        if (status != DFRT_OK) return status;
        csv->in_order &= csv->map[i] == i;
    }
    return prepare_records(csv, error);
}

static dfrt_status read_header(dfrt_csv *csv, const dfrt_csv_options *options, dfrt_error *error)
{
    dfrt_status status = await_header(csv, options->stop_fd, error);
    if (status != DFRT_OK) return status;
    csv->header = malloc(csv->raw.size);
    if (csv->header == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for the header");
    memcpy(csv->header, csv->raw.data, csv->raw.size);
    csv->header_size = csv->raw.size;
    status = split_raw(csv, NULL, 0, &csv->columns);
    if (status != DFRT_OK)
        return dfrt_fail(error, status, "'%s': the header: %s", csv->input->path, csv->reason.text);
    csv->fields = calloc(csv->columns, sizeof *csv->fields);
    if (csv->fields == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for the columns");
    (void)split_raw(csv, csv->fields, csv->columns, &csv->columns); /* went well just now */
    return map_columns(csv, options, error);
}

static dfrt_status prepare(dfrt_csv *csv, const char *path, const dfrt_csv_options *options, dfrt_error *error)
{
    csv->input = options->input;
    dfrt_status status =
        csv->input != NULL ? DFRT_OK : dfrt_input_open(&csv->input, path, csv->max_row + 2, error);
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
    csv->max_row = options->max_row == 0 ? DEFAULT_MAX_ROW : options->max_row;
    csv->wanted = csv->columns = options->column_count;
    csv->in_order = true; /* until a header says otherwise */
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
    free(csv->map);
    free(csv->bounds);
    free(csv->recent);
    free(csv->header);
    free(csv->scratch);
    free(csv);
}
