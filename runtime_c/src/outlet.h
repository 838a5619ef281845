/* The sending ends of one edge in one stage.
 *
 * Threads:   of the stage; opened and closed by main, while no stage runs, or by the stage for itself.
 * Ownership: an outlet owns its senders, and what it multicasts.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_OUTLET_H
#define DFRT_SRC_OUTLET_H

#include "dfrt/stage.h"

/* Room for `most` senders, which the caller opens, and for what goes to all of them. */
dfrt_status dfrt__outlet_open(dfrt_outlet *outlet, const dfrt_edge *edge, unsigned most, dfrt_error *error);
void dfrt__outlet_close(dfrt_outlet *outlet);

#endif
