#define _GNU_SOURCE
/* The limit on power. */
#include "control_loop.h"

#include "../control/models.h"
#include "../control/power.h"

/* Every policy stays within the power of the resources, by the model or by what is measured, and says so. */
static void power_is_limited(const char *policy, unsigned frequencies, double watts)
{
    loop loop;
    prepare(&loop, policy, 8, 1);
    loop.limits = some_limits(8, frequencies, 1);
    double all = dfrt_model_power(&loop.limits, 8, frequencies - 1), least = dfrt_model_power(&loop.limits, 1, 0);
    loop.limits.power_most = 0.6 * all * watts;
    bool told = false;
    for (unsigned step = 0; step < 40; step++) {
        dfrt_measured measured = plant_step(&loop.plant, 2000, &loop.limits, loop.now); /* more than eight can do */
        measured.power = watts == 1 ? NAN : watts * dfrt_model_power(&loop.limits, loop.now.workers, loop.now.frequency);
        feed(&loop, &measured);
        CHECK(dfrt_model_power(&loop.limits, loop.now.workers, loop.now.frequency) <= 0.6 * all * (1 + 1e-9));
        told |= strstr(loop.decision.reason, "allows no more") != NULL;
    }
    CHECK(told && loop.now.workers > 1);
    loop.limits.power_most = 0.5 * least; /* not even the least, by the model: that is what is left */
    play(&loop, 2000, 3);
    CHECK(loop.now.workers == 1 && loop.now.frequency == 0 && says(&loop, "even that may draw more"));
    loop.limits.power_most = 0;
    play(&loop, 2000, 20);
    CHECK(loop.now.workers > 1);
    free(loop.controller);
}

/* The pair that does most within the limit: many slow workers rather than few fast ones, where both draw as much. */
static void the_most_within_the_limit(void)
{
    dfrt_limits all = some_limits(8, 9, 1);
    dfrt_measured nothing = blank_step();
    dfrt_setting now = {4, 8, 0, 0};
    for (double power = 1; power < 40; power += 0.7) {
        dfrt_limits limits = all;
        double best = 0;
        limits.power_most = power;
        enum dfrt__power_room room = dfrt__limit_power(&limits, &nothing, now);
        for (unsigned f = 0; f < 9; f++)
            for (unsigned n = 1; n <= 8; n++)
                if (dfrt_model_power(&all, n, f) <= power)
                    best = fmax(best, n * all.frequencies[f]);
        double taken = limits.workers_most * limits.frequencies[limits.frequency_count - 1];
        CHECK(best == 0 ? room == DFRT__POWER_NONE && limits.workers_most == 1 && limits.frequency_count == 1 : taken == best);
        CHECK((room == DFRT__POWER_FREE) == (limits.workers_most == 8 && limits.frequency_count == 9));
    }
    dfrt_limits odd = all;
    for (unsigned i = 0; i < 3; i++) {
        odd.power_most = (double[]){NAN, -1, INFINITY}[i];
        CHECK(dfrt__limit_power(&odd, &nothing, now) == DFRT__POWER_FREE && odd.workers_most == 8);
    }
}

int main(void)
{
    static const char *const policies[] = {"mpc", "rule", "threshold", "spl", "rl", "auto", "alternates", "static"};
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
        printf("%s\n", policies[i]);
        power_is_limited(policies[i], 1, 1);
        power_is_limited(policies[i], 5, 1);
        power_is_limited(policies[i], 5, 7.5);
    }
    the_most_within_the_limit();
    return 0;
}
