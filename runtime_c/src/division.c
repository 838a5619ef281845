#include "division.h"

#include <math.h>
#include <string.h>

enum { PARTS = DFRT_SLOTS + DFRT_HEAVY_KEYS };

/* Of a worker's fair share: from where on a key gets a route of its own, and below which it loses it. The distance keeps
 * routes from coming and going with chance. */
static const double ENTERS = 0.5, STAYS = 0.25;
/* What a step counts one step later. */
static const double FADES = 0.8;
/* Samples without which a share says nothing. */
enum { ENOUGH_SAMPLES = 8 };
/* Samples that a slot counts as of which there was none. */
static const double UNSEEN = 0.5;

/* --- routes ------------------------------------------------------------------------------------------------- */

static const dfrt_heavy_key *heavy_route(const dfrt__division *division, uint64_t hash)
{
    for (unsigned i = 0; i < division->heavy_count; i++) {
        if (division->heavy[i].hash == hash) {
            return &division->heavy[i];
        }
    }
    return NULL;
}

static uint16_t route_of(const dfrt__division *division, uint64_t hash)
{
    const dfrt_heavy_key *heavy = heavy_route(division, hash);
    return heavy != NULL ? heavy->replica : division->owners[hash >> 54];
}

static bool heavy_keys_agree(const dfrt__division *one, const dfrt__division *other)
{
    for (unsigned i = 0; i < one->heavy_count; i++) {
        if (one->heavy[i].replica != route_of(other, one->heavy[i].hash)) {
            return false;
        }
    }
    return true;
}

bool dfrt__same_division(const dfrt__division *one, const dfrt__division *other)
{
    return memcmp(one->owners, other->owners, sizeof one->owners) == 0 && heavy_keys_agree(one, other) &&
           heavy_keys_agree(other, one);
}

/* --- weights ------------------------------------------------------------------------------------------------ */

double dfrt__slots_note(double *slots, const double *before, const double *now)
{
    double sum = 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        double brought = fmax(now[slot] - before[slot], 0);
        slots[slot] = FADES * slots[slot] + brought;
        sum += brought;
    }
    return sum;
}

/* Where nothing was seen, every slot counts the same. Answers what a unit of the last step weighs. */
static double weigh_slots(const dfrt__part_loads *loads, double *weights)
{
    double sum = 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        weights[slot] = loads->slots[slot];
        sum += weights[slot];
    }
    for (unsigned slot = 0; slot < DFRT_SLOTS && sum <= 0; slot++) {
        weights[slot] = 1;
    }
    return loads->in_step > 0 ? sum / loads->in_step : 0;
}

/* New workers get their share also of what was not seen yet: more keys come with more load. Else it stays where it is. */
static void weigh_unseen(const dfrt__part_loads *loads, const dfrt__division *before, unsigned workers, double *weights)
{
    unsigned had = 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        had = before->owners[slot] >= had ? before->owners[slot] + 1u : had;
    }
    double sample = loads->keys->samples > 0 ? loads->in_step / (double)loads->keys->samples : 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS && workers > had; slot++) {
        weights[slot] = fmax(weights[slot], UNSEEN * sample);
    }
}

typedef struct choosing {
    const dfrt__division *before;
    dfrt__division *after;
    double *weights; /* of parts */
    double unit;     /* what a unit of load in the last step weighs */
} choosing;

/* What the key brings does not count for its slot any more. */
static void set_apart(choosing *choosing, uint64_t hash, double load)
{
    dfrt__division *after = choosing->after;
    if (after->heavy_count == DFRT_HEAVY_KEYS || heavy_route(after, hash) != NULL) {
        return;
    }
    double *slot = &choosing->weights[hash >> 54], weight = load * choosing->unit;
    *slot = fmax(*slot - weight, 0);
    choosing->weights[DFRT_SLOTS + after->heavy_count] = weight;
    after->heavy[after->heavy_count++] = (dfrt_heavy_key){hash, route_of(choosing->before, hash)};
}

/* One worker has all keys, whatever they bring. */
static void choose_heavy(choosing *choosing, const dfrt__key_loads *keys, double sum, unsigned workers)
{
    const dfrt__division *before = choosing->before;
    bool unsure = (double)keys->samples * STAYS / workers < ENOUGH_SAMPLES; /* too few to take a route back */
    for (unsigned i = 0; workers > 1 && sum > 0 && i < keys->count; i++) {
        const dfrt__key_load *key = &keys->keys[i];
        double share = key->load / sum * workers;
        bool enters = share > ENTERS && key->samples >= ENOUGH_SAMPLES;
        bool remains = heavy_route(before, key->hash) != NULL && (unsure || share > STAYS);
        if (enters || remains) {
            set_apart(choosing, key->hash, key->load);
        }
    }
    for (unsigned i = 0; workers > 1 && unsure && i < before->heavy_count; i++) {
        set_apart(choosing, before->heavy[i].hash, 0); /* those that did not come at all */
    }
}

bool dfrt__divide(dfrt__division *division, const dfrt__part_loads *loads, unsigned workers,
                  enum dfrt_balancer balancer, double imbalance)
{
    double weights[PARTS];
    uint16_t owners[PARTS], owned[PARTS];
    uint32_t order[PARTS];
    const dfrt__division before = *division;
    division->heavy_count = 0;
    choosing choosing = {&before, division, weights, weigh_slots(loads, weights)};
    choose_heavy(&choosing, loads->keys, loads->in_step, workers);
    weigh_unseen(loads, &before, workers, weights);
    unsigned parts = DFRT_SLOTS + division->heavy_count;
    memcpy(owners, before.owners, sizeof before.owners);
    for (unsigned i = 0; i < division->heavy_count; i++) {
        owners[DFRT_SLOTS + i] = division->heavy[i].replica;
    }
    memcpy(owned, owners, sizeof owned);
    (void)dfrt_rebalance(balancer, weights, owners, parts, workers, imbalance, order);
    memcpy(division->owners, owners, sizeof division->owners);
    for (unsigned i = 0; i < division->heavy_count; i++) {
        division->heavy[i].replica = owners[DFRT_SLOTS + i];
    }
    return dfrt_rebalance_pays(weights, owned, owners, parts, workers);
}
