/* Which worker has which slot and which heavy key: the parts that the balancer (control/rebalance.h) divides.
 *
 * Threads:   pure functions on the caller's state.
 * Ownership: plain structs.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_DIVISION_H
#define DFRT_SRC_DIVISION_H

#include "../control/rebalance.h"
#include "dfrt/elastic.h"
#include "key_loads.h"

typedef struct dfrt__division {
    uint16_t owners[DFRT_SLOTS];
    dfrt_heavy_key heavy[DFRT_HEAVY_KEYS]; /* the heaviest first, since tuples of their slots look for them in this order */
    unsigned heavy_count;
} dfrt__division;

/* What is known of the parts: load of each slot of late, the sum of all in the last step, and the heaviest keys of that
 * step, sorted. */
typedef struct dfrt__part_loads {
    const double *slots;
    double in_step;
    const dfrt__key_loads *keys;
} dfrt__part_loads;

/* Notes a step in the loads of late, in which older steps fade: most slots of a step have few samples or none. `before`,
 * `now`: load of each slot since the start. Answers that of all slots in the step. */
double dfrt__slots_note(double *slots, const double *before, const double *now);

/* From the division in force to the next one, between `workers`. A key with more than half of a worker's fair share of the
 * load gets a route of its own, and keeps it until it has less than a quarter. Answers whether that makes the busiest
 * worker's load noticeably less. */
bool dfrt__divide(dfrt__division *division, const dfrt__part_loads *loads, unsigned workers,
                  enum dfrt_balancer balancer, double imbalance);
/* Whether every key has the same worker in both. */
bool dfrt__same_division(const dfrt__division *one, const dfrt__division *other);

#endif
