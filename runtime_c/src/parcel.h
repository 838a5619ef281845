/* Parcels: state of one replica on its way to another.
 *
 * Threads:   made by the stage that had the state, taken by the one that has it from now on.
 * Ownership: a parcel belongs to who makes it, to the mailbox, to who takes it.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_PARCEL_H
#define DFRT_SRC_PARCEL_H

#include "dfrt/stage.h"

typedef struct dfrt__parcel {
    struct dfrt__parcel *next;
    void *segment; /* like that of the stage, with its own counters */
} dfrt__parcel;

dfrt__parcel *dfrt__parcel_make(dfrt_stage *stage);
/* Into the mailbox of a stage, from any thread. */
void dfrt__parcel_send(dfrt_stage *to, dfrt__parcel *parcel);
/* Adds what is in the stage's mailbox to a list; answers how many. */
unsigned dfrt__parcels_take(dfrt_stage *stage, dfrt__parcel **list);
/* All that is in it goes into a segment like it; frees the parcel. */
void dfrt__parcel_unpack(const dfrt_segment *type, const struct dfrt_program *program, dfrt__parcel *parcel, void *into);

#endif
