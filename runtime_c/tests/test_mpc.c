#define _GNU_SOURCE
#include "../control/models.h"
#include "mpc_sample.h"

/* --- what it decides ------------------------------------------------------------------------------ */

static dfrt_decision trading(double rate, unsigned workers, unsigned strategy, double gamma, double backlog)
{
    dfrt_limits limits = sample_limits(12, 9);
    dfrt_goals goals = sample_goals(7e-3);
    dfrt_measured measured = sample_measured(rate);
    measured.backlog = backlog;
    dfrt_situation situation = sample_situation(&measured, &limits, &goals, workers, 8);
    values chosen = standard_values();
    chosen.all[STRATEGY] = strategy;
    chosen.all[GAMMA] = gamma;
    return decided(&situation, chosen);
}

static void test_decisions(void)
{
    CHECK(trading(12000, 6, TH_NODE, 0, 0).setting.workers == 6); /* 5.7 with the margin */
    CHECK(trading(12000, 12, TH_NODE, 0, 0).setting.workers == 6);
    CHECK(trading(12000, 6, TH_NODE, 0, 6000).setting.workers == 9); /* what waits is load */
    CHECK(trading(12000, 12, TH_NODE, 0.4, 0).setting.workers > 6);  /* not in one go */
    CHECK(trading(12000, 6, RHO_NODE, 0, 0).setting.workers > 6 - 1);
    dfrt_decision power = trading(12000, 6, TH_POWER, 0, 0);
    CHECK(power.setting.frequency < 8 && power.setting.workers > 6);
    CHECK(trading(12000, 6, LAT_NODE, 0, 0).setting.frequency == 8);
    dfrt_decision much = trading(90000, 3, LAT_POWER, 100, 0); /* whatever changing costs */
    CHECK(much.setting.workers == 12 && much.setting.frequency == 8 && much.expected.utilisation > 1);
    CHECK(strstr(much.reason, "nothing keeps up") != NULL);
    dfrt_decision nothing = trading(1e-9, 6, LAT_NODE, 0, 0);
    CHECK(nothing.setting.workers == 1);
}

/* How often the setting changes over 300 steps of one random walk, which is known in advance; `workers`: their sum. */
static unsigned changes_on_walk(double gamma, unsigned horizon, unsigned *workers)
{
    dfrt_random random = dfrt_random_seed(7);
    dfrt_limits limits = sample_limits(12, 9);
    dfrt_goals goals = sample_goals(1.5e-3);
    values chosen = standard_values();
    chosen.all[STRATEGY] = LAT_NODE;
    chosen.all[GAMMA] = gamma;
    chosen.all[HORIZON] = horizon;
    double walk[300 + DFRT_MOST_HORIZON] = {12000};
    for (unsigned n = 1; n < sizeof walk / sizeof *walk; n++)
        walk[n] = fmin(fmax(walk[n - 1] + draw(&random, -1200, 1200), 5000), 18000);
    dfrt_setting now = {8, 8, 0, 0};
    unsigned changes = 0;
    *workers = 0;
    for (unsigned n = 0; n < 300; n++) {
        dfrt_measured measured = sample_measured(walk[n]);
        dfrt_situation situation = sample_situation(&measured, &limits, &goals, now.workers, now.frequency);
        memcpy(situation.forecast, walk + n + 1, sizeof situation.forecast);
        dfrt_decision decision = decided(&situation, chosen);
        changes += decision.setting.workers != now.workers;
        now = decision.setting;
        *workers += now.workers;
    }
    return changes;
}

/* 002 §7.2.3: the switching cost is a brake, which costs resources; a longer horizon loosens it. */
static void test_switching_cost_brakes(void)
{
    unsigned free_workers, braked_workers, far_workers;
    unsigned free_changes = changes_on_walk(0, 1, &free_workers), braked = changes_on_walk(0.4, 1, &braked_workers);
    unsigned far = changes_on_walk(0.4, 3, &far_workers);
    CHECK(braked < far && far < free_changes);
    CHECK(free_workers < far_workers && far_workers < braked_workers);
}

static void test_reasons(void)
{
    CHECK_TEXT(trading(12000, 6, LAT_NODE, 0, 0).reason,
               "lat_node: 6 workers at 2 GHz for 12000/s, load 90 %, latency 1.56 of 7 ms, cost 11; "
               "next 7 workers at 2 GHz: 11.2");
    CHECK_TEXT(trading(4000, 2, TH_NODE, 0.4, 600).reason,
               "th_node: 3 workers at 2 GHz for 4600/s (600 of it backlog), load 69 %, cost 4.235; now 2 workers at 2 GHz "
               "can't keep up");
    CHECK_TEXT(trading(4000, 9, TH_NODE, 0.4, 0).reason,
               "th_node: 8 workers at 2 GHz for 4000/s, load 22 %, cost 9.3; now 9 workers at 2 GHz: 9.9");
    CHECK_TEXT(trading(90000, 3, RHO_POWER, 0.4, 0).reason,
               "rho_power: 12 workers at 2 GHz for 90000/s, load 337 %: nothing keeps up, so the largest");
}

/* --- the goal ------------------------------------------------------------------------------------- */

/* As the trading walk has it at 14,000 triggers a second: each worker has a queue of its own, so that they wait longer
 * than in one queue. */
static dfrt_decision by_power(double goal, double bound)
{
    dfrt_limits limits = sample_limits(12, 9);
    dfrt_goals goals = sample_goals(goal);
    dfrt_measured measured = sample_measured(14000);
    measured.service = 0.6e-3;
    dfrt_situation situation = sample_situation(&measured, &limits, &goals, 12, 3);
    situation.correction = 10;
    values chosen = standard_values();
    chosen.all[STRATEGY] = LAT_POWER;
    chosen.all[BOUND] = bound;
    return decided(&situation, chosen);
}

/* Power is saved within the goal only; as published it is weighed against it. */
static void test_keeps_the_goal(void)
{
    dfrt_decision published = by_power(1.2e-3, 0), kept = by_power(1.2e-3, NAN);
    CHECK(published.expected.latency > 1.2e-3);
    CHECK(kept.expected.latency < 1.1e-3 && kept.setting.frequency > published.setting.frequency);
    CHECK(strstr(kept.reason, "; now 12 workers at 1.5 GHz would have ") != NULL);
    dfrt_decision tight = by_power(0.85e-3, NAN); /* most of it goes for computing, and it is kept */
    CHECK(tight.expected.latency <= 0.85e-3 && strstr(tight.reason, "nothing") == NULL);
    dfrt_decision missed = by_power(0.3e-3, NAN);
    CHECK(missed.expected.latency > 0.3e-3 && missed.setting.workers == 12 && missed.setting.frequency == 8);
    CHECK(strstr(missed.reason, "nothing that is allowed keeps the goal, so what comes near to the best") != NULL);
}

/* Whatever is weighed and whatever changing costs. */
static void test_keeps_the_goal_with_every_strategy(dfrt_random *random)
{
    for (unsigned round = 0; round < 600; round++) {
        dfrt_limits limits = sample_limits(1 + draw_below(random, 12), 1 + draw_below(random, 9));
        dfrt_goals goals = sample_goals(draw(random, 0.5e-3, 5e-3));
        dfrt_measured measured = sample_measured(draw(random, 0.05, 0.9) * limits.workers_most / 0.45e-3);
        dfrt_situation situation = sample_situation(&measured, &limits, &goals, 1 + draw_below(random, 12),
                                                    draw_below(random, limits.frequency_count));
        values chosen = draw_values(random, round);
        chosen.all[BOUND] = NAN;
        dfrt_decision decision = decided(&situation, chosen);
        dfrt_model model;
        dfrt_prediction best;
        CHECK(dfrt_model_of(&situation, &model));
        dfrt_setting largest = {limits.workers_most, limits.frequency_count - 1, 0, 0};
        dfrt_model_predict(&model, &limits, largest, &best);
        bool within_reach = best.latency <= goals.latency;
        CHECK(within_reach == (decision.expected.latency <= goals.latency));
        CHECK(within_reach == (strstr(decision.reason, "nothing that is allowed keeps the goal") == NULL));
    }
}

static void test_strategy_by_goals(void)
{
    static const struct {
        double latency;
        int minimize;
        unsigned asked;
        const char *word;
    } cases[] = {{7e-3, DFRT_MINIMIZE_CORES, GOALS, "lat_node:"},    {7e-3, DFRT_MINIMIZE_POWER, GOALS, "lat_power:"},
                 {NAN, DFRT_MINIMIZE_NOTHING, GOALS, "th_node:"},    {NAN, DFRT_MINIMIZE_POWER, GOALS, "th_power:"},
                 {NAN, DFRT_MINIMIZE_NOTHING, LAT_NODE, "th_node:"}, {0, DFRT_MINIMIZE_CORES, LAT_POWER, "th_power:"},
                 {7e-3, DFRT_MINIMIZE_POWER, RHO_NODE, "rho_node:"}};
    dfrt_limits limits = sample_limits(12, 9);
    dfrt_measured measured = sample_measured(1000);
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
        dfrt_goals goals = sample_goals(cases[n].latency);
        goals.minimize = cases[n].minimize;
        dfrt_situation situation = sample_situation(&measured, &limits, &goals, 6, 8);
        values chosen = standard_values();
        chosen.all[STRATEGY] = cases[n].asked;
        dfrt_decision decision = decided(&situation, chosen);
        CHECK(strncmp(decision.reason, cases[n].word, strlen(cases[n].word)) == 0);
    }
}

/* --- wrong input ---------------------------------------------------------------------------------- */

static double odd(dfrt_random *random, double sane)
{
    static const double numbers[] = {NAN, 0, -1, INFINITY, -INFINITY, 1e308, 5e-324, 1e-300};
    return draw_below(random, 2) == 0 ? sane : numbers[draw_below(random, 8)];
}

static void make_odd(dfrt_random *random, double *numbers, size_t bytes)
{
    for (size_t n = 0; n < bytes / sizeof *numbers; n++)
        numbers[n] = odd(random, numbers[n]);
}

static void test_stays_inside(dfrt_random *random)
{
    for (unsigned round = 0; round < 3000; round++) {
        dfrt_limits limits = sample_limits(1 + draw_below(random, 12), 1 + draw_below(random, 9));
        limits.workers_least = draw_below(random, 4);
        dfrt_goals goals = sample_goals(odd(random, 7e-3));
        goals.latency_of = draw_below(random, 2) == 0 ? DFRT_GOAL_MEAN : DFRT_GOAL_QUANTILE;
        goals.quantile = odd(random, 0.95);
        dfrt_measured measured = sample_measured(8000);
        make_odd(random, &measured.step, offsetof(dfrt_measured, moved) - offsetof(dfrt_measured, step));
        make_odd(random, limits.frequencies, sizeof limits.frequencies + sizeof limits.voltages);
        limits.service_threads = odd(random, 3);
        dfrt_situation situation = sample_situation(&measured, &limits, &goals, draw_below(random, 300),
                                                    draw_below(random, 70));
        make_odd(random, situation.forecast, sizeof situation.forecast);
        situation.correction = odd(random, 1);
        situation.now.alternate = draw_below(random, 3);
        values chosen = draw_values(random, round);
        make_odd(random, chosen.all, 5 * sizeof(double)); /* the solver stays as it is */
        chosen.all[BOUND] = odd(random, 0.6);
        dfrt_decision decision = decided(&situation, chosen);
        unsigned least = limits.workers_least < 1 ? 1 : limits.workers_least;
        least = least > limits.workers_most ? limits.workers_most : least;
        CHECK(decision.setting.workers >= least && decision.setting.workers <= limits.workers_most);
        CHECK(decision.setting.frequency < limits.frequency_count);
        CHECK(decision.setting.alternate == 0 && decision.setting.shed == 0);
        CHECK(!isnan(decision.expected.cost) || decision.alternative_count == 0);
        CHECK(memchr(decision.reason, '\0', DFRT_REASON) != NULL && strchr(decision.reason, '\n') == NULL);
        CHECK(strlen(decision.reason) > 20);
    }
}

static void test_nothing_known(void)
{
    dfrt_limits limits = sample_limits(12, 9);
    dfrt_goals goals = sample_goals(7e-3);
    dfrt_measured measured = sample_measured(8000);
    measured.service = NAN;
    dfrt_situation situation = sample_situation(&measured, &limits, &goals, 5, 8);
    dfrt_decision decision = decided(&situation, standard_values());
    CHECK(decision.setting.workers == 5 && decision.setting.frequency == 8 && isnan(decision.expected.latency));
    CHECK(decision.alternative_count == 0 && decision.forecast == 8000);
    CHECK_TEXT(decision.reason,
               "lat_node: nothing changes, since a rate and a service time must be known to predict anything");
}

static void test_limits_may_be_empty(void)
{
    dfrt_limits limits = {0};
    dfrt_goals goals = sample_goals(NAN);
    dfrt_measured measured = sample_measured(8000);
    dfrt_situation situation = sample_situation(&measured, &limits, &goals, 3, 3);
    dfrt_decision decision = decided(&situation, standard_values());
    CHECK(decision.setting.workers == 1 && decision.setting.frequency == 0);
}

static void test_narrower_limits_later(void)
{
    const dfrt_policy *policy = &dfrt__policy_mpc;
    dfrt_limits limits = sample_limits(12, 9);
    dfrt_goals goals = sample_goals(7e-3);
    dfrt_measured measured = sample_measured(12000);
    values chosen = standard_values();
    void *state = calloc(1, policy->size(chosen.all, &limits));
    CHECK(state != NULL);
    policy->start(state, chosen.all, &limits, &goals);
    for (unsigned most = 12; most > 0; most--) {
        limits.workers_most = most;
        dfrt_situation situation = sample_situation(&measured, &limits, &goals, 12, 8);
        dfrt_decision decision;
        policy->decide(state, &situation, &decision);
        CHECK(decision.setting.workers <= most && decision.setting.workers >= (most < 6 ? most : 6));
    }
    free(state);
}

int main(void)
{
    dfrt_random random = test_random();
    test_decisions();
    test_switching_cost_brakes();
    test_reasons();
    test_keeps_the_goal();
    test_keeps_the_goal_with_every_strategy(&random);
    test_strategy_by_goals();
    test_nothing_known();
    test_limits_may_be_empty();
    test_narrower_limits_later();
    test_stays_inside(&random);
    return 0;
}
