/* The one order of what one event released in several replicas.
 *
 * Threads:   of whoever holds both batches.
 * Ownership: nothing is kept.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_ORDER_H
#define DFRT_SRC_ORDER_H

#include "dfrt/stage.h"

/* True when element `i` of `a` comes before element `j` of `b`: both lie at the same position of the same edge. */
static inline bool dfrt__comes_before(const dfrt_edge *edge, const dfrt_batch *a, uint32_t i, const dfrt_batch *b,
                                      uint32_t j)
{
    if (edge->order == NULL) {
        return a->orders[i] < b->orders[j];
    }
    if (a->times[i] != b->times[j]) {
        return a->times[i] < b->times[j];
    }
    return edge->order(a->elements + i * edge->element_size, b->elements + j * edge->element_size) < 0;
}

#endif
