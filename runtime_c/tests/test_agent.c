#define _GNU_SOURCE
/* The agent of a program that is a table and nothing else: the test is its generated code, its input and its clock. */
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

static void start(const char *file)
{
    dfrt_error error;
    dfrt__control read_in;
    reader.inputs = &input;
    CHECK(dfrt__run_open(&run, &program, &error) == DFRT_OK);
    CHECK(dfrt__layout_open(&layout, &program, &run, (dfrt__degrees){0}, true, &error) == DFRT_OK);
    CHECK(dfrt__control_read(&read_in, &program, file, &error) == DFRT_OK);
    dfrt__agent_options options = {.cores = 1, .log = "log.jsonl", .sysfs = "nowhere", .quiet = true};
    CHECK(dfrt__agent_open(&agent, &options, &read_in, &layout, &reader, true, &error) == DFRT_OK);
    CHECK(agent->count == 1 && agent->operators[0].controller != NULL);
    agent->started_ns = agent->stepped_ns = 1000000000;
}

static void finish(void)
{
    dfrt__agent_stop(agent);
    dfrt__agent_close(agent);
    dfrt__layout_close(&layout);
    dfrt__run_close(&run);
}

/* A round of the program: `tuples` come, every tenth gives a result. */
static void work(unsigned tuples)
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

static const dfrt__operator_status *step_at(double seconds)
{
    dfrt__agent_step(agent, 1000000000 + (uint64_t)(seconds * 1e9));
    dfrt__agent_status(agent, &status);
    return &status.operators[0];
}

static void test_steps(void)
{
    start(NULL);
    dfrt_monitor_start(layout.stages[0]->monitor);
    work(1000);
    const dfrt__operator_status *one = step_at(1);
    CHECK(status.steps == 1 && status.tuples == 1000 && status.rate == 1000 && one->rate == 100);
    CHECK(one->triggers == 100 && one->total_results == 100 && one->changes == 1 && one->workers == 1);
    CHECK_TEXT(one->alternate, "cheap");
    CHECK(status.change_count == 1 && status.changes[0].before.alternate == 0 && status.changes[0].acted);
    CHECK(status.latency.count == 100 && status.goals.latency == 0.01 && status.goals.quantile == 0.99);
    work(500);
    one = step_at(3);
    CHECK(status.rate == 250 && one->rate == 25 && one->changes == 1 && one->reason[0] != '\0');
    finish();
}

/* Nothing comes; the clock stands still, goes back, leaps: the setting stays within its limits, with a reason. */
static void test_odd_times(void)
{
    start(NULL);
    static const double times[] = {1, 1, 1, 0.5, 2, 1e6, 1e6, 3, 1e9};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (i % 3 == 0) work(10);
        const dfrt__operator_status *one = step_at(times[i]);
        CHECK(one->workers == 1 && one->reason[0] != '\0' && (one->changes == 0 || one->changes == 1));
        CHECK(status.steps == i + 1 && !(one->utilisation > 1));
    }
    finish();
}

static void check_reply(const char *request, dfrt_status wanted, const char *text)
{
    dfrt_error reply = {{0}};
    CHECK(dfrt__agent_command(agent, request, &reply) == wanted);
    CHECK_TEXT(reply.text, text);
}

static void test_commands(void)
{
    start(NULL);
    check_reply("workers typical 2", DFRT_USAGE, "typical: its degree cannot change in this run (1)");
    check_reply("workers none 2", DFRT_USAGE, "no operator 'none' can be controlled; there are typical");
    check_reply("alternate typical dear", DFRT_OK, "typical: alternate dear, held until 'alternate typical auto'");
    check_reply("alternate typical odd", DFRT_USAGE, "typical: there is no alternate 'odd'");
    CHECK_TEXT(step_at(1)->alternate, "dear"); /* what is held is not the controller's */
    CHECK(status.operators[0].alternate_held);
    check_reply("alternate typical auto", DFRT_OK, "typical: the alternate is the controller's again");
    check_reply("shadow on", DFRT_OK, "decisions are logged and not carried out");
    work(100);
    CHECK_TEXT(step_at(2)->alternate, "dear");
    CHECK(status.shadow && status.change_count > 0 && !status.changes[status.change_count - 1].acted);
    check_reply("shadow off", DFRT_OK, "decisions are carried out");
    work(100);
    CHECK_TEXT(step_at(3)->alternate, "cheap");
    check_reply("shadow perhaps", DFRT_USAGE, "shadow is on or off, not 'perhaps'");
    check_reply("policy typical nobody", DFRT_USAGE, "there is no policy 'nobody'");
    check_reply("policy typical off", DFRT_OK, "typical: policy off");
    CHECK_TEXT(step_at(4)->policy, "off");
    check_reply("policy typical rule", DFRT_OK, "typical: policy rule");
    CHECK_TEXT(step_at(5)->policy, "rule");
    CHECK(atomic_load(&run.stop) == 0);
    check_reply("drain", DFRT_OK, "no more input is read; the program ends when all of it is done");
    CHECK(atomic_load(&run.stop) != 0);
    finish();
}

static void test_refused_words(void)
{
    static const char *const wrong[] = {"", " ", "workers", "workers typical", "workers typical 1 2", "drain now",
                                        "reload\t", "WORKERS typical 1"};
    dfrt_error reply;
    start(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dfrt_status answer = dfrt__agent_command(agent, wrong[i], &reply);
        CHECK(answer == (strncmp(wrong[i], "reload", 6) == 0 ? DFRT_OK : DFRT_USAGE) && reply.text[0] != '\0');
    }
    char *longest = malloc(5000);
    CHECK(longest != NULL);
    memset(longest, 'w', 4999);
    longest[4999] = '\0';
    CHECK(dfrt__agent_command(agent, longest, &reply) == DFRT_USAGE);
    free(longest);
    finish();
}

/* A broken file leaves the running configuration alone. */
static void test_reload(void)
{
    write_text("good.json", "{\"schema\": 2, \"app\": \"table\", \"step\": 5, \"operators\": [{\"name\": \"typical\"}]}");
    write_text("bad file.json", "{\"schema\": 2, \"app\": \"table\",\n \"step\": \"soon\"}");
    start(NULL);
    char *before = dfrt__agent_configuration(agent);
    check_reply("reload bad file.json", DFRT_USAGE, "bad file.json:2:10: \"step\" is expected to be a number");
    check_reply("reload nowhere.json", DFRT_MISSING, "cannot open 'nowhere.json': No such file or directory");
    char *after = dfrt__agent_configuration(agent);
    CHECK_TEXT(after, before);
    CHECK_TEXT(step_at(1)->policy, "static");
    check_reply("reload good.json", DFRT_OK, "good.json is in force");
    CHECK_TEXT(step_at(2)->policy, "off");
    CHECK(status.step == 5 && strcmp(status.configuration, "good.json") == 0 && isnan(status.goals.latency));
    check_reply("reload", DFRT_OK, "good.json is in force");
    free(before);
    free(after);
    finish();
    char *log = read_text("log.jsonl");
    CHECK(strstr(log, "\"event\":\"refused\",\"detail\":\"reload bad file.json: bad file.json:2:10") != NULL);
    free(log);
}

int main(void)
{
    enter_scratch_folder();
    test_steps();
    test_odd_times();
    test_commands();
    test_refused_words();
    test_reload();
    leave_scratch_folder();
    return 0;
}
