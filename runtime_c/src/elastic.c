#define _GNU_SOURCE
#include "elastic_state.h"

#include <stdlib.h>
#include <string.h>

#include "../control/rebalance.h"
#include "dfrt/store.h"
#include "run.h"

/* --- routes ----------------------------------------------------------------------------------------- */

unsigned dfrt_routing_heavy(const dfrt_routing *routing, uint64_t hash)
{
    for (unsigned i = 0; i < routing->heavy_count; i++) {
        if (routing->heavy[i].hash == hash) {
            return routing->heavy[i].replica;
        }
    }
    return routing->routes[hash >> 54] & (uint16_t)~DFRT_HEAVY_SLOT;
}

static unsigned slot_owner(const dfrt_routing *routing, unsigned slot)
{
    return routing->routes[slot] & (uint16_t)~DFRT_HEAVY_SLOT;
}

/* How many slots a replica has when they are divided evenly. */
static unsigned fair_share(unsigned replica, unsigned workers)
{
    return DFRT_SLOTS / workers + (replica < DFRT_SLOTS % workers);
}

/* A slot stays where it is unless its replica does not work any more or has more than its share. */
static void keep_most(uint16_t *owners, const dfrt_routing *before, unsigned workers)
{
    unsigned *count = dfrt_allocate(workers * sizeof *count);
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        unsigned owner = slot_owner(before, slot);
        bool stays = owner < workers && count[owner] < fair_share(owner, workers);
        owners[slot] = stays ? (uint16_t)owner : UINT16_MAX;
        if (stays) {
            count[owner]++;
        }
    }
    unsigned next = 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        if (owners[slot] == UINT16_MAX) {
            while (count[next] == fair_share(next, workers)) {
                next++;
            }
            owners[slot] = (uint16_t)next;
            count[next]++;
        }
    }
    free(count);
}

static void write_routing(dfrt_routing *routing, unsigned workers, const uint16_t *owners, const dfrt_heavy_key *heavy,
                          unsigned heavy_count)
{
    routing->active = workers;
    memcpy(routing->routes, owners, sizeof routing->routes);
    routing->heavy_count = heavy_count;
    for (unsigned i = 0; i < heavy_count; i++) {
        routing->heavy[i] = heavy[i];
        routing->routes[heavy[i].hash >> 54] |= DFRT_HEAVY_SLOT;
    }
}

/* --- opening ---------------------------------------------------------------------------------------- */

/* Of a worker's fair share: from where on a key begins with a route of its own. */
static const double BEGINS_APART = 0.5;

/* Keys that are known to be heavy begin where they do not meet; slots make up for what they bring. */
static void route_known(dfrt_routing *routing, const dfrt_segment *segment)
{
    uint64_t hashes[DFRT_HEAVY_KEYS];
    double shares[DFRT_HEAVY_KEYS], weights[DFRT_SLOTS + DFRT_HEAVY_KEYS], rest = 1;
    uint16_t owners[DFRT_SLOTS + DFRT_HEAVY_KEYS];
    uint32_t order[DFRT_SLOTS + DFRT_HEAVY_KEYS];
    dfrt_heavy_key heavy[DFRT_HEAVY_KEYS];
    unsigned known = segment->heavy == NULL || routing->active < 2 ? 0 : segment->heavy(hashes, shares), count = 0;
    memcpy(owners, routing->routes, sizeof routing->routes);
    for (unsigned i = 0; i < known; i++) {
        if (shares[i] * routing->active > BEGINS_APART) {
            weights[DFRT_SLOTS + count] = shares[i];
            owners[DFRT_SLOTS + count] = owners[hashes[i] >> 54];
            heavy[count++].hash = hashes[i];
            rest -= shares[i];
        }
    }
    if (count == 0) {
        return;
    }
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        weights[slot] = (rest > 0 ? rest : 0) / DFRT_SLOTS;
    }
    (void)dfrt_rebalance(DFRT_BALANCED, weights, owners, DFRT_SLOTS + count, routing->active, 0, order);
    for (unsigned i = 0; i < count; i++) {
        heavy[i].replica = owners[DFRT_SLOTS + i];
    }
    write_routing(routing, routing->active, owners, heavy, count);
}

static bool may_change(const dfrt__layout_plan *layout, unsigned segment)
{
    return layout->program->segments[segment].elastic;
}

static unsigned most_replicas(const dfrt__layout_plan *layout)
{
    unsigned most = 1;
    for (unsigned s = 0; s < layout->program->segment_count; s++) {
        most = layout->degree[s] > most ? layout->degree[s] : most;
    }
    return most;
}

static void open_configuration(dfrt__configuration *configuration, const dfrt__layout_plan *layout,
                               const unsigned *active)
{
    unsigned most = most_replicas(layout);
    configuration->routings = dfrt_allocate(layout->program->segment_count * sizeof *configuration->routings);
    configuration->moves = dfrt_allocate((size_t)most * most * sizeof *configuration->moves);
    configuration->reader = &layout->stages[0]->waiter;
    for (unsigned s = 0; s < layout->program->segment_count; s++) {
        configuration->routings[s].active = active[s];
        for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
            configuration->routings[s].routes[slot] = (uint16_t)(slot % active[s]);
        }
        route_known(&configuration->routings[s], &layout->program->segments[s]);
    }
}

dfrt_elastic *dfrt__elastic_open(const dfrt__layout_plan *layout, const unsigned *active)
{
    dfrt_elastic *elastic = dfrt_allocate(sizeof *elastic);
    elastic->layout = layout;
    elastic->segments = dfrt_allocate(layout->program->segment_count * sizeof *elastic->segments);
    for (unsigned s = 0; s < layout->program->segment_count; s++) {
        if (may_change(layout, s)) {
            elastic->segments[elastic->count++] = s;
        }
    }
    open_configuration(&elastic->configurations[0], layout, active);
    open_configuration(&elastic->configurations[1], layout, active);
    elastic->latest = &elastic->configurations[0];
    elastic->taken = elastic->latest;
    return elastic;
}

void dfrt__elastic_close(dfrt_elastic *elastic)
{
    if (elastic == NULL) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        free(elastic->configurations[i].routings);
        free(elastic->configurations[i].moves);
    }
    free(elastic->segments);
    free(elastic);
}

/* --- requests --------------------------------------------------------------------------------------- */

unsigned dfrt_elastic_count(const dfrt_elastic *elastic) { return elastic->count; }

static const dfrt_routing *latest_routing(const dfrt_elastic *elastic, unsigned n)
{
    return &elastic->latest->routings[elastic->segments[n]];
}

/* Whether the tuples of a segment go by keys. */
static bool is_keyed(const dfrt_program *program, unsigned segment)
{
    for (unsigned e = 0; e < program->edge_count; e++) {
        if (program->edges[e].to == segment && program->edges[e].hash != NULL) {
            return true;
        }
    }
    return false;
}

dfrt_elastic_info dfrt_elastic_at(const dfrt_elastic *elastic, unsigned n)
{
    unsigned segment = elastic->segments[n];
    const dfrt_program *program = elastic->layout->program;
    return (dfrt_elastic_info){.name = program->segments[segment].step,
                               .segment = segment,
                               .most = elastic->layout->degree[segment],
                               .workers = latest_routing(elastic, n)->active,
                               .keyed = is_keyed(program, segment)};
}

bool dfrt_elastic_busy(const dfrt_elastic *elastic)
{
    /* Partner: the release in dfrt__configuration_done. */
    return atomic_load_explicit(&elastic->latest->outstanding, memory_order_acquire) > 0;
}

void dfrt_elastic_owners(const dfrt_elastic *elastic, unsigned n, uint16_t *owners)
{
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        owners[slot] = (uint16_t)slot_owner(latest_routing(elastic, n), slot);
    }
}

unsigned dfrt_elastic_heavy(const dfrt_elastic *elastic, unsigned n, dfrt_heavy_key *heavy)
{
    const dfrt_routing *routing = latest_routing(elastic, n);
    memcpy(heavy, routing->heavy, routing->heavy_count * sizeof *heavy);
    return routing->heavy_count;
}

static dfrt_status check_request(const dfrt_elastic *elastic, unsigned n, unsigned workers, const uint16_t *owners,
                                 const dfrt_heavy_key *heavy, unsigned heavy_count, dfrt_error *error)
{
    dfrt_elastic_info info = dfrt_elastic_at(elastic, n);
    if (workers < 1 || workers > info.most) {
        return dfrt_fail(error, DFRT_USAGE, "%s can have 1 to %u workers, not %u", info.name, info.most, workers);
    }
    if (heavy_count > DFRT_HEAVY_KEYS) {
        return dfrt_fail(error, DFRT_USAGE, "%s: at most %d keys can have routes of their own, not %u", info.name,
                         (int)DFRT_HEAVY_KEYS, heavy_count);
    }
    unsigned highest = 0;
    for (unsigned slot = 0; owners != NULL && slot < DFRT_SLOTS; slot++) {
        highest = owners[slot] > highest ? owners[slot] : highest;
    }
    for (unsigned i = 0; i < heavy_count; i++) {
        highest = heavy[i].replica > highest ? heavy[i].replica : highest;
    }
    return highest < workers ? DFRT_OK
                             : dfrt_fail(error, DFRT_USAGE, "%s: there is no worker %u of %u", info.name, highest, workers);
}

static void note_move(dfrt__configuration *next, const dfrt_routing *before, const dfrt_routing *after, uint64_t hash)
{
    unsigned from = dfrt_routing_of(before, hash), to = dfrt_routing_of(after, hash);
    next->moves[from * next->most + to] |= from != to;
}

/* From whom to whom state goes. Without keys every replica has the same state, and the first one hands on a copy. */
static void note_moves(dfrt__configuration *next, bool keyed)
{
    const dfrt_routing *before = &next->before->routings[next->segment], *after = &next->routings[next->segment];
    memset(next->moves, 0, (size_t)next->most * next->most * sizeof *next->moves);
    for (unsigned to = before->active; !keyed && to < after->active; to++) {
        next->moves[to] = true;
    }
    for (unsigned slot = 0; keyed && slot < DFRT_SLOTS; slot++) {
        unsigned from = slot_owner(before, slot), to = slot_owner(after, slot);
        next->moves[from * next->most + to] |= from != to;
    }
    for (unsigned i = 0; keyed && i < before->heavy_count; i++) {
        note_move(next, before, after, before->heavy[i].hash);
    }
    for (unsigned i = 0; keyed && i < after->heavy_count; i++) {
        note_move(next, before, after, after->heavy[i].hash);
    }
}

static unsigned stages_involved(const dfrt__configuration *next, unsigned segments)
{
    unsigned count = 0;
    for (unsigned s = 0; s < segments; s++) {
        unsigned before = next->before->routings[s].active, after = next->routings[s].active;
        count += before > after ? before : after;
    }
    return count;
}

dfrt_status dfrt_elastic_request(dfrt_elastic *elastic, unsigned n, unsigned workers, const uint16_t *owners,
                                 const dfrt_heavy_key *heavy, unsigned heavy_count, enum dfrt_migration how,
                                 dfrt_error *error)
{
    dfrt_status status = check_request(elastic, n, workers, owners, heavy, heavy_count, error);
    if (status != DFRT_OK) {
        return status;
    }
    if (dfrt_elastic_busy(elastic)) {
        return dfrt_fail(error, DFRT_AGAIN, "the last change is not complete yet");
    }
    const dfrt__layout_plan *layout = elastic->layout;
    unsigned segment = elastic->segments[n], segments = layout->program->segment_count;
    dfrt__configuration *before = elastic->latest;
    dfrt__configuration *next = &elastic->configurations[before == &elastic->configurations[0]];
    uint16_t kept[DFRT_SLOTS];
    if (owners == NULL) {
        keep_most(kept, &before->routings[segment], workers);
    }
    memcpy(next->routings, before->routings, segments * sizeof *next->routings);
    write_routing(&next->routings[segment], workers, owners == NULL ? kept : owners, heavy, heavy_count);
    next->before = before;
    next->segment = segment;
    next->how = how;
    next->replicas = layout->stages + layout->first_stage[segment];
    next->most = layout->degree[segment];
    note_moves(next, is_keyed(layout->program, segment));
    atomic_store_explicit(&next->outstanding, stages_involved(next, segments), memory_order_relaxed);
    elastic->latest = next;
    /* Partner: the acquire in dfrt__elastic_next. */
    atomic_store_explicit(&elastic->requested, next, memory_order_release);
    dfrt__run_wake(layout->stages[0]->run);
    return DFRT_OK;
}

/* --- the reader's and the stages' side -------------------------------------------------------------- */

dfrt__configuration *dfrt__elastic_next(dfrt_elastic *elastic)
{
    if (atomic_load_explicit(&elastic->requested, memory_order_relaxed) != NULL) {
        elastic->taken = atomic_exchange_explicit(&elastic->requested, NULL, memory_order_acquire);
    }
    return elastic->taken;
}

void dfrt__configuration_done(dfrt__configuration *configuration)
{
    dfrt_waiter *reader = configuration->reader;
    /* Partner: the acquires in dfrt_elastic_busy and dfrt__elastic_await. */
    if (atomic_fetch_sub_explicit(&configuration->outstanding, 1, memory_order_acq_rel) == 1) {
        dfrt_waiter_wake(reader);
    }
}

static bool is_complete(const dfrt__configuration *configuration)
{
    return atomic_load_explicit(&configuration->outstanding, memory_order_acquire) == 0;
}

void dfrt__elastic_await(const dfrt__configuration *configuration)
{
    while (configuration->how == DFRT_S_BLOCKING && !is_complete(configuration)) {
        if (dfrt_waiter_pause(configuration->reader)) {
            continue;
        }
        if (is_complete(configuration)) {
            dfrt_waiter_cancel(configuration->reader);
            break;
        }
        dfrt_waiter_sleep(configuration->reader);
    }
    configuration->reader->rounds = 0;
}
