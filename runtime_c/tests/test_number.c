#define _GNU_SOURCE
#include <dfrt/number.h>

#include <float.h>
#include <math.h>

#include "check.h"

static void test_whole_numbers(void)
{
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } cases[] = {
        {"0", true, 0}, {"-0", true, 0}, {"7", true, 7}, {"007", true, 7}, {"-12", true, -12},
        {"9223372036854775807", true, INT64_MAX}, {"-9223372036854775808", true, INT64_MIN},
        {"0000000000000000000000000000000042", true, 42},
        {"9223372036854775808", false, 0}, {"-9223372036854775809", false, 0}, {"18446744073709551616", false, 0},
        {"99999999999999999999999", false, 0}, {"", false, 0}, {"-", false, 0}, {"+1", false, 0}, {" 1", false, 0},
        {"1 ", false, 0}, {"1.0", false, 0}, {"0x1", false, 0}, {"--1", false, 0}, {"1e3", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = -77;
        CHECK(dfrt_parse_i64(cases[i].text, strlen(cases[i].text), &value) == cases[i].good);
        CHECK(value == (cases[i].good ? cases[i].value : -77));
    }
    uint64_t u;
    CHECK(dfrt_parse_u64("18446744073709551615", 20, &u) && u == UINT64_MAX);
    CHECK(!dfrt_parse_u64("18446744073709551616", 20, &u) && !dfrt_parse_u64("-1", 2, &u));
}

/* Every length, and a wrong byte at every place of it. */
static void test_lengths(void)
{
    static const char digits[] = "9876543210123456789";
    uint64_t wanted = 0, value;
    for (size_t size = 1; size < sizeof digits; size++) {
        wanted = wanted * 10 + (uint64_t)(digits[size - 1] - '0');
        CHECK(dfrt_parse_u64(digits, size, &value) && value == wanted);
        for (size_t i = 0; i < size; i++) {
            char wrong[sizeof digits];
            memcpy(wrong, digits, sizeof digits);
            for (int c = -128; c < 128; c++) {
                wrong[i] = (char)c;
                CHECK(dfrt_parse_u64(wrong, size, &value) == (c >= '0' && c <= '9'));
            }
        }
    }
}

static void test_narrow_numbers(void)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    CHECK(dfrt_parse_i8("-128", 4, &i8) && i8 == -128 && !dfrt_parse_i8("128", 3, &i8));
    CHECK(dfrt_parse_i16("32767", 5, &i16) && i16 == 32767 && !dfrt_parse_i16("-32769", 6, &i16));
    CHECK(dfrt_parse_i32("-2147483648", 11, &i32) && i32 == INT32_MIN && !dfrt_parse_i32("2147483648", 10, &i32));
    CHECK(dfrt_parse_u8("255", 3, &u8) && u8 == 255 && !dfrt_parse_u8("256", 3, &u8));
    CHECK(dfrt_parse_u16("65535", 5, &u16) && u16 == 65535 && !dfrt_parse_u16("-1", 2, &u16));
    CHECK(dfrt_parse_u32("4294967295", 10, &u32) && u32 == UINT32_MAX && !dfrt_parse_u32("4294967296", 10, &u32));
    bool b = true;
    CHECK(dfrt_parse_bool("false", 5, &b) && !b && dfrt_parse_bool("true", 4, &b) && b);
    CHECK(!dfrt_parse_bool("True", 4, &b) && !dfrt_parse_bool("1", 1, &b) && !dfrt_parse_bool("", 0, &b));
}

static void test_print_whole(void)
{
    static const int64_t values[] = {0, 1, 9, 10, 99, 100, 12345, 999999999, 1000000000, INT64_MAX, INT64_MIN, -1};
    char got[DFRT_NUMBER_ROOM + 1], wanted[40];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        got[dfrt_format_i64(values[i], got)] = '\0';
        (void)snprintf(wanted, sizeof wanted, "%lld", (long long)values[i]);
        CHECK_TEXT(got, wanted);
    }
    uint64_t power = 1;
    for (int k = 0; k < 20; k++, power *= 10) {
        for (uint64_t v = power - 1; v <= power + 1 && v + 2 > v; v++) {
            got[dfrt_format_u64(v, got)] = '\0';
            (void)snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)v);
            CHECK_TEXT(got, wanted);
        }
    }
    got[dfrt_format_u64(UINT64_MAX, got)] = '\0';
    CHECK_TEXT(got, "18446744073709551615");
}

static void test_print_floats(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"}, {-0.0, "-0.0"}, {1.0, "1.0"}, {-1.5, "-1.5"}, {0.1, "0.1"}, {0.3, "0.3"}, {1e15, "1000000000000000.0"},
        {1e16, "1e+16"}, {9999999999999998.0, "9999999999999998.0"}, {1e22, "1e+22"}, {1e23, "1e+23"},
        {123456789012345680.0, "1.2345678901234568e+17"}, {0.0001, "0.0001"}, {0.00001, "1e-05"}, {0.00012345, "0.00012345"},
        {1.5e300, "1.5e+300"}, {5e-324, "5e-324"}, {DBL_MAX, "1.7976931348623157e+308"}, {DBL_MIN, "2.2250738585072014e-308"},
        {2.0 / 3.0, "0.6666666666666666"}, {101.25, "101.25"}, {99999.99995, "99999.99995"}, {9007199254740993.0, "9007199254740992.0"},
        {123456.0, "123456.0"}, {4.35, "4.35"}, {0.1 + 0.2, "0.30000000000000004"}, {1.7800590868057611e-307, "1.7800590868057611e-307"},
        {2.98023223876953125e-8, "2.9802322387695312e-08"}, {9.5367431640625e-07, "9.5367431640625e-07"}, {9.109e-31, "9.109e-31"},
        {INFINITY, "inf"}, {-INFINITY, "-inf"}, {NAN, "nan"}, {-NAN, "nan"},
    };
    char got[DFRT_NUMBER_ROOM + 1];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        got[dfrt_format_f64(cases[i].value, got)] = '\0';
        CHECK_TEXT(got, cases[i].text);
    }
    static const struct {
        float value;
        const char *text;
    } narrow[] = {
        {0.1f, "0.1"}, {16777216.0f, "16777216.0"}, {3.4028235e38f, "3.4028235e+38"}, {1e-45f, "1e-45"}, {0.3f, "0.3"},
        {1e10f, "10000000000.0"}, {1.17549435e-38f, "1.1754944e-38"}, {-2.5f, "-2.5"}, {8.589973e9f, "8589974000.0"},
    };
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        got[dfrt_format_f32(narrow[i].value, got)] = '\0';
        CHECK_TEXT(got, narrow[i].text);
    }
}

static void test_float_grammar(void)
{
    static const char *const bad[] = {"", "-", ".", "-.", "+1", " 1", "1 ", "1e", "1e+", "e5", ".e5", "0x10", "1_0", "1,0", "NaN",
                                      "-nan", "INF", "infinity", "1.2.3", "1e5.0", "--1", "1-", "1e--5", "in", "nanx"};
    double value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) CHECK(!dfrt_parse_f64(bad[i], strlen(bad[i]), &value));
    CHECK(value == 42);
    CHECK(dfrt_parse_f64(".5", 2, &value) && value == 0.5);
    CHECK(dfrt_parse_f64("5.", 2, &value) && value == 5.0);
    CHECK(dfrt_parse_f64("-0", 2, &value) && value == 0 && signbit(value));
    CHECK(dfrt_parse_f64("1E+5", 4, &value) && value == 1e5);
    CHECK(dfrt_parse_f64("inf", 3, &value) && value == INFINITY && dfrt_parse_f64("-inf", 4, &value) && value == -INFINITY);
    CHECK(dfrt_parse_f64("nan", 3, &value) && isnan(value));
    CHECK(dfrt_parse_f64("1e999999999999999999", 20, &value) && value == INFINITY);
    CHECK(dfrt_parse_f64("1e-999999999999999999", 21, &value) && value == 0);
    CHECK(dfrt_parse_f64("0e999999999999999999", 20, &value) && value == 0);
}

/* Cases that decide between algorithms: ties, subnormals, limits, many digits. The C library is the judge. */
static void test_rounding(void)
{
    static const char *const hard[] = {
        "9007199254740993", "9007199254740992.999999999999999999999", "9007199254740993.00000000000000000000000001",
        "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "4.9e-324", "2.4703282292062327e-324",
        "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072012e-308", "6.9294956446009195e15", "8.41e-315",
        "1448997445238699", "0.500000000000000166533453693773481063544750213623046875", "3.518437208883201171875e13",
        "1.00000000000000011102230246251565404236316680908203125", "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126", "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880e0",
        "16777217", "16777217.0000000001", "3.4028235677973366e38", "3.4028234e38", "1.401298464324817e-45", "7.006492321624085e-46",
    };
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        double value, wanted = strtod(hard[i], NULL);
        float narrow, wanted_narrow = strtof(hard[i], NULL);
        CHECK(dfrt_parse_f64(hard[i], strlen(hard[i]), &value) && memcmp(&value, &wanted, sizeof value) == 0);
        CHECK(dfrt_parse_f32(hard[i], strlen(hard[i]), &narrow) && memcmp(&narrow, &wanted_narrow, sizeof narrow) == 0);
    }
}

/* Half way between two neighbours, then zeros, and a last digit far beyond what is kept. */
static void test_many_digits(void)
{
    char text[3000] = "0.500000000000000055511151231257827021181583404541015625";
    size_t size = strlen(text);
    memset(text + size, '0', sizeof text - size);
    double value;
    CHECK(dfrt_parse_f64(text, 2500, &value) && value == 0.5);
    text[2499] = '1';
    CHECK(dfrt_parse_f64(text, 2500, &value) && value > 0.5);
    memset(text, '0', sizeof text);
    memcpy(text + 1500, "1e-3", 4);
    CHECK(dfrt_parse_f64(text, 1504, &value) && value == 0.001);
    memset(text, '0', sizeof text);
    text[1] = '.';
    memcpy(text + 302, "12345e300", 9);
    CHECK(dfrt_parse_f64(text, 311, &value) && value == 0.12345);
}

static void test_round_trip(void)
{
    uint64_t state = 88172645463325252u;
    char text[DFRT_NUMBER_ROOM];
    for (int i = 0; i < 200000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        double value, back;
        memcpy(&value, &state, sizeof value);
        if (isnan(value)) continue;
        CHECK(dfrt_parse_f64(text, dfrt_format_f64(value, text), &back) && back == value);
        float narrow, narrow_back;
        memcpy(&narrow, &state, sizeof narrow);
        if (isnan(narrow)) continue;
        CHECK(dfrt_parse_f32(text, dfrt_format_f32(narrow, text), &narrow_back) && narrow_back == narrow);
    }
}

int main(void)
{
    test_whole_numbers();
    test_lengths();
    test_narrow_numbers();
    test_print_whole();
    test_print_floats();
    test_float_grammar();
    test_rounding();
    test_many_digits();
    test_round_trip();
    puts("ok");
    return 0;
}
