#define _GNU_SOURCE
#include "dfrt/multicast.h"

#include <stdlib.h>

/* Contents that are kept, whether somebody needs them or not: as many as a link can have on its way, and one to fill. */
enum { KEPT = DFRT_RING_CAPACITY + 1 };

static dfrt_content *content_new(dfrt_multicast *multicast)
{
    size_t capacity = multicast->capacity;
    size_t fixed = (sizeof(dfrt_content) + 63) / 64 * 64;
    size_t elements = (capacity * multicast->element_size + 15) / 16 * 16;
    size_t times = capacity * sizeof(int64_t);
    unsigned char *room = malloc(fixed + elements + times + 2 * capacity * sizeof(uint32_t));
    if (room == NULL) {
        return NULL;
    }
    dfrt_content *content = (dfrt_content *)(void *)room;
    *content = (dfrt_content){0};
    content->elements = room + fixed; /* first: they need the largest alignment */
    content->times = (int64_t *)(void *)(room + fixed + elements);
    content->positions = (uint32_t *)(void *)(room + fixed + elements + times);
    content->orders = content->positions + capacity;
    multicast->made++;
    return content;
}

static void free_all(dfrt_content *content)
{
    while (content != NULL) {
        dfrt_content *next = content->next;
        free(content);
        content = next;
    }
}

/* Nobody reads it any more. Partner: the release in let_go of channel.c. */
static bool is_read(const dfrt_content *content)
{
    return atomic_load_explicit(&content->readers, memory_order_acquire) == 0;
}

/* The one that was sent first, if all have read it; NULL: there is none. */
static dfrt_content *take_oldest(dfrt_multicast *multicast)
{
    dfrt_content *oldest = multicast->oldest;
    if (oldest == NULL || !is_read(oldest)) {
        return NULL;
    }
    multicast->oldest = oldest->next;
    if (multicast->oldest == NULL) {
        multicast->newest = NULL;
    }
    oldest->next = NULL;
    oldest->count = 0;
    return oldest;
}

static dfrt_content *next_content(dfrt_multicast *multicast)
{
    dfrt_content *next = take_oldest(multicast), *other;
    while (next != NULL && multicast->made > KEPT && (other = take_oldest(multicast)) != NULL) {
        free(next);
        multicast->made--;
        next = other;
    }
    return next != NULL ? next : content_new(multicast);
}

dfrt_status dfrt_multicast_open(dfrt_multicast *multicast, size_t element_size, dfrt_error *error)
{
    *multicast = (dfrt_multicast){.element_size = element_size, .capacity = dfrt_batch_capacity(element_size)};
    multicast->filling = content_new(multicast);
    return multicast->filling != NULL ? DFRT_OK : dfrt_fail(error, DFRT_MEMORY, "no memory for a batch");
}

void dfrt_multicast_close(dfrt_multicast *multicast)
{
    free(multicast->filling);
    free_all(multicast->oldest);
    *multicast = (dfrt_multicast){0};
}

static void point_at(dfrt_batch *batch, dfrt_content *content)
{
    batch->content = content;
    batch->count = content->count;
    batch->positions = content->positions;
    batch->orders = content->orders;
    batch->times = content->times;
    batch->elements = content->elements;
}

bool dfrt_multicast_share(dfrt_multicast *multicast, dfrt_sender *senders, unsigned count)
{
    dfrt_content *content = multicast->filling;
    if (content->count == 0 || count == 0) {
        return true;
    }
    multicast->filling = next_content(multicast);
    if (multicast->filling == NULL) {
        multicast->filling = content;
        return false;
    }
    atomic_store_explicit(&content->readers, count, memory_order_relaxed); /* the links publish it */
    for (unsigned i = 0; i < count; i++) {
        point_at(senders[i].filling, content);
    }
    if (multicast->newest != NULL) {
        multicast->newest->next = content;
    } else {
        multicast->oldest = content;
    }
    multicast->newest = content;
    return true;
}
