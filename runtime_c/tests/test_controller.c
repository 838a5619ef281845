#define _GNU_SOURCE
/* The controller: every rule of controller.h, and anything that a broken measurement might bring. Alternates have
 * test_relief.c. */
#include "control_loop.h"

#include "../control/trust.h"

/* A measurement that a rule is to look at, for a script. */
static dfrt_measured steady(double rate, double latency, double backlog)
{
    dfrt_measured measured = blank_step();
    measured.step = 1;
    measured.arrivals = measured.results = rate;
    measured.service = 0.010;
    measured.latency = latency;
    measured.backlog = backlog;
    return measured;
}

/* --- the rules ------------------------------------------------------------------------------------------------------- */

static void nothing_measured_nothing_done(void)
{
    loop loop;
    prepare(&loop, "rule", 8, 1);
    loop.now.workers = 4;
    dfrt_measured stopped = steady(100, 0.001, 0), empty = steady(0, NAN, 0), unknown = steady(NAN, 0.001, 0);
    stopped.step = 0;
    feed(&loop, &stopped);
    CHECK(loop.now.workers == 4 && says(&loop, "the clock stood still: the setting stays"));
    feed(&loop, &empty);
    CHECK(loop.now.workers == 4 && says(&loop, "nothing arrived and nothing waits"));
    feed(&loop, &unknown);
    CHECK(loop.now.workers == 4 && says(&loop, "what arrived is not known"));
    loop.limits.workers_most = 3; /* limits hold all the same */
    feed(&loop, &stopped);
    CHECK(loop.now.workers == 3 && says(&loop, "moved into the limits"));
    free(loop.controller);
}

static void watches_first(void)
{
    loop loop;
    prepare(&loop, "rule", 8, 1);
    loop.options.warmup = 3;
    dfrt_measured late = steady(100, 0.2, 0);
    for (unsigned step = 0; step < 3; step++) {
        feed(&loop, &late);
        CHECK(loop.now.workers == 1 && says(&loop, "warming up"));
        CHECK(loop.decision.forecast == 100);
    }
    feed(&loop, &late);
    CHECK(loop.now.workers == 2);
    free(loop.controller);
}

/* The latency is short because what waits has not come out yet. */
static void takes_nothing_away_against_the_measurement(void)
{
    loop loop;
    prepare(&loop, "rule", 8, 1);
    loop.now.workers = 4;
    dfrt_measured growing = steady(100, 0.001, 200), growing_more = steady(100, 0.001, 400), shrinking = steady(100, 0.001, 100);
    feed(&loop, &growing);
    CHECK(loop.now.workers == 4 && says(&loop, "no fewer workers, since the backlog grows"));
    feed(&loop, &growing_more);
    CHECK(loop.now.workers == 4);
    feed(&loop, &shrinking);
    CHECK(loop.now.workers == 3);
    free(loop.controller);
    prepare(&loop, "rule", 8, 1);
    loop.now.workers = 4;
    loop.goals.throughput = 0.95;
    dfrt_measured losing = steady(100, 0.001, 0);
    losing.results = 90;
    feed(&loop, &losing);
    CHECK(loop.now.workers == 4 && says(&loop, "the throughput goal is missed"));
    free(loop.controller);
}

static void waits_between_opposite_actions(void)
{
    loop loop;
    prepare(&loop, "rule", 8, 1);
    loop.options.cooldown = 5;
    loop.now.workers = 4;
    dfrt_measured late = steady(100, 0.2, 0), quick = steady(100, 0.001, 0);
    feed(&loop, &late);
    CHECK(loop.now.workers == 5);
    for (unsigned step = 1; step < 5; step++) {
        feed(&loop, &quick);
        CHECK(loop.now.workers == 5 && says(&loop, "waits: workers changed the other way"));
    }
    feed(&loop, &quick);
    CHECK(loop.now.workers == 4);
    feed(&loop, &late); /* but never with help that is needed now */
    CHECK(loop.now.workers == 5);
    free(loop.controller);
}

/* Latencies that nothing explains, long and short in turn: the rule takes over; when they make sense again, mpc does. */
static void falls_back_while_the_model_is_wrong(void)
{
    loop loop;
    prepare(&loop, "mpc", 8, 1);
    loop.now.workers = 4;
    unsigned steps = 0;
    for (; !loop.controller || !dfrt_controller_fell_back(loop.controller); steps++) {
        dfrt_measured measured = plant_step(&loop.plant, 150, &loop.limits, loop.now);
        measured.latency += steps % 2 ? 0.5 : 0;
        measured.waiting = NAN;
        feed(&loop, &measured);
        CHECK(steps < 40);
    }
    CHECK(says(&loop, "threshold rule, since mpc was wrong"));
    CHECK(dfrt_controller_error(loop.controller) > 0.5);
    for (steps = 0; dfrt_controller_fell_back(loop.controller); steps++) {
        play(&loop, 150, 1);
        CHECK(steps < 60);
    }
    CHECK(loop.decision.reason[0] != '\0' && strstr(loop.decision.reason, "threshold rule") == NULL);
    free(loop.controller);
}

/* Nothing can be compared while settings move. After 20 such steps the policy gets another chance. */
static void blindness_ends(void)
{
    dfrt__trust trust;
    dfrt_goals goals = latency_goal(0.05);
    dfrt_setting now = {2, 0, 0, 0};
    dfrt_prediction wrong = {.setting = now, .latency = 0.2};
    dfrt_measured measured = steady(100, 0.02, 0);
    dfrt__trust_start(&trust, 0.5);
    for (unsigned step = 0; step < DFRT__ERRORS; step++) {
        CHECK(!trust.fell_back);
        dfrt__trust_note(&trust, &wrong, &measured, &goals, now);
    }
    CHECK(trust.fell_back);
    measured.moved = true;
    for (unsigned step = 1; step <= 20; step++) {
        dfrt__trust_note(&trust, &wrong, &measured, &goals, now);
        CHECK(trust.fell_back == (step < 20));
    }
    measured.moved = false; /* a chance is five comparisons */
    for (unsigned step = 1; step <= DFRT__ERRORS; step++) {
        dfrt__trust_note(&trust, &wrong, &measured, &goals, now);
        CHECK(trust.fell_back == (step == DFRT__ERRORS));
    }
}

/* Results that wait for those before them, behind the workers: the model learns that too, and is believed. */
static void learns_what_waits_elsewhere(void)
{
    loop loop;
    prepare(&loop, "mpc", 8, 1);
    loop.now.workers = 4;
    for (unsigned step = 0; step < 30; step++) {
        dfrt_measured measured = plant_step(&loop.plant, 250, &loop.limits, loop.now);
        measured.latency += 2 * measured.waiting + 0.005;
        feed(&loop, &measured);
    }
    CHECK(!dfrt_controller_fell_back(loop.controller));
    CHECK(dfrt_controller_error(loop.controller) < 0.1);
    free(loop.controller);
}

/* --- what no setting changes ---------------------------------------------------------------------------------------- */

/* Plays the plant with an overhead on every result; answers for how many steps the policy was not believed. */
static unsigned play_with_overhead(loop *loop, double rate, double overhead, unsigned steps)
{
    unsigned fell_back = 0;
    for (unsigned step = 0; step < steps; step++) {
        dfrt_measured measured = plant_step(&loop->plant, rate, &loop->limits, loop->now);
        measured.latency += overhead;
        measured.latency_quantile += overhead;
        feed(loop, &measured);
        fell_back += dfrt_controller_fell_back(loop->controller);
    }
    return fell_back;
}

/* Three fifths of the goal are overhead: the goal is kept with the workers that it takes without, or one more. */
static void overhead_is_no_reason_for_workers(enum dfrt_statistic of)
{
    loop plain, late;
    for (double rate = 20; rate <= 600; rate *= 1.7) {
        prepare(&plain, "mpc", 8, 1);
        prepare(&late, "mpc", 8, 1);
        plain.goals.latency_of = late.goals.latency_of = of;
        plain.goals.quantile = late.goals.quantile = 0.95;
        plain.goals.latency = late.goals.latency = of == DFRT_GOAL_MEAN ? 0.05 : 0.15;
        plain.now.workers = late.now.workers = 8;
        play(&plain, rate, 40);
        CHECK(play_with_overhead(&late, rate, 0.6 * late.goals.latency, 40) == 0);
        CHECK(late.now.workers >= plain.now.workers && late.now.workers <= plain.now.workers + 2);
        CHECK(late.decision.expected.latency < late.goals.latency);
        CHECK(dfrt_controller_error(late.controller) < 0.1 && says(&late, "of it overhead)"));
        free(plain.controller);
        free(late.controller);
    }
}

/* Twice the goal: no setting meets it, which is said; workers come and go with the load all the same, and no cheaper
 * alternate is taken nor anything shed, since that would not help. */
static void a_goal_out_of_reach(double times)
{
    loop loop;
    prepare(&loop, "mpc", 8, 2);
    loop.limits.shed_most = 0.5;
    (void)play_with_overhead(&loop, 250, times * loop.goals.latency, 40);
    CHECK(loop.now.workers >= 3 && loop.now.workers <= 6 && says(&loop, "no setting meets the goal"));
    CHECK(play_with_overhead(&loop, 60, times * loop.goals.latency, 40) == 0);
    CHECK(loop.now.workers <= 3 && loop.now.alternate == 0 && loop.now.shed == 0);
    free(loop.controller);
}

/* A load beyond the workers makes everything late for many steps; that is not taken for overhead. */
static void backlog_is_no_overhead(void)
{
    loop loop;
    prepare(&loop, "mpc", 8, 1);
    loop.limits.workers_most = 2;
    play(&loop, 400, 30);
    CHECK(loop.plant.backlog > 1000 && strstr(loop.decision.reason, "overhead") == NULL);
    free(loop.controller);
}

/* Each worker has its queue, and results keep their order: they come in clumps, when the last of n queues has got so far.
 * More workers shorten that, so it is no overhead. */
static void order_is_no_overhead(void)
{
    loop loop;
    for (unsigned workers = 2; workers <= 12; workers += 2) {
        double last = 0;
        prepare(&loop, "mpc", workers, 1);
        for (unsigned n = 1; n <= workers; n++)
            last += 1.0 / n;
        loop.limits.workers_least = loop.now.workers = workers;
        for (unsigned step = 0; step < 30; step++) {
            dfrt_measured measured = plant_step(&loop.plant, (60 + step % 7) * workers, &loop.limits, loop.now);
            measured.waiting *= workers / 2.0; /* one queue each, evenly long services */
            measured.latency = measured.service + last * measured.waiting;
            measured.result_spacing_cv = 2;
            feed(&loop, &measured);
        }
        CHECK(strstr(loop.decision.reason, "overhead") == NULL);
        free(loop.controller);
    }
}

static void limits_of_a_step_hold(void)
{
    loop loop;
    prepare(&loop, "mpc", 8, 1);
    play(&loop, 500, 10);
    CHECK(loop.now.workers >= 6);
    loop.limits.workers_most = 3; /* the manager has other plans */
    play(&loop, 500, 5);
    CHECK(loop.now.workers == 3);
    loop.limits.workers_most = 200; /* never more than there was room for at the start */
    dfrt_measured measured = plant_step(&loop.plant, 5000, &loop.limits, loop.now);
    for (unsigned step = 0; step < 20; step++) {
        dfrt_controller_step(loop.controller, &measured, &loop.limits, loop.now, &loop.decision);
        loop.now = loop.decision.setting;
        CHECK(loop.now.workers <= 8);
    }
    CHECK(loop.now.workers == 8);
    free(loop.controller);
}

/* --- degree ------------------------------------------------------------------------------------------------------ */

/* What every policy has in common: a load within reach is carried and the goal kept, with fewer workers for less. */
static void follows_the_load(const char *policy)
{
    loop loop;
    prepare(&loop, policy, 8, 1);
    play(&loop, 500, 40);
    unsigned many = loop.now.workers;
    CHECK(many >= 5 && loop.plant.backlog < 10);
    play(&loop, 60, 60);
    CHECK(loop.now.workers < many && loop.plant.backlog < 1);
    free(loop.controller);
}

static void static_changes_nothing(void)
{
    loop loop;
    prepare(&loop, "static", 4, 2);
    play(&loop, 5, 3);
    CHECK(loop.now.workers == 4 && loop.now.alternate == 0);
    play(&loop, 5000, 30);
    CHECK(loop.now.workers == 4 && loop.now.alternate == 0 && loop.now.shed == 0);
    free(loop.controller);
}

/* --- auto ------------------------------------------------------------------------------------------------------------ */

static void chooses(unsigned workers, unsigned frequencies, unsigned alternates, dfrt_goals goals, const char *words)
{
    loop loop;
    prepare(&loop, "auto", workers, alternates);
    loop.limits = some_limits(workers, frequencies, alternates);
    loop.goals = goals;
    play(&loop, 50, 1);
    CHECK(says(&loop, words));
    free(loop.controller);
}

static void auto_chooses_by_goals(void)
{
    dfrt_goals latency = latency_goal(0.05), power = latency, throughput = no_goals(), th_power, value = no_goals();
    power.minimize = DFRT_MINIMIZE_POWER;
    throughput.throughput = 0.95;
    th_power = throughput;
    th_power.minimize = DFRT_MINIMIZE_POWER;
    value.value = 0.5;
    chooses(8, 1, 1, latency, "auto took mpc lat_node (a latency goal, few workers): ");
    chooses(8, 9, 1, power, "auto took mpc lat_power (a latency goal, least power): ");
    chooses(8, 1, 1, power, "auto took mpc lat_node");
    chooses(8, 9, 1, throughput, "auto took mpc th_node");
    chooses(8, 9, 1, th_power, "auto took mpc th_power");
    chooses(8, 9, 2, no_goals(), "auto took rule (no goals, so utilisation): utilisation 0.8333");
    chooses(8, 1, 2, value, "auto took alternates (a goal of value, none of latency): ");
    chooses(1, 1, 2, latency, "auto took alternates (workers and frequency are fixed): ");
    chooses(1, 1, 1, latency, "auto took static (there is nothing to choose from): ");
}

/* --- memory ---------------------------------------------------------------------------------------------------------- */

static void saves_what_was_learned(void)
{
    loop loop, other;
    prepare(&loop, "rl", 4, 1);
    play(&loop, 150, 100);
    size_t needed = dfrt_controller_save(loop.controller, NULL, 0);
    char *text = malloc(needed);
    CHECK(text != NULL && dfrt_controller_save(loop.controller, text, needed) == needed && strlen(text) + 1 == needed);
    CHECK(strncmp(text, "rl 1 rate 4 20 ", 15) == 0);
    prepare(&other, "rl", 4, 1);
    start(&other);
    CHECK(dfrt_controller_load(other.controller, text));
    CHECK(!dfrt_controller_load(other.controller, "mpc 1"));
    CHECK(!dfrt_controller_load(other.controller, ""));
    free(other.controller);
    prepare(&other, "rule", 4, 1);
    start(&other);
    CHECK(dfrt_controller_save(other.controller, text, needed) == 0 && !dfrt_controller_load(other.controller, text));
    free(other.controller);
    free(loop.controller);
    free(text);
}

/* --- anything -------------------------------------------------------------------------------------------------------- */

static void stands_anything(uint64_t *seed)
{
    static const char *const forecasters[] = {"holt_winters", "ewma", "last", "none such", NULL};
    for (unsigned round = 0; round < 1500; round++) {
        loop loop;
        const dfrt_policy *policy = NULL;
        for (unsigned n = (unsigned)(next_random(seed) % 8); policy == NULL; n /= 2)
            policy = dfrt_policy_at(n);
        prepare(&loop, policy->name, 4, 2);
        loop.limits = hostile_limits(seed);
        loop.goals = hostile_goals(seed);
        loop.options.forecaster = forecasters[next_random(seed) % 5];
        loop.options.cooldown = (unsigned)(next_random(seed) % 4);
        loop.options.warmup = (unsigned)(next_random(seed) % 3);
        loop.options.trust = hostile(seed, 1);
        loop.options.season = (unsigned)(next_random(seed) % 5);
        for (unsigned i = 0; policy->parameters[i].name != NULL; i++)
            if (next_random(seed) % 2)
                loop.options.parameters[i] = hostile(seed, 10);
        loop.now.workers = (unsigned)(next_random(seed) % 300);
        loop.now.alternate = (unsigned)(next_random(seed) % 20);
        loop.now.shed = hostile(seed, 1);
        for (unsigned step = 0; step < 30; step++) {
            dfrt_measured measured = hostile_step(seed);
            if (next_random(seed) % 8 == 0)
                loop.limits.workers_most = loop.limits.workers_least;
            feed(&loop, &measured);
        }
        free(loop.controller);
    }
}

int main(void)
{
    uint64_t seed = test_seed();
    static const char *const policies[] = {"mpc", "rule", "threshold", "spl", "rl", "auto", "alternates"};
    nothing_measured_nothing_done();
    watches_first();
    takes_nothing_away_against_the_measurement();
    waits_between_opposite_actions();
    falls_back_while_the_model_is_wrong();
    blindness_ends();
    learns_what_waits_elsewhere();
    overhead_is_no_reason_for_workers(DFRT_GOAL_MEAN);
    overhead_is_no_reason_for_workers(DFRT_GOAL_QUANTILE);
    a_goal_out_of_reach(2);
    a_goal_out_of_reach(30);
    backlog_is_no_overhead();
    order_is_no_overhead();
    limits_of_a_step_hold();
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
        printf("%s\n", policies[i]);
        follows_the_load(policies[i]);
    }
    static_changes_nothing();
    auto_chooses_by_goals();
    saves_what_was_learned();
    stands_anything(&seed);
    return 0;
}
