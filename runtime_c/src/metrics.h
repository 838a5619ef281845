/* What a running program tells a collector: Prometheus' text format, version 0.0.4.
 *
 * Threads:   pure; the caller brings copies of what is measured.
 * Ownership: nothing is kept.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_METRICS_H
#define DFRT_SRC_METRICS_H

#include "agent.h"

/* `latency`: of all results since the start. Values that are not known are left out. */
void dfrt__metrics_write(FILE *out, const dfrt__status *status, const dfrt__step_status *steps, unsigned step_count,
                         const dfrt_histogram *latency);

#endif
