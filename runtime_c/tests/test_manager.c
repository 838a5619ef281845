#define _GNU_SOURCE
/* The application manager: cores by need, one frequency, and no more changes than its tokens allow. */
#include "scripted.h"

#include "../control/manager.h"

static dfrt_wish wish(unsigned now, unsigned wanted, double need)
{
    return (dfrt_wish){.now = {now, 0, 0, 0}, .wanted = {wanted, 0, 0, 0}, .workers_least = 1, .need = need};
}

static void enough_for_all(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 12, 10, 10);
    dfrt_wish wishes[] = {wish(2, 5, 0.9), wish(3, 3, 0.5), wish(4, 2, 0.2)};
    dfrt_manager_settle(&manager, wishes, 3);
    CHECK(wishes[0].wanted.workers == 5 && wishes[1].wanted.workers == 3 && wishes[2].wanted.workers == 2);
    for (unsigned i = 0; i < 3; i++)
        CHECK(wishes[i].granted && wishes[i].reason[0] == '\0');
}

static void the_needy_get_more(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 8, 10, 10);
    dfrt_wish wishes[] = {wish(4, 6, 0.5), wish(2, 6, 1.5)};
    dfrt_manager_settle(&manager, wishes, 2);
    CHECK(wishes[0].wanted.workers == 2 && wishes[1].wanted.workers == 6);
    CHECK_TEXT(wishes[0].reason, "2 of 6 workers: the operators share 8 cores");
    CHECK(wishes[1].reason[0] == '\0');
    dfrt_wish alike[] = {wish(4, 8, 1), wish(4, 8, 1)};
    dfrt_manager_settle(&manager, alike, 2);
    CHECK(alike[0].wanted.workers == 4 && alike[1].wanted.workers == 4);
}

static void changes_cost_tokens(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 20, 0.5, 1);
    for (unsigned step = 0; step < 8; step++) {
        dfrt_wish wishes[] = {wish(2, 3, 0.2), wish(2, 3, 0.9), wish(4, 4, 2)};
        dfrt_manager_settle(&manager, wishes, 3);
        bool allowed = step % 2 == 0;
        CHECK(wishes[1].granted == allowed && wishes[1].wanted.workers == (allowed ? 3u : 2u));
        CHECK(!wishes[0].granted && wishes[0].wanted.workers == 2); /* the needier one goes first */
        CHECK(strstr(wishes[0].reason, "put off") != NULL);
        CHECK(wishes[2].granted);
    }
}

/* One token moves cores from one to the other: what is given up for somebody who has paid is free. */
static void cores_go_over_for_one_token(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 8, 0, 1);
    dfrt_wish wishes[] = {wish(6, 6, 0.1), wish(2, 6, 2)};
    dfrt_manager_settle(&manager, wishes, 2);
    CHECK(wishes[0].wanted.workers == 2 && wishes[1].wanted.workers == 6 && wishes[0].granted && wishes[1].granted);
    CHECK_TEXT(wishes[0].reason, "2 of 6 workers: the operators share 8 cores");
    CHECK(manager.tokens == 0);
    dfrt_wish later[] = {wish(6, 6, 0.1), wish(2, 6, 2)}; /* none is left: nobody gives anything up for nothing */
    dfrt_manager_settle(&manager, later, 2);
    CHECK(later[0].wanted.workers == 6 && later[1].wanted.workers == 2 && !later[0].granted && !later[1].granted);
}

/* With a token a step it took for ever: the needy one had it, waited for the other's cores, and gave it back. */
static void nobody_waits_for_ever(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 4, 1, 1);
    dfrt_setting needy = {1, 0, 0, 0}, donor = {3, 0, 0, 0};
    for (unsigned step = 0; step < 3; step++) {
        dfrt_wish wishes[] = {wish(needy.workers, 3, 5), wish(donor.workers, 3, 0.2)};
        dfrt_manager_settle(&manager, wishes, 2);
        needy = wishes[0].wanted;
        donor = wishes[1].wanted;
    }
    CHECK(needy.workers == 3 && donor.workers == 1);
}

/* Among those that change for themselves the needy go first, and fewer workers last. */
static void giving_up_for_nobody_costs_a_token(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 20, 1, 1);
    dfrt_wish wishes[] = {wish(4, 2, 0.9), wish(2, 3, 0.5), wish(4, 3, 0.1)};
    dfrt_manager_settle(&manager, wishes, 3);
    CHECK(!wishes[0].granted && wishes[1].granted && !wishes[2].granted);
    dfrt_wish again[] = {wish(4, 2, 0.9), wish(3, 3, 0.5), wish(4, 3, 0.1)};
    dfrt_manager_settle(&manager, again, 3);
    CHECK(again[0].granted && again[0].wanted.workers == 2 && !again[2].granted);
    CHECK(strstr(again[2].reason, "put off") != NULL);
}

static void one_frequency_for_all(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 8, 4, 4);
    dfrt_wish wishes[] = {wish(2, 2, 0.5), wish(2, 2, 0.5)};
    wishes[0].wanted.frequency = 3;
    wishes[1].wanted.frequency = 7;
    dfrt_manager_settle(&manager, wishes, 2);
    CHECK(wishes[0].wanted.frequency == 7 && wishes[1].wanted.frequency == 7);
    CHECK_TEXT(wishes[0].reason, "another operator needs frequency 7, 3 was asked for");
}

static void fewer_cores_are_a_reason_without_tokens(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 4, 0, 1);
    manager.tokens = 0;
    dfrt_wish wishes[] = {wish(4, 4, 0.5), wish(4, 4, 0.5)};
    dfrt_manager_settle(&manager, wishes, 2);
    CHECK(wishes[0].wanted.workers == 2 && wishes[1].wanted.workers == 2);
}

/* Whatever is wanted, as long as it stays the same: with a token a step everybody gets its share within as many steps as
 * there are operators. */
static void every_share_is_reached(uint64_t *seed)
{
    for (unsigned round = 0; round < 500; round++) {
        dfrt_manager manager;
        dfrt_wish asked[6], wishes[6];
        unsigned count = 2 + (unsigned)(next_random(seed) % 5), cores = count;
        for (unsigned i = 0; i < count; i++) {
            asked[i] = wish(1 + (unsigned)(next_random(seed) % 4), 1 + (unsigned)(next_random(seed) % 6), random_share_of(seed));
            cores += asked[i].now.workers - 1;
        }
        dfrt_manager_start(&manager, cores, 1, 1);
        for (unsigned step = 0; step <= count; step++) {
            memcpy(wishes, asked, sizeof wishes);
            dfrt_manager_settle(&manager, wishes, count);
            for (unsigned i = 0; i < count; i++)
                asked[i].now = wishes[i].wanted;
        }
        for (unsigned i = 0; i < count; i++)
            CHECK(wishes[i].granted);
    }
}

static void holds_for_any_wishes(uint64_t *seed)
{
    static dfrt_wish wishes[DFRT_MOST_OPERATORS + 4];
    for (unsigned round = 0; round < 5000; round++) {
        dfrt_manager manager;
        unsigned count = (unsigned)(next_random(seed) % (DFRT_MOST_OPERATORS + 5)), present = 0, after = 0, least = 0;
        dfrt_manager_start(&manager, (unsigned)(next_random(seed) % 100), hostile(seed, 5), hostile(seed, 10));
        for (unsigned i = 0; i < count; i++) {
            wishes[i] = wish(1 + (unsigned)(next_random(seed) % 4), (unsigned)(next_random(seed) % 12), hostile(seed, 2));
            wishes[i].workers_least = (unsigned)(next_random(seed) % 3);
            present += wishes[i].now.workers;
            least += wishes[i].workers_least > 0 ? wishes[i].workers_least : 1;
        }
        double tokens = fmin(manager.tokens + manager.changes_a_step, manager.most_changes);
        dfrt_manager_settle(&manager, wishes, count);
        unsigned paid = 0, settled = count < DFRT_MOST_OPERATORS ? count : DFRT_MOST_OPERATORS;
        for (unsigned i = 0; i < count; i++) {
            after += wishes[i].wanted.workers;
            CHECK(wishes[i].wanted.workers >= 1);
            CHECK(wishes[i].granted || wishes[i].wanted.workers == wishes[i].now.workers);
            CHECK(wishes[i].granted || wishes[i].reason[0] != '\0');
            paid += i < settled && wishes[i].wanted.workers > wishes[i].now.workers;
        }
        CHECK(paid <= tokens);
        CHECK(manager.tokens >= 0 && manager.tokens <= manager.most_changes);
        unsigned bound = manager.cores > present ? manager.cores : present;
        CHECK(after <= (bound > least ? bound : least));
    }
}

int main(void)
{
    uint64_t seed = test_seed();
    enough_for_all();
    the_needy_get_more();
    changes_cost_tokens();
    cores_go_over_for_one_token();
    nobody_waits_for_ever();
    giving_up_for_nobody_costs_a_token();
    one_frequency_for_all();
    fewer_cores_are_a_reason_without_tokens();
    every_share_is_reached(&seed);
    holds_for_any_wishes(&seed);
    return 0;
}
