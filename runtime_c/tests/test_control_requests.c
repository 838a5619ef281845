/* Requests and their answers: JSON, Prometheus' text, and what is passed on to the agent. */
#define _GNU_SOURCE
#include "../src/control_requests.h"

#include "../src/json_out.h"
#include "check.h"
#include "fake_agent.h"

static dfrt__agent agent;
static dfrt_run_state run;
static const dfrt_program program = {.name = "fake", .plan = fake_plan, .step_count = 2};
static dfrt__requests requests = {&agent, &program, &run};

static const char *answer_of(const char *request)
{
    static char text[65536];
    dfrt__responder responder = dfrt__requests_responder(&requests);
    FILE *out = fmemopen(text, sizeof text, "w");
    CHECK(out != NULL);
    responder.answer(responder.context, request, out);
    CHECK(fclose(out) == 0);
    return text;
}

static void check_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) CHECK_TEXT(text, part);
}

static void test_status(void)
{
    CHECK_TEXT(
        answer_of("status"),
        "{\"ok\":true,\"status\":{\"app\":\"fake\",\"version\":\"1 \\\\ \\\"x\\\"\",\"layout\":\"staged\","
        "\"configuration\":null,\"controlled\":true,\"shadow\":false,\"draining\":false,\"control_steps\":12,"
        "\"tuples\":1000,\"results\":40,\"late\":3,\"malformed\":2,\"faults\":1,\"shed\":0,\"uptime\":12.5,\"step\":1.0,"
        "\"rate\":80.0,\"frequency\":null,\"power\":7.25,\"power_is_measured\":false,\"latency\":{\"count\":8,"
        "\"mean\":0.002,\"p50\":0.001,\"p90\":0.003,\"p95\":0.004,\"p99\":0.005,\"p999\":0.006,\"max\":0.007},"
        "\"goals\":{\"latency\":0.007,\"quantile\":0.95,\"throughput\":null,\"value\":null,\"minimize\":\"power\"},"
        "\"operators\":[{\"name\":\"predict\",\"policy\":\"mpc\",\"workers\":2,\"workers_least\":1,\"workers_most\":4,"
        "\"heavy_keys\":3,"
        "\"alternate\":\"exact\",\"alternates\":[\"exact\",\"qu\\\"ick\"],\"rate\":20.0,\"results\":20.0,"
        "\"service\":0.05,\"utilisation\":0.5,\"imbalance\":1.25,\"backlog\":0.0,\"waiting\":null,\"blocked\":0.0,"
        "\"forecast\":21.5,\"error\":null,\"shed\":0.0,\"throughput\":0.75,\"fell_back\":false,\"workers_held\":false,"
        "\"alternate_held\":false,\"triggers\":240,\"total_results\":239,\"changes\":1,"
        "\"reason\":\"2 workers \\ufffd\\n suffice\"}],\"changes\":[{\"uptime\":3.0,\"operator\":\"predict\","
        "\"before\":{\"workers\":1,\"frequency\":0,\"alternate\":\"exact\",\"shed\":0.0},\"after\":{\"workers\":2,"
        "\"frequency\":0,\"alternate\":\"qu\\\"ick\",\"shed\":0.5},\"acted\":true,\"reason\":\"more\"}],"
        "\"steps\":[{\"name\":\"quotes\",\"kind\":\"source\",\"in\":1000,\"out\":997,\"late\":3,\"malformed\":2,"
        "\"faults\":0},{\"name\":\"predict\",\"kind\":\"operator\",\"in\":997,\"out\":40,\"late\":0,\"malformed\":0,"
        "\"faults\":1}]}}\n");
    CHECK_TEXT(answer_of("status now"), "{\"ok\":false,\"error\":\"that request takes no words behind it\"}\n");
}

static void test_metrics(void)
{
    const char *text = answer_of("metrics");
    CHECK_TEXT(text + strlen(text) - 6, "# EOF\n");
    check_has(text, "# HELP dfc_tuples_total Tuples read from the sources.\n# TYPE dfc_tuples_total counter\n"
                    "dfc_tuples_total 1000.0\n");
    check_has(text, "dfc_info{app=\"fake\",version=\"1 \\\\ \\\"x\\\"\",layout=\"staged\"} 1\n");
    check_has(text, "dfc_operator_workers{operator=\"predict\"} 2.0\n");
    check_has(text, "dfc_operator_prediction_error_ratio{operator=\"predict\"} +Inf\n");
    check_has(text, "dfc_operator_alternate{operator=\"predict\",alternate=\"exact\"} 1\n"
                    "dfc_operator_alternate{operator=\"predict\",alternate=\"qu\\\"ick\"} 0\n");
    check_has(text, "dfc_step_in_total{step=\"predict\",kind=\"operator\"} 997\n");
    check_has(text, "dfc_power_modelled 7.25\n");
    check_has(text, "dfc_recent_latency_seconds{statistic=\"p95\"} 0.004\n");
    CHECK(strstr(text, "dfc_operator_waiting_seconds") == NULL && strstr(text, "NaN") == NULL); /* nobody knows */
    check_has(text, "dfc_latency_seconds_bucket{le=\"1e-05\"} 1\n");
    check_has(text, "dfc_latency_seconds_bucket{le=\"0.002\"} 1\ndfc_latency_seconds_bucket{le=\"0.005\"} 3\n");
    check_has(text, "dfc_latency_seconds_bucket{le=\"10\"} 3\ndfc_latency_seconds_bucket{le=\"+Inf\"} 4\n");
    check_has(text, "dfc_latency_seconds_count 4\n");
}

static void test_no_operators(void)
{
    agent.status.operator_count = agent.status.change_count = 0;
    agent.status.latency = (dfrt__latency_status){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    CHECK(strstr(answer_of("metrics"), "operator_") == NULL && strstr(answer_of("metrics"), "recent") == NULL);
    check_has(answer_of("status"), "\"operators\":[],\"changes\":[],");
    CHECK_TEXT(answer_of("decisions"), "{\"ok\":true,\"decisions\":[]}\n");
    fill_fake_agent(&agent);
}

static void test_decisions(void)
{
    check_has(answer_of("decisions"), "{\"ok\":true,\"decisions\":[{\"uptime\":3.0,\"operator\":\"predict\",");
    CHECK_TEXT(answer_of("decisions 0"), "{\"ok\":true,\"decisions\":[]}\n");
    check_has(answer_of("decisions 16"), "\"reason\":\"more\"}]}\n");
    static const char *const wrong[] = {"decisions -1", "decisions 17", "decisions 1 2", "decisions x",
                                        "decisions 99999999999999999999999"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_TEXT(answer_of(wrong[i]), "{\"ok\":false,\"error\":\"decisions takes a number from 0 to 16\"}\n");
}

static void test_texts(void)
{
    CHECK_TEXT(answer_of("plan"), "{\"ok\":true,\"plan\":[\"plan of \\\"fake\\\"\",\"  one\\\\two\"]}\n");
    CHECK_TEXT(answer_of("config"), "{\"ok\":true,\"config\":null}\n");
    agent.configuration = "{\n  \"a\": 1\r\n}\n";
    CHECK_TEXT(answer_of("config"), "{\"ok\":true,\"config\":{   \"a\": 1  } }\n");
    check_has(answer_of("help"), "\"workers OPERATOR N|auto: hold an operator");
}

static void test_commands(void)
{
    CHECK_TEXT(answer_of("  workers predict 3  "), "{\"ok\":true,\"message\":\"heard \\\"workers predict 3\\\"\"}\n");
    CHECK_TEXT(agent.command, "workers predict 3");
    agent.answer = DFRT_USAGE;
    CHECK_TEXT(answer_of("drain"), "{\"ok\":false,\"error\":\"heard \\\"drain\\\"\"}\n");
    agent.answer = DFRT_AGAIN;
    CHECK_TEXT(answer_of("shadow on"), "{\"ok\":false,\"again\":true,\"error\":\"heard \\\"shadow on\\\"\"}\n");
    agent.answer = DFRT_OK;
    (void)snprintf(agent.command, sizeof agent.command, "nothing");
    CHECK_TEXT(answer_of("explode \"now\""),
               "{\"ok\":false,\"error\":\"there is no request 'explode'; `help` lists them\"}\n");
    check_has(answer_of("work"), "there is no request 'work'");
    char word[300];
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    CHECK(strlen(answer_of(word)) < 160);
    CHECK_TEXT(agent.command, "nothing");
}

static void test_health(void)
{
    dfrt__responder responder = dfrt__requests_responder(&requests);
    CHECK(responder.healthy(responder.context));
    atomic_store(&run.stop, 1);
    CHECK(!responder.healthy(responder.context));
}

int main(void)
{
    fill_fake_agent(&agent);
    test_status();
    test_metrics();
    test_no_operators();
    test_decisions();
    test_texts();
    test_commands();
    test_health();
    return 0;
}
