/* What a call of the runtime answers, and the room for the one line that explains a failure.
 *
 * Threads:   values only, nothing is shared.
 * Ownership: a dfrt_error belongs to the caller; it holds its text, no pointers.
 * Progress:  nothing here waits.
 */
#ifndef DFRT_STATUS_H
#define DFRT_STATUS_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Generated code and the runtime it is compiled against must agree; codegen writes this number. */
#define DFRT_ABI_VERSION 1

/* For small functions of generated programs, of which one program or another needs only some. */
#define DFRT_INLINE static inline __attribute__((unused))
/* For those whose callers give constants, by which the C compiler is to specialise them. */
#define DFRT_ALWAYS_INLINE static inline __attribute__((always_inline, unused))
/* For what few tuples need: kept out of the functions that all of them pass through. */
#define DFRT_APART static __attribute__((noinline, unused))

typedef enum dfrt_status {
    DFRT_OK = 0,
    DFRT_END,       /* the input has ended */
    DFRT_AGAIN,     /* nothing to be had without waiting */
    DFRT_MALFORMED, /* one record does not fit its type; the stream goes on */
    DFRT_USAGE,     /* the command line or a connector's specification is wrong */
    DFRT_MISSING,   /* a file or a column is not there */
    DFRT_IO,        /* the operating system refused */
    DFRT_MEMORY,    /* no memory left */
} dfrt_status;

typedef struct dfrt_error {
    char text[512];
} dfrt_error;

/* Writes the line and hands the status back, so that a failure is one statement: return dfrt_fail(...). */
__attribute__((format(printf, 3, 4))) static inline dfrt_status dfrt_fail(dfrt_error *error, dfrt_status status,
                                                                          const char *format, ...)
{
    va_list words;
    va_start(words, format);
    (void)vsnprintf(error->text, sizeof error->text, format, words);
    va_end(words);
    return status;
}

#endif
