#define _GNU_SOURCE
/* Balanced and Flux: what must hold for any weights, and what each promises. */
#include "scripted.h"

#include "../control/rebalance.h"

enum { MOST_PARTS = 1200 };

typedef struct division {
    double weights[MOST_PARTS];
    uint16_t owner[MOST_PARTS], before[MOST_PARTS];
    uint32_t order[MOST_PARTS];
    unsigned count;
} division;

static double sound_weight(const division *division, unsigned part)
{
    double weight = division->weights[part];
    return weight > 0 && weight < INFINITY ? weight : 0;
}

static void loads_of(const division *division, unsigned workers, double *loads)
{
    for (unsigned worker = 0; worker < workers; worker++)
        loads[worker] = 0;
    for (unsigned part = 0; part < division->count; part++) {
        CHECK(division->owner[part] < workers);
        loads[division->owner[part]] += sound_weight(division, part);
    }
}

static double spread(const division *division, unsigned workers, double *most)
{
    double loads[DFRT_MOST_WORKERS], least = INFINITY;
    loads_of(division, workers, loads);
    *most = 0;
    for (unsigned worker = 0; worker < workers; worker++) {
        *most = fmax(*most, loads[worker]);
        least = fmin(least, loads[worker]);
    }
    return *most - least;
}

static unsigned run(division *division, enum dfrt_balancer balancer, unsigned workers, double imbalance)
{
    memcpy(division->before, division->owner, sizeof division->owner);
    unsigned moved = dfrt_rebalance(balancer, division->weights, division->owner, division->count, workers, imbalance,
                                    division->order);
    unsigned differ = 0;
    for (unsigned part = 0; part < division->count; part++)
        differ += division->owner[part] != division->before[part];
    CHECK(moved == differ);
    return moved;
}

static void random_division(division *division, uint64_t *seed, unsigned count, unsigned workers, bool odd)
{
    division->count = count;
    for (unsigned part = 0; part < count; part++) {
        division->weights[part] = odd ? hostile(seed, 1) : pow(random_share_of(seed), 4);
        division->owner[part] = (uint16_t)(next_random(seed) % workers);
    }
}

/* Heaviest first to the least loaded: never worse than 4/3 of the best possible, which is at least the mean and at least
 * the heaviest part. */
static void balanced_is_nearly_the_best(uint64_t *seed)
{
    static division division;
    for (unsigned round = 0; round < 300; round++) {
        unsigned workers = 1 + (unsigned)(next_random(seed) % 16), most_owner = 1 + (unsigned)(next_random(seed) % 16);
        random_division(&division, seed, 1 + (unsigned)(next_random(seed) % 400), most_owner, false);
        run(&division, DFRT_BALANCED, workers, 0);
        double sum = 0, heaviest = 0, most;
        for (unsigned part = 0; part < division.count; part++) {
            sum += division.weights[part];
            heaviest = fmax(heaviest, division.weights[part]);
        }
        (void)spread(&division, workers, &most);
        double mean = sum / workers;
        CHECK(most <= mean + heaviest + 1e-9);
        CHECK(most <= 4.0 / 3 * fmax(mean, heaviest) + heaviest / 3 + 1e-9);
    }
}

static void flux_reaches_its_threshold_with_few_moves(uint64_t *seed)
{
    static division division;
    for (unsigned round = 0; round < 300; round++) {
        unsigned workers = 2 + (unsigned)(next_random(seed) % 11);
        random_division(&division, seed, 1000, workers, false);
        run(&division, DFRT_FLUX, workers, 0.1);
        double most;
        CHECK(spread(&division, workers, &most) <= 0.1 * most + 1e-9);
        CHECK(run(&division, DFRT_FLUX, workers, 0.1) == 0); /* once even, nothing moves */
    }
}

static void flux_moves_less_than_balanced(uint64_t *seed)
{
    static division flux, balanced;
    unsigned by_flux = 0, by_balanced = 0;
    for (unsigned round = 0; round < 20; round++) {
        random_division(&flux, seed, 1000, 6, false);
        run(&flux, DFRT_FLUX, 6, 0.1);
        balanced = flux;
        by_flux += run(&flux, DFRT_FLUX, 8, 0.1);
        by_balanced += run(&balanced, DFRT_BALANCED, 8, 0);
    }
    CHECK(by_flux > 0 && 2 * by_flux < by_balanced);
}

/* Parts of workers that are gone move, with any weights; parts that were never seen stay where they are otherwise. */
static void nobody_is_left_behind(uint64_t *seed)
{
    static division division;
    for (unsigned round = 0; round < 2000; round++) {
        unsigned before = 1 + (unsigned)(next_random(seed) % 20), workers = 1 + (unsigned)(next_random(seed) % 20);
        enum dfrt_balancer balancer = next_random(seed) % 2 ? DFRT_FLUX : DFRT_BALANCED;
        random_division(&division, seed, (unsigned)(next_random(seed) % 100), before, true);
        run(&division, balancer, workers, hostile(seed, 0.5));
        for (unsigned part = 0; part < division.count; part++) {
            CHECK(division.owner[part] < workers);
            if (!(sound_weight(&division, part) > 0) && division.before[part] < workers)
                CHECK(division.owner[part] == division.before[part]);
        }
    }
}

static void unseen_parts_of_the_gone_are_spread(void)
{
    static division division;
    for (unsigned balancer = 0; balancer < 2; balancer++) {
        division.count = 90;
        unsigned counts[3] = {0};
        for (unsigned part = 0; part < division.count; part++) {
            division.weights[part] = NAN;
            division.owner[part] = 7;
        }
        CHECK(run(&division, balancer == 0 ? DFRT_BALANCED : DFRT_FLUX, 3, 0.1) == 90);
        for (unsigned part = 0; part < division.count; part++)
            counts[division.owner[part]]++;
        CHECK(counts[0] == 30 && counts[1] == 30 && counts[2] == 30);
    }
}

/* A single key can't be divided, and what is behind the heaviest worker is evened out all the same. */
static void one_heavy_part(void)
{
    static division division;
    division.count = 1;
    division.weights[0] = 5;
    division.owner[0] = 2;
    CHECK(run(&division, DFRT_FLUX, 4, 0.1) == 0);
    CHECK(run(&division, DFRT_BALANCED, 4, 0.1) <= 1);
    double weights[] = {10, 2, 2, 2, 2};
    uint16_t owner[] = {0, 1, 1, 1, 1};
    uint32_t order[5];
    CHECK(dfrt_rebalance(DFRT_FLUX, weights, owner, 5, 3, 0.1, order) == 2);
    CHECK(owner[0] == 0);
    unsigned on_third = 0;
    for (unsigned part = 1; part < 5; part++)
        on_third += owner[part] == 2;
    CHECK(on_third == 2);
}

static bool due_twice(const double *loads, double grain, bool moved_lately)
{
    dfrt_unevenness seen = {0, 0};
    CHECK(!dfrt_rebalance_due(&seen, loads, 3, grain, moved_lately)); /* one step may be chance */
    return dfrt_rebalance_due(&seen, loads, 3, grain, moved_lately);
}

static void due_only_when_it_lasts(void)
{
    double even[] = {0.5, 0.5, 0.5}, uneven[] = {0.5, 0.7, 0.5}, over[] = {1.05, 1.15, 1.1}, idle[] = {0.01, 0.0, 0.02};
    double unknown[] = {NAN, NAN, NAN}, part_known[] = {NAN, 0.9, 0.2}, same_over[] = {1.2, 1.2, 1.2};
    double other[] = {0.7, 0.5, 0.5};
    dfrt_unevenness seen = {0, 0};
    CHECK(!due_twice(even, 0, false));
    CHECK(due_twice(uneven, 0, false) && due_twice(uneven, NAN, false));
    CHECK(!due_twice(uneven, 0, true));
    CHECK(dfrt_rebalance_due(&seen, over, 3, 0, false)); /* falls behind: at once */
    CHECK(!due_twice(idle, 0, false));
    CHECK(!due_twice(unknown, 0, false));
    CHECK(due_twice(part_known, 0, false));
    CHECK(!due_twice(same_over, 0, false)); /* too much for all of them: moving helps nobody */
    seen = (dfrt_unevenness){0, 0};
    for (unsigned step = 0; step < 6; step++) /* another one is the busiest each time */
        CHECK(!dfrt_rebalance_due(&seen, step % 2 == 0 ? uneven : other, 3, 0, false));
    CHECK(!dfrt_rebalance_due(&seen, uneven, 3, 0, false) && !dfrt_rebalance_due(&seen, uneven, 1, 0, false));
}

/* 20 ms a trigger in a second: 35 against 25 of them is chance, 0.1 ms a trigger: it is not. */
static void chance_is_not_due(void)
{
    double uneven[] = {0.5, 0.7, 0.5};
    CHECK(!due_twice(uneven, 0.02, false));
    CHECK(due_twice(uneven, 0.0001, false));
}

static void pays_when_the_busiest_gets_less(void)
{
    double weights[] = {3, 3, 3, NAN}, heavy[] = {8, 1, 1, 1};
    uint16_t together[] = {0, 0, 0, 1}, apart[] = {0, 1, 2, 1}, swapped[] = {1, 1, 1, 0}, gone[] = {9, 9, 9, 9};
    CHECK(dfrt_rebalance_pays(weights, together, apart, 4, 3) && !dfrt_rebalance_pays(weights, apart, together, 4, 3));
    CHECK(!dfrt_rebalance_pays(weights, together, swapped, 4, 2));
    CHECK(!dfrt_rebalance_pays(heavy, apart, swapped, 4, 3) && !dfrt_rebalance_pays(heavy, gone, gone, 4, 3));
}

int main(void)
{
    uint64_t seed = test_seed();
    balanced_is_nearly_the_best(&seed);
    flux_reaches_its_threshold_with_few_moves(&seed);
    flux_moves_less_than_balanced(&seed);
    nobody_is_left_behind(&seed);
    unseen_parts_of_the_gone_are_spread();
    one_heavy_part();
    due_only_when_it_lasts();
    chance_is_not_due();
    pays_when_the_busiest_gets_less();
    return 0;
}
