/* Interned strings, one table for the process: equal text, equal number. Symbols live until the process ends.
 *
 * Threads:   every function from every thread, at the same time, without locks.
 * Ownership: interning copies the bytes; texts handed out belong to the table and never move or change.
 * Progress:  lookup and text are wait-free; interning something new is lock-free.
 */
#ifndef DFRT_SYMBOL_H
#define DFRT_SYMBOL_H

#include <dfrt/record.h>
#include <dfrt/status.h>
#include <dfrt/utf8.h>

/* The empty string is always symbol 0. Answers DFRT_OK or DFRT_MEMORY. */
dfrt_status dfrt_symbol_intern(const char *bytes, size_t size, dfrt_symbol *out);

/* The bytes, with a NUL after them that is not counted. A number that was never handed out has the empty text. */
dfrt_slice dfrt_symbol_text(dfrt_symbol symbol);

/* Negative, zero or positive: bytewise, a prefix before what it begins. */
int dfrt_symbol_compare(dfrt_symbol a, dfrt_symbol b);

/* How many numbers are in use; every symbol is below it. */
uint64_t dfrt_symbol_count(void);

/* Where an index looks for a symbol: its own place for each. Numbers without gaps get places without gaps; the higher
 * bits help those that have the lower ones in common. */
static inline uint32_t dfrt_symbol_place(dfrt_symbol symbol)
{
    return symbol ^ symbol >> 8;
}

/* For generated parsers: valid UTF-8, interned. */
static inline bool dfrt_parse_symbol(const char *bytes, size_t size, dfrt_symbol *out)
{
    return dfrt_utf8_valid(bytes, size) && dfrt_symbol_intern(bytes, size, out) == DFRT_OK;
}

#endif
