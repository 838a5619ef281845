/* State that goes from worker to worker: each adds what only the order of turns explains, and goes on meanwhile. */
#define _GNU_SOURCE
#include <dfrt/program.h>
#include <dfrt/stage.h>
#include <dfrt/turns.h>

#include <pthread.h>
#include <stdlib.h>

#include "../src/later.h"
#include "../src/run.h"
#include "check.h"

enum { WORKERS = 4, TURNS = 20000 };

typedef struct passed {
    uint64_t hash, turns;
} passed;

/* It is its stage's segment, too. */
typedef struct worker {
    dfrt_turns *turns;
    dfrt_stage stage;
    unsigned number;
    uint64_t next; /* the turn that it has next, of its own */
} worker;

static uint64_t mixed(uint64_t hash, uint64_t turn)
{
    return (hash ^ turn) * UINT64_C(0x9E3779B97F4A7C15);
}

/* For some turns nothing is given. */
static bool is_empty(uint64_t turn)
{
    return turn % 7 == 3;
}

/* Turns of a worker are done in their order, at the places at which they were given. */
static void add(void *segment, dfrt_turns *turns, int64_t time, const void *given)
{
    worker *self = segment;
    uint64_t turn = (uint64_t)time;
    CHECK((given == NULL) == is_empty(turn) && (given == NULL || memcmp(given, &turn, sizeof turn) == 0));
    CHECK(turn == self->next && self->stage.position == (uint32_t)turn);
    self->next += WORKERS;
    if (turns->state == NULL) {
        turns->state = calloc(1, sizeof(passed));
        turns->drop = free;
        CHECK(turns->state != NULL);
    }
    passed *state = turns->state;
    CHECK(state->turns++ == turn);
    state->hash = mixed(state->hash, turn);
}

/* Worker w has the turns w, w + WORKERS, and so on. */
static void *work(void *argument)
{
    worker *self = argument;
    for (uint64_t turn = self->number; turn < TURNS; turn += WORKERS) {
        self->stage.position = (uint32_t)turn;
        dfrt_turns_take(self->turns, turn, &self->stage, add, (int64_t)turn, is_empty(turn) ? NULL : &turn, sizeof turn);
        CHECK(self->stage.position == (uint32_t)turn); /* whatever was caught up with */
    }
    dfrt__later_finish(&self->stage);
    CHECK(self->next >= TURNS && !dfrt__has_later(&self->stage));
    return NULL;
}

static worker worker_of(dfrt_turns *turns, dfrt_run_state *run, unsigned number)
{
    return (worker){.turns = turns, .stage = {.run = run}, .number = number, .next = number};
}

static void test_turns_come_in_order(void)
{
    dfrt_turns turns = {0};
    dfrt_run_state run = {.stop_fd = -1, .stop_write_fd = -1};
    worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (unsigned w = 0; w < WORKERS; w++) {
        workers[w] = worker_of(&turns, &run, w);
        workers[w].stage.segment = &workers[w];
        CHECK(pthread_create(&threads[w], NULL, work, &workers[w]) == 0);
    }
    for (unsigned w = 0; w < WORKERS; w++) {
        CHECK(pthread_join(threads[w], NULL) == 0);
        dfrt__later_free(&workers[w].stage);
    }
    uint64_t expected = 0;
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        expected = mixed(expected, turn);
    }
    CHECK(((passed *)turns.state)->hash == expected);
    dfrt_turns_close(&turns);
    CHECK(turns.state == NULL);
    dfrt_turns_close(&turns); /* of nothing */
}

/* What is put off keeps its order with watermarks. */
static int64_t told = -1;

static void take_watermark(void *segment, int64_t watermark)
{
    const worker *self = segment;
    CHECK(self->next == (uint64_t)watermark); /* behind the turns that came before it */
    told = watermark;
}

static void test_watermarks_do_not_overtake(void)
{
    dfrt_turns turns = {0};
    dfrt_run_state run = {.stop_fd = -1, .stop_write_fd = -1};
    worker waiting = worker_of(&turns, &run, 1), first = worker_of(&turns, &run, 0);
    const dfrt_edge edge = {.watermark = take_watermark};
    uint64_t turn = 1;
    waiting.stage.segment = &waiting;
    first.stage.segment = &first;
    waiting.stage.position = 1;
    dfrt_turns_take(&turns, turn, &waiting.stage, add, 1, &turn, sizeof turn);
    dfrt__later_watermark(&waiting.stage, &edge, 1 + WORKERS);
    CHECK(dfrt__has_later(&waiting.stage) && told < 0 && waiting.next == 1);
    turn = 0;
    dfrt_turns_take(&turns, turn, &first.stage, add, 0, &turn, sizeof turn);
    CHECK(!dfrt__has_later(&first.stage));
    dfrt__later_catch_up(&waiting.stage);
    CHECK(!dfrt__has_later(&waiting.stage) && told == 1 + WORKERS);
    dfrt__later_free(&waiting.stage);
    dfrt_turns_close(&turns);
}

static void *wait_in_vain(void *argument)
{
    worker *self = argument;
    uint64_t turn = 1;
    dfrt_turns_take(self->turns, turn, &self->stage, add, 1, &turn, sizeof turn);
    dfrt__later_finish(&self->stage);
    return NULL;
}

/* Nobody has the turn before, since the run has failed. */
static void test_a_failure_ends_the_waiting(void)
{
    dfrt_turns turns = {0};
    dfrt_run_state run = {.stop_fd = -1, .stop_write_fd = -1};
    worker waiting = worker_of(&turns, &run, 1);
    pthread_t thread;
    dfrt_error error = {"no more"};
    waiting.stage.segment = &waiting;
    CHECK(pthread_create(&thread, NULL, wait_in_vain, &waiting) == 0);
    dfrt_stage failing = {.run = &run};
    dfrt_stage_fail(&failing, &error);
    CHECK(pthread_join(thread, NULL) == 0 && waiting.next == 1 && turns.state == NULL);
    dfrt__later_free(&waiting.stage);
    dfrt_turns_close(&turns);
}

int main(void)
{
    test_turns_come_in_order();
    test_watermarks_do_not_overtake();
    test_a_failure_ends_the_waiting();
    return 0;
}
