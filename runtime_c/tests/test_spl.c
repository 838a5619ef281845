#define _GNU_SOURCE
/* The SPL strategy: congestion, what it remembers of each degree, and when it forgets. */
#include "scripted.h"

typedef struct spl_trial {
    const dfrt_policy *policy;
    dfrt_limits limits;
    dfrt_goals goals;
    double values[DFRT_MOST_PARAMETERS];
    void *state;
    dfrt_decision decision;
} spl_trial;

static void begin(spl_trial *trial, unsigned workers)
{
    trial->policy = dfrt_policy_named("spl");
    CHECK(trial->policy != NULL);
    trial->limits = some_limits(workers, 1, 1);
    trial->goals = no_goals();
    standard_values(trial->values);
    trial->state = started(trial->policy, &trial->limits, &trial->goals, trial->values);
}

static unsigned next_degree(spl_trial *trial, unsigned now, double blocked, double served)
{
    dfrt_measured measured = blank_step();
    measured.step = 4;
    measured.arrivals = 4 * served;
    measured.results = 4 * served;
    measured.blocked = blocked;
    dfrt_situation situation = situation_of(&measured, &trial->limits, &trial->goals, (dfrt_setting){now, 0, 0, 0});
    trial->policy->decide(trial->state, &situation, &trial->decision);
    CHECK(trial->decision.reason[0] != '\0' && inside(trial->decision.setting, &trial->limits));
    return trial->decision.setting.workers;
}

static void grows_while_congested(void)
{
    spl_trial trial;
    begin(&trial, 8);
    CHECK(next_degree(&trial, 1, 0.5, 1000) == 2);
    CHECK(next_degree(&trial, 2, 0.4, 2000) == 3);
    CHECK(next_degree(&trial, 3, 0.0, 2500) == 3); /* no congestion, and two were congested */
    CHECK_TEXT(trial.decision.reason, "not congested (0 %), and 2 workers were, 1 steps ago");
    free(trial.state);
}

static void does_not_repeat_what_did_not_help(void)
{
    spl_trial trial;
    begin(&trial, 8);
    CHECK(next_degree(&trial, 4, 0.5, 4000) == 5);
    CHECK(next_degree(&trial, 5, 0.5, 4050) == 6); /* nothing is known of six yet */
    CHECK(next_degree(&trial, 4, 0.5, 4000) == 4); /* five gave no more than four, by what is significant */
    CHECK(strstr(trial.decision.reason, "no more than these 4") != NULL);
    free(trial.state);
}

static void forgets_when_the_load_changes(void)
{
    spl_trial trial;
    begin(&trial, 8);
    CHECK(next_degree(&trial, 3, 0.5, 3000) == 4);
    CHECK(next_degree(&trial, 4, 0.0, 3500) == 4);
    CHECK(next_degree(&trial, 4, 0.0, 3400) == 4); /* not significant */
    CHECK(next_degree(&trial, 4, 0.0, 2000) == 3); /* a third of the load is gone: three may do */
    CHECK(next_degree(&trial, 3, 0.0, 2000) == 2);
    CHECK(next_degree(&trial, 2, 0.3, 1900) == 3); /* more load at the same degree: what was above is open again */
    free(trial.state);
}

static void memory_fades(void)
{
    spl_trial trial;
    begin(&trial, 8);
    CHECK(next_degree(&trial, 3, 0.5, 3000) == 4);
    unsigned steps = 0;
    while (next_degree(&trial, 4, 0.0, 3500) == 4)
        CHECK(++steps < 100);
    CHECK(steps == 29); /* `remember` 30, the first step included */
    free(trial.state);
}

static void stays_inside(void)
{
    spl_trial trial;
    begin(&trial, 2);
    CHECK(next_degree(&trial, 2, 1, 1000) == 2);
    CHECK(strstr(trial.decision.reason, "all that the limits allow") != NULL);
    CHECK(next_degree(&trial, 1, 0, 10) == 1);
    CHECK(next_degree(&trial, 2, NAN, 10) == 2);
    CHECK(next_degree(&trial, 2, INFINITY, 10) == 2);
    CHECK(next_degree(&trial, 2, 0.5, NAN) == 2);
    free(trial.state);
}

int main(void)
{
    grows_while_congested();
    does_not_repeat_what_did_not_help();
    forgets_when_the_load_changes();
    memory_fades();
    stays_inside();
    return 0;
}
