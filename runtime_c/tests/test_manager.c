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

/* Without a token for giving up, cores are not free for those that were to get them. */
static void cores_that_are_not_given_up_are_waited_for(void)
{
    dfrt_manager manager;
    dfrt_manager_start(&manager, 8, 0, 1);
    dfrt_wish wishes[] = {wish(6, 6, 0.1), wish(2, 6, 2)};
    dfrt_manager_settle(&manager, wishes, 2);
    CHECK(wishes[0].wanted.workers == 6 && wishes[1].wanted.workers == 2 && !wishes[1].granted);
    CHECK(wishes[1].reason[0] != '\0');
    CHECK(manager.tokens == 1); /* what was not done was not paid for */
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
    cores_that_are_not_given_up_are_waited_for();
    one_frequency_for_all();
    fewer_cores_are_a_reason_without_tokens();
    holds_for_any_wishes(&seed);
    return 0;
}
