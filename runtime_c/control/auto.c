/* `auto` looks at the goals and at what the limits leave to choose, takes the policy that fits, and says which and why in
 * front of each reason. The choice is made once, when the program starts. */
#include "policies.h"
#include "reading.h"

#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { AUTO_HORIZON };

static const dfrt_parameter auto_parameters[] = {
    {"horizon", 2, 1, DFRT_MOST_HORIZON, NULL},
    {NULL, 0, 0, 0, NULL},
};

struct choice {
    const dfrt_policy *policy;
    const char *strategy; /* of mpc; NULL: the policy has none */
    const char *why;
};

struct automatic {
    struct choice choice;
    alignas(max_align_t) unsigned char delegate[];
};

/* --- the choice --------------------------------------------------------------------------------------------------- */

static struct choice for_resources(const dfrt_limits *limits, const dfrt_goals *goals)
{
    bool power = goals->minimize == DFRT_MINIMIZE_POWER && limits->frequency_count > 1;
    if (!isnan(goals->latency) && power)
        return (struct choice){&dfrt__policy_mpc, "lat_power", "a latency goal, least power"};
    if (!isnan(goals->latency))
        return (struct choice){&dfrt__policy_mpc, "lat_node", "a latency goal, few workers"};
    if (power)
        return (struct choice){&dfrt__policy_mpc, "th_power", "keep up with the input, least power"};
    if (!isnan(goals->throughput) || goals->minimize != DFRT_MINIMIZE_NOTHING)
        return (struct choice){&dfrt__policy_mpc, "th_node", "keep up with the input, few workers"};
    return (struct choice){&dfrt__policy_rule, NULL, "no goals, so utilisation"};
}

static struct choice choose_policy(const dfrt_limits *limits, const dfrt_goals *goals)
{
    bool resources = limits->workers_most > limits->workers_least || limits->frequency_count > 1;
    bool alternates = limits->alternate_count > 1;
    if (!resources && (alternates || limits->shed_most > 0))
        return (struct choice){&dfrt__policy_alternates, NULL, "workers and frequency are fixed"};
    if (!resources)
        return (struct choice){&dfrt__policy_static, NULL, "there is nothing to choose from"};
    if (alternates && !isnan(goals->value) && isnan(goals->latency))
        return (struct choice){&dfrt__policy_alternates, NULL, "a goal of value, none of latency"};
    return for_resources(limits, goals);
}

/* --- the delegate ------------------------------------------------------------------------------------------------- */

static int parameter_named(const dfrt_policy *policy, const char *name)
{
    for (int i = 0; policy->parameters[i].name != NULL; i++)
        if (strcmp(policy->parameters[i].name, name) == 0)
            return i;
    return -1;
}

static double choice_named(const dfrt_parameter *parameter, const char *word)
{
    for (unsigned i = 0; parameter->choices != NULL && parameter->choices[i] != NULL; i++)
        if (strcmp(parameter->choices[i], word) == 0)
            return i;
    return NAN;
}

/* What `auto` was given and the delegate knows goes on to it. */
static void values_for(const struct choice *choice, const double *values, double *passed)
{
    for (unsigned i = 0; i < DFRT_MOST_PARAMETERS; i++)
        passed[i] = NAN;
    int horizon = parameter_named(choice->policy, "horizon"), strategy = parameter_named(choice->policy, "strategy");
    if (horizon >= 0)
        passed[horizon] = dfrt_parameter_of(&auto_parameters[AUTO_HORIZON], values[AUTO_HORIZON]);
    if (strategy >= 0 && choice->strategy != NULL)
        passed[strategy] = choice_named(&choice->policy->parameters[strategy], choice->strategy);
}

/* The goals are not known here, so there is room for whichever it will be. */
static size_t size_of_auto(const double *values, const dfrt_limits *limits)
{
    static const dfrt_policy *const candidates[] = {&dfrt__policy_mpc, &dfrt__policy_rule, &dfrt__policy_alternates,
                                                    &dfrt__policy_static};
    size_t most = 0;
    for (unsigned i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        double passed[DFRT_MOST_PARAMETERS];
        values_for(&(struct choice){candidates[i], NULL, NULL}, values, passed);
        size_t size = candidates[i]->size(passed, limits);
        most = size > most ? size : most;
    }
    return sizeof(struct automatic) + most;
}

static void start_auto(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    struct automatic *automatic = state;
    double passed[DFRT_MOST_PARAMETERS];
    automatic->choice = choose_policy(limits, goals);
    values_for(&automatic->choice, values, passed);
    automatic->choice.policy->start(automatic->delegate, passed, limits, goals);
}

static void decide_auto(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    struct automatic *automatic = state;
    const struct choice *choice = &automatic->choice;
    char reason[DFRT_REASON];
    choice->policy->decide(automatic->delegate, situation, decision);
    (void)snprintf(reason, sizeof reason, "%s", decision->reason);
    dfrt__say(decision, "auto took %s%s%s (%s): %s", choice->policy->name, choice->strategy != NULL ? " " : "",
              choice->strategy != NULL ? choice->strategy : "", choice->why, reason);
}

const dfrt_policy *dfrt__policy_behind(const dfrt_policy *policy, const void *state)
{
    return policy == &dfrt__policy_auto ? ((const struct automatic *)state)->choice.policy : policy;
}

const dfrt_policy dfrt__policy_auto = {
    .name = "auto",
    .about = "takes the policy that fits goals and limits, and says which and why",
    .parameters = auto_parameters,
    .size = size_of_auto,
    .start = start_auto,
    .decide = decide_auto,
};
