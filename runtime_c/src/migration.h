/* A stage's part in a change (dfrt/elastic.h): it hands over the state of keys that others have from now on, and takes
 * what is its own.
 *
 * State travels in parcels: segments like the stage's own, with the state of the keys that move. The replica that had
 * them makes one for each replica that has them from now on, when it has done its last old round, and pushes it into
 * that one's mailbox. Who must not begin without (R-BLK, S-BLK) waits for all of its parcels. Under the fluent protocol
 * the stage goes on: tuples of keys whose state has not come are put aside, with everything else that their state would
 * have seen, and the rounds that the stage ends are held back. When all parcels are there, what was put aside runs against
 * them, the results go to their places in the held rounds, and the parcels are taken in.
 *
 * Threads:   of the stage, but the mailboxes.
 * Ownership: a parcel belongs to who makes it, to the mailbox, to who takes it.
 * Progress:  waiting for a parcel ends: who makes it has not begun the round that we wait with, and needs nothing of
 *            ours to finish the one before.
 */
#ifndef DFRT_SRC_MIGRATION_H
#define DFRT_SRC_MIGRATION_H

#include "elastic_state.h"

/* After the last round of the old configuration has been passed on, before there is room for all of it: hands over, and
 * turns to the replicas that work from now on. */
void dfrt__migration_leave(dfrt_stage *stage, dfrt__configuration *next);
/* Before the first round of the new one. */
void dfrt__migration_enter(dfrt_stage *stage);
/* For a replica that was asleep: its neighbours are those of this configuration. */
void dfrt__migration_wake(dfrt_stage *stage, dfrt__configuration *next);

#endif
