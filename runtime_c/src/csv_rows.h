/* Rows of a CSV file as records, as long as they are plain: no quotes, the right number of fields, values that fit.
 *
 * Threads:   a parser belongs to one thread at a time; a format is constant once the header was read.
 * Ownership: the parser owns its tables, everything else is borrowed.
 * Progress:  nothing waits.
 */
#ifndef DFRT_CSV_ROWS_H
#define DFRT_CSV_ROWS_H

#include <dfrt/rows.h>

/* What the header says. */
typedef struct dfrt__csv_format {
    size_t columns;  /* of the file */
    size_t max_row;
    uint32_t *map;   /* wanted column i is the file's column map[i] */
    bool in_order;   /* the file has the wanted columns only, in their order */
} dfrt__csv_format;

typedef struct dfrt__csv_parser {
    uint32_t *bounds;  /* of the fields of some rows */
    size_t trusted;    /* how many rows are looked for at once: grows while all are plain */
    dfrt_recent_symbol *recent;
} dfrt__csv_parser;

/* False without memory; closing is right in any case. */
bool dfrt__csv_parser_open(dfrt__csv_parser *parser, const dfrt__csv_format *format);
void dfrt__csv_parser_close(dfrt__csv_parser *parser);

/* Some of the rows that data[0 … size) begins with, at most `capacity`: their number, and their bytes in *length. 0 when
 * the first one is not plain, or not whole. data must be followed by DFRT_INPUT_SLACK bytes that can be loaded. */
size_t dfrt__csv_parse(dfrt__csv_parser *parser, const dfrt__csv_format *format, const dfrt_record *record,
                       const char *data, size_t size, void *records, size_t capacity, size_t *length);

#endif
