/* UTF-8: whether bytes are it, and how many characters they hold.
 *
 * Threads:   pure functions.
 * Ownership: bytes are borrowed for the call.
 * Progress:  nothing waits; ASCII goes eight bytes a step.
 */
#ifndef DFRT_UTF8_H
#define DFRT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* False for overlong forms, surrogates, what is above U+10FFFF, and for what is cut off. */
bool dfrt_utf8_valid(const char *bytes, size_t size);

/* Code points of valid UTF-8. */
size_t dfrt_utf8_length(const char *bytes, size_t size);

/* The largest number of bytes <= limit at which the valid UTF-8 `bytes` can be cut between two code points. */
static inline size_t dfrt_utf8_cut(const char *bytes, size_t size, size_t limit)
{
    if (size <= limit) return size;
    while (limit > 0 && ((unsigned char)bytes[limit] & 0xc0) == 0x80) limit--;
    return limit;
}

#endif
