#include "key_loads.h"

#include <stdlib.h>

#include "dfrt/store.h"

struct dfrt__key_table {
    uint64_t samples;
    dfrt_sampled_key places[DFRT_KEY_PLACES];
};

void dfrt__key_loads_open(dfrt__key_loads *loads, unsigned replicas)
{
    *loads = (dfrt__key_loads){.replicas = replicas};
    loads->before = dfrt_allocate(replicas * sizeof *loads->before);
    loads->keys = dfrt_allocate((size_t)replicas * DFRT_KEY_PLACES * sizeof *loads->keys);
}

void dfrt__key_loads_close(dfrt__key_loads *loads)
{
    free(loads->before);
    free(loads->keys);
    *loads = (dfrt__key_loads){0};
}

void dfrt__key_loads_begin(dfrt__key_loads *loads)
{
    loads->count = 0;
    loads->samples = 0;
}

/* A key that has taken the place since has brought all that stands there. */
static dfrt__key_load brought_since(const dfrt_sampled_key *before, const dfrt_sampled_key *now)
{
    bool same = before->version == now->version;
    return (dfrt__key_load){now->hash, now->samples - (same ? before->samples : 0),
                            now->load - (same ? before->load : 0)};
}

void dfrt__key_loads_look(dfrt__key_loads *loads, unsigned replica, const dfrt_key_samples *table)
{
    struct dfrt__key_table *before = &loads->before[replica];
    uint64_t samples = atomic_load_explicit(&table->samples, memory_order_relaxed);
    unsigned places = samples == before->samples ? 0 : DFRT_KEY_PLACES; /* a replica that sleeps has nothing new */
    loads->samples += samples - before->samples;
    before->samples = samples;
    for (unsigned place = 0; place < places; place++) {
        dfrt_sampled_key now;
        if (dfrt_key_samples_read(table, place, &now)) {
            dfrt__key_load brought = brought_since(&before->places[place], &now);
            before->places[place] = now;
            if (brought.samples > 0) {
                loads->keys[loads->count++] = brought;
            }
        }
    }
}

static int order_by_hash(const void *a, const void *b)
{
    uint64_t one = ((const dfrt__key_load *)a)->hash, other = ((const dfrt__key_load *)b)->hash;
    return (one > other) - (one < other);
}

static int order_by_load(const void *a, const void *b)
{
    double one = ((const dfrt__key_load *)a)->load, other = ((const dfrt__key_load *)b)->load;
    return one != other ? (one < other) - (one > other) : order_by_hash(a, b);
}

/* A key that has moved was sampled by two replicas. */
static void merge_same_keys(dfrt__key_loads *loads)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < loads->count; i++) {
        dfrt__key_load *last = kept > 0 ? &loads->keys[kept - 1] : NULL;
        if (last != NULL && last->hash == loads->keys[i].hash) {
            last->samples += loads->keys[i].samples;
            last->load += loads->keys[i].load;
        } else {
            loads->keys[kept++] = loads->keys[i];
        }
    }
    loads->count = kept;
}

void dfrt__key_loads_sort(dfrt__key_loads *loads)
{
    qsort(loads->keys, loads->count, sizeof *loads->keys, order_by_hash);
    merge_same_keys(loads);
    qsort(loads->keys, loads->count, sizeof *loads->keys, order_by_load);
}
