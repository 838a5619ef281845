#define _GNU_SOURCE
/* What the agent may be told while the program runs. */
#include "table_agent.h"

static void test_commands(void)
{
    start(NULL);
    check_reply("workers typical 2", DFRT_USAGE, "typical: its degree cannot change in this run (1)");
    check_reply("workers none 2", DFRT_USAGE, "no operator 'none' can be controlled; there is typical");
    check_reply("alternate typical dear", DFRT_OK, "typical: alternate dear, held until 'alternate typical auto'");
    check_reply("alternate typical odd", DFRT_USAGE, "typical: there is no alternate 'odd'; there are dear, cheap");
    CHECK_TEXT(step_at(1)->alternate, "dear"); /* what is held is not the controller's */
    CHECK(status.operators[0].alternate_held);
    work(100);
    CHECK(strstr(step_at(1.5)->reason, "alternate 0 (held)") != NULL);
    check_reply("alternate typical auto", DFRT_OK, "typical: the alternate is the controller's again");
    check_reply("shadow on", DFRT_OK, "decisions are logged and not carried out");
    work(100);
    CHECK_TEXT(step_at(2)->alternate, "dear");
    CHECK(status.shadow && status.change_count > 0 && !status.changes[status.change_count - 1].acted);
    check_reply("shadow off", DFRT_OK, "decisions are carried out");
    work(100);
    CHECK_TEXT(step_at(3)->alternate, "cheap");
    check_reply("shadow perhaps", DFRT_USAGE, "shadow is on or off, not 'perhaps'");
    check_reply("policy typical nobody", DFRT_USAGE,
                "there is no policy 'nobody'; there are off, auto, mpc, rule, threshold, spl, rl, static, alternates");
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

static void check_configuration(const char *part, bool there)
{
    char *text = dfrt__agent_configuration(agent);
    CHECK(text != NULL && (strstr(text, part) != NULL) == there);
    free(text);
}

/* What was told stays until something else is told, and the configuration says what is in force. */
static void test_what_commands_changed(void)
{
    write_text("good.json", "{\"schema\": 2, \"app\": \"table\", \"operators\": [{\"name\": \"typical\", "
                            "\"policy\": \"static\", \"parameters\": {\"alternate\": \"cheap\"}}]}");
    start(NULL);
    check_reply("shadow on", DFRT_OK, "decisions are logged and not carried out");
    check_reply("policy typical rule", DFRT_OK, "typical: policy rule");
    check_configuration("\"policy\": \"rule\"", true);
    check_configuration("\"shadow\": true", true);
    check_configuration("\"alternate\": \"cheap\"", false);
    check_reply("reload good.json", DFRT_OK, "good.json is in force; typical has static again, not rule; "
                                             "shadow mode stays on until 'shadow off'");
    CHECK(agent->shadow);
    check_configuration("\"alternate\": \"cheap\"", true);
    check_reply("shadow off", DFRT_OK, "decisions are carried out");
    check_reply("policy typical rule", DFRT_OK, "typical: policy rule");
    check_reply("policy typical static", DFRT_OK, "typical: policy static"); /* with the file's parameters */
    check_configuration("\"alternate\": \"cheap\"", true);
    work(100);
    (void)step_at(1);
    work(100);
    CHECK_TEXT(step_at(2)->alternate, "cheap");
    finish();
}

/* The cores are those of operators with a degree that can change, and of others while somebody decides there. */
static void test_cores_to_divide(void)
{
    start(NULL);
    CHECK(agent->manager.cores == 2);
    check_reply("policy typical off", DFRT_OK, "typical: policy off");
    CHECK(agent->manager.cores == 1);
    check_reply("policy typical rule", DFRT_OK, "typical: policy rule");
    CHECK(agent->manager.cores == 2);
    finish();
}

static char *learned_by(const dfrt_controller *controller)
{
    size_t size = dfrt_controller_save(controller, NULL, 0);
    char *text = malloc(size + 1);
    CHECK(size > 0 && text != NULL);
    (void)dfrt_controller_save(controller, text, size + 1);
    return text;
}

/* A policy that goes and comes again, or gets new rules, knows what it knew. */
static void test_what_was_learned_stays(void)
{
    write_text("rl.json", "{\"schema\": 2, \"app\": \"table\", \"operators\": [{\"name\": \"typical\", "
                          "\"policy\": \"rl\", \"parameters\": {\"levels\": 3}}]}");
    write_text("finer.json", "{\"schema\": 2, \"app\": \"table\", \"operators\": [{\"name\": \"typical\", "
                             "\"policy\": \"rl\", \"parameters\": {\"levels\": 4}}]}");
    start("rl.json");
    dfrt_monitor_start(layout.stages[0]->monitor);
    char *nothing = learned_by(agent->operators[0].controller);
    for (unsigned i = 1; i < 9; i++) {
        work(100 * i);
        (void)step_at(i);
    }
    char *before = learned_by(agent->operators[0].controller);
    CHECK(strcmp(before, nothing) != 0);
    check_reply("reload", DFRT_OK, "rl.json is in force");
    char *reloaded = learned_by(agent->operators[0].controller);
    CHECK_TEXT(reloaded, before);
    check_reply("policy typical rule", DFRT_OK, "typical: policy rule");
    check_reply("policy typical rl", DFRT_OK, "typical: policy rl");
    char *chosen = learned_by(agent->operators[0].controller);
    CHECK_TEXT(chosen, before);
    check_reply("reload finer.json", DFRT_OK,
                "finer.json is in force; what typical has learned does not fit, it begins anew");
    free(nothing);
    free(before);
    free(reloaded);
    free(chosen);
    finish();
}

int main(void)
{
    enter_scratch_folder();
    test_commands();
    test_refused_words();
    test_reload();
    test_what_commands_changed();
    test_cores_to_divide();
    test_what_was_learned_stays();
    leave_scratch_folder();
    return 0;
}
