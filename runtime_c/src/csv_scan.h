/* The two inner loops of csv.c: where a row ends, and where its fields do.
 *
 * Threads:   pure functions on the caller's state.
 * Ownership: everything is borrowed.
 * Progress:  nothing waits.
 */
#ifndef DFRT_CSV_SCAN_H
#define DFRT_CSV_SCAN_H

#include <dfrt/record.h>

/* Splits a row that has no quotes, in one pass over data[0 … size), into at most `room` slices. */
typedef enum dfrt__csv_found {
    DFRT__CSV_ROW,    /* a whole row: *fields of them, its bytes before the newline in *length */
    DFRT__CSV_QUOTE,  /* there is a quote in it: the other way must be taken */
    DFRT__CSV_CUT,    /* data ends before the row does */
} dfrt__csv_found;

/* Slices beyond `room` are counted, not stored. data must be followed by DFRT_INPUT_SLACK bytes that can be loaded. */
dfrt__csv_found dfrt__csv_split_plain(const char *data, size_t size, dfrt_slice *fields, size_t room, size_t *count,
                                      size_t *length);

/* Where fields begin: behind each comma and each newline of data[0 … size) before the first quote. Stops when `enough`
 * are found; answers how many, at most enough + DFRT__CSV_BLOCK - 1. data must be followed by DFRT_INPUT_SLACK bytes
 * that can be loaded, and `bounds` has room for enough + 2 * DFRT__CSV_BLOCK. */
enum { DFRT__CSV_BLOCK = 64 };
size_t dfrt__csv_bounds(const char *data, size_t size, uint32_t *bounds, size_t enough);

/* The search for the end of a row that may hold quotes; can be interrupted when data ends, and resumed. */
typedef enum dfrt__csv_state {
    DFRT__CSV_FIELD_START,
    DFRT__CSV_PLAIN,
    DFRT__CSV_QUOTED,
    DFRT__CSV_CLOSED, /* behind a quote in a quoted field: the end of it, or the first of a doubled one */
} dfrt__csv_state;

/* Answers the offset of the row's newline in data[from … size), or size when it is not there; counts newlines inside
 * quotes. */
size_t dfrt__csv_find_end(const char *data, size_t from, size_t size, dfrt__csv_state *state, uint64_t *newlines);

/* Splits a whole row with quotes into slices of `scratch`, which has room for `size` bytes. NULL, or what is wrong. */
const char *dfrt__csv_split_quoted(const char *data, size_t size, char *scratch, dfrt_slice *fields, size_t room,
                                   size_t *count);

#endif
