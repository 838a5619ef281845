#define _GNU_SOURCE
/* The agent of a keyed operator whose readings are written by the test, which also does the stages' part of every change:
 * keys that bring much get routes of their own, with more workers and between the same ones. */
#include "../src/agent_state.h"

#include <dfrt/hash.h>

#include "../src/elastic_state.h"
#include "../src/run.h"
#include "check.h"

enum { MOST = 4, SAMPLES_A_STEP = 4000 };

typedef struct segment {
    dfrt_segment_head head;
} segment;

static dfrt_status open_segment(void *room, dfrt_error *error)
{
    (void)room;
    (void)error;
    return DFRT_OK;
}

static void close_segment(void *room) { (void)room; }

static uint64_t hash_of(const void *element)
{
    uint64_t hash;
    memcpy(&hash, element, sizeof hash);
    return hash;
}

static void consume(void *room, const dfrt_run *run)
{
    (void)room;
    (void)run;
}

static void take_watermark(void *room, int64_t watermark)
{
    (void)room;
    (void)watermark;
}

static const unsigned inputs[] = {0};
static const dfrt_step_entry steps[] = {{"quotes", "source", NULL, 0, false, 0},
                                        {"sums", "aggregate", inputs, 1, false, 1}};
static const dfrt_segment segments[] = {
    {.name = "read", .step = "quotes", .size = sizeof(segment), .open = open_segment, .close = close_segment},
    {.name = "keyed", .step = "sums", .size = sizeof(segment), .degree = 1, .elastic = true, .open = open_segment,
     .close = close_segment}};
static const dfrt_edge edges[] = {{"quotes", 0, 1, sizeof(uint64_t), NULL, consume, take_watermark, hash_of, false}};
static const dfrt_source_entry sources[] = {{.name = "quotes", .spec = "csv:-", .time_field = -1, .step = 0}};
static const char *const control[] = {
    "{\"schema\": 2, \"app\": \"table\", \"step\": 1, \"goals\": [],",
    " \"operators\": [{\"name\": \"sums\", \"policy\": \"static\", \"parameters\": {\"degree\": 3},",
    "                \"safety\": {\"warmup\": 0}}]}", NULL};
static const dfrt_program program = {.abi = DFRT_ABI_VERSION, .name = "table", .version = "1", .control = control,
                                     .source_count = 1, .segment_count = 2, .step_count = 2, .edge_count = 1,
                                     .sources = sources, .segments = segments, .steps = steps, .edges = edges};

static dfrt_run_state run;
static dfrt__layout_plan layout;
static dfrt__reader reader = {.program = &program};
static dfrt__input input;
static dfrt__agent *agent;
static dfrt__status status;

/* Two that share a slot, and one of another. */
static const uint64_t big = (UINT64_C(7) << 54) + 1, other = (UINT64_C(7) << 54) + 2, third = (UINT64_C(500) << 54) + 3;

static void start(void)
{
    dfrt_error error;
    dfrt__control read_in;
    reader.inputs = &input;
    CHECK(dfrt__run_open(&run, &program, &error) == DFRT_OK);
    CHECK(dfrt__layout_open(&layout, &program, &run, (dfrt__degrees){1, MOST}, false, &error) == DFRT_OK);
    CHECK(dfrt__control_read(&read_in, &program, NULL, &error) == DFRT_OK);
    dfrt__agent_options options = {.cores = MOST, .log = "log.jsonl", .sysfs = "nowhere", .quiet = true};
    CHECK(dfrt__agent_open(&agent, &options, &read_in, &layout, &reader, false, &error) == DFRT_OK);
    agent->started_ns = agent->stepped_ns = 1000000000;
}

static void finish(void)
{
    dfrt__agent_stop(agent);
    dfrt__agent_close(agent);
    dfrt__layout_close(&layout);
    dfrt__run_close(&run);
}

/* --- readings ------------------------------------------------------------------------------------------- */

static unsigned worker_of(uint64_t hash) { return dfrt_routing_of(&layout.elastic->latest->routings[1], hash); }

/* A sampled tuple, and the work that it stands for: those of a step keep one worker busy for 0.8 s. */
static void bring(uint64_t hash)
{
    dfrt_stage_monitor *monitor = layout.stages[layout.first_stage[1] + worker_of(hash)]->monitor;
    dfrt__watch_raise(&monitor->slot_tuples[hash >> 54], 64);
    dfrt_key_samples_add(monitor->keys, hash, 64);
    dfrt__watch_bump(&monitor->busy_ns, 800000000u / SAMPLES_A_STEP);
    dfrt__watch_bump(&monitor->elements, 64);
    dfrt__watch_bump(&layout.stages[0]->monitor->counts[0].out, 64);
}

/* The keys of a step in turns: so many percent of three, and of the rest each one once. */
static void bring_step(unsigned of_big, unsigned of_other, unsigned of_third)
{
    static uint64_t rest;
    for (unsigned i = 0; i < SAMPLES_A_STEP; i++) {
        unsigned percent = i * 37 % 100;
        bring(percent < of_big                          ? big
              : percent < of_big + of_other             ? other
              : percent < of_big + of_other + of_third ? third
                                                        : dfrt_hash_u64(rest++));
    }
}

static const dfrt__operator_status *step_at(unsigned second)
{
    dfrt__agent_step(agent, 1000000000 + (uint64_t)second * 1000000000u);
    dfrt__agent_status(agent, &status);
    return &status.operators[0];
}

/* What all stages of a running program would do. */
static void complete_change(void)
{
    dfrt__configuration *configuration = dfrt__elastic_next(layout.elastic);
    while (dfrt_elastic_busy(layout.elastic)) dfrt__configuration_done(configuration);
}

/* --- tests ---------------------------------------------------------------------------------------------- */

static void test_heavy_keys_get_routes(void)
{
    start();
    bring_step(31, 28, 0);
    const dfrt__operator_status *one = step_at(1);
    CHECK(one->workers == 3 && one->heavy_keys == 2); /* from one worker to three */
    CHECK(worker_of(big) != worker_of(other));
    complete_change();
    bring_step(31, 28, 0);
    one = step_at(2);
    bring_step(31, 28, 0);
    one = step_at(3);
    CHECK(one->changes == 1 && one->heavy_keys == 2); /* balanced: nothing to do */
    for (unsigned second = 4; second < 7; second++) { /* another key grows on the worker of the first, which fades */
        bring_step(2, 28, 31);
        one = step_at(second);
        complete_change();
    }
    CHECK(one->changes == 2 && one->workers == 3 && one->heavy_keys == 2);
    CHECK(worker_of(third) != worker_of(other) && worker_of(big) == layout.elastic->latest->routings[1].routes[7] % 0x8000u);
    CHECK(strstr(status.changes[1].reason, "2 of them on their own") != NULL);
    finish();
    char *log = read_text("log.jsonl");
    CHECK(strstr(log, "\"rebalanced\":true,\"heavy_keys\":2,") != NULL);
    free(log);
}

/* Many keys, none heavy. */
static void test_even_keys_get_none(void)
{
    start();
    bring_step(0, 0, 0);
    const dfrt__operator_status *one = step_at(1);
    CHECK(one->workers == 3 && one->heavy_keys == 0);
    complete_change();
    finish();
}

int main(void)
{
    enter_scratch_folder();
    test_heavy_keys_get_routes();
    test_even_keys_get_none();
    leave_scratch_folder();
    return 0;
}
