/* Results of panes on their way from the worker that computes them to the step that merges them, and the list that this
 * step keeps of them.
 *
 * Threads:   a dfrt_pane_results and its memory belong to the worker. Who merges reads a result until dfrt_result_done, from
 *            any thread; a dfrt_panes belongs to one of those.
 * Ownership: the worker owns every result, also those on their way: a run that fails leaves none behind. A result that
 *            all its readers are done with is used again. The worker closes after everybody has stopped reading.
 * Progress:  nothing waits. Without memory the program ends.
 */
#ifndef DFRT_PANES_H
#define DFRT_PANES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dfrt/bytes.h"

typedef struct dfrt_result {
    dfrt_bytes bytes;
    /* Taken away by readers (release and acquire: the last of them hands it back). */
    _Atomic uint32_t readers;
    struct dfrt_pane_results *owner;
    struct dfrt_result *made_before; /* all of an owner */
    struct dfrt_result *next;        /* of those that are free, or on their way back */
} dfrt_result;

typedef struct dfrt_pane_results {
    dfrt_result *all, *free;
    /* Readers push (release), the owner takes all of them at once (acquire). */
    _Atomic(dfrt_result *) returned;
} dfrt_pane_results;

/* For the worker: an empty result with one reader. */
dfrt_result *dfrt_results_take(dfrt_pane_results *results);
void dfrt_results_close(dfrt_pane_results *results);
/* All results of `from` belong to `to` from now on; nobody else reads them. */
void dfrt_results_adopt(dfrt_pane_results *to, dfrt_pane_results *from);

/* Lets `more` others read it too; before any of them has it. NULL is no result. */
void dfrt_result_share(dfrt_result *result, uint32_t more);
/* For readers. */
void dfrt_result_done(dfrt_result *result);

/* The results of panes in order, those that windows to come may need. One of zeroes is empty. */
typedef struct dfrt_pane_entry {
    int64_t index;
    int64_t latest;      /* the highest time of its tuples, where windows ask for it */
    dfrt_result *result; /* NULL: the pane gave none */
} dfrt_pane_entry;

typedef struct dfrt_panes {
    dfrt_pane_entry *items;
    dfrt_pane *views; /* of the window at hand */
    uint32_t head, tail, capacity, view_capacity;
} dfrt_panes;

/* The panes of one window. */
typedef struct dfrt_whole {
    const dfrt_pane *panes;
    size_t count;
    int64_t latest;
} dfrt_whole;

void dfrt_panes_add(dfrt_panes *panes, int64_t index, dfrt_result *result, int64_t latest);
/* Forgets panes before `from`: their results are done with. */
void dfrt_panes_evict(dfrt_panes *panes, int64_t from);
/* The results of panes [from, to], valid until the next call; false when there are none. Forgets those before `from`. */
bool dfrt_panes_window(dfrt_panes *panes, int64_t from, int64_t to, dfrt_whole *whole);
/* The results stay with their owners. */
void dfrt_panes_close(dfrt_panes *panes);

#endif
