#include "merge.h"

/* The timed source with the smallest watermark that has a tuple, of equal ones the first; -1 if there is none. It stays
 * the one while its watermark is at most `until`. */
static int furthest_behind(const dfrt__merge *merge, int64_t *until)
{
    int chosen = -1;
    int64_t smallest = 0;
    *until = INT64_MAX;
    for (unsigned i = 0; i < merge->program->source_count; i++) {
        if (merge->program->sources[i].time_field < 0 || !merge->ready(merge->owner, i)) {
            continue;
        }
        int64_t watermark = merge->program->source_watermark(merge->segment, i);
        if (chosen < 0 || watermark < smallest) {
            *until = chosen < 0 ? INT64_MAX : smallest - 1; /* at the same watermark the earlier source goes first */
            chosen = (int)i;
            smallest = watermark;
        } else if (watermark < *until) {
            *until = watermark;
        }
    }
    return chosen;
}

size_t dfrt__merge_turn(const dfrt__merge *merge, size_t most)
{
    size_t taken = 0;
    for (unsigned i = 0; i < merge->program->source_count; i++) {
        if (merge->program->sources[i].time_field < 0 && merge->ready(merge->owner, i)) {
            taken += merge->take(merge->owner, i, 1, INT64_MAX);
        }
    }
    int64_t until;
    int timed = furthest_behind(merge, &until);
    if (timed >= 0) {
        /* Untimed sources want their turn again after one tuple. */
        taken += merge->take(merge->owner, (unsigned)timed, taken > 0 ? 1 : most, until);
    }
    return taken;
}
