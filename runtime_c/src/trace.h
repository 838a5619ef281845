/* Latency over time (--latency-trace): results and their latency in intervals of 10 ms.
 *
 * Threads:   each trace belongs to one stage; main opens them before the stages run, and writes them after.
 * Ownership: the trace owns its intervals.
 * Progress:  nothing waits. Without memory the program ends.
 */
#ifndef DFRT_SRC_TRACE_H
#define DFRT_SRC_TRACE_H

#include "layout.h"

typedef struct dfrt__trace {
    uint64_t began_ns;
    struct dfrt__interval *intervals;
    size_t count;
} dfrt__trace;

/* For every stage that has sinks. */
void dfrt__traces_open(const dfrt__layout_plan *layout);
/* So many results have just come out, of tuples that were read at `read_ns`. */
void dfrt__trace_add(dfrt__trace *trace, uint64_t now_ns, uint64_t read_ns, uint64_t results);
/* A CSV file: milliseconds from the start, results, their mean and highest latency in microseconds. */
dfrt_status dfrt__traces_write(const dfrt__layout_plan *layout, const char *path, dfrt_error *error);
void dfrt__traces_close(const dfrt__layout_plan *layout);

#endif
