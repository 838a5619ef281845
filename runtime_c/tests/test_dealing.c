/* Who gets the next window: in turn, or who has the least to do, batch by batch. */
#define _GNU_SOURCE
#include <dfrt/dealing.h>

#include "check.h"

static void test_the_one_with_the_least_to_do(void)
{
    dfrt_dealing dealing = {0};
    dfrt_done *done[3];
    for (unsigned i = 0; i < 3; i++) {
        unsigned worker = dfrt_dealing_least(&dealing, 3, 3, 1);
        CHECK(worker == i); /* all have nothing to do: in turn */
        done[worker] = dfrt_dealing_send(&dealing, 3, 3, worker);
    }
    dfrt_done_one(done[2]);
    CHECK(dfrt_dealing_least(&dealing, 3, 3, 1) == 2);
    CHECK(dfrt_dealing_send(&dealing, 3, 3, 2) == done[2]);
    dfrt_done_one(done[1]);
    CHECK(dfrt_dealing_least(&dealing, 3, 3, 1) == 1);
    CHECK(dealing.handed == 4);
    dfrt_dealing_close(&dealing);
}

static void test_a_batch_has_one_worker(void)
{
    dfrt_dealing dealing = {0};
    unsigned counts[3] = {0}, before = 3;
    for (unsigned i = 0; i < 24; i++) {
        unsigned worker = dfrt_dealing_least(&dealing, 3, 3, 4);
        CHECK(worker < 3 && (i % 4 == 0 || worker == before));
        (void)dfrt_dealing_send(&dealing, 3, 3, worker);
        counts[worker]++;
        before = worker;
    }
    CHECK(counts[0] == 8 && counts[1] == 8 && counts[2] == 8);
    dfrt_dealing_close(&dealing);
}

/* Numbers of workers wrap around; each has a counter on a cache line of its own. */
static void test_counters(void)
{
    dfrt_dealing dealing = {0};
    dfrt_done *first = dfrt_dealing_send(&dealing, 5, 5, 0), *second = dfrt_dealing_send(&dealing, 5, 5, 6);
    CHECK(second == first + 1 && (uintptr_t)first % 64 == 0 && sizeof *first == 64);
    CHECK(dfrt_dealing_send(&dealing, 5, 5, 5) == first && dealing.sent[0] == 2 && dealing.sent[1] == 1);
    dfrt_dealing_close(&dealing);
    CHECK(dealing.sent == NULL && dealing.handed == 0);
    dfrt_dealing_close(&dealing); /* of nothing */
}

int main(void)
{
    test_the_one_with_the_least_to_do();
    test_a_batch_has_one_worker();
    test_counters();
    return 0;
}
