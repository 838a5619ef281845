/* What the two sides of a stage share: the rounds that it takes (rounds.c) and those that it passes on (stage.c).
 *
 * Threads:   of the stage.
 * Ownership: nothing is kept.
 * Progress:  waits until every link after the stage has taken what was sent; what is held back is not waited for.
 */
#ifndef DFRT_SRC_ROUNDS_H
#define DFRT_SRC_ROUNDS_H

#include "dfrt/stage.h"

/* `idle`: the sources had no more to offer. Whoever waits then holds nothing up; the next round is only larger. */
void dfrt__wait_for_room(dfrt_stage *stage, bool idle);

#endif
