#define _GNU_SOURCE
#include "../src/frequency.h"

#include <math.h>

#include "check.h"

#define CPU "sys/devices/system/cpu/cpufreq/policy0/"
#define RAPL "sys/class/powercap/intel-rapl:0/"

static void make_tree(void)
{
    write_deep(CPU "cpuinfo_min_freq", "1200000\n");
    write_deep(CPU "cpuinfo_max_freq", "2000000\n");
    write_deep(CPU "scaling_min_freq", "1200000\n");
    write_deep(CPU "scaling_max_freq", "2000000\n");
    write_deep(CPU "scaling_cur_freq", "1500000\n");
    write_deep(CPU "scaling_governor", "schedutil\n");
    write_deep(RAPL "energy_uj", "1000000\n");
    write_deep(RAPL "max_energy_range_uj", "3000000\n");
    write_deep("sys/class/powercap/intel-rapl:0:0/energy_uj", "7\n"); /* a part of the package */
    write_deep("sys/devices/system/cpu/cpufreq/ondemand/sampling_rate", "1\n");
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
    write_deep(RAPL "energy_uj", "2500000\n");
    CHECK(fabs(dfrt__frequency_joules(&machine) - 1.5) < 1e-9);
    write_deep(RAPL "energy_uj", "500000\n"); /* began again: 0.5 up to the range, and 0.5 */
    CHECK(fabs(dfrt__frequency_joules(&machine) - 2.5) < 1e-9);
    dfrt__frequency_close(&machine);
    check_file(CPU "scaling_min_freq", "1200000\n");
    check_file(CPU "scaling_max_freq", "2000000\n");
}

static void test_by_hand(void)
{
    write_deep(CPU "scaling_governor", "userspace\n");
    write_deep(CPU "scaling_setspeed", "1500000\n");
    dfrt__frequency_open(&machine, "sys", &missing);
    CHECK(dfrt__frequency_set(&machine, 1.4e9, &error) == DFRT_OK);
    check_file(CPU "scaling_setspeed", "1400000\n");
    dfrt__frequency_close(&machine);
}

static void test_broken(void)
{
    write_deep(RAPL "energy_uj", "many\n");
    write_deep(CPU "scaling_cur_freq", "");
    dfrt__frequency_open(&machine, "sys", &missing);
    CHECK(machine.domain_count == 1 && machine.meter_count == 0);
    CHECK_TEXT(missing.energy.text, "no energy meter below 'sys': power is the model's");
    CHECK(isnan(dfrt__frequency_now(&machine)) && isnan(dfrt__frequency_joules(&machine)));
    CHECK(remove(CPU "scaling_max_freq") == 0);
    CHECK(dfrt__frequency_set(&machine, 1.3e9, &error) == DFRT_IO);
    CHECK(strstr(error.text, "cannot set the frequency in 'sys/devices") != NULL);
    dfrt__frequency_close(&machine);
    write_deep(CPU "cpuinfo_max_freq", "-5\n");
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
