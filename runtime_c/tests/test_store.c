/* Stores against naive models: whatever the order of calls, both hold the same. */
#define _GNU_SOURCE
#include <dfrt/store.h>

#include <math.h>

#include "check.h"

static uint64_t state = 1;

static uint32_t below(uint32_t limit) /* SplitMix64: the same numbers on every machine */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % limit;
}

/* --- sliding array ---------------------------------------------------------------------------------- */

static void test_slide(void)
{
    int *items = NULL;
    uint32_t head = 0, tail = 0, capacity = 0;
    int next = 0, first = 0;
    for (int i = 0; i < 200000; i++) {
        uint32_t length = tail - head;
        if (length == 0 || below(1000) < (length < 300 ? 520u : 480u)) {
            uint32_t before = head;
            uint32_t moved = dfrt_slide((void **)&items, sizeof *items, &head, &tail, &capacity);
            CHECK(before - head == moved && tail < capacity);
            items[tail++] = next++;
        } else {
            CHECK(items[head++] == first++);
        }
        CHECK(tail - head == (uint32_t)(next - first));
        if (tail > head) CHECK(items[head] == first && items[tail - 1] == next - 1);
    }
    CHECK(capacity < 20000); /* it follows what is held, not what has passed */
    free(items);
}

/* --- index ------------------------------------------------------------------------------------------ */

enum { GROUPS = 3000 };

/* Hashes that collide a lot, far more than a line takes, also around the end of the table; some are that of free slots. */
static uint32_t hash_of(uint32_t group)
{
    return group % 11 == 0 ? 0 : group % 5 == 0 ? UINT32_MAX - group % 3 : group % 7 == 0 ? 17 : group * 2654435761u;
}

/* Only groups with this hash are found, in whatever line they had room. */
static bool finds(const dfrt_index *index, uint32_t hash, uint32_t group)
{
    bool found = false;
    dfrt_seek seek = dfrt_index_seek(index, hash);
    for (uint32_t next; (next = dfrt_index_next(index, &seek)) != 0;) {
        CHECK(hash_of(next) == hash);
        found |= next == group;
    }
    return found;
}

static uint32_t groups_in(const dfrt_index *index)
{
    uint32_t count = 0;
    for (size_t slot = 0; slot < dfrt_index_size(index); slot++) count += dfrt_index_at(index, slot) != 0;
    return count;
}

static void test_index(void)
{
    static bool held[GROUPS + 1];
    dfrt_index index = {0};
    uint32_t count = 0;
    for (int i = 0; i < 60000; i++) {
        uint32_t group = 1 + below(i % 20000 < 10000 ? GROUPS : GROUPS / 50);
        if (!held[group]) dfrt_index_insert(&index, hash_of(group), group);
        else dfrt_index_remove(&index, hash_of(group), group);
        count += held[group] ? -1u : 1u;
        held[group] = !held[group];
        CHECK(index.used == count);
        for (int look = 0; i % 500 == 0 && look < 200; look++) {
            uint32_t some = 1 + below(GROUPS);
            CHECK(finds(&index, hash_of(some), some) == held[some]);
        }
    }
    for (uint32_t group = 1; group <= GROUPS; group++) CHECK(finds(&index, hash_of(group), group) == held[group]);
    CHECK(groups_in(&index) == count && dfrt_index_size(&index) <= 4 * GROUPS);
    dfrt_index_close(&index);
}

/* --- groups ----------------------------------------------------------------------------------------- */

static void test_groups(void)
{
    dfrt_groups groups = {0};
    static uint32_t live[2000];
    uint32_t count = 0;
    for (int i = 0; i < 50000; i++) {
        if (count == 0 || (count < 2000 && below(2) == 0)) {
            uint32_t group = dfrt_groups_take(&groups, 24);
            uint64_t *memory = dfrt_groups_at(&groups, group, 24);
            CHECK(group > 0 && memory[0] == 0 && memory[2] == 0);
            memory[0] = memory[2] = group;
            live[count++] = group;
        } else {
            uint32_t at = below(count);
            uint64_t *memory = dfrt_groups_at(&groups, live[at], 24);
            CHECK(memory[0] == live[at] && memory[2] == live[at]);
            dfrt_groups_release(&groups, live[at]);
            live[at] = live[--count];
        }
    }
    CHECK(groups.made <= 2000); /* numbers are used again */
    unsigned char *is_live = dfrt_groups_live(&groups);
    uint32_t found = 0;
    for (uint32_t group = 1; group <= groups.made; group++) found += is_live[group];
    CHECK(found == count);
    for (uint32_t i = 0; i < count; i++) CHECK(is_live[live[i]]);
    free(is_live);
    dfrt_groups_close(&groups);
}

/* --- order ------------------------------------------------------------------------------------------ */

static int by_key(const void *context, uint32_t left, uint32_t right)
{
    const int *keys = context;
    return keys[left] < keys[right] ? -1 : keys[left] > keys[right];
}

static void test_order(void)
{
    static int keys[5001];
    dfrt_order order = {0};
    for (uint32_t group = 1; group <= 5000; group++) {
        keys[group] = (int)below(1000000);
        dfrt_order_add(&order, group);
        if (below(50) != 0 && group != 5000) continue;
        dfrt_order_sort(&order, by_key, keys);
        CHECK(order.sorted == order.count && order.count == group);
        for (uint32_t i = 1; i < order.count; i++) CHECK(keys[order.groups[i - 1]] <= keys[order.groups[i]]);
    }
    dfrt_order_close(&order);
}

/* --- values of a window ----------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void test_quantile(void)
{
    double values[200], sorted[200];
    static const double shares[] = {0.0, 0.1, 0.25, 0.5, 0.9, 0.999, 1.0};
    for (int i = 0; i < 3000; i++) {
        size_t count = 1 + below(199), kept = 0;
        for (size_t n = 0; n < count; n++) {
            values[n] = below(10) == 0 ? NAN : (double)below(i % 2 == 0 ? 5 : 100000) - 3.0;
            if (!isnan(values[n])) sorted[kept++] = values[n];
        }
        qsort(sorted, kept, sizeof *sorted, by_value);
        double q = shares[below(7)], position = q * (double)(kept - 1);
        double got = dfrt_quantile(values, count, q);
        if (kept == 0) {
            CHECK(isnan(got));
            continue;
        }
        size_t low = (size_t)position;
        double high = sorted[low + 1 < kept ? low + 1 : low];
        CHECK(fabs(got - (sorted[low] + (high - sorted[low]) * (position - (double)low))) < 1e-9);
    }
    double extremes[] = {INFINITY, -INFINITY, 0.0};
    CHECK(dfrt_quantile(extremes, 3, 0.5) == 0.0);
    double one[] = {7.0};
    CHECK(dfrt_quantile(one, 1, 0.3) == 7.0);
}

static void test_ewma(void)
{
    const double values[] = {1.0, 2.0, 4.0, 8.0};
    CHECK(dfrt_ewma(values, 1, 0.5) == 1.0);
    CHECK(dfrt_ewma(values, 4, 0.5) == 0.5 * 8.0 + 0.5 * (0.5 * 4.0 + 0.5 * (0.5 * 2.0 + 0.5 * 1.0)));
}

/* Values far from zero, in parts that are combined, the last of them with values still to come. */
static void test_moments(void)
{
    double values[55];
    dfrt_moments all = DFRT_NO_MOMENTS;
    int64_t before = 0;
    for (int part = 0; part < 10; part++) { /* of 0 to 9 values */
        dfrt_moments own = DFRT_NO_MOMENTS;
        for (int i = 0; i < part; i++) {
            values[before + i] = 1e6 + (double)below(1000) / 7.0;
            dfrt_moments_add(&own, values[before + i]);
        }
        dfrt_moments_combine(&all, before, &own, part);
        before += part;
    }
    for (int i = 0; i < 10; i++, before++) {
        values[before] = 1e6 + (double)below(1000) / 7.0;
        dfrt_moments_add(&all, values[before]);
    }
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < before; i++) sum += values[i];
    for (int64_t i = 0; i < before; i++) squares += pow(values[i] - sum / (double)before, 2.0);
    CHECK(fabs(dfrt_moments_squares(&all, before) - squares) < 1e-9 * squares);
    CHECK(fabs(dfrt_moments_mean(&all, before) - sum / (double)before) < 1e-9);
}

static double mean_of(const double *values, int64_t count, int64_t cut)
{
    dfrt_moments parts[2] = {DFRT_NO_MOMENTS, DFRT_NO_MOMENTS};
    for (int64_t i = 0; i < count; i++) dfrt_moments_add(&parts[i >= cut], values[i]);
    dfrt_moments_combine(&parts[0], cut, &parts[1], count - cut);
    return dfrt_moments_mean(&parts[0], count);
}

/* Wherever an infinite value stands the mean is infinite; of both kinds, or with a NaN, there is none. */
static void test_infinite_moments(void)
{
    for (int64_t at = 0; at < 6; at++) {
        for (int64_t cut = 0; cut <= 6; cut++) {
            double values[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 7.5};
            CHECK(mean_of(values, 6, cut) == 3.75);
            values[at] = INFINITY;
            CHECK(mean_of(values, 6, cut) == (double)INFINITY);
            values[(at + 1) % 6] = -INFINITY;
            CHECK(isnan(mean_of(values, 6, cut)));
            values[at] = 1.0;
            CHECK(mean_of(values, 6, cut) == -(double)INFINITY);
            values[(at + 1) % 6] = NAN;
            CHECK(isnan(mean_of(values, 6, cut)));
        }
    }
}

int main(void)
{
    test_slide();
    test_index();
    test_groups();
    test_order();
    test_quantile();
    test_ewma();
    test_moments();
    test_infinite_moments();
    return 0;
}
