#define _GNU_SOURCE
#include <dfrt/histogram.h>

#include <pthread.h>

#include "check.h"

static dfrt_histogram a, b, sum, difference;

static void check_near(uint64_t got, uint64_t exact)
{
    CHECK(got >= exact && got <= exact + exact / 32 + 1);
}

static dfrt_histogram shared;

static void *add_many(void *unused)
{
    for (uint64_t v = 1; v <= 200000; v++) dfrt_histogram_add(&shared, v, 1);
    return unused;
}

/* A reader beside the writer sees numbers that only grow. */
static void test_reader(void)
{
    pthread_t writer;
    uint64_t before = 0;
    CHECK(pthread_create(&writer, NULL, add_many, NULL) == 0);
    while (before < 200000) {
        uint64_t count = dfrt_histogram_count(&shared);
        CHECK(count >= before && dfrt_histogram_quantile(&shared, 0.5) <= 200000);
        before = count;
    }
    CHECK(pthread_join(writer, NULL) == 0);
}

int main(void)
{
    test_reader();
    CHECK(dfrt_histogram_quantile(&a, 0.5) == 0 && dfrt_histogram_mean(&a) == 0 && dfrt_histogram_max(&a) == 0);
    for (uint64_t v = 1; v <= 100000; v++) dfrt_histogram_add(&a, v, 1);
    CHECK(dfrt_histogram_count(&a) == 100000 && dfrt_histogram_max(&a) == 100000 && dfrt_histogram_mean(&a) == 50000.5);
    check_near(dfrt_histogram_quantile(&a, 0.5), 50000);
    check_near(dfrt_histogram_quantile(&a, 0.99), 99000);
    CHECK(dfrt_histogram_quantile(&a, 1.0) == 100000 && dfrt_histogram_quantile(&a, 0.0) == 1);
    dfrt_histogram_add(&b, UINT64_MAX, 1);
    dfrt_histogram_add(&b, 0, 3);
    dfrt_histogram_add(&b, 31, 0);
    CHECK(dfrt_histogram_count(&b) == 4 && dfrt_histogram_quantile(&b, 0.75) == 0);
    CHECK(dfrt_histogram_quantile(&b, 0.76) == UINT64_MAX);
    dfrt_histogram_merge(&sum, &a);
    dfrt_histogram_merge(&sum, &b);
    CHECK(dfrt_histogram_count(&sum) == 100004 && dfrt_histogram_max(&sum) == UINT64_MAX);
    dfrt_histogram_subtract(&difference, &sum, &b);
    CHECK(dfrt_histogram_count(&difference) == 100000 && dfrt_histogram_mean(&difference) == 50000.5);
    check_near(dfrt_histogram_max(&difference), 100000);
    /* Buckets are in order and every value lies within its own bucket's bounds. */
    for (uint64_t v = 1; v < UINT64_MAX / 3; v += v / 7 + 1) {
        CHECK(dfrt__histogram_bucket(v) >= dfrt__histogram_bucket(v - 1));
        CHECK(dfrt__histogram_bucket(v) < DFRT_HISTOGRAM_BUCKETS);
        dfrt_histogram_clear(&b);
        dfrt_histogram_add(&b, v, 1);
        dfrt_histogram_add(&b, UINT64_MAX, 1);
        check_near(dfrt_histogram_quantile(&b, 0.5), v);
    }
    puts("ok");
    return 0;
}
