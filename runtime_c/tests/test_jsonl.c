#define _GNU_SOURCE
#include <dfrt/jsonl.h>
#include <dfrt/sink.h>
#include <dfrt/source.h>

#include <math.h>

#include "check.h"
#include "sample.h"

static dfrt_error error;

/* A record with every kind of number. */
typedef struct numbers {
    int8_t small;
    uint64_t large;
    float narrow;
    double wide;
} numbers;

static int numbers_parse(const dfrt_slice *row, void *record)
{
    numbers *n = record;
    if (!dfrt_parse_i8(row[0].data, row[0].size, &n->small)) return 0;
    if (!dfrt_parse_u64(row[1].data, row[1].size, &n->large)) return 1;
    if (!dfrt_parse_f32(row[2].data, row[2].size, &n->narrow)) return 2;
    if (!dfrt_parse_f64(row[3].data, row[3].size, &n->wide)) return 3;
    return -1;
}

static const dfrt_field numbers_fields[] = {
    {.name = "small", .kind = DFRT_I8, .offset = offsetof(numbers, small)},
    {.name = "large", .kind = DFRT_U64, .offset = offsetof(numbers, large)},
    {.name = "narrow", .kind = DFRT_F32, .offset = offsetof(numbers, narrow)},
    {.name = "wide", .kind = DFRT_F64, .offset = offsetof(numbers, wide)},
};

static const dfrt_record numbers_record = {
    .name = "Numbers", .size = sizeof(numbers), .packed_size = 21, .field_count = 4, .fields = numbers_fields,
    .parse = numbers_parse,
};

/* The slices of a line of numbers, joined by '|'; "" when it is malformed or blank. */
static const char *split(const char *text)
{
    static char joined[256];
    dfrt_jsonl_reader *reader;
    dfrt_slice row[4];
    joined[0] = '\0';
    CHECK(dfrt_jsonl_open(&reader, &numbers_record, &error) == DFRT_OK);
    if (dfrt_jsonl_split(reader, (dfrt_slice){text, strlen(text)}, row) == DFRT_OK)
        for (size_t i = 0; i < 4; i++)
            (void)sprintf(joined + strlen(joined), "%.*s|", (int)row[i].size, row[i].data);
    dfrt_jsonl_close(reader);
    return joined;
}

static void test_objects(void)
{
    CHECK_TEXT(split("{\"small\":1,\"large\":2,\"narrow\":3,\"wide\":4}"), "1|2|3|4|");
    CHECK_TEXT(split(" { \"wide\" : 4.5e-3 ,\t\"narrow\":-0.0, \"large\":2,\"small\":-1 } \r"), "-1|2|-0.0|4.5e-3|");
    CHECK_TEXT(split("{\"x\":{\"a\":[1,{}, [ ],\"}\"]},\"small\":1,\"large\":2,\"y\":null,\"narrow\":3,\"wide\":4}"),
               "1|2|3|4|");
    CHECK_TEXT(split("{\"\\u0073mall\":1,\"large\":2,\"narrow\":\"nan\",\"wide\":\"-inf\"}"), "1|2|nan|-inf|");
    CHECK_TEXT(split("{\"small\":1,\"large\":2,\"narrow\":3}"), "");
    CHECK_TEXT(split("{\"small\":1,\"small\":1,\"large\":2,\"narrow\":3,\"wide\":4}"), "");
    CHECK_TEXT(split("{\"x\":1,\"x\":1,\"small\":1,\"large\":2,\"narrow\":3,\"wide\":4}"), "1|2|3|4|");
    CHECK_TEXT(split("{\"small\":1,\"large\":\"2\",\"narrow\":3,\"wide\":4}"), "");
    CHECK_TEXT(split("{\"small\":1,\"large\":2,\"narrow\":\"1.5\",\"wide\":4}"), "");
    CHECK_TEXT(split("{\"small\":1,\"large\":2,\"narrow\":true,\"wide\":4}"), "");
    CHECK_TEXT(split("{\"small\":null,\"large\":2,\"narrow\":3,\"wide\":4}"), "");
    CHECK_TEXT(split("   \r"), "");
}

/* One value of a field that nobody wants: what is JSON is gone over, what is not is found. */
static bool is_json(const char *value)
{
    char text[4096];
    CHECK((size_t)snprintf(text, sizeof text, "{\"x\":%s,\"small\":1,\"large\":2,\"narrow\":3,\"wide\":4}", value) <
          sizeof text);
    return split(text)[0] != '\0';
}

static void test_grammar(void)
{
    static const char *const good[] = {
        "0", "-0", "10", "1.0", "1e5", "1E+5", "1.25e-7", "true", "false", "null", "\"\"", "[]", "{}", "[[[]]]",
        "{\"a\":{\"b\":[1,2,3]}}", "[ 1 , 2 ]", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\x7f\"",
        "\"\\u0000\"", "\"\xf0\x9f\x98\x80\"",
    };
    static const char *const bad[] = {
        "", "01", "-", "+1", ".5", "5.", "1e", "1e+", "0x1", "nan", "NaN", "Infinity", "True", "tru", "nul", "\"", "\"a",
        "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud83d\"", "\"\\ud83dx\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\t\"",
        "\"\n\"", "[", "]", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "{1:2}", "[}", "{]", "'a'",
        "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", "1 1", "[1]]", "//",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!is_json(good[i])) CHECK_TEXT(good[i], "is JSON");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (is_json(bad[i])) CHECK_TEXT(bad[i], "is not JSON");
    char deep[200] = "";
    for (unsigned i = 0; i < DFRT_JSONL_DEPTH - 1; i++) deep[i] = '[', deep[125 - i] = ']';
    CHECK(is_json(deep));
    memmove(deep + 1, deep, sizeof deep - 1);
    deep[0] = '[';
    strcat(deep, "]");
    CHECK(!is_json(deep));
}

static size_t read_all(const char *spec, const dfrt_record *record, void *records, size_t room, uint64_t *malformed)
{
    dfrt_source *source;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.report_limit = 0;
    options.max_row = 300;
    CHECK(dfrt_source_open(&source, "in", spec, record, &options, &error) == DFRT_OK);
    size_t total = 0, count;
    dfrt_status status;
    while ((status = dfrt_source_read(source, (char *)records + total * record->size, room - total, &count)) == DFRT_OK)
        total += count;
    CHECK(status == DFRT_END);
    *malformed = dfrt_source_malformed(source);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
    return total;
}

static void test_numbers(void)
{
    numbers got[8];
    uint64_t malformed;
    write_text("n.jsonl", "\xef\xbb\xbf{\"small\":-128,\"large\":18446744073709551615,\"narrow\":0.1,\"wide\":3}\n\n"
                          "{\"small\":128,\"large\":0,\"narrow\":0,\"wide\":0}\n"
                          "{\"small\":1,\"large\":18446744073709551616,\"narrow\":0,\"wide\":0}\n"
                          "{\"small\":1.0,\"large\":0,\"narrow\":0,\"wide\":0}\n"
                          "{\"small\":1,\"large\":-1,\"narrow\":0,\"wide\":0}\r\n"
                          "{\"small\":1,\"large\":1,\"narrow\":\"nan\",\"wide\":\"-inf\"}");
    CHECK(read_all("jsonl:n.jsonl", &numbers_record, got, 8, &malformed) == 2 && malformed == 4);
    CHECK(got[0].small == -128 && got[0].large == UINT64_MAX && got[0].narrow == 0.1f && got[0].wide == 3.0);
    CHECK(isnan(got[1].narrow) && isinf(got[1].wide) && got[1].wide < 0);
}

static const char lines[] = "{\"ts\":1,\"symbol\":\"B\",\"price\":0.1,\"size\":-1,\"buy\":false,\"note\":\"\"}\n"
                            "{\"ts\":2,\"symbol\":\"a,\\n\\\"x\\\"\\u0001\xc3\xa9\",\"price\":2e+20,\"size\":-2,\"buy\":true,"
                            "\"note\":\"n\\\\o\"}\n"
                            "{\"ts\":3,\"symbol\":\"\",\"price\":\"nan\",\"size\":-3,\"buy\":false,\"note\":\"sixsix\"}\n";

static void test_round_trip(void)
{
    trade got[8];
    uint64_t malformed;
    dfrt_sink *sink;
    write_text("t.jsonl", lines);
    CHECK(read_all("jsonl:t.jsonl", &trade_record, got, 8, &malformed) == 3 && malformed == 0);
    CHECK(dfrt_sink_open(&sink, "out", "jsonl:u.jsonl", &trade_record, &error) == DFRT_OK);
    for (size_t i = 0; i < 3; i++) dfrt_sink_write(sink, &got[i]);
    CHECK(dfrt_sink_count(sink) == 3 && dfrt_sink_close(sink, &error) == DFRT_OK);
    check_file("u.jsonl", lines);
}

/* Escapes that decode to more than the field holds, a long line, and one that is cut in the middle. */
static void test_misfits(void)
{
    trade got[8];
    uint64_t malformed;
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"ts\":1,\"symbol\":\"B\",\"price\":1,\"size\":1,\"buy\":true,\"note\":\"\\u00e9\\u00e9\\u00e9\"}\n"
                   "{\"ts\":1,\"symbol\":\"B\",\"price\":1,\"size\":1,\"buy\":true,\"note\":\"\\u00e9\\u00e9\\u00e9!\"}\n"
                   "{\"ts\":1,\"symbol\":\"%0500d\",\"price\":1,\"size\":1,\"buy\":true,\"note\":\"\"}\n"
                   "{\"ts\":1,\"symbol\":\"B\",\"price\":1,\"size\":1,\"buy\":1,\"note\":\"\"}\n"
                   "{\"ts\":1,\"symbol\":7,\"price\":1,\"size\":1,\"buy\":true,\"note\":\"\"}\n"
                   "{\"ts\":1,\"symbol\":\"B\",\"price\":1,\"si",
                   0);
    write_text("m.jsonl", text);
    CHECK(read_all("jsonl:m.jsonl", &trade_record, got, 8, &malformed) == 1 && malformed == 5);
    CHECK(got[0].note.size == 6 && memcmp(got[0].note.data, "\xc3\xa9\xc3\xa9\xc3\xa9", 6) == 0);
}

int main(void)
{
    enter_scratch_folder();
    test_objects();
    test_grammar();
    test_numbers();
    test_round_trip();
    test_misfits();
    leave_scratch_folder();
    return 0;
}
