/* Arithmetic at the edges, where C leaves things open and the language does not. */
#define _GNU_SOURCE
#include <dfrt/arith.h>

#include <math.h>

#include "check.h"

static void test_whole_numbers(void)
{
    uint64_t faults = 0;
    CHECK(dfrt_add_i64(INT64_MAX, 1) == INT64_MIN && dfrt_sub_i64(INT64_MIN, 1) == INT64_MAX);
    CHECK(dfrt_mul_i64(INT64_MIN, -1) == INT64_MIN && dfrt_mul_i64((int64_t)1 << 62, 4) == 0);
    CHECK(dfrt_neg_i64(INT64_MIN) == INT64_MIN && dfrt_abs_i64(INT64_MIN) == INT64_MIN && dfrt_abs_i64(-3) == 3);
    CHECK(dfrt_div_i64(-7, 2, &faults) == -3 && dfrt_mod_i64(-7, 2, &faults) == -1);
    CHECK(dfrt_div_i64(7, -2, &faults) == -3 && dfrt_mod_i64(7, -2, &faults) == 1);
    CHECK(dfrt_div_i64(INT64_MIN, -1, &faults) == INT64_MIN && dfrt_mod_i64(INT64_MIN, -1, &faults) == 0);
    CHECK(dfrt_div_u64(UINT64_MAX, 2, &faults) == INT64_MAX && dfrt_mod_u64(UINT64_MAX, 10, &faults) == 5);
    CHECK(faults == 0);
    CHECK(dfrt_div_i64(7, 0, &faults) == 0 && dfrt_mod_i64(7, 0, &faults) == 0);
    CHECK(dfrt_div_u64(7, 0, &faults) == 0 && dfrt_mod_u64(7, 0, &faults) == 0);
    CHECK(faults == 4);
}

static void test_floor(void)
{
    for (int64_t a = -20; a <= 20; a++) {
        for (int64_t b = 1; b <= 7; b++) CHECK(dfrt_floor_div(a, b) == (int64_t)floor((double)a / (double)b));
    }
    CHECK(dfrt_floor_div(INT64_MIN, 1) == INT64_MIN && dfrt_floor_div(INT64_MAX, INT64_MAX) == 1);
    CHECK(dfrt_floor_div(INT64_MIN, INT64_MAX) == -2);
}

static void test_conversions(void)
{
    CHECK(dfrt_f64_to_i64(NAN) == 0 && dfrt_f64_to_i64(INFINITY) == INT64_MAX && dfrt_f64_to_i64(-INFINITY) == INT64_MIN);
    CHECK(dfrt_f64_to_i64(-1.9) == -1 && dfrt_f64_to_i64(1.9) == 1 && dfrt_f64_to_i64(9.3e18) == INT64_MAX);
    CHECK(dfrt_f64_to_i64(-9223372036854775808.0) == INT64_MIN);
    CHECK(dfrt_f64_to_u64(-1.0) == 0 && dfrt_f64_to_u64(NAN) == 0 && dfrt_f64_to_u64(1e30) == UINT64_MAX);
    CHECK(dfrt_f64_to_u64(9223372036854775808.0) == (uint64_t)1 << 63);
    for (int64_t x = -70000; x <= 70000; x++) {
        CHECK(((int64_t)dfrt_wrap_i8((uint64_t)x) - x) % 256 == 0);
        CHECK(((int64_t)dfrt_wrap_i16((uint64_t)x) - x) % 65536 == 0);
        CHECK(dfrt_wrap_i32((uint64_t)x) == x);
    }
    CHECK(dfrt_wrap_i8(128) == -128 && dfrt_wrap_i16(32768) == -32768 && dfrt_wrap_i32(2147483648u) == INT32_MIN);
    CHECK(dfrt_wrap_i32(UINT64_MAX) == -1);
}

static void test_time(void)
{
    CHECK(dfrt_add_time(INT64_MAX, 1) == INT64_MAX && dfrt_add_time(INT64_MIN, -1) == INT64_MIN);
    CHECK(dfrt_sub_time(INT64_MIN, 1) == INT64_MIN && dfrt_sub_time(INT64_MAX, -1) == INT64_MAX);
    CHECK(dfrt_add_time(3, -5) == -2 && dfrt_sub_time(3, 5) == -2);
    CHECK(dfrt_clamp_i64(5, 1, 3) == 3 && dfrt_clamp_i64(-5, 1, 3) == 1 && dfrt_clamp_i64(2, 1, 3) == 2);
}

static void test_least_and_greatest(void)
{
    CHECK(dfrt_least_f64(NAN, 1.0) == 1.0 && dfrt_least_f64(1.0, NAN) == 1.0 && isnan(dfrt_least_f64(NAN, NAN)));
    CHECK(dfrt_greatest_f64(NAN, 1.0) == 1.0 && dfrt_greatest_f64(1.0, NAN) == 1.0);
    CHECK(dfrt_least_i64(-1, 1) == -1 && dfrt_greatest_u64(1, UINT64_MAX) == UINT64_MAX);
    CHECK(dfrt_least_u64(1, UINT64_MAX) == 1 && dfrt_greatest_i64(-1, 1) == 1);
}

int main(void)
{
    test_whole_numbers();
    test_floor();
    test_conversions();
    test_time();
    test_least_and_greatest();
    return 0;
}
