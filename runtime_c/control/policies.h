/* The policies that there are, each a constant in the file of its name.
 *
 * Threads:   none.
 * Ownership: constants.
 * Progress:  none.
 */
#ifndef DFRT_CONTROL_POLICIES_H
#define DFRT_CONTROL_POLICIES_H

#include "mpc.h"
#include "policy.h"

extern const dfrt_policy dfrt__policy_rule, dfrt__policy_threshold, dfrt__policy_spl, dfrt__policy_rl,
    dfrt__policy_static, dfrt__policy_alternates, dfrt__policy_auto;

/* The policy that decides: the one that `auto` took, otherwise `policy` itself. `state` has been started. */
const dfrt_policy *dfrt__policy_behind(const dfrt_policy *policy, const void *state);

#endif
