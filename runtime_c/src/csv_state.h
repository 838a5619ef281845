/* The CSV reader's state, for csv.c and for what parses ahead of it.
 *
 * Threads, Ownership, Progress: as csv.h.
 */
#ifndef DFRT_CSV_STATE_H
#define DFRT_CSV_STATE_H

#include <dfrt/csv.h>

#include "csv_rows.h"
#include "csv_scan.h"

struct dfrt_csv {
    dfrt_input *input;

    dfrt__csv_format format;
    dfrt_slice *fields; /* one a column of the file */
    size_t wanted;
    char *header;
    size_t header_size;

    char *scratch; /* fields with quotes, unescaped */
    size_t scratch_capacity;
    dfrt__csv_parser parser; /* its bounds are NULL when rows are only split */

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

/* The reader stands at the beginning of a row of which it has not seen a byte. */
static inline bool dfrt__csv_is_between_rows(const dfrt_csv *csv)
{
    return !csv->searching && csv->input->size == 0;
}

/* Rows that were read elsewhere count as lines. */
static inline void dfrt__csv_count_rows(dfrt_csv *csv, size_t rows)
{
    csv->next_line += rows;
    csv->line = csv->next_line - 1;
}

#endif
