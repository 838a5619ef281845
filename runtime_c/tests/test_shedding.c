#define _GNU_SOURCE
/* When a controller sheds, and how much: the last thing it does, and within what was promised. */
#include "control_loop.h"

static const char *const policies[] = {"mpc", "rule", "threshold", "alternates", "auto"};
enum { POLICIES = sizeof policies / sizeof *policies };

/* --- an alternate that somebody holds ------------------------------------------------------------------------------- */

/* One core does 100/s with the dear alternate, which is held; the cheap one, with 400/s, is out of the question, and no
 * reason speaks of taking it. */
static void a_held_alternate_is_relieved_by_shedding(const char *policy)
{
    loop loop;
    prepare(&loop, policy, 1, 2);
    loop.limits.shed_most = 0.6;
    loop.limits.cost[0] = 0.010;
    loop.limits.cost[1] = 0.0025;
    play(&loop, 150, 20);
    CHECK(loop.now.alternate == 1 && loop.now.shed == 0);
    loop.limits.alternate_held = 1;
    for (unsigned step = 0; step < 40; step++) {
        play(&loop, 150, 1);
        CHECK(loop.now.alternate == 0 && loop.decision.expected.setting.alternate == 0);
        CHECK(strstr(loop.decision.reason, "alternate 1 instead") == NULL && strstr(loop.decision.reason, "back to") == NULL);
    }
    CHECK(loop.now.shed > 0.3 && loop.plant.backlog < 100 && !dfrt_controller_fell_back(loop.controller));
    loop.limits.alternate_held = 0;
    play(&loop, 150, 30);
    CHECK(loop.now.alternate == 1 && loop.now.shed == 0);
    free(loop.controller);
}

static void a_held_alternate_may_be_worth_too_little(const char *policy)
{
    loop loop;
    prepare(&loop, policy, 4, 2);
    loop.goals.value = 0.9;
    loop.limits.alternate_held = 2;
    loop.now.alternate = 1;
    play(&loop, 50, 20);
    CHECK(loop.now.alternate == 1 && loop.now.workers <= 2);
    free(loop.controller);
}

static void the_reason_says_that_it_is_held(void)
{
    loop loop;
    prepare(&loop, "mpc", 1, 2);
    loop.limits.shed_most = 0.6;
    loop.limits.alternate_held = 1;
    bool said = false;
    for (unsigned step = 0; step < 20; step++) {
        play(&loop, 150, 1);
        said |= strstr(loop.decision.reason, "the alternate is held and no more workers are left") != NULL;
    }
    CHECK(said);
    free(loop.controller);
    prepare(&loop, "static", 1, 2);
    loop.limits.alternate_held = 2;
    play(&loop, 150, 2);
    CHECK(loop.now.alternate == 1 && says(&loop, "alternate 1 (held)"));
    loop.limits.alternate_held = 7; /* there is none */
    play(&loop, 150, 2);
    CHECK(loop.now.alternate == 0);
    free(loop.controller);
}

/* --- a goal of throughput ------------------------------------------------------------------------------------------- */

static void throughput_counts_what_was_shed(void)
{
    dfrt_measured measured = blank_step();
    dfrt_setting now = {1, 0, 1, 0};
    measured.step = 2;
    measured.arrivals = 80;
    measured.results = 76;
    CHECK(fabs(dfrt_throughput(&measured, now) - 0.95) < 1e-12);
    now.shed = 0.2; /* 100 came */
    CHECK(fabs(dfrt_throughput(&measured, now) - 0.76) < 1e-12);
    measured.alternate_selectivity[1] = 2; /* and each of them was due two results */
    CHECK(fabs(dfrt_throughput(&measured, now) - 0.38) < 1e-12);
    measured.alternate_selectivity[1] = 0; /* nothing was due */
    CHECK(isnan(dfrt_throughput(&measured, now)));
}

/* Three times what the cheapest alternate can do, and half of the tuples may be shed. What the goal leaves is the most all the
 * same, and it ends with the load, though the goal is missed by nothing but shedding then. */
static void sheds_no_more_than_the_goal_leaves(const char *policy, double goal)
{
    loop loop;
    prepare(&loop, policy, 1, 2);
    loop.limits.shed_most = 0.5;
    loop.limits.cost[0] = 0.010;
    loop.limits.cost[1] = 0.0025;
    loop.goals.throughput = goal;
    double most = 0;
    for (unsigned step = 0; step < 60; step++) {
        play(&loop, 1200, 1);
        most = fmax(most, loop.now.shed);
    }
    CHECK(most > 0.9 * (1 - goal) && most <= 1 - goal + 1e-12);
    play(&loop, 50, 300);
    CHECK(loop.now.shed == 0);
    free(loop.controller);
}

int main(void)
{
    throughput_counts_what_was_shed();
    for (unsigned policy = 0; policy < POLICIES; policy++) {
        printf("%s\n", policies[policy]);
        a_held_alternate_is_relieved_by_shedding(policies[policy]);
        a_held_alternate_may_be_worth_too_little(policies[policy]);
        sheds_no_more_than_the_goal_leaves(policies[policy], 0.95);
        sheds_no_more_than_the_goal_leaves(policies[policy], 0.6);
    }
    the_reason_says_that_it_is_held();
    return 0;
}
