/* The policies by name. A policy is a constant in the file that has its name; one line here makes it known to programs,
 * configurations and the simulator. */
#include "policies.h"

#include <math.h>
#include <string.h>

static const dfrt_policy *const known_policies[] = {
    &dfrt__policy_auto,
    &dfrt__policy_mpc,
    &dfrt__policy_rule,
    &dfrt__policy_threshold,
    &dfrt__policy_spl,
    &dfrt__policy_rl,
    &dfrt__policy_static,
    &dfrt__policy_alternates,
    NULL, /* behind the last */
};

const dfrt_policy *dfrt_policy_at(unsigned n)
{
    unsigned count = sizeof known_policies / sizeof *known_policies - 1;
    return n < count ? known_policies[n] : NULL;
}

const dfrt_policy *dfrt_policy_named(const char *name)
{
    for (unsigned n = 0; known_policies[n] != NULL; n++)
        if (strcmp(known_policies[n]->name, name) == 0)
            return known_policies[n];
    return NULL;
}

double dfrt_parameter_of(const dfrt_parameter *parameter, double value)
{
    return isnan(value) ? parameter->standard : fmin(fmax(value, parameter->least), parameter->most);
}
