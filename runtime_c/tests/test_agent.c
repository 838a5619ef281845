#define _GNU_SOURCE
/* What the agent measures, and what it does with the machine. */
#include "table_agent.h"

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

#define CPU "sys/devices/system/cpu/cpufreq/policy0/"

static void make_slow_machine(void)
{
    write_deep(CPU "cpuinfo_min_freq", "1200000\n");
    write_deep(CPU "cpuinfo_max_freq", "2000000\n");
    write_deep(CPU "scaling_min_freq", "1200000\n");
    write_deep(CPU "scaling_max_freq", "1300000\n");
    write_deep(CPU "scaling_cur_freq", "1300000\n");
}

static void write_frequencies(const char *shadow, const char *values)
{
    char text[400];
    (void)snprintf(text, sizeof text,
                   "{\"schema\": 2, \"app\": \"table\", \"shadow\": %s, \"resources\": {\"frequencies\": [%s]}, "
                   "\"operators\": [{\"name\": \"typical\", \"policy\": \"static\"}]}", shadow, values);
    write_text("frequencies.json", text);
}

/* What the first prediction takes to be the frequency is the frequency. */
static void test_frequency_at_the_start(void)
{
    sysfs = "sys";
    make_slow_machine();
    write_frequencies("false", "1.2e9, 1.6e9, 2.0e9");
    start("frequencies.json");
    CHECK(agent->operators[0].setting.frequency == 2);
    check_file(CPU "scaling_min_freq", "2000000\n");
    check_file(CPU "scaling_max_freq", "2000000\n");
    write_deep(CPU "scaling_cur_freq", "2000000\n"); /* as a machine would */
    write_frequencies("false", "1.2e9, 1.4e9, 1.8e9");
    check_reply("reload frequencies.json", DFRT_OK, "frequencies.json is in force");
    work(100);
    CHECK(step_at(1)->changes == 0 && agent->operators[0].setting.frequency == 2);
    check_file(CPU "scaling_max_freq", "1800000\n");
    finish();
    check_file(CPU "scaling_max_freq", "1300000\n");
    sysfs = "nowhere";
}

/* Who does not act leaves the machine alone, and looks at what it does. */
static void test_frequency_in_shadow_mode(void)
{
    sysfs = "sys";
    make_slow_machine();
    write_frequencies("true", "1.2e9, 1.6e9, 2.0e9");
    start("frequencies.json");
    CHECK(agent->operators[0].setting.frequency == 0);
    write_deep(CPU "scaling_cur_freq", "1700000\n");
    work(100);
    CHECK(step_at(1)->changes == 0 && agent->operators[0].setting.frequency == 1);
    check_file(CPU "scaling_max_freq", "1300000\n");
    check_reply("shadow off", DFRT_OK, "decisions are carried out");
    work(100);
    CHECK(step_at(2)->changes == 1 && agent->operators[0].setting.frequency == 2);
    check_file(CPU "scaling_max_freq", "2000000\n");
    finish();
    sysfs = "nowhere";
}

/* One that refuses is said once, and looked at. */
static void test_frequency_that_can_not_be_set(void)
{
    sysfs = "sys";
    make_slow_machine();
    write_frequencies("false", "1.2e9, 1.6e9, 2.0e9");
    CHECK(unlink(CPU "scaling_min_freq") == 0);
    start("frequencies.json");
    CHECK(agent->operators[0].setting.frequency == 0);
    work(100);
    CHECK(step_at(1)->changes == 0 && agent->operators[0].setting.frequency == 0);
    finish();
    sysfs = "nowhere";
}

int main(void)
{
    enter_scratch_folder();
    test_steps();
    test_odd_times();
    test_frequency_at_the_start();
    test_frequency_in_shadow_mode();
    test_frequency_that_can_not_be_set();
    leave_scratch_folder();
    return 0;
}
