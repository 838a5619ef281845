/* The heaviest keys are found in a bounded table, whatever comes, and a reader beside the writer never mixes two keys. */
#define _GNU_SOURCE
#include <dfrt/hash.h>
#include <dfrt/key_samples.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { KEYS = 100000, SAMPLES = 200000, HEAVIEST = 8, MANY = 2000000 };

static dfrt_key_samples table;

static bool found(uint64_t hash, dfrt_sampled_key *key)
{
    for (unsigned place = 0; place < DFRT_KEY_PLACES; place++)
        if (dfrt_key_samples_read(&table, place, key) && key->hash == hash) return true;
    return false;
}

static void clear(void) { memset(&table, 0, sizeof table); }

/* --- streams ------------------------------------------------------------------------------------------- */

static uint64_t state;

static double chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Of KEYS keys, the r-th with a share in proportion to 1/r. */
static uint64_t zipf_key(const double *sums)
{
    double at = chance() * sums[KEYS - 1];
    unsigned low = 0, high = KEYS - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (sums[middle] < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void test_zipf(uint64_t shift)
{
    static double sums[KEYS];
    static unsigned counts[HEAVIEST];
    memset(counts, 0, sizeof counts);
    for (unsigned r = 0; r < KEYS; r++) sums[r] = (r > 0 ? sums[r - 1] : 0) + 1.0 / (r + 1);
    for (unsigned i = 0; i < SAMPLES; i++) {
        uint64_t key = zipf_key(sums);
        if (key < HEAVIEST) counts[key]++;
        dfrt_key_samples_add(&table, dfrt_hash_u64(key + shift), 64);
    }
    for (unsigned r = 0; r < HEAVIEST; r++) {
        dfrt_sampled_key key;
        CHECK(found(dfrt_hash_u64(r + shift), &key));
        CHECK(key.samples <= counts[r] && key.samples * 10 >= counts[r] * 9u && key.load == 64.0 * (double)key.samples);
    }
}

/* Other keys have become heavy: those of before make room. */
static void test_shift(void)
{
    clear();
    test_zipf(0);
    test_zipf(KEYS);
    CHECK(atomic_load(&table.samples) == 2 * SAMPLES);
    clear();
}

/* All in one set, each once; then one that comes every fourth time. */
static void test_one_set(void)
{
    clear();
    for (uint64_t i = 0; i < 100000; i++) dfrt_key_samples_add(&table, i % 4 == 0 ? 7 : i, 1);
    dfrt_sampled_key key;
    CHECK(found(7, &key) && key.samples > 24000);
    for (unsigned place = DFRT_KEY_WAYS; place < DFRT_KEY_PLACES; place++)
        CHECK(!dfrt_key_samples_read(&table, place, &key));
}

static void test_no_load(void)
{
    static const double odd[] = {0, -1, -INFINITY, INFINITY, NAN, 1e308};
    clear();
    dfrt_sampled_key key;
    CHECK(!found(0, &key));
    for (unsigned i = 0; i < 6000; i++) dfrt_key_samples_add(&table, 0, odd[i % 6]);
    dfrt_key_samples_add(&table, 0, 5);
    CHECK(found(0, &key) && key.samples == 6001 && key.load == 5);
}

/* --- beside the writer --------------------------------------------------------------------------------- */

static _Atomic bool done;

/* The load of a key says which one it is. */
static void *add_many(void *unused)
{
    for (unsigned i = 0; i < MANY; i++) {
        uint64_t key = i % 3 == 0 ? 1 : 2 + i % 97;
        dfrt_key_samples_add(&table, key, (double)key);
    }
    atomic_store_explicit(&done, true, memory_order_release); /* partner: the acquire in test_beside */
    return unused;
}

static void test_beside(void)
{
    pthread_t writer;
    uint64_t read = 0;
    clear();
    CHECK(pthread_create(&writer, NULL, add_many, NULL) == 0);
    for (bool last = false; !last;) {
        last = atomic_load_explicit(&done, memory_order_acquire);
        for (unsigned place = 0; place < DFRT_KEY_PLACES; place++) {
            dfrt_sampled_key key;
            if (dfrt_key_samples_read(&table, place, &key)) {
                double each = key.load / (double)key.hash; /* a sample more or less: the two numbers are read in turn */
                CHECK(each == floor(each) && each + 1 >= (double)key.samples);
                read++;
            }
        }
    }
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(read > 0 && atomic_load(&table.samples) == MANY);
}

int main(void)
{
    const char *given = getenv("DFC_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 20261116;
    (void)printf("DFC_TEST_SEED=%llu\n", (unsigned long long)seed);
    state = seed * 2 + 1;
    test_zipf(0);
    test_shift();
    test_one_set();
    test_no_load();
    test_beside();
    return 0;
}
