/* How far a policy's predictions can be trusted: the error of each, and whether the threshold rule should decide instead.
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  O(1) a call. No allocation, no I/O, no clock.
 */
#ifndef DFRT_CONTROL_TRUST_H
#define DFRT_CONTROL_TRUST_H

#include "policy.h"

enum { DFRT__ERRORS = 5 };

typedef struct dfrt__trust {
    double most;                 /* mean error above which the policy is not believed */
    double errors[DFRT__ERRORS]; /* of the last comparisons */
    unsigned compared;           /* how many there were */
    double last;                 /* NaN: the last step could not be compared */
    bool fell_back;
    unsigned blind;              /* steps since the last comparison */
} dfrt__trust;

void dfrt__trust_start(dfrt__trust *trust, double most);
/* What was predicted for the step with `now` in force, and what was measured in it. */
void dfrt__trust_note(dfrt__trust *trust, const dfrt_prediction *predicted, const dfrt_measured *measured,
                      const dfrt_goals *goals, dfrt_setting now);
double dfrt__trust_mean(const dfrt__trust *trust);

#endif
