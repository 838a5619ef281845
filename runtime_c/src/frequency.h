/* The frequency of the cores and the energy they use, where the system tells: cpufreq and powercap below a root that is
 * /sys, or a folder made up for a test.
 *
 * Threads:   one thread at a time uses it, the agent's.
 * Ownership: it owns the paths it has found; what it has set is set back when it is closed.
 * Progress:  reads and writes a few small files of the kernel.
 */
#ifndef DFRT_SRC_FREQUENCY_H
#define DFRT_SRC_FREQUENCY_H

#include <stdbool.h>

#include "dfrt/status.h"

enum { DFRT__MOST_DOMAINS = 256, DFRT__MOST_PACKAGES = 16, DFRT__SYSFS_ROOM = 512 };

/* Cores that change together. */
typedef struct dfrt__frequency_domain {
    char path[DFRT__SYSFS_ROOM];
    long long before_least, before_most; /* kHz, as found; 0: nothing was set */
} dfrt__frequency_domain;

typedef struct dfrt__energy_meter {
    char path[DFRT__SYSFS_ROOM];
    double last_uj, range_uj, joules; /* since the opening */
} dfrt__energy_meter;

typedef struct dfrt__frequency {
    dfrt__frequency_domain domains[DFRT__MOST_DOMAINS];
    unsigned domain_count;
    dfrt__energy_meter meters[DFRT__MOST_PACKAGES];
    unsigned meter_count;
} dfrt__frequency;

/* Finds what is there. `why`: for each of the two that is missing, one line to say once; empty otherwise. */
typedef struct dfrt__frequency_missing {
    dfrt_error frequency, energy;
} dfrt__frequency_missing;
void dfrt__frequency_open(dfrt__frequency *frequency, const char *root, dfrt__frequency_missing *why);
/* Sets back what was changed. */
void dfrt__frequency_close(dfrt__frequency *frequency);

/* All cores at this frequency, as near as the machine can. DFRT_MISSING: there is no cpufreq; DFRT_IO: it refused. */
dfrt_status dfrt__frequency_set(dfrt__frequency *frequency, double hertz, dfrt_error *error);
/* The mean of the cores now; NaN: not known. */
double dfrt__frequency_now(const dfrt__frequency *frequency);
/* Joules of all packages since the opening; NaN: not known. */
double dfrt__frequency_joules(dfrt__frequency *frequency);

#endif
