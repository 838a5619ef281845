/* Elements for all receivers of an edge: they stand in memory once, and the batches of every link point at them.
 *
 * Threads:   a multicast belongs to the producing thread. Receivers read contents, and as the last thing that they do with
 *            one they subtract themselves from its readers.
 * Ownership: the multicast owns its contents all the time.
 * Progress:  nothing waits. A content that somebody still reads is not used again, and another one is made: as many as
 *            links and backlogs have room for. After a large round those that are too many are freed.
 */
#ifndef DFRT_MULTICAST_H
#define DFRT_MULTICAST_H

#include "dfrt/channel.h"

struct dfrt_content {
    struct dfrt_content *next; /* sent later */
    _Atomic uint32_t readers;  /* receivers subtract (release); at 0 (acquire) the producer writes here again */
    uint32_t count;
    uint32_t *positions;
    uint32_t *orders;
    int64_t *times;
    unsigned char *elements;
};

typedef struct dfrt_multicast {
    dfrt_content *filling;
    dfrt_content *oldest, *newest; /* that were sent; they come back about in this order */
    uint32_t made;                 /* contents that there are */
    size_t element_size;
    uint32_t capacity; /* elements in a content */
} dfrt_multicast;

dfrt_status dfrt_multicast_open(dfrt_multicast *multicast, size_t element_size, dfrt_error *error);
void dfrt_multicast_close(dfrt_multicast *multicast);

/* The batches that these senders are filling bring what was put since the last time; they are to be turned. False: no
 * memory. */
bool dfrt_multicast_share(dfrt_multicast *multicast, dfrt_sender *senders, unsigned count);

static inline bool dfrt_multicast_is_full(const dfrt_multicast *multicast)
{
    return multicast->filling->count == multicast->capacity;
}

/* There is room. */
static inline void dfrt_multicast_put(dfrt_multicast *multicast, uint32_t position, uint32_t order, int64_t time,
                                      const void *element)
{
    dfrt_content *content = multicast->filling;
    uint32_t at = content->count++;
    content->positions[at] = position;
    content->orders[at] = order;
    content->times[at] = time;
    memcpy(content->elements + at * multicast->element_size, element, multicast->element_size);
}

#endif
