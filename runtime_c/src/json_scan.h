/* JSON's own grammar, for jsonl.c: strings and numbers, and values that nobody wants.
 *
 * Threads:   pure functions on the caller's state.
 * Ownership: everything is borrowed.
 * Progress:  nothing waits; no recursion, so no input can exhaust the stack.
 */
#ifndef DFRT_JSON_SCAN_H
#define DFRT_JSON_SCAN_H

#include <dfrt/record.h>

/* What is left of a line. */
typedef struct dfrt__json {
    const char *at, *end;
    const char *wrong; /* the first mistake, or NULL */
} dfrt__json;

static inline void dfrt__json_blanks(dfrt__json *json)
{
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || *json->at == '\n'))
        json->at++;
}

/* Remembers the first mistake; answers false, so that it can be returned. */
static inline bool dfrt__json_fail(dfrt__json *json, const char *why)
{
    if (json->wrong == NULL) json->wrong = why;
    return false;
}

static inline bool dfrt__json_take(dfrt__json *json, char c)
{
    if (json->at == json->end || *json->at != c) return false;
    json->at++;
    return true;
}

/* The string whose opening quote is next. With a backslash in it, it is decoded to *scratch, which moves on behind it
 * (decoding never makes longer); otherwise the slice lies in the line. */
bool dfrt__json_string(dfrt__json *json, dfrt_slice *text, char **scratch);

/* The number that begins here, as it stands. */
bool dfrt__json_number(dfrt__json *json, dfrt_slice *text);

/* The word true, false or null that begins here. */
bool dfrt__json_word(dfrt__json *json, dfrt_slice *text);

/* Goes over one value of any kind; objects and arrays may nest `depth` levels. `scratch` as for strings, but nothing
 * is kept there. */
bool dfrt__json_skip(dfrt__json *json, unsigned depth, char *scratch);

#endif
