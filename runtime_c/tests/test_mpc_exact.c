/* The policy `mpc` against every sequence of configurations, with costs from the formulas of 002 §6.2 and §6.3. */
#define _GNU_SOURCE
#include "mpc_sample.h"

static double stage_by_hand(const dfrt_situation *situation, values chosen, unsigned step, unsigned n, unsigned f,
                            double *latency)
{
    const dfrt_measured *m = situation->measured;
    const dfrt_limits *limits = situation->limits;
    unsigned strategy = (unsigned)chosen.all[STRATEGY];
    double rate = situation->forecast[step] + (step == 0 ? m->backlog / m->step : 0), t_a = 1 / rate;
    double t = m->service * limits->frequencies[situation->now.frequency] / limits->frequencies[f];
    double t_s = t / n * fmin(m->imbalance, n), rho = t_s / (0.95 * t_a);
    *latency = INFINITY;
    if (!(rho < 1))
        return INFINITY;
    double c_a = m->interarrival_sd / m->interarrival, c_s = m->result_spacing_cv;
    double waits = rho / (1 - rho) * (c_a * c_a + c_s * c_s) / 2 * t_s * situation->correction;
    double exponent = (waits + t) / situation->goals->latency;
    *latency = waits + t;
    double late = exponent <= 20 ? exp(exponent) : exp(20) * (1 + log(exponent / 20));
    double quality = strategy <= TH_POWER ? 1e3 * fmax(t_a, t_s) : strategy <= LAT_POWER ? late : exp(rho);
    double volt = limits->voltages[f];
    double watts = volt * volt * limits->frequencies[f] / 1e9 * (n + limits->service_threads);
    return chosen.all[ALPHA] * quality + chosen.all[BETA] * (strategy % 2 == 0 ? watts : n);
}

static double table[3][13][9], latencies[3][13][9];

/* What the bound forbids: more than its share of the way from the lowest latency to the goal; where nothing keeps that,
 * more than the lowest and a twentieth. */
static void forbid_late(const dfrt_situation *situation, values chosen, unsigned step)
{
    const dfrt_limits *limits = situation->limits;
    double goal = situation->goals->latency, lowest = INFINITY;
    for (unsigned n = limits->workers_least; n <= limits->workers_most; n++)
        for (unsigned f = 0; f < limits->frequency_count; f++)
            lowest = fmin(lowest, table[step][n][f] < INFINITY ? latencies[step][n][f] : INFINITY);
    double allowed = lowest <= goal ? lowest + chosen.all[BOUND] * (goal - lowest) : 1.05 * lowest;
    for (unsigned n = limits->workers_least; n <= limits->workers_most; n++)
        for (unsigned f = 0; f < limits->frequency_count; f++)
            if (latencies[step][n][f] > allowed)
                table[step][n][f] = INFINITY;
}

static void fill_table(const dfrt_situation *situation, values chosen)
{
    const dfrt_limits *limits = situation->limits;
    bool node = (unsigned)chosen.all[STRATEGY] % 2 == 1;
    for (unsigned step = 0; step < chosen.all[HORIZON]; step++) {
        bool any = false;
        for (unsigned n = limits->workers_least; n <= limits->workers_most; n++)
            for (unsigned f = 0; f < limits->frequency_count; f++) {
                bool allowed = !node || f == limits->frequency_count - 1;
                double cost = stage_by_hand(situation, chosen, step, n, f, &latencies[step][n][f]);
                table[step][n][f] = allowed ? cost : INFINITY;
                any |= table[step][n][f] < INFINITY;
            }
        if (any && chosen.all[BOUND] > 0)
            forbid_late(situation, chosen, step);
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

int main(void)
{
    dfrt_random random = test_random();
    test_exact(&random);
    return 0;
}
