/* Two rules between a policy and the program: nothing is taken away against the measurement, and opposite actions wait
 * for each other.
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  O(1) a call. No allocation, no I/O, no clock.
 */
#ifndef DFRT_CONTROL_GUARDS_H
#define DFRT_CONTROL_GUARDS_H

#include "capacity.h"

enum { DFRT__DIMENSIONS = 3 }; /* workers, frequency, alternate */

typedef struct dfrt__guards {
    int direction[DFRT__DIMENSIONS]; /* of the last change: 1 more capacity, -1 less, 0 none yet */
    uint64_t changed[DFRT__DIMENSIONS];
} dfrt__guards;

/* Never fewer workers, a lower frequency or a dearer alternate; `why` are the words for the reason. */
void dfrt__guard_measured(const dfrt__costs *costs, const dfrt_situation *situation, const char *why,
                          dfrt_decision *decision);
/* Holds a decision that turns back a change less than `cooldown` steps old. */
void dfrt__guard_waiting(dfrt__guards *guards, const dfrt__costs *costs, const dfrt_situation *situation, uint64_t step,
                         unsigned cooldown, dfrt_decision *decision);
/* Remembers what came out in the end. */
void dfrt__guards_note(dfrt__guards *guards, const dfrt__costs *costs, const dfrt_situation *situation, uint64_t step,
                       dfrt_setting taken);

#endif
