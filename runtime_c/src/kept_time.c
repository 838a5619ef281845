/* Kept tuples in the order of time. */
#include <string.h>

#include "dfrt/store.h"
#include "kept_pool.h"

/* Disorder is bounded by the slack: the place is near the end. */
uint32_t dfrt_kept_open(dfrt_kept *kept, int64_t time, dfrt_widths widths)
{
    const int64_t *times = dfrt_kept_times(kept);
    uint32_t at = kept->tail;
    while (at > kept->head && times[at - 1] > time) {
        at--;
    }
    unsigned char *column = kept->room;
    for (uint32_t i = 0; i < widths.count; i++) {
        unsigned char *place = column + (size_t)at * widths.of[i];
        memmove(place + widths.of[i], place, (size_t)(kept->tail - at) * widths.of[i]);
        column += (size_t)kept->capacity * widths.of[i];
    }
    return at;
}

uint32_t dfrt_kept_from(const dfrt_kept *kept, int64_t time)
{
    const int64_t *times = dfrt_kept_times(kept);
    uint32_t low = kept->head, high = kept->tail;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

typedef struct moment {
    int64_t time;
    size_t at;
} moment;

static void order_by_time(moment *order, const dfrt_kept *kept, uint32_t from)
{
    const int64_t *times = dfrt_kept_times(kept);
    for (size_t i = 0; i < kept->tail - from; i++) {
        moment one = {times[from + i], from + i};
        size_t at = i;
        for (; at > 0 && order[at - 1].time > one.time; at--) {
            order[at] = order[at - 1];
        }
        order[at] = one;
    }
}

/* `order` says which element of the one goes next into the other. */
static void copy_column(unsigned char *to, const unsigned char *from, uint32_t width, const moment *order,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * width, from + order[i].at * width, width);
    }
}

const dfrt_kept *dfrt_kept_by_time(dfrt_kept *sorted, const dfrt_kept *kept, uint32_t *from, dfrt_widths widths)
{
    if (kept->in_order <= *from) {
        return kept;
    }
    uint32_t count = kept->tail - *from;
    if (count > sorted->capacity) {
        sorted->capacity = (count + DFRT__FIRST_CAPACITY - 1) / DFRT__FIRST_CAPACITY * DFRT__FIRST_CAPACITY;
        sorted->room = dfrt_resize(sorted->room, sorted->capacity * (dfrt__width_of(widths) + sizeof(moment)));
    }
    moment *order = (moment *)(void *)(sorted->room + sorted->capacity * dfrt__width_of(widths));
    order_by_time(order, kept, *from);
    unsigned char *to = sorted->room, *column = kept->room;
    for (uint32_t i = 0; i < widths.count; i++) {
        copy_column(to, column, widths.of[i], order, count);
        to += (size_t)sorted->capacity * widths.of[i];
        column += (size_t)kept->capacity * widths.of[i];
    }
    sorted->head = 0;
    sorted->tail = count;
    *from = 0;
    return sorted;
}
