/* Rounds that a stage holds back, because some of what belongs into them comes later, and how that is put into its place.
 *
 * Threads:   of the stage whose senders they are.
 * Ownership: the senders own their batches.
 * Progress:  nothing waits. Without memory the program ends.
 */
#ifndef DFRT_SRC_HELD_H
#define DFRT_SRC_HELD_H

#include "dfrt/stage.h"

/* Both hold the same rounds, complete ones. Elements of `more` go to their places among those of `sender`; both have the
 * same watermarks. `more` is empty then. */
void dfrt__held_merge(dfrt_sender *sender, dfrt_sender *more, const dfrt_edge *edge);

#endif
