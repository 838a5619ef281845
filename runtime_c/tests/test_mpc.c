#define _GNU_SOURCE
#include "../control/mpc.h"

#include "control_sample.h"

enum { STRATEGY, ALPHA, BETA, GAMMA, HORIZON, SOLVER };
enum { GOALS, TH_NODE, TH_POWER, LAT_NODE, LAT_POWER, RHO_NODE, RHO_POWER };

typedef struct values {
    double all[DFRT_MOST_PARAMETERS];
} values;

static values standard_values(void)
{
    values chosen;
    for (unsigned n = 0; n < DFRT_MOST_PARAMETERS; n++)
        chosen.all[n] = NAN;
    return chosen;
}

static dfrt_decision decided(const dfrt_situation *situation, values chosen)
{
    const dfrt_policy *policy = dfrt_policy_named("mpc");
    CHECK(policy == &dfrt__policy_mpc);
    void *state = calloc(1, policy->size(chosen.all, situation->limits));
    CHECK(state != NULL);
    dfrt_decision decision;
    memset(&decision, 0xa5, sizeof decision);
    policy->start(state, chosen.all, situation->limits, situation->goals);
    policy->decide(state, situation, &decision);
    free(state);
    return decision;
}

/* --- the same by exhaustive search, from the formulas of 002 §6.2 and §6.3 ------------------------ */

static double stage_by_hand(const dfrt_situation *situation, values chosen, unsigned step, unsigned n, unsigned f)
{
    const dfrt_measured *m = situation->measured;
    const dfrt_limits *limits = situation->limits;
    unsigned strategy = (unsigned)chosen.all[STRATEGY];
    double rate = situation->forecast[step] + (step == 0 ? m->backlog / m->step : 0), t_a = 1 / rate;
    double t = m->service * limits->frequencies[situation->now.frequency] / limits->frequencies[f];
    double t_s = t / n * fmin(m->imbalance, n), rho = t_s / (0.95 * t_a);
    if (!(rho < 1))
        return INFINITY;
    double c_a = m->interarrival_sd / m->interarrival, c_s = m->result_spacing_cv;
    double waits = rho / (1 - rho) * (c_a * c_a + c_s * c_s) / 2 * t_s * situation->correction;
    double exponent = (waits + t) / situation->goals->latency;
    double late = exponent <= 20 ? exp(exponent) : exp(20) * (1 + log(exponent / 20));
    double quality = strategy <= TH_POWER ? 1e3 * fmax(t_a, t_s) : strategy <= LAT_POWER ? late : exp(rho);
    double volt = limits->voltages[f];
    double watts = volt * volt * limits->frequencies[f] / 1e9 * (n + limits->service_threads);
    return chosen.all[ALPHA] * quality + chosen.all[BETA] * (strategy % 2 == 0 ? watts : n);
}

static double table[3][13][9];

static void fill_table(const dfrt_situation *situation, values chosen)
{
    const dfrt_limits *limits = situation->limits;
    bool node = (unsigned)chosen.all[STRATEGY] % 2 == 1;
    for (unsigned step = 0; step < chosen.all[HORIZON]; step++) {
        bool any = false;
        for (unsigned n = limits->workers_least; n <= limits->workers_most; n++)
            for (unsigned f = 0; f < limits->frequency_count; f++) {
                bool allowed = !node || f == limits->frequency_count - 1;
                table[step][n][f] = allowed ? stage_by_hand(situation, chosen, step, n, f) : INFINITY;
                any |= table[step][n][f] < INFINITY;
            }
        if (!any)
            table[step][limits->workers_most][limits->frequency_count - 1] = 0;
    }
}

/* The cheapest way; in the first step only by `first`, unless it has no workers. */
static double cheapest(const dfrt_situation *situation, values chosen, unsigned step, dfrt_setting from,
                       dfrt_setting first)
{
    const dfrt_limits *limits = situation->limits;
    double least = step == chosen.all[HORIZON] ? 0 : INFINITY;
    for (unsigned n = limits->workers_least; step < chosen.all[HORIZON] && n <= limits->workers_most; n++)
        for (unsigned f = 0; f < limits->frequency_count; f++) {
            bool wanted = step > 0 || first.workers == 0 || (first.workers == n && first.frequency == f);
            if (!wanted || table[step][n][f] == INFINITY)
                continue;
            double more = (double)n - from.workers, up = (double)f - from.frequency;
            double cost = table[step][n][f] + chosen.all[GAMMA] * (more * more + up * up);
            dfrt_setting there = {n, f, 0, 0};
            least = fmin(least, cost + cheapest(situation, chosen, step + 1, there, first));
        }
    return least;
}

static void check_alternatives(const dfrt_situation *situation, values chosen, const dfrt_decision *decision)
{
    CHECK(decision->alternative_count <= DFRT_MOST_ALTERNATIVES);
    for (unsigned n = 0; n < decision->alternative_count; n++) {
        const dfrt_prediction *other = &decision->alternatives[n];
        CHECK(other->setting.workers != decision->setting.workers
              || other->setting.frequency != decision->setting.frequency);
        CHECK(other->cost >= decision->expected.cost * (1 - 1e-9));
        if (chosen.all[SOLVER] < 2 && chosen.all[HORIZON] < 3)
            CHECK(nearly(other->cost, cheapest(situation, chosen, 0, situation->now, other->setting)));
    }
}

static void draw_measured(dfrt_random *random, dfrt_measured *measured, const dfrt_limits *limits)
{
    *measured = sample_measured(draw(random, 0.05, 1.3) * limits->workers_most / 0.45e-3);
    measured->backlog = draw_below(random, 2) * draw(random, 0, measured->arrivals);
    measured->imbalance = draw(random, 1, 1.5);
    measured->result_spacing_cv = draw(random, 0, 2);
}

static values draw_values(dfrt_random *random, unsigned round)
{
    values chosen = standard_values();
    chosen.all[STRATEGY] = 1 + round % 6;
    chosen.all[ALPHA] = draw(random, 0, 4);
    chosen.all[BETA] = draw(random, 0, 1);
    chosen.all[GAMMA] = draw_below(random, 4) == 0 ? 0 : draw(random, 0, 1);
    chosen.all[HORIZON] = 1 + draw_below(random, 3);
    return chosen;
}

static void test_exact(dfrt_random *random)
{
    for (unsigned round = 0; round < 240; round++) {
        dfrt_limits limits = sample_limits(1 + draw_below(random, 8), 1 + draw_below(random, 9));
        limits.workers_least = 1 + draw_below(random, limits.workers_most);
        values chosen = draw_values(random, round);
        if (round < 6) { /* each strategy once as large as the papers have it */
            limits = sample_limits(12, 9);
            chosen.all[HORIZON] = 3;
        }
        dfrt_goals goals = sample_goals(draw(random, 0.5e-3, 10e-3));
        dfrt_measured measured;
        draw_measured(random, &measured, &limits);
        dfrt_situation situation = sample_situation(&measured, &limits, &goals, 1 + draw_below(random, 12),
                                                    draw_below(random, limits.frequency_count));
        situation.correction = draw(random, 0.1, 3);
        for (unsigned step = 0; step < DFRT_MOST_HORIZON; step++)
            situation.forecast[step] *= draw(random, 0.7, 1.4);
        fill_table(&situation, chosen);
        double least = cheapest(&situation, chosen, 0, situation.now, (dfrt_setting){0});
        for (unsigned solver = 0; solver < 3; solver++) {
            chosen.all[SOLVER] = solver;
            dfrt_decision decision = decided(&situation, chosen);
            CHECK(nearly(decision.expected.cost, least));
            CHECK(nearly(cheapest(&situation, chosen, 0, situation.now, decision.setting), least));
            check_alternatives(&situation, chosen, &decision);
        }
    }
}

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
    test_reasons();
    test_strategy_by_goals();
    test_limits_may_be_empty();
    test_narrower_limits_later();
    test_exact(&random);
    test_stays_inside(&random);
    return 0;
}
