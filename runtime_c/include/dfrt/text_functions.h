/* The functions on strings that a program can call: searching, case, trimming, interning.
 *
 * Threads:   every thread; results of lower and upper live in the calling thread's scratch.
 * Ownership: slices borrow; what lower and upper answer is valid until the thread's eighth call after it.
 * Progress:  nothing waits.
 */
#ifndef DFRT_TEXT_FUNCTIONS_H
#define DFRT_TEXT_FUNCTIONS_H

#include "dfrt/hash.h"
#include "dfrt/stage.h"
#include "dfrt/symbol.h"
#include "dfrt/text.h"

static inline dfrt_symbol dfrt_intern(dfrt_slice text)
{
    dfrt_symbol symbol;
    if (dfrt_symbol_intern(text.data, text.size, &symbol) != DFRT_OK) {
        dfrt_out_of_memory();
    }
    return symbol;
}

static inline dfrt_slice dfrt_text_cut(dfrt_slice text, size_t size)
{
    return (dfrt_slice){text.data, dfrt_utf8_cut(text.data, text.size, size)};
}

static inline uint64_t dfrt_hash_text(dfrt_slice text)
{
    return dfrt_hash_bytes(text.data, text.size);
}

bool dfrt_text_contains(dfrt_slice text, dfrt_slice part);
bool dfrt_text_starts_with(dfrt_slice text, dfrt_slice start);
bool dfrt_text_ends_with(dfrt_slice text, dfrt_slice end);
/* ASCII letters only; other characters stay. */
dfrt_slice dfrt_text_lower(dfrt_slice text);
dfrt_slice dfrt_text_upper(dfrt_slice text);
/* Without ASCII white space at both ends. */
dfrt_slice dfrt_text_trim(dfrt_slice text);

#endif
