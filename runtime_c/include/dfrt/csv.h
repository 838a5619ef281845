/* CSV as a stream of rows, each an array of slices: RFC 4180 quoting, LF or CRLF, columns chosen by name.
 *
 * Threads:   one thread at a time uses a reader.
 * Ownership: a row's slices and dfrt_csv_raw are valid until the next dfrt_csv_next.
 * Progress:  opening may wait for the header; after that only dfrt_input_wait on dfrt_csv_input does. Memory is at
 *            most the row limit twice, whatever the input holds.
 */
#ifndef DFRT_CSV_H
#define DFRT_CSV_H

#include <dfrt/input.h>
#include <dfrt/record.h>

typedef struct dfrt_csv dfrt_csv;

typedef struct dfrt_csv_options {
    const char *const *columns; /* the wanted ones, in the order of the slices */
    size_t column_count;
    bool no_header;             /* then the file has exactly these columns, in this order */
    size_t max_row;             /* bytes; 0 is 16 MiB */
    int stop_fd;                /* gives up waiting for the header: -1 is never */
    dfrt_input *input;          /* read this, which the reader takes over, instead of the path; or NULL */
} dfrt_csv_options;

/* DFRT_MISSING: no such file, header or column. DFRT_MALFORMED: the header itself is broken. DFRT_END: stopped while
 * waiting for it. */
dfrt_status dfrt_csv_open(dfrt_csv **out, const char *path, const dfrt_csv_options *options, dfrt_error *error);

/* The next row: one slice a wanted column. DFRT_AGAIN, DFRT_END; DFRT_MALFORMED for a row that is none (its reason is
 * in dfrt_csv_reason, the next call goes on behind it); DFRT_IO, DFRT_MEMORY with the reason likewise. */
dfrt_status dfrt_csv_next(dfrt_csv *csv, dfrt_slice *row);

/* As many of the next rows as are plain and at hand, as records: at most `capacity`. 0: dfrt_csv_next must say what comes
 * next. The record's fields are the wanted columns. */
size_t dfrt_csv_records(dfrt_csv *csv, const dfrt_record *record, void *records, size_t capacity);

/* Of the last row, good or bad: the line on which it began, counted from 1. */
uint64_t dfrt_csv_line(const dfrt_csv *csv);
/* Its bytes as they stand in the file, without the line end; empty for a row that was too long to keep. */
dfrt_slice dfrt_csv_raw(const dfrt_csv *csv);
const char *dfrt_csv_reason(const dfrt_csv *csv);

/* The header as it stands in the file. */
dfrt_slice dfrt_csv_header(const dfrt_csv *csv);

dfrt_input *dfrt_csv_input(dfrt_csv *csv);
void dfrt_csv_close(dfrt_csv *csv);

#endif
