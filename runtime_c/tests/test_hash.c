#define _GNU_SOURCE
#include <dfrt/hash.h>

#include "check.h"

/* Consecutive keys must spread evenly over any 10 bits of the hash: chi-squared far from what a bad mix gives. */
static void check_spread(uint64_t (*hash)(uint64_t), unsigned shift)
{
    enum { BUCKETS = 1024, KEYS = BUCKETS * 256 };
    static unsigned counts[BUCKETS];
    memset(counts, 0, sizeof counts);
    for (uint64_t k = 0; k < KEYS; k++) counts[hash(k) >> shift & (BUCKETS - 1)]++;
    double chi = 0;
    for (int i = 0; i < BUCKETS; i++) chi += (counts[i] - 256.0) * (counts[i] - 256.0) / 256.0;
    CHECK(chi > 800 && chi < 1300);
}

static uint64_t hash_text(uint64_t key)
{
    char text[32];
    int size = snprintf(text, sizeof text, "sensor-%llu", (unsigned long long)key);
    return dfrt_hash_bytes(text, (size_t)size);
}

static uint64_t hash_pair(uint64_t key)
{
    return dfrt_hash_combine(dfrt_hash_u64(key & 511), dfrt_hash_u64(key >> 9));
}

int main(void)
{
    for (unsigned shift = 0; shift <= 54; shift += 9) {
        check_spread(dfrt_hash_u64, shift);
        check_spread(hash_text, shift);
        check_spread(hash_pair, shift);
    }
    CHECK(dfrt_hash_combine(1, 2) != dfrt_hash_combine(2, 1));
    /* Every single byte counts, at every length. */
    unsigned char bytes[40] = {0};
    for (size_t size = 1; size <= sizeof bytes; size++) {
        uint64_t before = dfrt_hash_bytes(bytes, size);
        CHECK(before != dfrt_hash_bytes(bytes, size - 1));
        for (size_t i = 0; i < size; i++) {
            bytes[i] = 1;
            CHECK(dfrt_hash_bytes(bytes, size) != before);
            bytes[i] = 0;
        }
    }
    puts("ok");
    return 0;
}
