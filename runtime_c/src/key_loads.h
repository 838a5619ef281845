/* The heaviest keys of an operator in one control step: the difference of two looks at the tables of its replicas.
 *
 * Threads:   the agent; the tables are written meanwhile (dfrt/key_samples.h).
 * Ownership: what is opened is closed.
 * Progress:  nothing waits; bounded by the number of replicas, whatever the number of keys.
 */
#ifndef DFRT_SRC_KEY_LOADS_H
#define DFRT_SRC_KEY_LOADS_H

#include "dfrt/key_samples.h"

typedef struct dfrt__key_load {
    uint64_t hash, samples;
    double load;
} dfrt__key_load;

typedef struct dfrt__key_loads {
    unsigned replicas;
    struct dfrt__key_table *before; /* by replica: what its table said last */
    dfrt__key_load *keys; /* of the step; once sorted, each key once, the heaviest first */
    unsigned count;
    uint64_t samples; /* in the step, also of keys that are not here */
} dfrt__key_loads;

/* Ends the program when there is no memory. */
void dfrt__key_loads_open(dfrt__key_loads *loads, unsigned replicas);
void dfrt__key_loads_close(dfrt__key_loads *loads);

/* A step: begin, and look at each replica. */
void dfrt__key_loads_begin(dfrt__key_loads *loads);
void dfrt__key_loads_look(dfrt__key_loads *loads, unsigned replica, const dfrt_key_samples *table);
/* Before somebody wants to know: most steps change nothing. */
void dfrt__key_loads_sort(dfrt__key_loads *loads);

#endif
