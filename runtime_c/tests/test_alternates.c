#define _GNU_SOURCE
/* Alternates and resources in turn, on an operator that is played. */
#include "scripted.h"

#include "../control/relief.h"

typedef struct stage_trial {
    const dfrt_policy *policy;
    dfrt_limits limits;
    dfrt_goals goals;
    double values[DFRT_MOST_PARAMETERS];
    void *state;
    plant plant;
    dfrt_setting now;
    dfrt_decision decision;
    unsigned changes;
} stage_trial;

static void begin(stage_trial *trial, unsigned workers, double dear, double cheap)
{
    *trial = (stage_trial){.policy = dfrt_policy_named("alternates"), .limits = some_limits(workers, 1, 2),
                           .goals = latency_goal(0.05), .now = {1, 0, 0, 0}};
    CHECK(trial->policy != NULL);
    standard_values(trial->values);
    trial->plant.cost[0] = dear;
    trial->plant.cost[1] = cheap;
    trial->limits.cost[0] = 2 * dear; /* declared wrongly, in the same way: the measurement corrects both */
    trial->limits.cost[1] = 2 * cheap;
}

static void play(stage_trial *trial, double rate, unsigned steps)
{
    if (trial->state == NULL)
        trial->state = started(trial->policy, &trial->limits, &trial->goals, trial->values);
    for (unsigned step = 0; step < steps; step++) {
        dfrt_measured measured = plant_step(&trial->plant, rate, &trial->limits, trial->now);
        dfrt_situation situation = situation_of(&measured, &trial->limits, &trial->goals, trial->now);
        trial->policy->decide(trial->state, &situation, &trial->decision);
        CHECK(inside(trial->decision.setting, &trial->limits) && trial->decision.reason[0] != '\0');
        trial->changes += trial->decision.setting.alternate != trial->now.alternate;
        trial->now = trial->decision.setting;
    }
}

/* One worker does 100/s dearly and 400/s cheaply. */
static void one_worker_goes_to_the_cheap_one_and_back(void)
{
    stage_trial trial;
    begin(&trial, 1, 0.010, 0.0025);
    play(&trial, 50, 20);
    CHECK(trial.now.alternate == 0 && trial.changes == 0);
    play(&trial, 150, 20);
    CHECK(trial.now.alternate == 1 && trial.changes == 1 && trial.plant.backlog == 0);
    play(&trial, 50, 20);
    CHECK(trial.now.alternate == 0 && trial.changes == 2);
    CHECK(trial.now.shed == 0);
    free(trial.state);
}

/* Both take 1 ms here; the dear one gives a result for every trigger, the other for every tenth, and a result makes 5 ms of
 * work behind. Without that work the one of greater value is worth more, with it the other one. */
static void what_follows_counts_by_selectivity(double downstream, unsigned wanted)
{
    stage_trial trial;
    begin(&trial, 4, 0.001, 0.001);
    *value_named(trial.policy, trial.values, "sigma") = 1;
    trial.plant.selectivity[0] = 1;
    trial.plant.selectivity[1] = 0.1;
    trial.plant.downstream = downstream;
    trial.plant.seen[1] = true; /* it was active once */
    play(&trial, 400, 20);
    CHECK(trial.now.alternate == wanted && trial.changes == wanted);
    free(trial.state);
}

/* The goal is missed by what follows: an alternate that gives fewer results is a relief, though it costs more itself; and
 * the rule that nothing dearer is taken meanwhile does not forbid it. */
static void fewer_results_relieve_what_follows(double downstream)
{
    stage_trial trial;
    begin(&trial, 4, 0.001, 0.0012);
    trial.plant.selectivity[0] = 1;
    trial.plant.selectivity[1] = 0.1;
    trial.plant.downstream = downstream;
    trial.plant.late = 0.2;
    trial.plant.seen[1] = true;
    play(&trial, 400, 2);
    bool relieved = downstream > 0;
    CHECK(trial.now.alternate == relieved);
    CHECK(relieved == (strstr(trial.decision.reason, "; with what follows 1.7 ms instead of 6 ms") != NULL));
    free(trial.state);
}

/* Resources follow the load when they may, and are given back. */
static void workers_follow_in_their_turn(void)
{
    stage_trial trial;
    begin(&trial, 8, 0.010, 0.0025);
    play(&trial, 300, 60);
    CHECK(trial.now.alternate == 0 && trial.now.workers >= 4 && trial.now.workers <= 6);
    play(&trial, 30, 60);
    CHECK(trial.now.alternate == 0 && trial.now.workers == 1);
    play(&trial, 2000, 60);
    CHECK(trial.now.alternate == 1 && trial.now.workers == 6);
    free(trial.state);
}

static void a_goal_of_value_forbids_the_cheap_one(void)
{
    stage_trial trial;
    begin(&trial, 1, 0.010, 0.0025);
    trial.goals.value = 0.9;
    play(&trial, 150, 30);
    CHECK(trial.now.alternate == 0 && trial.changes == 0);
    CHECK(strstr(trial.decision.reason, "nothing better is allowed") != NULL
          || strstr(trial.decision.reason, "no stage is due") != NULL);
    free(trial.state);
}

static void a_high_sigma_prefers_what_is_cheap(void)
{
    stage_trial trial;
    begin(&trial, 1, 0.010, 0.0025);
    *value_named(trial.policy, trial.values, "sigma") = 5;
    play(&trial, 50, 20);
    CHECK(trial.now.alternate == 1);
    free(trial.state);
}

/* Shedding comes last, takes what is needed, and ends by itself. */
static void sheds_only_when_nothing_else_is_left(void)
{
    stage_trial trial;
    begin(&trial, 1, 0.010, 0.0025);
    play(&trial, 600, 30);
    CHECK(trial.now.alternate == 1 && trial.now.shed == 0); /* not allowed */
    free(trial.state);
    begin(&trial, 1, 0.010, 0.0025);
    trial.limits.shed_most = 0.5;
    play(&trial, 150, 30);
    CHECK(trial.now.alternate == 1 && trial.now.shed == 0);
    play(&trial, 600, 60);
    CHECK(trial.now.alternate == 1 && trial.now.shed > 0.33 && trial.now.shed < 0.5);
    CHECK(trial.plant.backlog < 600);
    play(&trial, 50, 30);
    CHECK(trial.now.shed == 0 && trial.now.alternate == 0);
    free(trial.state);
}

static void turns_have_their_steps(void)
{
    stage_trial trial;
    begin(&trial, 1, 0.010, 0.0025);
    *value_named(trial.policy, trial.values, "alternate_every") = 4;
    play(&trial, 50, 4);
    for (unsigned step = 1; step <= 4; step++) {
        play(&trial, 300, 1);
        CHECK(trial.now.alternate == (step == 4 ? 1u : 0u));
    }
    free(trial.state);
}

/* A correction that was learned in another time says three times the goal; the measurement says a quarter of it. Nothing is given up
 * for that, nor if the policy leaves alternates to the controller; but when the goal is missed, or workers can't keep up. */
static void a_model_alone_gives_nothing_up(double rate, double latency, bool relieved)
{
    stage_trial trial;
    dfrt__relief relief;
    begin(&trial, 1, 0.010, 0.0025);
    trial.state = started(trial.policy, &trial.limits, &trial.goals, trial.values);
    dfrt__relief_start(&relief);
    bool given_up[2] = {false};
    for (unsigned step = 0; step < 10; step++) {
        dfrt_measured measured = plant_step(&trial.plant, rate, &trial.limits, trial.now);
        dfrt_situation situation = situation_of(&measured, &trial.limits, &trial.goals, trial.now);
        measured.latency = latency;
        dfrt_decision left_alone = {.setting = trial.now};
        situation.correction = 15;
        dfrt__costs_note(&relief.costs, &situation);
        trial.policy->decide(trial.state, &situation, &trial.decision);
        dfrt__relieve(&relief, &situation, measured.latency > trial.goals.latency, &left_alone);
        given_up[0] |= trial.decision.setting.alternate == 1;
        given_up[1] |= left_alone.setting.alternate == 1;
    }
    CHECK(given_up[0] == relieved && given_up[1] == relieved);
    free(trial.state);
}

/* Given up at 50/s, for reasons that the model does not see: not taken again at that rate at once, but at four fifths of it; and at
 * the same rate when that has faded. */
static void stays_below_where_it_failed(double rate, unsigned least, unsigned most)
{
    stage_trial trial;
    dfrt__relief relief;
    begin(&trial, 1, 0.010, 0.0025);
    dfrt__relief_start(&relief);
    unsigned steps = 0;
    for (bool failed = false; !failed || trial.now.alternate == 1; steps += failed) {
        dfrt_measured measured = plant_step(&trial.plant, failed ? rate : 50, &trial.limits, trial.now);
        dfrt_situation situation = situation_of(&measured, &trial.limits, &trial.goals, trial.now);
        dfrt_decision decision = {.setting = trial.now};
        dfrt__costs_note(&relief.costs, &situation);
        dfrt__relieve(&relief, &situation, trial.now.alternate == 0, &decision);
        trial.now = decision.setting;
        failed |= trial.now.alternate == 1;
        CHECK(steps <= most);
    }
    CHECK(steps >= least);
    free(trial.state);
}

static void stands_anything(uint64_t *seed)
{
    for (unsigned round = 0; round < 300; round++) {
        double values[DFRT_MOST_PARAMETERS];
        const dfrt_policy *policy = dfrt_policy_named("alternates");
        dfrt_limits limits = hostile_limits(seed);
        dfrt_goals goals = hostile_goals(seed);
        standard_values(values);
        void *state = started(policy, &limits, &goals, values);
        dfrt_setting now = {limits.workers_least, 0, 0, 0};
        for (unsigned step = 0; step < 60; step++) {
            dfrt_decision decision;
            dfrt_measured measured = hostile_step(seed);
            dfrt_situation situation = situation_of(&measured, &limits, &goals, now);
            policy->decide(state, &situation, &decision);
            CHECK(inside(decision.setting, &limits) && decision.reason[0] != '\0');
            now = decision.setting;
        }
        free(state);
    }
}

int main(void)
{
    uint64_t seed = test_seed();
    one_worker_goes_to_the_cheap_one_and_back();
    what_follows_counts_by_selectivity(NAN, 0);
    what_follows_counts_by_selectivity(0.005, 1);
    fewer_results_relieve_what_follows(NAN);
    fewer_results_relieve_what_follows(0.005);
    workers_follow_in_their_turn();
    a_goal_of_value_forbids_the_cheap_one();
    a_high_sigma_prefers_what_is_cheap();
    sheds_only_when_nothing_else_is_left();
    turns_have_their_steps();
    a_model_alone_gives_nothing_up(50, 0.012, false);
    a_model_alone_gives_nothing_up(50, 0.06, true);
    a_model_alone_gives_nothing_up(99, 0.012, true);
    stays_below_where_it_failed(50, 10, 16);
    stays_below_where_it_failed(40, 2, 4);
    stands_anything(&seed);
    return 0;
}
