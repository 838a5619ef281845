#define _GNU_SOURCE
#include "../src/measure.h"

#include <math.h>

#include "check.h"

static bool near(double got, double wanted)
{
    return fabs(got - wanted) <= 1e-9 * fmax(1, fabs(wanted));
}

/* 1000 tuples in a second, each 25th triggers; two workers, 10 ms a trigger of which the alternate takes 8. */
static void test_step(void)
{
    dfrt__tally before = {.watched = true, .triggers = 10, .in = 250, .taken = 250};
    dfrt__tally now = before;
    dfrt_measured m;
    dfrt__late_samples late = {.samples[0] = {4, 4 * 1e6, 4 * 1e12}};
    now.triggers += 40;
    now.taken += 1000;
    now.in += 1250;
    now.results += 39;
    now.busy_ns[0] = 0.3e9;
    now.busy_ns[1] = 0.1e9;
    now.samples[1] = (dfrt__sum){10, 10 * 8e6, 10 * 8e6 * 8e6};
    now.sample_results[1] = 9;
    now.samples[0] = before.samples[0] = (dfrt__sum){4, 4 * 1e6, 4 * 1e12};
    now.arrivals = (dfrt__sum){1250, 1e9, 2e18 / 1250};
    now.waited = 1000;
    now.waited_ns = 1000 * 2e6;
    now.blocked_ns = 0.25e9;
    dfrt__measure(&m, &before, &now, 1.0, 2, 1, &late);
    CHECK(near(m.arrivals, 50) && near(m.interarrival, 0.02) && near(m.backlog, 10));
    CHECK(near(m.service, 0.01) && near(m.busy, 0.2) && near(m.imbalance, 1.5));
    CHECK(near(m.interarrival_sd, 0.02)); /* as many at random: variation 1 stays 1 */
    CHECK(near(m.service_sd, 0) && near(m.waiting, 0.002) && near(m.blocked, 0.25) && near(m.results, 39));
    CHECK(near(m.alternate_service[1], 0.01) && near(m.alternate_service[0], 0.003));
    CHECK(isnan(m.alternate_service[2]) && near(m.alternate_selectivity[1], 0.9));
    CHECK(isnan(m.latency) && isnan(m.power) && isnan(m.result_spacing_cv));
}

/* The first alternate costs 5 ms at first and later 1 ms; then the second one runs, and what is told of
 * the first is what it cost of late, not since the start. */
static void test_last_seen(void)
{
    dfrt__tally before = {.watched = true}, now = before;
    dfrt_measured m;
    dfrt__late_samples late = {0};
    for (unsigned step = 0; step < 160; step++) {
        unsigned active = step >= 140;
        double ns = step < 100 ? 5e6 : 1e6;
        before = now;
        now.triggers += 10;
        now.busy_ns[0] += 10 * ns;
        now.samples[active] = (dfrt__sum){now.samples[active].count + 10, now.samples[active].ns + 10 * ns, 0};
        now.sample_results[active] += step < 100 ? 1 : 10;
        dfrt__measure(&m, &before, &now, 1.0, 1, active, &late);
    }
    CHECK(m.alternate_service[0] > 0.99e-3 && m.alternate_service[0] < 1.1e-3);
    CHECK(m.alternate_selectivity[0] > 0.95 && near(m.alternate_service[1], 1e-3));
}

/* Nothing came, the clock stood still, counters went wild: numbers or NaN, never a trap. */
static void test_nothing(void)
{
    dfrt__tally none = {.watched = true}, wild = {.watched = true, .triggers = NAN, .in = INFINITY, .taken = -5};
    dfrt_measured m;
    dfrt__late_samples late = {0};
    dfrt__measure(&m, &none, &none, 1.0, 1, 0, &late);
    CHECK(m.arrivals == 0 && isnan(m.interarrival) && isnan(m.service) && m.backlog == 0 && m.busy == 0);
    CHECK(m.imbalance == 1 && isnan(m.waiting) && m.blocked == 0);
    dfrt__measure(&m, &none, &none, 0, 1, 0, &late);
    CHECK(m.step == 0 && isnan(m.interarrival) && m.arrivals == 0);
    dfrt__measure(&m, &none, &wild, 1.0, 100000, 999, &late);
    dfrt__measure(&m, &wild, &none, NAN, 0, 0, &late);
    CHECK(m.imbalance == 1);
}

/* Without a watch every tuple is a trigger. */
static void test_tuples(void)
{
    dfrt__tally before = {0}, now = {.in = 500, .taken = 400};
    dfrt_measured m;
    dfrt__late_samples late = {0};
    now.busy_ns[0] = 4e8;
    dfrt__measure(&m, &before, &now, 2.0, 1, 0, &late);
    CHECK(near(m.arrivals, 500) && near(m.backlog, 100) && near(m.service, 1e-3) && near(m.busy, 0.2));
    CHECK(isnan(m.service_sd) && isnan(m.alternate_service[0]));
}

int main(void)
{
    test_step();
    test_last_seen();
    test_nothing();
    test_tuples();
    return 0;
}
