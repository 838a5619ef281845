#include "power.h"

#include "models.h"

#include <math.h>

/* What a unit of the model stands for. */
static double watts_a_unit(const dfrt_limits *limits, const dfrt_measured *measured, dfrt_setting now)
{
    double watts = measured->power / dfrt_model_power(limits, now.workers, now.frequency);
    return watts > 0 && watts < INFINITY ? watts : 1;
}

/* 0: none. Power grows by the same for each worker. */
static unsigned workers_within(const dfrt_limits *limits, unsigned frequency, double units)
{
    double idle = dfrt_model_power(limits, 0, frequency), a_worker = dfrt_model_power(limits, 1, frequency) - idle;
    double count = floor((units - idle) / a_worker + 1e-9);
    return count < limits->workers_least ? 0 : count < limits->workers_most ? (unsigned)count : limits->workers_most;
}

enum dfrt__power_room dfrt__limit_power(dfrt_limits *limits, const dfrt_measured *measured, dfrt_setting now)
{
    if (!(limits->power_most > 0 && limits->power_most < INFINITY))
        return DFRT__POWER_FREE;
    double units = limits->power_most / watts_a_unit(limits, measured, now), best = 0;
    unsigned workers = limits->workers_least, count = 1;
    for (unsigned frequency = 0; frequency < limits->frequency_count; frequency++) {
        unsigned most = workers_within(limits, frequency, units);
        double does = most * limits->frequencies[frequency];
        if (most > 0 && !(does < best)) {
            best = does;
            workers = most;
            count = frequency + 1;
        }
    }
    bool any = best > 0 || workers_within(limits, 0, units) > 0;
    bool same = workers == limits->workers_most && count == limits->frequency_count;
    limits->workers_most = workers;
    limits->frequency_count = count;
    return !any ? DFRT__POWER_NONE : same ? DFRT__POWER_FREE : DFRT__POWER_NARROW;
}
