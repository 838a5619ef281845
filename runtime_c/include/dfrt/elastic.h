/* Changing a program while it runs: how many replicas of a segment work, and which of them has which keys.
 *
 * A change is a new dfrt_routing. It takes effect between two rounds, in order with the tuples: the reader puts it on the
 * round that ends, and every stage applies it before the next round begins. So no two stages ever disagree about who has
 * what, and state moves between exactly the same two tuples everywhere.
 *
 * Threads:   dfrt_elastic_* are called by one thread, the controller's; the reader and the stages take part through the
 *            links and the mailboxes of the stages.
 * Ownership: what a request names is copied. The elastic layer owns all routings.
 * Progress:  a request never waits; `busy` tells when the last one is complete on both sides.
 */
#ifndef DFRT_ELASTIC_H
#define DFRT_ELASTIC_H

#include <stdbool.h>
#include <stdint.h>

#include "dfrt/routing.h"
#include "dfrt/status.h"

/* Fluent: works on what it has while state is on its way. R-BLK: the receiving replica waits for it. S-BLK: the source
 * waits until all has moved. */
enum dfrt_migration { DFRT_FLUENT, DFRT_R_BLOCKING, DFRT_S_BLOCKING };

typedef struct dfrt_elastic dfrt_elastic; /* one a run */

/* An operator whose degree can change. */
typedef struct dfrt_elastic_info {
    const char *name;     /* of the operator */
    unsigned segment;
    unsigned most;        /* replicas that exist; those not in use sleep */
    unsigned workers;     /* in use, as last requested */
    bool keyed;           /* has slots to move */
} dfrt_elastic_info;

unsigned dfrt_elastic_count(const dfrt_elastic *elastic);
dfrt_elastic_info dfrt_elastic_at(const dfrt_elastic *elastic, unsigned n);

/* From one of the next rounds on `workers` replicas work. `owners`: slot → replica, DFRT_SLOTS of them; NULL: as few slots
 * move as possible. `heavy`: keys with their own route. DFRT_AGAIN: the last change is not complete yet. DFRT_USAGE: there
 * are not so many replicas, or a route goes to none that works. */
dfrt_status dfrt_elastic_request(dfrt_elastic *elastic, unsigned n, unsigned workers, const uint16_t *owners,
                                 const dfrt_heavy_key *heavy, unsigned heavy_count, enum dfrt_migration how,
                                 dfrt_error *error);
bool dfrt_elastic_busy(const dfrt_elastic *elastic);
/* The routes as last requested: DFRT_SLOTS numbers, without those of heavy keys. */
void dfrt_elastic_owners(const dfrt_elastic *elastic, unsigned n, uint16_t *owners);
/* Those of heavy keys, at most DFRT_HEAVY_KEYS; answers how many. */
unsigned dfrt_elastic_heavy(const dfrt_elastic *elastic, unsigned n, dfrt_heavy_key *heavy);

#endif
