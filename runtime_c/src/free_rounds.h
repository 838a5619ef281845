/* Collecting freely: a stage whose segment does not ask for an order takes what replicas give as it comes, link by link and
 * whatever round it is of, so that a slow replica holds nothing up that others have given. Of one link everything
 * comes in order.
 *
 * The plan says which segments do: only sinks and stateless steps, nothing behind them. They look at no watermark and at no
 * end of an event, so those are left out. A round of a link ends for itself: its latency is counted, and sinks are flushed
 * when it says so. Where a round names another configuration, its link is not read on until all links have ended that
 * round: the change happens once, between the same two rounds as everywhere, and what a key gave before it moved comes
 * before what it gives afterwards.
 *
 * Threads:   of the stage.
 * Ownership: nothing is kept.
 * Progress:  waits only while no link that is read has a batch, or for those that have not come to the end of the round at
 *            which others wait: they need nothing of what comes behind it.
 */
#ifndef DFRT_SRC_FREE_ROUNDS_H
#define DFRT_SRC_FREE_ROUNDS_H

#include "dfrt/stage.h"

/* Until the streams before the stage have ended. */
void dfrt__collect_freely(dfrt_stage *stage);

#endif
