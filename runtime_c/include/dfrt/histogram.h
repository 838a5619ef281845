/* A histogram of nanoseconds (or any u64) with a relative error of at most 1/32: 32 buckets for every power of two.
 *
 * Threads:   one thread adds; others may read or merge from it meanwhile and see every bucket somewhat old or new.
 * Ownership: a plain struct of about 15 KiB; zeroed is empty.
 * Progress:  nothing waits; adding is a handful of instructions.
 */
#ifndef DFRT_HISTOGRAM_H
#define DFRT_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define DFRT_HISTOGRAM_BITS 5
#define DFRT_HISTOGRAM_BUCKETS ((64 - DFRT_HISTOGRAM_BITS + 1) << DFRT_HISTOGRAM_BITS)

typedef struct dfrt_histogram {
    /* Stored by the one writer, loaded by anybody; relaxed, because each number stands for itself. */
    _Atomic uint64_t counts[DFRT_HISTOGRAM_BUCKETS];
    _Atomic uint64_t count, sum, max;
} dfrt_histogram;

/* Values below 32 have a bucket each; then the power of two and the five bits below the leading one. */
static inline size_t dfrt__histogram_bucket(uint64_t value)
{
    if (value < 1 << DFRT_HISTOGRAM_BITS) return (size_t)value;
    unsigned power = 63 - (unsigned)__builtin_clzll(value) - DFRT_HISTOGRAM_BITS;
    return ((size_t)power << DFRT_HISTOGRAM_BITS) + (size_t)(value >> power);
}

/* A single writer needs no read-modify-write. */
static inline void dfrt__histogram_bump(_Atomic uint64_t *number, uint64_t by)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + by, memory_order_relaxed);
}

/* The writer only. The sum wraps beyond 2**64. */
static inline void dfrt_histogram_add(dfrt_histogram *histogram, uint64_t value, uint64_t count)
{
    if (count == 0) return;
    dfrt__histogram_bump(&histogram->counts[dfrt__histogram_bucket(value)], count);
    dfrt__histogram_bump(&histogram->count, count);
    dfrt__histogram_bump(&histogram->sum, value * count);
    if (value > atomic_load_explicit(&histogram->max, memory_order_relaxed))
        atomic_store_explicit(&histogram->max, value, memory_order_relaxed);
}

/* The writer of `into` only. */
void dfrt_histogram_merge(dfrt_histogram *into, const dfrt_histogram *from);
/* `into` becomes now - before: what was added between two copies of one histogram. Its max is a bucket's bound. */
void dfrt_histogram_subtract(dfrt_histogram *into, const dfrt_histogram *now, const dfrt_histogram *before);
void dfrt_histogram_clear(dfrt_histogram *histogram);

/* A value that the share q (0 … 1) of all values does not exceed, up to a bucket's width above it; 0 when empty. */
uint64_t dfrt_histogram_quantile(const dfrt_histogram *histogram, double q);
/* Exact; 0 when empty. */
double dfrt_histogram_mean(const dfrt_histogram *histogram);
uint64_t dfrt_histogram_max(const dfrt_histogram *histogram);
uint64_t dfrt_histogram_count(const dfrt_histogram *histogram);

#endif
