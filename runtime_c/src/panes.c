#include "dfrt/panes.h"

#include <stdlib.h>

#include "dfrt/store.h"

/* --- results ---------------------------------------------------------------------------------------- */

enum { LARGE = 1 << 16 };

/* Empty, but with its memory, unless it had much more of that than it needed. */
static void clear(dfrt_bytes *bytes)
{
    if (bytes->capacity > LARGE && bytes->size < bytes->capacity / 4) {
        dfrt_bytes_free(bytes);
    }
    bytes->size = 0;
}

static dfrt_result *make(dfrt_pane_results *results)
{
    dfrt_result *made = dfrt_allocate(sizeof *made);
    made->owner = results;
    made->made_before = results->all;
    results->all = made;
    return made;
}

dfrt_result *dfrt_results_take(dfrt_pane_results *results)
{
    if (results->free == NULL) {
        results->free = atomic_exchange_explicit(&results->returned, NULL, memory_order_acquire);
    }
    dfrt_result *taken = results->free;
    if (taken == NULL) {
        taken = make(results);
    } else {
        results->free = taken->next;
        clear(&taken->bytes);
    }
    atomic_store_explicit(&taken->readers, 1, memory_order_relaxed); /* the channel publishes it */
    return taken;
}

void dfrt_result_share(dfrt_result *result, uint32_t more)
{
    if (result != NULL) {
        (void)atomic_fetch_add_explicit(&result->readers, more, memory_order_relaxed);
    }
}

void dfrt_result_done(dfrt_result *result)
{
    if (result == NULL || atomic_fetch_sub_explicit(&result->readers, 1, memory_order_acq_rel) > 1) {
        return;
    }
    dfrt_pane_results *owner = result->owner;
    dfrt_result *first = atomic_load_explicit(&owner->returned, memory_order_relaxed);
    do {
        result->next = first;
    } while (!atomic_compare_exchange_weak_explicit(&owner->returned, &first, result, memory_order_release,
                                                    memory_order_relaxed));
}

static void append_free(dfrt_pane_results *to, dfrt_result *first)
{
    while (first != NULL) {
        dfrt_result *next = first->next;
        first->next = to->free;
        to->free = first;
        first = next;
    }
}

void dfrt_results_adopt(dfrt_pane_results *to, dfrt_pane_results *from)
{
    append_free(to, from->free);
    append_free(to, atomic_exchange_explicit(&from->returned, NULL, memory_order_acquire));
    for (dfrt_result *one = from->all, *before; one != NULL; one = before) {
        before = one->made_before;
        one->owner = to;
        one->made_before = to->all;
        to->all = one;
    }
    from->all = from->free = NULL;
}

void dfrt_results_close(dfrt_pane_results *results)
{
    for (dfrt_result *one = results->all, *before; one != NULL; one = before) {
        before = one->made_before;
        dfrt_bytes_free(&one->bytes);
        free(one);
    }
    *results = (dfrt_pane_results){0};
}

/* --- panes ------------------------------------------------------------------------------------------ */

void dfrt_panes_add(dfrt_panes *panes, int64_t index, dfrt_result *result, int64_t latest)
{
    void *items = panes->items;
    (void)dfrt_slide(&items, sizeof *panes->items, &panes->head, &panes->tail, &panes->capacity);
    panes->items = items;
    panes->items[panes->tail++] = (dfrt_pane_entry){index, latest, result};
}

void dfrt_panes_evict(dfrt_panes *panes, int64_t from)
{
    while (panes->head < panes->tail && panes->items[panes->head].index < from) {
        dfrt_result_done(panes->items[panes->head++].result);
    }
}

static void room_for_views(dfrt_panes *panes)
{
    if (panes->view_capacity < panes->capacity) {
        panes->view_capacity = panes->capacity;
        panes->views = dfrt_resize(panes->views, panes->view_capacity * sizeof *panes->views);
    }
}

bool dfrt_panes_window(dfrt_panes *panes, int64_t from, int64_t to, dfrt_whole *whole)
{
    dfrt_panes_evict(panes, from);
    room_for_views(panes);
    *whole = (dfrt_whole){panes->views, 0, INT64_MIN};
    for (uint32_t i = panes->head; i < panes->tail && panes->items[i].index <= to; i++) {
        const dfrt_pane_entry *one = &panes->items[i];
        whole->latest = one->latest > whole->latest ? one->latest : whole->latest;
        if (one->result != NULL) {
            panes->views[whole->count++] = (dfrt_pane){one->result->bytes.data, one->result->bytes.size};
        }
    }
    return whole->count > 0;
}

void dfrt_panes_close(dfrt_panes *panes)
{
    free(panes->items);
    free(panes->views);
    *panes = (dfrt_panes){0};
}
