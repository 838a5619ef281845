#include "dfrt/key_samples.h"

#include "dfrt/monitor.h"

/* Samples of a set after which its ranks are halved. */
enum { HALVED_AFTER = 1024 };
static const double MOST_LOAD = 1e30; /* far from where sums would become infinite */

static void halve_ranks(dfrt_key_place *set)
{
    for (unsigned way = 0; way < DFRT_KEY_WAYS; way++) {
        set[way].rank /= 2;
    }
}

/* The place of the key, or the one of the lowest rank. */
static dfrt_key_place *place_for(dfrt_key_place *set, uint64_t hash)
{
    dfrt_key_place *lowest = set;
    for (unsigned way = 0; way < DFRT_KEY_WAYS; way++) {
        if (atomic_load_explicit(&set[way].hash, memory_order_relaxed) == hash) {
            return &set[way];
        }
        lowest = set[way].rank < lowest->rank ? &set[way] : lowest;
    }
    return lowest;
}

/* Whoever sees (acquire, in dfrt_key_samples_read) a number of the new key sees the odd version, too. */
static void take_place(dfrt_key_place *place, uint64_t hash)
{
    uint64_t version = atomic_load_explicit(&place->version, memory_order_relaxed);
    atomic_store_explicit(&place->version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&place->hash, hash, memory_order_release);
    atomic_store_explicit(&place->samples, 0, memory_order_release);
    atomic_store_explicit(&place->load, 0, memory_order_release);
    atomic_store_explicit(&place->version, version + 2, memory_order_release);
}

/* Its partners are the acquiring loads in dfrt_key_samples_read. */
static void raise_place(dfrt_key_place *place, double load)
{
    uint64_t samples = atomic_load_explicit(&place->samples, memory_order_relaxed);
    double before = atomic_load_explicit(&place->load, memory_order_relaxed);
    atomic_store_explicit(&place->samples, samples + 1, memory_order_release);
    atomic_store_explicit(&place->load, before + load, memory_order_release);
    place->rank += load;
}

void dfrt_key_samples_add(dfrt_key_samples *keys, uint64_t hash, double load)
{
    unsigned number = hash >> 40 & (DFRT_KEY_SETS - 1); /* none of the bits that choose the slot */
    dfrt_key_place *set = &keys->places[number * DFRT_KEY_WAYS];
    dfrt_key_place *place = place_for(set, hash);
    if (atomic_load_explicit(&place->hash, memory_order_relaxed) != hash) {
        take_place(place, hash);
    }
    raise_place(place, load > 0 && load < MOST_LOAD ? load : 0);
    dfrt__watch_bump(&keys->samples, 1);
    if (++keys->since_halving[number] == HALVED_AFTER) {
        keys->since_halving[number] = 0;
        halve_ranks(set);
    }
}

bool dfrt_key_samples_read(const dfrt_key_samples *keys, unsigned place, dfrt_sampled_key *key)
{
    const dfrt_key_place *it = &keys->places[place];
    key->version = atomic_load_explicit(&it->version, memory_order_acquire); /* partner: take_place */
    key->hash = atomic_load_explicit(&it->hash, memory_order_acquire);
    key->samples = atomic_load_explicit(&it->samples, memory_order_acquire);
    key->load = atomic_load_explicit(&it->load, memory_order_acquire);
    return key->version % 2 == 0 && key->samples > 0 &&
           atomic_load_explicit(&it->version, memory_order_relaxed) == key->version;
}
