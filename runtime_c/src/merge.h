/* The order in which several sources are read: the untimed ones in turn, then the timed one that is furthest behind.
 *
 * Threads:   the one that reads the sources.
 * Ownership: borrows everything.
 * Progress:  a turn reads what is there and waits for nothing.
 */
#ifndef DFRT_SRC_MERGE_H
#define DFRT_SRC_MERGE_H

#include "dfrt/program.h"

typedef struct dfrt__merge {
    const dfrt_program *program;
    const void *segment; /* number 0 */
    void *owner;
    /* Whether the source has a tuple now. One that has no more ends the moment it is looked at. */
    bool (*ready)(void *owner, unsigned source);
    /* Reads up to `most` tuples of a source that is ready, as dfrt_program.read; answers how many. */
    size_t (*take)(void *owner, unsigned source, size_t most, int64_t until);
} dfrt__merge;

/* One turn, or as many of them as would read the same source, up to about `most` tuples. 0: no source is ready. */
size_t dfrt__merge_turn(const dfrt__merge *merge, size_t most);

#endif
