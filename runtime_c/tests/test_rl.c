#define _GNU_SOURCE
/* The learning policy: on a small decision process it finds what value iteration finds, begins with the threshold policy,
 * and goes on where it stopped when its tables are loaded. */
#include "scripted.h"

#include "../control/rl.h"

enum { LEVELS = 6, WORKERS = 4, STEPS = 60000 };

/* A load that moves between levels by itself, and a goal that is missed where workers are too few for it. */
static const double moves[LEVELS][LEVELS] = {
    {0.6, 0.4, 0, 0, 0, 0},   {0.2, 0.5, 0.3, 0, 0, 0}, {0, 0.3, 0.4, 0.3, 0, 0},
    {0, 0, 0.3, 0.4, 0.3, 0}, {0, 0, 0, 0.3, 0.5, 0.2}, {0, 0, 0, 0, 0.4, 0.6},
};
static const unsigned enough[LEVELS] = {1, 1, 2, 3, 3, 4};
static const double discount = 0.9, missed_weight = 0.6, worker_weight = 0.3, change_weight = 0.1;

static double step_cost(unsigned workers, unsigned level)
{
    return workers < enough[level] ? missed_weight : 0;
}

/* --- what is right: value iteration on the true process ------------------------------------------------------------- */

static double true_cost(double value[WORKERS + 1][LEVELS], unsigned workers, unsigned then, unsigned level)
{
    double sum = worker_weight * then / WORKERS + (then != workers ? change_weight : 0);
    for (unsigned to = 0; to < LEVELS; to++)
        sum += moves[level][to] * (step_cost(then, to) + discount * value[then][to]);
    return sum;
}

static void iterate_values(double value[WORKERS + 1][LEVELS])
{
    for (unsigned sweep = 0; sweep < 1000; sweep++)
        for (unsigned workers = 1; workers <= WORKERS; workers++)
            for (unsigned level = 0; level < LEVELS; level++) {
                double best = INFINITY;
                for (unsigned then = workers > 1 ? workers - 1 : 1; then <= workers + 1 && then <= WORKERS; then++)
                    best = fmin(best, true_cost(value, workers, then, level));
                value[workers][level] = best;
            }
}

/* --- the learner ----------------------------------------------------------------------------------------------------- */

typedef struct lesson {
    const dfrt_policy *policy;
    dfrt_limits limits;
    dfrt_goals goals;
    double values[DFRT_MOST_PARAMETERS];
    void *state;
} lesson;

static void begin(lesson *lesson, double explore)
{
    lesson->policy = dfrt_policy_named("rl");
    CHECK(lesson->policy != NULL);
    lesson->limits = some_limits(WORKERS, 1, 1);
    lesson->goals = latency_goal(0.01);
    standard_values(lesson->values);
    *value_named(lesson->policy, lesson->values, "discount") = discount;
    *value_named(lesson->policy, lesson->values, "levels") = LEVELS;
    *value_named(lesson->policy, lesson->values, "explore") = explore;
    *value_named(lesson->policy, lesson->values, "alpha") = missed_weight;
    *value_named(lesson->policy, lesson->values, "beta") = worker_weight;
    *value_named(lesson->policy, lesson->values, "gamma") = change_weight;
    lesson->state = started(lesson->policy, &lesson->limits, &lesson->goals, lesson->values);
}

/* One step of the process as a measurement: a service time of 1 ms makes a level WORKERS · 1000 / LEVELS a second. */
static unsigned decided(lesson *lesson, void *state, unsigned workers, unsigned level, dfrt_decision *decision)
{
    dfrt_measured measured = blank_step();
    measured.step = 1;
    measured.arrivals = (level + 0.5) * WORKERS * 1000 / LEVELS;
    measured.service = 0.001;
    measured.busy = 0.6;
    measured.latency = step_cost(workers, level) > 0 ? 0.02 : 0.005;
    dfrt_situation situation = situation_of(&measured, &lesson->limits, &lesson->goals, (dfrt_setting){workers, 0, 0, 0});
    lesson->policy->decide(state, &situation, decision);
    CHECK(inside(decision->setting, &lesson->limits) && decision->reason[0] != '\0');
    return decision->setting.workers;
}

static unsigned next_level(uint64_t *seed, unsigned level)
{
    double share = random_share_of(seed);
    for (unsigned to = 0; to < LEVELS; to++)
        if ((share -= moves[level][to]) < 0)
            return to;
    return LEVELS - 1;
}

static void teach(lesson *lesson, uint64_t *seed, unsigned steps)
{
    unsigned workers = 1, level = 0;
    dfrt_decision decision;
    for (unsigned step = 0; step < steps; step++) {
        workers = decided(lesson, lesson->state, workers, level, &decision);
        level = next_level(seed, level);
    }
}

/* What it would do in a state, without learning from being asked: another one with the same tables answers. */
static unsigned asked(lesson *lesson, unsigned workers, unsigned level, dfrt_decision *decision)
{
    size_t needed = lesson->policy->save(lesson->state, NULL, 0);
    char *text = malloc(needed);
    CHECK(text != NULL && lesson->policy->save(lesson->state, text, needed) == needed);
    void *other = started(lesson->policy, &lesson->limits, &lesson->goals, lesson->values);
    CHECK(lesson->policy->load(other, text));
    unsigned then = decided(lesson, other, workers, level, decision);
    free(other);
    free(text);
    return then;
}

static void finds_the_best_actions(uint64_t *seed)
{
    lesson lesson;
    double value[WORKERS + 1][LEVELS] = {{0}};
    begin(&lesson, 0.3);
    iterate_values(value);
    teach(&lesson, seed, STEPS);
    /* exploration is part of what it does; the answer counts as right when it is greedy and as good as the best */
    for (unsigned workers = 1; workers <= WORKERS; workers++)
        for (unsigned level = 0; level < LEVELS; level++) {
            dfrt_decision decision;
            asked(&lesson, workers, level, &decision);
            const dfrt_prediction *greedy = &decision.expected;
            for (unsigned i = 0; i < decision.alternative_count; i++)
                if (decision.alternatives[i].cost < greedy->cost)
                    greedy = &decision.alternatives[i];
            double best = value[workers][level], got = true_cost(value, workers, greedy->setting.workers, level);
            if (got > best + 0.01)
                fprintf(stderr, "workers %u, level %u: %u costs %g, the best %g\n", workers, level,
                        greedy->setting.workers, got, best);
            CHECK(got <= best + 0.01);
            CHECK(fabs(greedy->cost - best) < 0.1 * best);
        }
    free(lesson.state);
}

static void begins_with_the_threshold_policy(uint64_t *seed)
{
    lesson lesson;
    dfrt_decision decision;
    begin(&lesson, 0);
    (void)decided(&lesson, lesson.state, 2, 2, &decision);
    CHECK(strstr(decision.reason, "still learning, so the threshold policy") != NULL);
    teach(&lesson, seed, 2000);
    (void)decided(&lesson, lesson.state, 2, 2, &decision);
    CHECK(strstr(decision.reason, "learned: ") == decision.reason);
    CHECK(!isnan(decision.expected.cost) && decision.alternative_count == 2);
    free(lesson.state);
}

/* A state becomes known with the fourth step in it, and four fifths of late steps were known 32 steps later. Eleven states that are
 * new make it unsure again. */
static void takes_over_and_gives_back(void)
{
    lesson lesson;
    dfrt_decision decision;
    begin(&lesson, 0);
    for (unsigned step = 1; step <= 60; step++) {
        (void)decided(&lesson, lesson.state, 2, 2, &decision);
        bool learning = strstr(decision.reason, "still learning") != NULL;
        CHECK(learning || step > 32);
        CHECK(!learning || step < 40);
    }
    unsigned unsure_after = 0, states = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        for (unsigned workers = 1; workers <= WORKERS; workers++) {
            if ((workers == 2 && level == 2) || unsure_after > 0)
                continue;
            (void)decided(&lesson, lesson.state, workers, level, &decision);
            states++;
            unsure_after = strstr(decision.reason, "still learning") != NULL ? states : 0;
        }
    CHECK(unsure_after >= 9 && unsure_after <= 16);
    free(lesson.state);
}

/* More workers or less load never cost more, whatever is seen in whatever order. */
static void unknown_costs_stay_monotone(uint64_t *seed)
{
    dfrt__learned learned = {.workers = 5, .levels = 7, .discount = 0.9, .rate = 0.1, .missed_weight = 1};
    double *room = calloc(dfrt__learned_doubles(5, 7), sizeof *room);
    CHECK(room != NULL);
    dfrt__learned_lay(&learned, room);
    for (unsigned step = 0; step < 3000; step++) {
        unsigned seen_workers = 1 + (unsigned)(next_random(seed) % 5), seen_level = (unsigned)(next_random(seed) % 7);
        dfrt__learned_cost(&learned, seen_workers, seen_level, random_share_of(seed));
        for (unsigned workers = 1; workers <= 5; workers++)
            for (unsigned level = 0; level < 7; level++) {
                double cost = learned.unknown[(workers - 1) * 7 + level];
                CHECK(workers == 5 || learned.unknown[workers * 7 + level] <= cost);
                CHECK(level == 6 || learned.unknown[(workers - 1) * 7 + level + 1] >= cost);
            }
    }
    free(room);
}

static void goes_on_where_it_stopped(uint64_t *seed)
{
    lesson lesson, other;
    begin(&lesson, 0);
    teach(&lesson, seed, 3000);
    size_t needed = lesson.policy->save(lesson.state, NULL, 0);
    char *text = malloc(needed), *short_text = malloc(needed);
    CHECK(needed > 100 && text != NULL && short_text != NULL);
    CHECK(lesson.policy->save(lesson.state, text, needed) == needed && strlen(text) == needed - 1);
    CHECK(lesson.policy->save(lesson.state, short_text, 40) == needed && strlen(short_text) == 39);
    CHECK(strchr(text, '\n') == NULL);
    begin(&other, 0);
    CHECK(other.policy->load(other.state, text));
    for (unsigned workers = 1; workers <= WORKERS; workers++)
        for (unsigned level = 0; level < LEVELS; level++) {
            dfrt_decision one, two;
            CHECK(asked(&lesson, workers, level, &one) == asked(&other, workers, level, &two));
            CHECK_TEXT(two.reason[0] == 'l' ? "learned" : two.reason, "learned");
        }
    /* what it did not write itself is refused, and changes nothing */
    static const char *const wrong[] = {"", "1", "1 rate 4 6", "2 rate 4 6 1 1 1 0", "1 rate 5 6 1 1 1 0",
                                        "1 utilisation 4 6 1 1 1 0", "1 rate 4 6 nan 1 1 0", "rubbish \xff\n"};
    char *before = malloc(needed);
    CHECK(before != NULL);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!other.policy->load(other.state, wrong[i]));
    for (unsigned cut = 0; cut + 1 < needed; cut += 7) {
        memcpy(short_text, text, cut);
        short_text[cut] = '\0';
        (void)other.policy->load(other.state, short_text); /* may be a shorter last number, never more */
    }
    CHECK(other.policy->load(other.state, text));
    CHECK(other.policy->save(other.state, before, needed) == needed);
    CHECK_TEXT(before, text);
    short_text = realloc(short_text, needed + 2);
    CHECK(short_text != NULL);
    memcpy(short_text, text, needed);
    memcpy(short_text + needed - 1, " 1", 3);
    CHECK(!other.policy->load(other.state, short_text));
    free(before);
    free(text);
    free(short_text);
    free(lesson.state);
    free(other.state);
}

/* The other form: the state is the utilisation. */
static void may_learn_by_utilisation(uint64_t *seed)
{
    lesson lesson;
    dfrt_decision decision;
    begin(&lesson, 0);
    free(lesson.state);
    *value_named(lesson.policy, lesson.values, "state") = 1;
    lesson.state = started(lesson.policy, &lesson.limits, &lesson.goals, lesson.values);
    teach(&lesson, seed, 3000);
    (void)decided(&lesson, lesson.state, 2, 2, &decision);
    CHECK(strstr(decision.reason, "learned: ") == decision.reason);
    free(lesson.state);
}

static void stands_anything(uint64_t *seed)
{
    lesson lesson;
    begin(&lesson, 0.2);
    teach(&lesson, seed, 500);
    dfrt_setting now = {2, 0, 0, 0};
    for (unsigned step = 0; step < 20000; step++) {
        dfrt_decision decision;
        dfrt_measured measured = hostile_step(seed);
        dfrt_situation situation = situation_of(&measured, &lesson.limits, &lesson.goals, now);
        lesson.policy->decide(lesson.state, &situation, &decision);
        CHECK(inside(decision.setting, &lesson.limits) && decision.reason[0] != '\0');
        now = decision.setting;
    }
    free(lesson.state);
}

int main(void)
{
    uint64_t seed = test_seed();
    finds_the_best_actions(&seed);
    begins_with_the_threshold_policy(&seed);
    takes_over_and_gives_back();
    unknown_costs_stay_monotone(&seed);
    goes_on_where_it_stopped(&seed);
    may_learn_by_utilisation(&seed);
    stands_anything(&seed);
    return 0;
}
