#define _GNU_SOURCE
/* The threshold rules and the static policy: what they do in situations that are written down. */
#include "scripted.h"

typedef struct trial {
    const dfrt_policy *policy;
    dfrt_limits limits;
    dfrt_goals goals;
    double values[DFRT_MOST_PARAMETERS];
    void *state;
    dfrt_decision decision;
} trial;

static void begin(trial *trial, const char *name, unsigned workers, dfrt_goals goals)
{
    trial->policy = dfrt_policy_named(name);
    CHECK(trial->policy != NULL);
    trial->limits = some_limits(workers, 3, 2);
    trial->goals = goals;
    standard_values(trial->values);
    trial->state = NULL;
}

/* Decides once; starts the policy at the first call, with the values set until then. */
static dfrt_setting decided(trial *trial, const dfrt_measured *measured, dfrt_setting now)
{
    if (trial->state == NULL)
        trial->state = started(trial->policy, &trial->limits, &trial->goals, trial->values);
    dfrt_situation situation = situation_of(measured, &trial->limits, &trial->goals, now);
    trial->policy->decide(trial->state, &situation, &trial->decision);
    CHECK(trial->decision.reason[0] != '\0' && strchr(trial->decision.reason, '\n') == NULL);
    CHECK(inside(trial->decision.setting, &trial->limits));
    return trial->decision.setting;
}

static void end(trial *trial)
{
    free(trial->state);
}

static dfrt_measured with_latency(double latency)
{
    dfrt_measured measured = blank_step();
    measured.step = 1;
    measured.arrivals = 100;
    measured.latency = latency;
    return measured;
}

static dfrt_measured with_load(double rate, double service, double busy)
{
    dfrt_measured measured = blank_step();
    measured.step = 1;
    measured.arrivals = rate;
    measured.service = service;
    measured.busy = busy;
    return measured;
}

static void rule_follows_latency(void)
{
    trial trial;
    begin(&trial, "rule", 8, latency_goal(0.010));
    dfrt_setting four = {4, 2, 0, 0};
    dfrt_measured high = with_latency(0.0111), inside_band = with_latency(0.0109), low = with_latency(0.0069);
    CHECK(decided(&trial, &high, four).workers == 5);
    CHECK_TEXT(trial.decision.reason, "latency 11.1 ms is above 11 ms: one worker more");
    CHECK(decided(&trial, &inside_band, four).workers == 4);
    CHECK_TEXT(trial.decision.reason, "latency 10.9 ms lies between 7 ms and 11 ms");
    CHECK(decided(&trial, &low, four).workers == 3);
    CHECK_TEXT(trial.decision.reason, "latency 6.9 ms is below 7 ms: one worker fewer");
    end(&trial);
}

static void rule_takes_the_goals_quantile(void)
{
    trial trial;
    dfrt_goals goals = latency_goal(0.010);
    goals.latency_of = DFRT_GOAL_QUANTILE;
    begin(&trial, "rule", 8, goals);
    dfrt_measured measured = with_latency(0.008);
    measured.latency_quantile = 0.020;
    CHECK(decided(&trial, &measured, (dfrt_setting){4, 2, 0, 0}).workers == 5);
    end(&trial);
}

static void rule_without_a_goal_follows_utilisation(void)
{
    trial trial;
    begin(&trial, "rule", 8, no_goals());
    dfrt_measured high = with_load(1000, 0.0037, NAN), fine = with_load(1000, 0.0034, NAN), low = with_load(1000, 0.003, NAN);
    CHECK(decided(&trial, &high, (dfrt_setting){4, 2, 0, 0}).workers == 5);
    CHECK(fabs(trial.decision.expected.utilisation - 0.74) < 1e-9);
    CHECK(decided(&trial, &fine, (dfrt_setting){4, 2, 0, 0}).workers == 4);
    CHECK(decided(&trial, &low, (dfrt_setting){4, 2, 0, 0}).workers == 3);
    CHECK_TEXT(trial.decision.reason, "utilisation 0.75 is below 0.8: one worker fewer");
    end(&trial);
}

/* With a latency goal and thresholds of utilisation, one is enough to add and both must agree to take away. */
static void rule_may_look_at_both(void)
{
    trial trial;
    begin(&trial, "rule", 8, latency_goal(0.010));
    *value_named(trial.policy, trial.values, "utilisation_low") = 0.5;
    *value_named(trial.policy, trial.values, "utilisation_high") = 0.9;
    dfrt_measured busy = with_load(1000, 0.0039, NAN), quick = with_load(1000, 0.0030, NAN), idle = with_load(1000, 0.002, NAN);
    busy.latency = quick.latency = idle.latency = 0.005;
    CHECK(decided(&trial, &busy, (dfrt_setting){4, 2, 0, 0}).workers == 5);
    CHECK(decided(&trial, &quick, (dfrt_setting){4, 2, 0, 0}).workers == 4);
    CHECK(decided(&trial, &idle, (dfrt_setting){4, 2, 0, 0}).workers == 3);
    end(&trial);
}

/* A loose goal: the latency lies far below it until one worker fewer can't keep up. The rule stops before that, with any
 * load, instead of falling behind and recovering in turn. */
static void rule_does_not_swing(void)
{
    for (double rate = 50; rate < 700; rate += 37) {
        trial trial;
        plant plant = {.cost = {0.010, 0.010}};
        dfrt_setting now = {8, 2, 0, 0};
        unsigned changes = 0;
        begin(&trial, "rule", 8, latency_goal(0.5));
        for (unsigned step = 0; step < 60; step++) {
            dfrt_measured measured = plant_step(&plant, rate, &trial.limits, now);
            dfrt_setting next = decided(&trial, &measured, now);
            changes += next.workers != now.workers;
            now = next;
        }
        CHECK(changes == 8 - now.workers && now.workers * 0.9 >= rate * 0.010 && (now.workers - 1) * 0.9 < rate * 0.010);
        end(&trial);
    }
    trial trial;
    begin(&trial, "rule", 8, latency_goal(0.010));
    dfrt_measured full = with_load(1000, 0.0030, NAN), skewed = with_load(1000, 0.0020, NAN);
    full.latency = skewed.latency = 0.003;
    CHECK(decided(&trial, &full, (dfrt_setting){4, 2, 0, 0}).workers == 4);
    CHECK_TEXT(trial.decision.reason, "use with one worker fewer would be 1, above 0.9: nothing is given back");
    CHECK(decided(&trial, &skewed, (dfrt_setting){4, 2, 0, 0}).workers == 3);
    skewed.imbalance = 1.6;
    CHECK(decided(&trial, &skewed, (dfrt_setting){4, 2, 0, 0}).workers == 4);
    end(&trial);
}

static void rule_is_patient(void)
{
    trial trial;
    begin(&trial, "rule", 8, latency_goal(0.010));
    *value_named(trial.policy, trial.values, "patience") = 3;
    dfrt_setting four = {4, 2, 0, 0};
    dfrt_measured high = with_latency(0.02), fine = with_latency(0.009);
    CHECK(decided(&trial, &high, four).workers == 4);
    CHECK_TEXT(trial.decision.reason, "latency 20 ms is above 11 ms, for 1 of 3 steps");
    CHECK(decided(&trial, &high, four).workers == 4);
    CHECK(decided(&trial, &fine, four).workers == 4); /* begins again */
    CHECK(decided(&trial, &high, four).workers == 4);
    CHECK(decided(&trial, &high, four).workers == 4);
    CHECK(decided(&trial, &high, four).workers == 5);
    CHECK(decided(&trial, &high, four).workers == 4);
    end(&trial);
}

static void rule_ends_at_the_limits(void)
{
    trial trial;
    begin(&trial, "rule", 4, latency_goal(0.010));
    dfrt_measured high = with_latency(0.02), low = with_latency(0.001), unknown = blank_step();
    CHECK(decided(&trial, &high, (dfrt_setting){4, 0, 0, 0}).frequency == 2);
    CHECK(strstr(trial.decision.reason, "highest frequency") != NULL);
    CHECK(decided(&trial, &high, (dfrt_setting){4, 2, 0, 0}).workers == 4);
    CHECK_TEXT(trial.decision.reason, "latency 20 ms is above 11 ms: at the limit");
    CHECK(decided(&trial, &low, (dfrt_setting){1, 2, 0, 0}).workers == 1);
    CHECK(decided(&trial, &unknown, (dfrt_setting){2, 2, 0, 0}).workers == 2);
    end(&trial);
}

static void threshold_keeps_replicas_between(void)
{
    trial trial;
    begin(&trial, "threshold", 8, no_goals());
    dfrt_setting four = {4, 2, 0, 0};
    dfrt_measured high = with_load(1000, NAN, 0.76), skewed = with_load(1000, NAN, 0.6), fine = with_load(1000, NAN, 0.43),
                  low = with_load(1000, NAN, 0.42);
    skewed.imbalance = 1.3;
    CHECK(decided(&trial, &high, four).workers == 5);
    CHECK(decided(&trial, &skewed, four).workers == 5); /* the busiest replica counts */
    CHECK(decided(&trial, &fine, four).workers == 4);   /* 4 · 0.43 / 3 = 0.573, above 0.75 · 0.75 */
    CHECK(decided(&trial, &low, four).workers == 3);
    end(&trial);
}

/* What it has just taken away it need not add again: the others stay below the target. */
static void threshold_does_not_oscillate(void)
{
    for (double load = 0.2; load < 7; load += 0.01) {
        trial trial;
        begin(&trial, "threshold", 12, no_goals());
        dfrt_setting now = {6, 2, 0, 0};
        int last = 0, turns = 0;
        for (unsigned step = 0; step < 30; step++) {
            dfrt_measured measured = with_load(1000, NAN, fmin(1, load / now.workers));
            dfrt_setting next = decided(&trial, &measured, now);
            int direction = (next.workers > now.workers) - (next.workers < now.workers);
            turns += direction * last < 0;
            last = direction != 0 ? direction : last;
            now = next;
        }
        CHECK(turns == 0);
        end(&trial);
    }
}

static void static_stays_where_it_was_put(void)
{
    trial trial;
    begin(&trial, "static", 8, latency_goal(0.010));
    trial.limits.value[1] = 2;
    dfrt_measured high = with_latency(0.02), low = with_latency(0.0001);
    dfrt_setting most = decided(&trial, &high, (dfrt_setting){1, 0, 0, 0});
    CHECK(most.workers == 8 && most.frequency == 2 && most.alternate == 1 && most.shed == 0);
    CHECK(decided(&trial, &low, most).workers == 8);
    end(&trial);
    begin(&trial, "static", 8, latency_goal(0.010));
    *value_named(trial.policy, trial.values, "degree") = 3;
    *value_named(trial.policy, trial.values, "frequency") = 1.85e9;
    *value_named(trial.policy, trial.values, "alternate") = 1;
    dfrt_setting set = decided(&trial, &high, (dfrt_setting){1, 0, 0, 0});
    CHECK(set.workers == 3 && set.frequency == 1 && set.alternate == 1);
    CHECK_TEXT(trial.decision.reason, "static: 3 workers (as set), frequency 1 (as set), alternate 1 (as set)");
    end(&trial);
}

int main(void)
{
    rule_follows_latency();
    rule_takes_the_goals_quantile();
    rule_without_a_goal_follows_utilisation();
    rule_may_look_at_both();
    rule_does_not_swing();
    rule_is_patient();
    rule_ends_at_the_limits();
    threshold_keeps_replicas_between();
    threshold_does_not_oscillate();
    static_stays_where_it_was_put();
    return 0;
}
