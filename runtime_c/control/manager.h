/* The application manager: several elastic operators share the cores of one machine.
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  bounded by the number of operators and cores.
 */
#ifndef DFRT_CONTROL_MANAGER_H
#define DFRT_CONTROL_MANAGER_H

#include "policy.h"

enum { DFRT_MOST_OPERATORS = 64 };

typedef struct dfrt_manager {
    unsigned cores;       /* workers of all operators together */
    double changes_a_step, most_changes; /* token bucket: filled by, up to */
    double tokens;
} dfrt_manager;

typedef struct dfrt_wish {
    dfrt_setting now, wanted;
    unsigned workers_least;
    double need;     /* how urgent: the predicted utilisation, or how far the goal is missed; higher first */
    bool granted;    /* out: `wanted` is what may be done, possibly less than was asked for */
    char reason[DFRT_REASON]; /* out: why it is not what was asked for; empty otherwise */
} dfrt_wish;

void dfrt_manager_start(dfrt_manager *manager, unsigned cores, double changes_a_step, double most_changes);
void dfrt_manager_settle(dfrt_manager *manager, dfrt_wish *wishes, unsigned count);

#endif
