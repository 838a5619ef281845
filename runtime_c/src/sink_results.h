/* The kind of sink that hands records to a function: the part that sink.c calls.
 *
 * Threads:   as sink.h.
 * Ownership: as sink.h.
 * Progress:  waits for nothing but the function.
 */
#ifndef DFRT_SINK_RESULTS_H
#define DFRT_SINK_RESULTS_H

#include <dfrt/sink.h>

/* DFRT_MEMORY when some of the records had no room: then nothing is delivered any more. */
dfrt_status dfrt__sink_deliver(dfrt_sink *sink, dfrt_error *error);

#endif
