/* Who has which keys: keyed state is divided into slots by the hash of the key, and a table says which replica has a slot.
 * A few heavy keys may have a replica of their own.
 *
 * Threads:   a routing is written before anybody sees it, and constant from then on.
 * Ownership: the elastic layer owns all routings (dfrt/elastic.h); stages borrow them.
 * Progress:  nothing waits.
 */
#ifndef DFRT_ROUTING_H
#define DFRT_ROUTING_H

#include <stdint.h>

enum {
    DFRT_SLOTS = 1024, /* keyed state is divided into this many slots */
    DFRT_HEAVY_KEYS = 64, /* keys with a route of their own */
};
#define DFRT_HEAVY_SLOT UINT16_C(0x8000) /* in a route: some key of this slot has a route of its own */

typedef struct dfrt_heavy_key {
    uint64_t hash;
    uint16_t replica;
} dfrt_heavy_key;

/* The replicas of one segment. */
typedef struct dfrt_routing {
    unsigned active; /* the first so many work, the others sleep */
    unsigned heavy_count;
    uint16_t routes[DFRT_SLOTS]; /* slot → replica, with DFRT_HEAVY_SLOT */
    dfrt_heavy_key heavy[DFRT_HEAVY_KEYS];
} dfrt_routing;

/* The replica of a hash whose slot holds a heavy key. */
unsigned dfrt_routing_heavy(const dfrt_routing *routing, uint64_t hash);

static inline unsigned dfrt_routing_of(const dfrt_routing *routing, uint64_t hash)
{
    uint16_t route = routing->routes[hash >> 54];
    return __builtin_expect(route < DFRT_HEAVY_SLOT, 1) ? route : dfrt_routing_heavy(routing, hash);
}

#endif
