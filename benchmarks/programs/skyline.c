/* The operator of skyline.dfl over the kernel of the standard library. */
#include "skyline.h"

#include "stdlib/preference.h"

bool skyline_pane(const skyline_best_exact_columns *pane, dfrt_bytes *result)
{
    std_points points = {.of = {pane->p0, pane->p1, pane->p2, pane->p3, pane->p4, pane->p5, pane->p6, pane->p7},
                         .count = pane->count};
    dfrt_bytes room = {0};
    uint32_t *places = dfrt_bytes_add(&room, points.count * sizeof *places);
    std_points_append(result, &points, places, std_skyline(&points, places));
    dfrt_bytes_free(&room);
    return true;
}

bool skyline_merge(const skyline_best_panes *panes, skyline_Best *result)
{
    dfrt_bytes room = {0}, chosen = {0};
    std_points points = std_points_of(panes->panes, panes->count, &room);
    uint32_t *places = dfrt_bytes_add(&chosen, points.count * sizeof *places);
    size_t count = points.count;
    if (panes->count > 1) {
        count = std_skyline(&points, places);
    } else { /* what is left of one pane is a skyline */
        for (size_t i = 0; i < count; i++) places[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int d = 0; d < STD_DIMENSIONS; d++) sum += points.of[d][places[i]];
        result->sum += sum;
    }
    result->count = (int64_t)count;
    dfrt_bytes_free(&room);
    dfrt_bytes_free(&chosen);
    return true;
}
