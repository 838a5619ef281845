/* The agent of a program that is a table and nothing else: the test is its generated code, its input and its clock. */
#ifndef DFRT_TESTS_TABLE_AGENT_H
#define DFRT_TESTS_TABLE_AGENT_H

#include "../src/agent_state.h"

#include <math.h>

#include "../src/run.h"
#include "check.h"

typedef struct segment {
    dfrt_segment_head head;
} segment;

static dfrt_status open_segment(void *room, dfrt_error *error)
{
    (void)room;
    (void)error;
    return DFRT_OK;
}

static void close_segment(void *room)
{
    (void)room;
}

static const char *const names[] = {"dear", "cheap"};
static const unsigned operator_inputs[] = {0};
static const dfrt_step_entry steps[] = {{"quotes", "source", NULL, 0, false, 0},
                                        {"typical", "operator", operator_inputs, 1, false, 0}};
static const dfrt_segment segments[] = {{.name = "read", .step = "quotes", .size = sizeof(segment),
                                         .open = open_segment, .close = close_segment}};
static const dfrt_source_entry sources[] = {{.name = "quotes", .spec = "csv:-", .time_field = -1, .step = 0}};
static const dfrt_alternates alternates[] = {{"typical", names, 2, 0}};
static const char *const control[] = {
    "{\"schema\": 2, \"app\": \"table\", \"step\": 1,",
    " \"goals\": [{\"metric\": \"latency\", \"statistic\": \"p99\", \"bound\": 0.01}],",
    " \"operators\": [{\"name\": \"typical\", \"policy\": \"static\", \"parameters\": {\"alternate\": \"cheap\"},",
    "                \"safety\": {\"warmup\": 0}}]}", NULL};
static const dfrt_program program = {.abi = DFRT_ABI_VERSION, .name = "table", .version = "1", .control = control,
                                     .source_count = 1, .segment_count = 1, .step_count = 2, .alternates_count = 1,
                                     .sources = sources, .segments = segments, .steps = steps,
                                     .alternates = alternates};

static dfrt_run_state run;
static dfrt__layout_plan layout;
static dfrt__reader reader = {.program = &program};
static dfrt__input input;
static dfrt__agent *agent;
static dfrt__status status;
static const char *sysfs = "nowhere";

static inline void start(const char *file)
{
    dfrt_error error;
    dfrt__control read_in;
    reader.inputs = &input;
    CHECK(dfrt__run_open(&run, &program, &error) == DFRT_OK);
    CHECK(dfrt__layout_open(&layout, &program, &run, (dfrt__degrees){0}, true, &error) == DFRT_OK);
    CHECK(dfrt__control_read(&read_in, &program, file, &error) == DFRT_OK);
    dfrt__agent_options options = {.cores = 1, .log = "log.jsonl", .sysfs = sysfs, .quiet = true};
    CHECK(dfrt__agent_open(&agent, &options, &read_in, &layout, &reader, true, &error) == DFRT_OK);
    CHECK(agent->count == 1 && agent->operators[0].controller != NULL);
    agent->started_ns = agent->stepped_ns = 1000000000;
}

static inline void finish(void)
{
    dfrt__agent_stop(agent);
    dfrt__agent_close(agent);
    dfrt__layout_close(&layout);
    dfrt__run_close(&run);
}

/* A round of the program: `tuples` come, every tenth gives a result. */
static inline void work(unsigned tuples)
{
    dfrt_stage *stage = layout.stages[0];
    segment *s = stage->segment;
    for (unsigned i = 0; i < tuples / 10; i++) {
        dfrt_watch *watch = dfrt_watched(&s->head, 1);
        CHECK(watch != NULL);
        if (dfrt_watch_due(watch)) {
            dfrt_watch_begin(watch);
            dfrt_watch_end(watch, atomic_load(&run.alternates[0]), 0, true);
        }
        s->head.counts[1].out++;
        stage->results++;
    }
    s->head.counts[0].out += tuples;
    dfrt_monitor_read(stage->monitor, tuples, dfrt_now_ns());
    dfrt_stage_end_round(stage, &(dfrt_round_end){.read_ns = dfrt_now_ns()});
}

static inline const dfrt__operator_status *step_at(double seconds)
{
    dfrt__agent_step(agent, 1000000000 + (uint64_t)(seconds * 1e9));
    dfrt__agent_status(agent, &status);
    return &status.operators[0];
}

static inline void check_reply(const char *request, dfrt_status wanted, const char *text)
{
    dfrt_error reply = {{0}};
    CHECK(dfrt__agent_command(agent, request, &reply) == wanted);
    CHECK_TEXT(reply.text, text);
}

#endif
