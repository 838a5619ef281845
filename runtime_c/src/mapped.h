/* The front of a regular file as memory, for packed records: no copy by the kernel, and only a few megabytes of it
 * are resident at a time. A file that is cut short meanwhile is a failure to report, not a signal that ends us.
 *
 * Threads:   one thread at a time uses a mapping; any number of mappings may be open.
 * Ownership: the bytes belong to the mapping and are valid until it is closed.
 * Progress:  the first look at a page waits for the disk.
 */
#ifndef DFRT_MAPPED_H
#define DFRT_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dfrt__mapped dfrt__mapped;

/* The whole multiples of `unit` bytes of the file; NULL when it can't be mapped, or is not worth it. */
dfrt__mapped *dfrt__map(int fd, size_t unit);
void dfrt__unmap(dfrt__mapped *mapped);

/* The bytes behind those that were taken, at least `least` of them if any; *size says how many. */
const unsigned char *dfrt__mapped_front(dfrt__mapped *mapped, size_t least, size_t *size);
/* Looks at every page of the next `bytes`: of a file that was cut short before, none of the zeros are believed. */
void dfrt__mapped_touch(const dfrt__mapped *mapped, size_t bytes);
void dfrt__mapped_take(dfrt__mapped *mapped, size_t bytes);

/* How many bytes were taken. */
size_t dfrt__mapped_taken(const dfrt__mapped *mapped);

/* Whether the file has become shorter than what was mapped: what was taken since the last answer may be zeros. */
bool dfrt__mapped_cut(const dfrt__mapped *mapped);

#endif
