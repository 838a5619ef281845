/* The best offers of a window: a pane keeps its own skyline, and that of a window lies within those of its panes. */
#include "skyline.h"

#include "stdlib/preference.h"

enum { DELTA = 10 }; /* a choice is more than so many offers */

bool skyline_pane(const skyline_best_exact_columns *pane, dfrt_bytes *result)
{
    std_points points = {{pane->price, pane->distance, pane->delay, pane->noise, pane->age, pane->queue, pane->risk,
                          pane->waste}, pane->id, pane->count};
    dfrt_bytes room = {0};
    uint32_t *places = dfrt_bytes_add(&room, points.count * sizeof *places);
    std_points_append(result, &points, places, std_skyline(&points, places));
    dfrt_bytes_free(&room);
    return true;
}

static double total(const std_points *points, size_t at)
{
    double sum = 0;
    for (int d = 0; d < STD_DIMENSIONS; d++) {
        sum += points->of[d][at];
    }
    return sum;
}

bool skyline_merge(const skyline_best_panes *panes, skyline_Best *result)
{
    dfrt_bytes room = {0}, place_room = {0};
    std_points points = std_points_of(panes->panes, panes->count, &room);
    uint32_t *places = dfrt_bytes_add(&place_room, points.count * sizeof *places);
    int k;
    result->until = panes->end;
    result->skyline = (int64_t)std_skyline(&points, places);
    size_t chosen = std_top_delta(&points, DELTA, places, &k), first = places[0];
    for (size_t i = 1; i < chosen; i++) {
        first = total(&points, places[i]) < total(&points, first) ? places[i] : first;
    }
    result->chosen = (int64_t)chosen;
    result->k = k;
    result->best = points.ids[first];
    result->price = points.of[0][first];
    result->total = total(&points, first);
    dfrt_bytes_free(&room);
    dfrt_bytes_free(&place_room);
    return true;
}
