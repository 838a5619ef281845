#define _GNU_SOURCE
#include "../src/frequency.h"

#include <math.h>
#include <sys/stat.h>

#include "check.h"

static void put(const char *path, const char *text)
{
    char folder[512];
    for (const char *c = strchr(path, '/'); c != NULL; c = strchr(c + 1, '/')) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(c - path), path);
        (void)mkdir(folder, 0755); /* is there already, mostly */
    }
    write_text(path, text);
}

#define CPU "sys/devices/system/cpu/cpufreq/policy0/"
#define RAPL "sys/class/powercap/intel-rapl:0/"

static void make_tree(void)
{
    put(CPU "cpuinfo_min_freq", "1200000\n");
    put(CPU "cpuinfo_max_freq", "2000000\n");
    put(CPU "scaling_min_freq", "1200000\n");
    put(CPU "scaling_max_freq", "2000000\n");
    put(CPU "scaling_cur_freq", "1500000\n");
    put(CPU "scaling_governor", "schedutil\n");
    put(RAPL "energy_uj", "1000000\n");
    put(RAPL "max_energy_range_uj", "3000000\n");
    put("sys/class/powercap/intel-rapl:0:0/energy_uj", "7\n"); /* a part of the package */
    put("sys/devices/system/cpu/cpufreq/ondemand/sampling_rate", "1\n");
}

static dfrt__frequency machine;
static dfrt__frequency_missing missing;
static dfrt_error error;

static void test_whole(void)
{
    dfrt__frequency_open(&machine, "sys", &missing);
    CHECK(machine.domain_count == 1 && machine.meter_count == 1);
    CHECK(missing.frequency.text[0] == '\0' && missing.energy.text[0] == '\0');
    CHECK(dfrt__frequency_now(&machine) == 1.5e9);
    CHECK(dfrt__frequency_set(&machine, 1.3e9, &error) == DFRT_OK);
    check_file(CPU "scaling_min_freq", "1300000\n");
    check_file(CPU "scaling_max_freq", "1300000\n");
    CHECK(dfrt__frequency_set(&machine, 9e9, &error) == DFRT_OK); /* as near as it can */
    check_file(CPU "scaling_max_freq", "2000000\n");
    CHECK(dfrt__frequency_set(&machine, NAN, &error) == DFRT_USAGE);
    CHECK(dfrt__frequency_joules(&machine) == 0);
    put(RAPL "energy_uj", "2500000\n");
    CHECK(fabs(dfrt__frequency_joules(&machine) - 1.5) < 1e-9);
    put(RAPL "energy_uj", "500000\n"); /* began again: 0.5 up to the range, and 0.5 */
    CHECK(fabs(dfrt__frequency_joules(&machine) - 2.5) < 1e-9);
    dfrt__frequency_close(&machine);
    check_file(CPU "scaling_min_freq", "1200000\n");
    check_file(CPU "scaling_max_freq", "2000000\n");
}

static void test_by_hand(void)
{
    put(CPU "scaling_governor", "userspace\n");
    put(CPU "scaling_setspeed", "1500000\n");
    dfrt__frequency_open(&machine, "sys", &missing);
    CHECK(dfrt__frequency_set(&machine, 1.4e9, &error) == DFRT_OK);
    check_file(CPU "scaling_setspeed", "1400000\n");
    dfrt__frequency_close(&machine);
}

static void test_broken(void)
{
    put(RAPL "energy_uj", "many\n");
    put(CPU "scaling_cur_freq", "");
    dfrt__frequency_open(&machine, "sys", &missing);
    CHECK(machine.domain_count == 1 && machine.meter_count == 0);
    CHECK_TEXT(missing.energy.text, "no energy meter below 'sys': power is the model's");
    CHECK(isnan(dfrt__frequency_now(&machine)) && isnan(dfrt__frequency_joules(&machine)));
    CHECK(remove(CPU "scaling_max_freq") == 0);
    CHECK(dfrt__frequency_set(&machine, 1.3e9, &error) == DFRT_IO);
    CHECK(strstr(error.text, "cannot set the frequency in 'sys/devices") != NULL);
    dfrt__frequency_close(&machine);
    put(CPU "cpuinfo_max_freq", "-5\n");
    dfrt__frequency_open(&machine, "sys", &missing);
    CHECK(machine.domain_count == 0);
    CHECK(dfrt__frequency_set(&machine, 1.3e9, &error) == DFRT_MISSING);
    dfrt__frequency_close(&machine);
}

static void test_none(void)
{
    char far[2 * DFRT__SYSFS_ROOM];
    memset(far, 'x', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    dfrt__frequency_open(&machine, "nowhere", &missing);
    CHECK_TEXT(missing.frequency.text, "no cpufreq below 'nowhere': the frequency stays as it is");
    CHECK(isnan(dfrt__frequency_joules(&machine)));
    dfrt__frequency_close(&machine);
    dfrt__frequency_open(&machine, far, &missing);
    CHECK(machine.domain_count == 0 && machine.meter_count == 0);
    dfrt__frequency_close(&machine);
}

int main(void)
{
    enter_scratch_folder();
    make_tree();
    test_whole();
    test_by_hand();
    test_broken();
    test_none();
    leave_scratch_folder();
    return 0;
}
