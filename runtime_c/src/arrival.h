/* State on its way to a stage that goes on without it (migration.h says how).
 *
 * Threads:   of the stage.
 * Ownership: the stage owns its arrival, which owns the parcels that have come and what was put aside.
 * Progress:  only dfrt__arrival_settle waits.
 */
#ifndef DFRT_SRC_ARRIVAL_H
#define DFRT_SRC_ARRIVAL_H

#include "dfrt/stage.h"

/* Between two rounds: so many parcels are on their way. Whole rounds are held back from now on. */
void dfrt__arrival_begin(dfrt_stage *stage, unsigned expected);

/* While something is on its way (stage->arrival), in place of the segment's own functions: */
void dfrt__arrival_consume(dfrt_stage *stage, const dfrt_edge *edge, const dfrt_run *run);
void dfrt__arrival_watermark(dfrt_stage *stage, const dfrt_edge *edge, int64_t watermark);
void dfrt__arrival_end_event(dfrt_stage *stage);
void dfrt__arrival_end_round(dfrt_stage *stage);

/* Between two rounds: takes everything in if it is there; `wait`: waits for it, otherwise at most until there is a round
 * to work on. What was held may be sent then. */
void dfrt__arrival_settle(dfrt_stage *stage, bool wait);

#endif
