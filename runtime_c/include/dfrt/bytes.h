/* What C functions over panes are called with: bytes that a pane function appends to, and the panes of a window as the
 * merge function gets them.
 *
 * Threads:   nothing here is shared; a dfrt_bytes belongs to who holds it.
 * Ownership: a dfrt_bytes owns its memory until dfrt_bytes_free; a dfrt_pane borrows it.
 * Progress:  nothing waits. Without memory the program ends.
 */
#ifndef DFRT_BYTES_H
#define DFRT_BYTES_H

#include <stddef.h>
#include <string.h>

/* `size` bytes at `data`, which is aligned to 16 bytes. One of zeroes is empty. */
typedef struct dfrt_bytes {
    unsigned char *data;
    size_t size, capacity;
} dfrt_bytes;

/* What the pane function gave for one pane; aligned to 16 bytes. */
typedef struct dfrt_pane {
    const void *data;
    size_t size;
} dfrt_pane;

/* Makes it `size` bytes longer; answers where they begin. They are not set, and move when more are added. */
void *dfrt_bytes_add(dfrt_bytes *bytes, size_t size);
void dfrt_bytes_free(dfrt_bytes *bytes);

static inline void dfrt_bytes_append(dfrt_bytes *bytes, const void *data, size_t size)
{
    if (size > 0) {
        memcpy(dfrt_bytes_add(bytes, size), data, size);
    }
}

#endif
