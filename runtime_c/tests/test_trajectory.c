#define _GNU_SOURCE
#include "../control/trajectory.h"

#include "control_sample.h"

enum { MOST_WORKERS = 12, MOST_STEPS = 9, MOST_LENGTH = 3, CONFIGURATIONS = MOST_WORKERS * MOST_STEPS };

static double stages[MOST_LENGTH * CONFIGURATIONS], totals[CONFIGURATIONS];

/* Every way there is, in the order of the tree. */
static double cheapest_from(const dfrt_trajectory *ways, unsigned step, double worker, double frequency)
{
    double least = step == ways->horizon ? 0 : INFINITY;
    for (unsigned n = 0; step < ways->horizon && n < ways->workers * ways->frequencies; n++) {
        double stage = stages[step * ways->workers * ways->frequencies + n];
        if (stage == INFINITY)
            continue;
        double more = n % ways->workers - worker, up = n / ways->workers - frequency;
        double cost = stage + ways->gamma * (more * more + up * up);
        cost += cheapest_from(ways, step + 1, n % ways->workers, n / ways->workers);
        if (step == 0)
            totals[n] = cost;
        least = fmin(least, cost);
    }
    return least;
}

/* Smooth costs as models give them, arbitrary ones, and ones with equal values; some are not allowed. */
static void draw_stages(dfrt_random *random, unsigned count)
{
    unsigned kind = draw_below(random, 3), forbidden = draw_below(random, 3) * draw_below(random, 40);
    double scale = pow(10, draw(random, -2, 8));
    for (unsigned n = 0; n < count; n++) {
        double cost = kind == 0 ? draw(random, 0, 20) : kind == 1 ? draw_below(random, 3) : scale * draw(random, 0, 1);
        stages[n] = draw_below(random, 100) < forbidden ? INFINITY : cost;
    }
}

static dfrt_trajectory draw_trajectory(dfrt_random *random)
{
    dfrt_trajectory ways = {.workers = 1 + draw_below(random, MOST_WORKERS),
                            .frequencies = 1 + draw_below(random, MOST_STEPS), .horizon = 1 + draw_below(random, 3)};
    if (ways.horizon == 3 && draw_below(random, 4) > 0) /* the whole tree of the largest takes long */
        ways.workers = 1 + ways.workers / 2;
    ways.gamma = draw_below(random, 6) == 0 ? 0 : pow(10, draw(random, -3, 2));
    ways.now_workers = (int)draw_below(random, 16) - 2;
    ways.now_frequency = (int)draw_below(random, 12) - 2;
    unsigned count = ways.workers * ways.frequencies;
    draw_stages(random, ways.horizon * count);
    for (unsigned step = 0; step < ways.horizon; step++)
        stages[step * count + draw_below(random, count)] = 1;
    return ways;
}

static unsigned solved(dfrt_trajectory *ways, double *room, unsigned solver)
{
    bool complete = true;
    dfrt_trajectory_lay(ways, room);
    memcpy(ways->stages, stages, ways->horizon * ways->workers * ways->frequencies * sizeof *stages);
    unsigned best = solver == 0   ? dfrt_trajectory_envelope(ways)
                    : solver == 1 ? dfrt_trajectory_dynamic(ways)
                                  : dfrt_trajectory_branch_and_bound(ways, &complete);
    CHECK(complete);
    return best;
}

static void test_every_solver_finds_the_cheapest(dfrt_random *random)
{
    for (unsigned round = 0; round < 1500; round++) {
        dfrt_trajectory ways = draw_trajectory(random);
        unsigned count = ways.workers * ways.frequencies;
        size_t doubles = dfrt_trajectory_doubles(ways.workers, ways.frequencies, ways.horizon);
        double *room = malloc(doubles * sizeof *room);
        CHECK(room != NULL);
        for (unsigned n = 0; n < count; n++)
            totals[n] = INFINITY;
        double least = cheapest_from(&ways, 0, ways.now_workers, ways.now_frequency);
        for (unsigned solver = 0; solver < 3; solver++) {
            unsigned best = solved(&ways, room, solver);
            CHECK(nearly(ways.totals[best], least) && nearly(totals[best], least));
            for (unsigned n = 0; n < count; n++)
                CHECK(solver < 2 ? nearly(ways.totals[n], totals[n]) : ways.totals[n] >= least * (1 - 1e-9));
        }
        free(room);
    }
}

/* Too large for the whole tree: the two exact ones against each other. */
static void test_large(dfrt_random *random)
{
    enum { WIDE = 40, HIGH = 16, LONG = 6 };
    dfrt_trajectory envelope = {.workers = WIDE, .frequencies = HIGH, .horizon = LONG, .gamma = draw(random, 0.01, 2),
                                .now_workers = draw_below(random, WIDE), .now_frequency = draw_below(random, HIGH)};
    dfrt_trajectory plain = envelope;
    size_t doubles = dfrt_trajectory_doubles(WIDE, HIGH, LONG);
    double *room = malloc(2 * doubles * sizeof *room);
    CHECK(room != NULL);
    dfrt_trajectory_lay(&envelope, room);
    dfrt_trajectory_lay(&plain, room + doubles);
    for (unsigned n = 0; n < LONG * WIDE * HIGH; n++)
        plain.stages[n] = envelope.stages[n] = draw_below(random, 5) == 0 ? INFINITY : draw(random, 0, 50);
    unsigned one = dfrt_trajectory_envelope(&envelope), other = dfrt_trajectory_dynamic(&plain);
    CHECK(nearly(envelope.totals[one], plain.totals[other]));
    for (unsigned n = 0; n < WIDE * HIGH; n++)
        CHECK(nearly(envelope.totals[n], plain.totals[n]));
    bool complete;
    unsigned found = dfrt_trajectory_branch_and_bound(&plain, &complete);
    CHECK(plain.totals[found] >= envelope.totals[one] * (1 - 1e-9) && isfinite(plain.totals[found]));
    CHECK(!complete || nearly(plain.totals[found], envelope.totals[one]));
    free(room);
}

int main(void)
{
    dfrt_random random = test_random();
    test_every_solver_finds_the_cheapest(&random);
    for (unsigned round = 0; round < 3; round++)
        test_large(&random);
    return 0;
}
