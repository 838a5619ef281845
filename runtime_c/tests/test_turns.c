/* State that goes from worker to worker: each adds what only the order of turns explains. */
#define _GNU_SOURCE
#include <dfrt/program.h>
#include <dfrt/stage.h>
#include <dfrt/turns.h>

#include <pthread.h>
#include <stdlib.h>

#include "../src/run.h"
#include "check.h"

enum { WORKERS = 4, TURNS = 20000 };

typedef struct passed {
    uint64_t hash, turns;
} passed;

typedef struct worker {
    dfrt_turns *turns;
    dfrt_stage stage;
    unsigned number;
    bool refused;
} worker;

static uint64_t mixed(uint64_t hash, uint64_t turn)
{
    return (hash ^ turn) * UINT64_C(0x9E3779B97F4A7C15);
}

/* Worker w has the turns w, w + WORKERS, and so on. */
static void *work(void *argument)
{
    worker *self = argument;
    for (uint64_t turn = self->number; turn < TURNS; turn += WORKERS) {
        CHECK(dfrt_turns_await(self->turns, turn, &self->stage));
        if (self->turns->state == NULL) {
            self->turns->state = calloc(1, sizeof(passed));
            self->turns->drop = free;
            CHECK(self->turns->state != NULL);
        }
        passed *state = self->turns->state;
        CHECK(state->turns++ == turn);
        state->hash = mixed(state->hash, turn);
        dfrt_turns_pass(self->turns);
    }
    return NULL;
}

static void test_turns_come_in_order(void)
{
    dfrt_turns turns = {0};
    dfrt_run_state run = {.stop_fd = -1, .stop_write_fd = -1};
    worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (unsigned w = 0; w < WORKERS; w++) {
        workers[w] = (worker){.turns = &turns, .stage = {.run = &run}, .number = w};
        CHECK(pthread_create(&threads[w], NULL, work, &workers[w]) == 0);
    }
    for (unsigned w = 0; w < WORKERS; w++) {
        CHECK(pthread_join(threads[w], NULL) == 0);
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

static void *wait_in_vain(void *argument)
{
    worker *self = argument;
    self->refused = !dfrt_turns_await(self->turns, 1, &self->stage);
    return NULL;
}

/* Nobody has the turn before, since the run has failed. */
static void test_a_failure_ends_the_waiting(void)
{
    dfrt_turns turns = {0};
    dfrt_run_state run = {.stop_fd = -1, .stop_write_fd = -1};
    worker waiting = {.turns = &turns, .stage = {.run = &run}};
    pthread_t thread;
    dfrt_error error = {"no more"};
    CHECK(pthread_create(&thread, NULL, wait_in_vain, &waiting) == 0);
    dfrt_stage failing = {.run = &run};
    dfrt_stage_fail(&failing, &error);
    CHECK(pthread_join(thread, NULL) == 0 && waiting.refused);
    dfrt_turns_close(&turns);
}

int main(void)
{
    test_turns_come_in_order();
    test_a_failure_ends_the_waiting();
    return 0;
}
