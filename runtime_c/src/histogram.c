#include <dfrt/histogram.h>

static uint64_t load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void store(_Atomic uint64_t *number, uint64_t value)
{
    atomic_store_explicit(number, value, memory_order_relaxed);
}

/* The largest value of a bucket. */
static uint64_t upper_bound(size_t bucket)
{
    if (bucket < 2 << DFRT_HISTOGRAM_BITS) return bucket;
    unsigned power = (unsigned)(bucket >> DFRT_HISTOGRAM_BITS) - 1;
    uint64_t leading = bucket - ((uint64_t)power << DFRT_HISTOGRAM_BITS);
    return (leading << power) + ((UINT64_C(1) << power) - 1);
}

/* Behind the last bucket that holds anything. A value that is being added meanwhile may lie beyond. */
static size_t used_buckets(const dfrt_histogram *histogram)
{
    return dfrt__histogram_bucket(load(&histogram->max)) + 1;
}

void dfrt_histogram_merge(dfrt_histogram *into, const dfrt_histogram *from)
{
    size_t used = used_buckets(from);
    for (size_t i = 0; i < used; i++) dfrt__histogram_bump(&into->counts[i], load(&from->counts[i]));
    dfrt__histogram_bump(&into->count, load(&from->count));
    dfrt__histogram_bump(&into->sum, load(&from->sum));
    uint64_t max = load(&from->max);
    if (max > load(&into->max)) store(&into->max, max);
}

void dfrt_histogram_subtract(dfrt_histogram *into, const dfrt_histogram *now, const dfrt_histogram *before)
{
    uint64_t max = 0;
    for (size_t i = 0; i < DFRT_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = load(&now->counts[i]) - load(&before->counts[i]);
        store(&into->counts[i], count);
        if (count > 0) max = upper_bound(i);
    }
    store(&into->count, load(&now->count) - load(&before->count));
    store(&into->sum, load(&now->sum) - load(&before->sum));
    uint64_t highest = load(&now->max);
    store(&into->max, max < highest ? max : highest);
}

void dfrt_histogram_clear(dfrt_histogram *histogram)
{
    for (size_t i = 0; i < DFRT_HISTOGRAM_BUCKETS; i++) store(&histogram->counts[i], 0);
    store(&histogram->count, 0);
    store(&histogram->sum, 0);
    store(&histogram->max, 0);
}

uint64_t dfrt_histogram_quantile(const dfrt_histogram *histogram, double q)
{
    uint64_t total = 0, seen = 0, max = load(&histogram->max);
    size_t used = used_buckets(histogram);
    /* Not `count`: a writer may be between the two. */
    for (size_t i = 0; i < used; i++) total += load(&histogram->counts[i]);
    if (total == 0) return 0;
    double wanted = q * (double)total;
    for (size_t i = 0; i < used; i++) {
        seen += load(&histogram->counts[i]);
        if (seen > 0 && (double)seen >= wanted) return upper_bound(i) < max ? upper_bound(i) : max;
    }
    return max;
}

double dfrt_histogram_mean(const dfrt_histogram *histogram)
{
    uint64_t count = load(&histogram->count);
    return count == 0 ? 0.0 : (double)load(&histogram->sum) / (double)count;
}

uint64_t dfrt_histogram_max(const dfrt_histogram *histogram)
{
    return load(&histogram->max);
}

uint64_t dfrt_histogram_count(const dfrt_histogram *histogram)
{
    return load(&histogram->count);
}
