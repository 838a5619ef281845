/* The heaviest keys among those that were sampled: a table of fixed size, whatever the number of keys.
 *
 * It is the space-saving scheme (Metwally, Agrawal, El Abbadi, 2005) in small sets: a key that is not there takes the place of
 * the lightest of its set and inherits its rank. A key that brings more than an eighth of what its set gets stays there.
 * Ranks are halved from time to time, so that keys that were heavy once make room.
 *
 * Threads:   written by the thread that runs the stage, read by any; a reader tells from the version of a place whether
 *            another key has taken it meanwhile.
 * Ownership: whoever opened the watch or the monitor that it belongs to.
 * Progress:  nothing waits; a sample costs one look at the places of a set.
 */
#ifndef DFRT_KEY_SAMPLES_H
#define DFRT_KEY_SAMPLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { DFRT_KEY_SETS = 16, DFRT_KEY_WAYS = 8, DFRT_KEY_PLACES = DFRT_KEY_SETS * DFRT_KEY_WAYS };

typedef struct dfrt_key_place {
    _Atomic uint64_t version; /* odd: the place is being taken; it grows by two with each key that takes it */
    _Atomic uint64_t hash, samples; /* samples and load since the key has the place */
    _Atomic double load;
    double rank; /* of the writer: what the place is worth keeping for */
} dfrt_key_place;

typedef struct dfrt_key_samples {
    _Atomic uint64_t samples; /* of all keys, since the start */
    uint32_t since_halving[DFRT_KEY_SETS]; /* of the writer: samples of the set since its ranks were halved */
    dfrt_key_place places[DFRT_KEY_PLACES]; /* set by set */
} dfrt_key_samples;

/* What a place says, as of one moment. */
typedef struct dfrt_sampled_key {
    uint64_t version, hash, samples;
    double load;
} dfrt_sampled_key;

/* A key was sampled and stands for so much load. What is no load (zero, negative, not finite) counts as none. */
void dfrt_key_samples_add(dfrt_key_samples *keys, uint64_t hash, double load);
/* False: no key has the place, or another one is just taking it. */
bool dfrt_key_samples_read(const dfrt_key_samples *keys, unsigned place, dfrt_sampled_key *key);

#endif
