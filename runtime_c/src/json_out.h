/* Pieces of JSON, written to a stream.
 *
 * Threads:   one thread at a time writes to a stream.
 * Ownership: nothing is kept.
 * Progress:  as the stream.
 */
#ifndef DFRT_SRC_JSON_OUT_H
#define DFRT_SRC_JSON_OUT_H

#include <stdbool.h>
#include <stdio.h>

/* In quotes; what is no UTF-8 becomes a replacement character. NULL is null. */
void dfrt__json_string(FILE *out, const char *text);
/* The shortest text that reads back as the same number; null for NaN and infinity, which JSON does not have. */
void dfrt__json_number(FILE *out, double value);
static inline void dfrt__json_bool(FILE *out, bool value)
{
    (void)fputs(value ? "true" : "false", out);
}

#endif
