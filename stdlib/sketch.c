/* The kernels of std.sketch. A state begins as zeroed bytes; the functions are pure but for the state they are
 * given, so that any thread may call them. They are weak, so that two programs that use them link into one. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dfrt/hash.h>
#include <dfrt/record.h>

#define KERNEL __attribute__((weak))

/* --- distinct: HyperLogLog --------------------------------------------------------------------------- */

enum { REGISTER_BITS = 12, REGISTERS = 1 << REGISTER_BITS };

KERNEL void std_distinct_add(void *state, uint64_t item);
KERNEL void std_distinct_combine(void *left, const void *right);
KERNEL int64_t std_distinct_lower(const void *state);

void std_distinct_add(void *state, uint64_t item)
{
    unsigned char *registers = state;
    uint64_t hash = dfrt_hash_u64(item); /* also for items that were not hashed well */
    uint64_t rest = hash << REGISTER_BITS | (UINT64_C(1) << (REGISTER_BITS - 1));
    unsigned char rank = (unsigned char)(__builtin_clzll(rest) + 1);
    unsigned char *place = &registers[hash >> (64 - REGISTER_BITS)];
    *place = rank > *place ? rank : *place;
}

void std_distinct_combine(void *left, const void *right)
{
    unsigned char *into = left;
    const unsigned char *from = right;
    for (size_t i = 0; i < REGISTERS; i++) {
        into[i] = from[i] > into[i] ? from[i] : into[i];
    }
}

int64_t std_distinct_lower(const void *state)
{
    const unsigned char *registers = state;
    double sum = 0;
    int empty = 0;
    for (size_t i = 0; i < REGISTERS; i++) {
        sum += ldexp(1.0, -registers[i]);
        empty += registers[i] == 0;
    }
    double m = REGISTERS;
    double estimate = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
    /* While registers are empty, counting those is more exact. */
    return llround(estimate <= 2.5 * m && empty > 0 ? m * log(m / empty) : estimate);
}

/* --- frequency: count-min ---------------------------------------------------------------------------- */

enum { ROWS = 4, COLUMNS = 1024 };

typedef struct counters {
    uint64_t of;
    uint64_t unused; /* keeps the rows aligned */
    uint32_t counts[ROWS][COLUMNS];
} counters;

KERNEL void std_frequency_add(void *state, uint64_t item, uint64_t of);
KERNEL void std_frequency_combine(void *left, const void *right);
KERNEL int64_t std_frequency_lower(const void *state);

static uint32_t column(uint64_t item, unsigned row)
{
    return (uint32_t)(dfrt_hash_combine(item, row) % COLUMNS);
}

void std_frequency_add(void *state, uint64_t item, uint64_t of)
{
    counters *sketch = state;
    sketch->of = of;
    for (unsigned row = 0; row < ROWS; row++) {
        uint32_t *count = &sketch->counts[row][column(item, row)];
        *count += *count < UINT32_MAX;
    }
}

void std_frequency_combine(void *left, const void *right)
{
    counters *into = left;
    const counters *from = right;
    into->of = from->of;
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned i = 0; i < COLUMNS; i++) {
            uint32_t room = UINT32_MAX - into->counts[row][i];
            into->counts[row][i] += from->counts[row][i] < room ? from->counts[row][i] : room;
        }
    }
}

int64_t std_frequency_lower(const void *state)
{
    const counters *sketch = state;
    uint32_t least = UINT32_MAX;
    for (unsigned row = 0; row < ROWS; row++) {
        uint32_t count = sketch->counts[row][column(sketch->of, row)];
        least = count < least ? count : least;
    }
    return least;
}

/* --- approx_quantile: counts in buckets of equal ratio ------------------------------------------------ */

enum { BUCKETS = 2096 }; /* a ratio of 1.02 from 1e-9 to 1e9 */
static const double SMALLEST = 1e-9, RATIO = 1.02;

typedef struct buckets {
    double q;
    uint64_t total;
    uint32_t zero;
    uint32_t unused;
    uint32_t negative[BUCKETS];
    uint32_t positive[BUCKETS];
} buckets;

KERNEL void std_quantile_add(void *state, double x, double q);
KERNEL void std_quantile_combine(void *left, const void *right);
KERNEL double std_quantile_lower(const void *state);

static int bucket_of(double magnitude)
{
    double index = ceil(log(magnitude / SMALLEST) / log(RATIO));
    return index < 0 ? 0 : index > BUCKETS - 1 ? BUCKETS - 1 : (int)index;
}

static double middle_of(int bucket)
{
    return SMALLEST * pow(RATIO, bucket) * 2.0 / (1.0 + RATIO);
}

void std_quantile_add(void *state, double x, double q)
{
    buckets *sketch = state;
    sketch->q = q;
    if (isnan(x)) {
        return;
    }
    sketch->total++;
    if (fabs(x) < SMALLEST) {
        sketch->zero++;
    } else if (x < 0) {
        sketch->negative[bucket_of(-x)]++;
    } else {
        sketch->positive[bucket_of(x)]++;
    }
}

void std_quantile_combine(void *left, const void *right)
{
    buckets *into = left;
    const buckets *from = right;
    into->q = from->q;
    into->total += from->total;
    into->zero += from->zero;
    for (unsigned i = 0; i < BUCKETS; i++) {
        into->negative[i] += from->negative[i];
        into->positive[i] += from->positive[i];
    }
}

double std_quantile_lower(const void *state)
{
    const buckets *sketch = state;
    if (sketch->total == 0) {
        return NAN;
    }
    double q = sketch->q < 0 ? 0 : sketch->q > 1 ? 1 : sketch->q;
    uint64_t rank = (uint64_t)(q * (double)(sketch->total - 1)), seen = 0;
    for (int i = BUCKETS - 1; i >= 0; i--) {
        seen += sketch->negative[i];
        if (seen > rank) {
            return -middle_of(i);
        }
    }
    seen += sketch->zero;
    if (seen > rank) {
        return 0.0;
    }
    for (int i = 0; i < BUCKETS; i++) {
        seen += sketch->positive[i];
        if (seen > rank) {
            return middle_of(i);
        }
    }
    return middle_of(BUCKETS - 1);
}

/* --- top: space saving ------------------------------------------------------------------------------- */

enum { PLACES = 64 };

typedef struct ranking {
    int64_t place;
    uint32_t used;
    uint32_t unused;
    dfrt_symbol items[PLACES];
    uint64_t counts[PLACES];
} ranking;

KERNEL void std_top_add(void *state, dfrt_symbol item, int64_t place);
KERNEL void std_top_combine(void *left, const void *right);
KERNEL dfrt_symbol std_top_lower(const void *state);
KERNEL void std_top_count_add(void *state, dfrt_symbol item, int64_t place);
KERNEL void std_top_count_combine(void *left, const void *right);
KERNEL int64_t std_top_count_lower(const void *state);

/* The counter of the item; a new item takes over the smallest counter, and its count. */
static uint32_t counter_of(ranking *top, dfrt_symbol item)
{
    uint32_t smallest = 0;
    for (uint32_t i = 0; i < top->used; i++) {
        if (top->items[i] == item) {
            return i;
        }
        smallest = top->counts[i] < top->counts[smallest] ? i : smallest;
    }
    uint32_t at = top->used < PLACES ? top->used++ : smallest;
    top->items[at] = item;
    return at;
}

void std_top_add(void *state, dfrt_symbol item, int64_t place)
{
    ranking *top = state;
    top->place = place;
    top->counts[counter_of(top, item)]++;
}

void std_top_combine(void *left, const void *right)
{
    const ranking *from = right;
    ranking *into = left;
    into->place = from->place;
    for (uint32_t i = 0; i < from->used; i++) {
        into->counts[counter_of(into, from->items[i])] += from->counts[i];
    }
}

/* The counter at a place of the ranking, ties in the order of appearance; PLACES when there is none. */
static uint32_t counter_at(const ranking *top)
{
    for (uint32_t i = 0; i < top->used; i++) {
        int64_t before = 0;
        for (uint32_t j = 0; j < top->used; j++) {
            before += top->counts[j] > top->counts[i] || (top->counts[j] == top->counts[i] && j < i);
        }
        if (before + 1 == top->place) {
            return i;
        }
    }
    return PLACES;
}

dfrt_symbol std_top_lower(const void *state)
{
    const ranking *top = state;
    uint32_t at = counter_at(top);
    return at < PLACES ? top->items[at] : 0; /* the empty string is symbol 0 */
}

void std_top_count_add(void *state, dfrt_symbol item, int64_t place) { std_top_add(state, item, place); }
void std_top_count_combine(void *left, const void *right) { std_top_combine(left, right); }

int64_t std_top_count_lower(const void *state)
{
    const ranking *top = state;
    uint32_t at = counter_at(top);
    return at < PLACES ? (int64_t)top->counts[at] : 0;
}
