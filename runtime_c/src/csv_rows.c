#include "csv_rows.h"

#include <stdlib.h>

#include "csv_scan.h"

enum {
    MOST_BOUNDS = 4096,     /* looked for at once, so that they and their rows stay in the cache */
    MOST_SCANNED = 1 << 20, /* bytes, likewise */
    FIRST_TRUSTED = 8,      /* rows behind one that was not plain: so that many of these cost little */
};

bool dfrt__csv_parser_open(dfrt__csv_parser *parser, const dfrt__csv_format *format)
{
    size_t most = format->columns < MOST_BOUNDS ? MOST_BOUNDS : format->columns;
    parser->bounds = calloc(1 + most + 2 * DFRT__CSV_BLOCK, sizeof *parser->bounds);
    parser->recent = calloc(DFRT_RECENT_SYMBOLS, sizeof *parser->recent);
    parser->trusted = FIRST_TRUSTED;
    return parser->bounds != NULL && parser->recent != NULL;
}

void dfrt__csv_parser_close(dfrt__csv_parser *parser)
{
    free(parser->bounds);
    free(parser->recent);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t dfrt__csv_parse(dfrt__csv_parser *parser, const dfrt__csv_format *format, const dfrt_record *record,
                       const char *data, size_t size, void *records, size_t capacity, size_t *length)
{
    size_t columns = format->columns, fit = columns < MOST_BOUNDS ? MOST_BOUNDS / columns : 1;
    size_t wanted = smaller(smaller(capacity, parser->trusted), fit);
    size_t found = dfrt__csv_bounds(data, smaller(size, MOST_SCANNED), parser->bounds + 1, wanted * columns) / columns;
    dfrt_rows rows = {.data = data,
                      .bounds = parser->bounds,
                      .count = smaller(found, wanted),
                      .width = columns,
                      .columns = format->map,
                      .in_order = format->in_order,
                      .max_row = format->max_row,
                      .recent = parser->recent};
    size_t read = record->parse_rows(&rows, records);
    parser->trusted = read < rows.count ? FIRST_TRUSTED : smaller(2 * parser->trusted, MOST_BOUNDS);
    *length = parser->bounds[read * columns];
    return read;
}
