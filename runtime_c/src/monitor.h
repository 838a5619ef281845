/* What the runtime itself calls of the monitoring; the counters are in dfrt/monitor.h.
 *
 * Threads:   those that take a monitor or a stage are called by the thread that runs the stage.
 * Ownership: as in dfrt/monitor.h.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_MONITOR_H
#define DFRT_SRC_MONITOR_H

#include "dfrt/monitor.h"
#include "dfrt/stage.h"

/* A round is complete: publishes what the stage has counted. `results`: handed to sinks in this round. */
void dfrt__monitor_end_round(dfrt_stage *stage, uint64_t results, uint64_t read_ns);
/* Tuples of the round at hand have come over the edge; where they come by key, the keys of some of them are looked at. */
void dfrt__monitor_take(dfrt_stage_monitor *monitor, const dfrt_edge *edge, const dfrt_batch *batch);
/* Zeroed room on cache lines of its own; ends the program when there is none. */
void *dfrt__allocate_lines(size_t size);

#endif
