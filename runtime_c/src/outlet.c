#define _GNU_SOURCE
#include "outlet.h"

#include <stdlib.h>

#include "dfrt/store.h"

dfrt_status dfrt__outlet_open(dfrt_outlet *outlet, const dfrt_edge *edge, unsigned most, dfrt_error *error)
{
    outlet->most = most;
    outlet->senders = dfrt_allocate((most + 1u) * sizeof *outlet->senders);
    outlet->multicast = edge->to_all ? dfrt_allocate(sizeof *outlet->multicast) : NULL;
    return edge->to_all ? dfrt_multicast_open(outlet->multicast, edge->element_size, error) : DFRT_OK;
}

void dfrt__outlet_close(dfrt_outlet *outlet)
{
    for (unsigned i = 0; i < outlet->most; i++) {
        dfrt_sender_close(&outlet->senders[i]);
    }
    if (outlet->multicast != NULL) {
        dfrt_multicast_close(outlet->multicast);
    }
    free(outlet->multicast);
    free(outlet->senders);
}

void dfrt_outlet_turn(dfrt_outlet *outlet, unsigned count, const dfrt_round_end *end)
{
    if (outlet->multicast != NULL && !dfrt_multicast_share(outlet->multicast, outlet->senders, outlet->degree)) {
        dfrt_out_of_memory();
    }
    for (unsigned i = 0; i < count; i++) {
        if (!dfrt_sender_turn(&outlet->senders[i], end)) {
            dfrt_out_of_memory();
        }
    }
}
