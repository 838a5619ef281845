#include "dfrt/turns.h"

#include "later.h"

void dfrt_turns_take(dfrt_turns *turns, uint64_t turn, dfrt_stage *stage, dfrt_turn_work work, int64_t time,
                     const void *given, size_t size)
{
    if (!dfrt__has_later(stage) && dfrt__is_now(turns, turn)) {
        work(stage->segment, turns, time, given);
        dfrt__turn_pass(turns);
        return;
    }
    dfrt__later_turn(stage, &(dfrt__turn){turns, turn, work, time}, given, size);
}

void dfrt_turns_close(dfrt_turns *turns)
{
    if (turns->state != NULL) {
        turns->drop(turns->state);
        turns->state = NULL;
    }
}
