/* Heavy keys become parts of their own, with evidence and without flapping. */
#define _GNU_SOURCE
#include "../src/division.h"

#include "check.h"

static double before[DFRT_SLOTS], now[DFRT_SLOTS], slots[DFRT_SLOTS];
static bool pays;
static dfrt_key_samples tables[4];
static dfrt__key_loads keys;
static dfrt__division division;

static uint64_t key_in(unsigned slot, unsigned number) { return (uint64_t)slot << 54 | (uint64_t)number << 40 | number; }

static void start(void)
{
    memset(before, 0, sizeof before);
    memset(tables, 0, sizeof tables);
    memset(now, 0, sizeof now);
    memset(slots, 0, sizeof slots);
    memset(&division, 0, sizeof division);
    dfrt__key_loads_open(&keys, 4);
}

static void finish(void) { dfrt__key_loads_close(&keys); }

static void bring(unsigned replica, uint64_t hash, unsigned samples)
{
    for (unsigned i = 0; i < samples; i++) {
        dfrt_key_samples_add(&tables[replica], hash, 10);
        now[hash >> 54] += 10;
    }
}

/* A little in every slot, of another key each. */
static void bring_light(unsigned samples)
{
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++)
        for (unsigned i = 0; i < samples; i++) bring(slot % 4, key_in(slot, 100 + i), 1);
}

static unsigned divide(unsigned workers, enum dfrt_balancer balancer)
{
    dfrt__key_loads_begin(&keys);
    for (unsigned r = 0; r < 4; r++) dfrt__key_loads_look(&keys, r, &tables[r]);
    dfrt__key_loads_sort(&keys);
    dfrt__part_loads loads = {slots, dfrt__slots_note(slots, before, now), &keys};
    pays = dfrt__divide(&division, &loads, workers, balancer, 0.1);
    memcpy(before, now, sizeof before);
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) CHECK(division.owners[slot] < workers);
    for (unsigned i = 0; i < division.heavy_count; i++) CHECK(division.heavy[i].replica < workers);
    return division.heavy_count;
}

/* Two heavy keys in one slot: no division of slots could part them. */
static void test_two_in_a_slot(enum dfrt_balancer balancer)
{
    start();
    bring(0, key_in(5, 1), 3000);
    bring(0, key_in(5, 2), 2900);
    bring_light(1);
    CHECK(divide(2, balancer) == 2);
    CHECK(division.heavy[0].hash == key_in(5, 1) && division.heavy[1].hash == key_in(5, 2));
    CHECK(division.heavy[0].replica != division.heavy[1].replica);
    finish();
}

/* A key that was on two replicas in the step counts once. */
static void test_moved_key(void)
{
    start();
    bring(0, key_in(5, 1), 500);
    bring(3, key_in(5, 1), 500);
    bring_light(2);
    CHECK(divide(4, DFRT_FLUX) == 1 && keys.keys[0].samples == 1000 && keys.samples == 1000 + 2 * DFRT_SLOTS);
    finish();
}

/* Above half of a fair share it comes, above a quarter it stays; a step with too few samples decides nothing. */
static void test_hysteresis(void)
{
    uint64_t key = key_in(9, 3);
    start();
    bring_light(2);
    bring(0, key, 200); /* 9 % of all; half of a fair share of four is 12.5 % */
    CHECK(divide(4, DFRT_BALANCED) == 0);
    bring_light(2);
    bring(0, key, 400); /* 16 % */
    CHECK(divide(4, DFRT_BALANCED) == 1);
    unsigned has = division.heavy[0].replica;
    bring_light(2);
    bring(has, key, 200);
    CHECK(divide(4, DFRT_BALANCED) == 1);
    bring(has, key_in(10, 4), 5);
    CHECK(divide(4, DFRT_FLUX) == 1 && division.heavy[0].hash == key);
    CHECK(divide(4, DFRT_FLUX) == 1); /* nothing at all */
    bring_light(2);
    bring(has, key, 40); /* 2 % */
    CHECK(divide(4, DFRT_BALANCED) == 0);
    finish();
}

static void test_few_samples_make_no_heavy_key(void)
{
    start();
    bring(0, key_in(1, 1), 7);
    CHECK(divide(2, DFRT_BALANCED) == 0);
    bring(0, key_in(1, 1), 8);
    CHECK(divide(2, DFRT_BALANCED) == 1);
    CHECK(divide(1, DFRT_BALANCED) == 0); /* one worker has them all */
    finish();
}

/* More than there is room for: the heaviest of them. */
static void test_most(void)
{
    start();
    for (unsigned i = 0; i < 100; i++) bring(i % 4, key_in(10 * i, i), 1000 + i);
    CHECK(divide(200, DFRT_BALANCED) == DFRT_HEAVY_KEYS);
    for (unsigned i = 0; i < DFRT_HEAVY_KEYS; i++) CHECK(division.heavy[i].hash == key_in(10 * (99 - i), 99 - i));
    finish();
}

/* The second worker gets its half also of the slots that brought nothing in the last step. */
static void test_older_steps_count(void)
{
    start();
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) bring(0, key_in(slot, 1), 4);
    CHECK(divide(1, DFRT_BALANCED) == 0 && !pays);
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot += 8) bring(0, key_in(slot, 1), 4);
    CHECK(divide(2, DFRT_BALANCED) == 0 && pays);
    unsigned of_second = 0;
    for (unsigned slot = 1; slot < DFRT_SLOTS; slot += 8) of_second += division.owners[slot];
    CHECK(of_second > DFRT_SLOTS / 8 / 4 && of_second < 3 * DFRT_SLOTS / 8 / 4);
    finish();
}

/* One key is most of the load: no division makes its worker's share less. */
static void test_nothing_to_gain(void)
{
    start();
    for (unsigned step = 0; step < 3; step++) {
        bring(0, key_in(5, 1), 3000);
        bring_light(1);
        CHECK(divide(2, DFRT_BALANCED) == 1 && pays == (step == 0));
    }
    finish();
}

static void test_same_division(void)
{
    dfrt__division one = {.heavy_count = 0}, other = {.heavy_count = 0};
    other.heavy[other.heavy_count++] = (dfrt_heavy_key){key_in(3, 1), 0};
    CHECK(dfrt__same_division(&one, &other) && dfrt__same_division(&other, &one));
    other.heavy[0].replica = 1;
    CHECK(!dfrt__same_division(&one, &other) && !dfrt__same_division(&other, &one));
    one.owners[3] = other.owners[3] = 1;
    CHECK(dfrt__same_division(&one, &other));
    one.owners[4] = 1;
    CHECK(!dfrt__same_division(&one, &other));
}

static unsigned unseen_of_second(void)
{
    unsigned count = 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) count += slot % 8 != 0 && division.owners[slot] == 1;
    return count;
}

/* What will come in slots that nothing was seen of is nobody's yet: a new worker gets its half of them. They don't move
 * once more when the number of workers stays. */
static void test_unseen_slots_are_shared(void)
{
    const unsigned unseen = DFRT_SLOTS / 8 * 7;
    start();
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot += 8) bring(0, key_in(slot, 1), 1 + slot % 5);
    CHECK(divide(1, DFRT_BALANCED) == 0);
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot += 8) bring(0, key_in(slot, 1), 1 + slot % 5);
    (void)divide(2, DFRT_BALANCED);
    unsigned of_second = unseen_of_second();
    CHECK(of_second > unseen * 0.45 && of_second < unseen * 0.55);
    dfrt__division shared = division;
    bring(0, key_in(8, 1), 400);
    (void)divide(2, DFRT_BALANCED);
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) CHECK(slot % 8 == 0 || division.owners[slot] == shared.owners[slot]);
    finish();
}

int main(void)
{
    test_two_in_a_slot(DFRT_BALANCED);
    test_two_in_a_slot(DFRT_FLUX);
    test_moved_key();
    test_hysteresis();
    test_few_samples_make_no_heavy_key();
    test_most();
    test_older_steps_count();
    test_nothing_to_gain();
    test_same_division();
    test_unseen_slots_are_shared();
    return 0;
}
