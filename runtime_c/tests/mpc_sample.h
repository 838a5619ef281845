/* What the tests of the policy `mpc` share: its parameters by number, and one decision. */
#ifndef DFRT_TESTS_MPC_SAMPLE_H
#define DFRT_TESTS_MPC_SAMPLE_H

#include "../control/mpc.h"

#include "control_sample.h"

enum { STRATEGY, ALPHA, BETA, GAMMA, HORIZON, SOLVER, BOUND };
enum { GOALS, TH_NODE, TH_POWER, LAT_NODE, LAT_POWER, RHO_NODE, RHO_POWER };

typedef struct values {
    double all[DFRT_MOST_PARAMETERS];
} values;

static inline values standard_values(void)
{
    values chosen;
    for (unsigned n = 0; n < DFRT_MOST_PARAMETERS; n++)
        chosen.all[n] = NAN;
    return chosen;
}

static inline dfrt_decision decided(const dfrt_situation *situation, values chosen)
{
    const dfrt_policy *policy = dfrt_policy_named("mpc");
    CHECK(policy == &dfrt__policy_mpc && dfrt_policy_named("mcp") == NULL);
    void *state = calloc(1, policy->size(chosen.all, situation->limits));
    CHECK(state != NULL);
    dfrt_decision decision;
    memset(&decision, 0xa5, sizeof decision);
    policy->start(state, chosen.all, situation->limits, situation->goals);
    policy->decide(state, situation, &decision);
    free(state);
    return decision;
}

/* Each strategy in turn. */
static inline values draw_values(dfrt_random *random, unsigned round)
{
    values chosen = standard_values();
    chosen.all[STRATEGY] = 1 + round % 6;
    chosen.all[ALPHA] = draw(random, 0, 4);
    chosen.all[BETA] = draw(random, 0, 1);
    chosen.all[GAMMA] = draw_below(random, 4) == 0 ? 0 : draw(random, 0, 1);
    chosen.all[HORIZON] = 1 + draw_below(random, 3);
    chosen.all[BOUND] = draw_below(random, 3) == 0 ? 0 : draw(random, 0.3, 1);
    return chosen;
}

#endif
