#define _GNU_SOURCE
#include <dfrt/sink.h>
#include <dfrt/source.h>

#include "check.h"
#include "sample.h"

static dfrt_error error;

static trade make_trade(int64_t ts, const char *symbol, double price, const char *note)
{
    trade t;
    memset(&t, 0, sizeof t);
    t.ts = ts;
    t.price = price;
    t.size = (int32_t)-ts;
    t.buy = ts % 2 == 0;
    CHECK(dfrt_symbol_intern(symbol, strlen(symbol), &t.symbol) == DFRT_OK);
    CHECK(dfrt_text_assign(&t.note, 6, (dfrt_slice){note, strlen(note)}));
    return t;
}

static void write_three(const char *spec)
{
    dfrt_sink *sink;
    CHECK(dfrt_sink_open(&sink, "out", spec, &trade_record, &error) == DFRT_OK);
    trade trades[3] = {make_trade(1, "B", 0.1, ""), make_trade(2, "a,\n\"x\"", 2e20, "n,o"), make_trade(3, "", -3, "sixsix")};
    for (size_t i = 0; i < 3; i++) dfrt_sink_write(sink, &trades[i]);
    CHECK(dfrt_sink_flush(sink, &error) == DFRT_OK && dfrt_sink_count(sink) == 3);
    dfrt_sink_write(sink, &trades[1]);
    CHECK(dfrt_sink_close(sink, &error) == DFRT_OK);
}

static const char rows[] = "ts,symbol,price,size,buy,note\n1,B,0.1,-1,false,\n2,\"a,\n\"\"x\"\"\",2e+20,-2,true,\"n,o\"\n"
                           "3,,-3.0,-3,false,sixsix\n2,\"a,\n\"\"x\"\"\",2e+20,-2,true,\"n,o\"\n";

/* Reads `spec` and prints it as CSV. */
static uint64_t copy_to_csv(const char *spec, const char *path)
{
    dfrt_source *source;
    dfrt_sink *sink;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.report_limit = 0;
    CHECK(dfrt_source_open(&source, "in", spec, &trade_record, &options, &error) == DFRT_OK);
    CHECK(dfrt_sink_open(&sink, "out", path, &trade_record, &error) == DFRT_OK);
    trade batch[2];
    size_t count;
    dfrt_status status;
    while ((status = dfrt_source_read(source, batch, 2, &count)) == DFRT_OK)
        for (size_t i = 0; i < count; i++) dfrt_sink_write(sink, &batch[i]);
    uint64_t malformed = dfrt_source_malformed(source);
    CHECK(status == DFRT_END && dfrt_source_close(source, &error) == DFRT_OK && dfrt_sink_close(sink, &error) == DFRT_OK);
    return malformed;
}

static void test_binary(void)
{
    write_three("binary:t.bin");
    check_file("t.bin.symbols", "B\n\"a,\n\"\"x\"\"\"\n\"\"\n");
    CHECK(copy_to_csv("binary:t.bin", "csv:back.csv") == 0);
    check_file("back.csv", rows);
    /* Damage: a symbol that is not there, a bool of 2, text that is no UTF-8, and half a record. */
    unsigned char packed[4 * TRADE_PACKED];
    FILE *file = fopen("t.bin", "rb");
    CHECK(file != NULL && fread(packed, 1, sizeof packed, file) == sizeof packed && fclose(file) == 0);
    packed[8] = 3;
    packed[TRADE_PACKED + 24] = 2;
    packed[2 * TRADE_PACKED + 25] = 0xff;
    write_file("t.bin", packed, sizeof packed);
    CHECK(copy_to_csv("binary:t.bin", "csv:back.csv") == 3);
    check_file("back.csv", "ts,symbol,price,size,buy,note\n2,\"a,\n\"\"x\"\"\",2e+20,-2,true,\"n,o\"\n");
    write_file("t.bin", packed + 3 * TRADE_PACKED, TRADE_PACKED - 1);
    CHECK(copy_to_csv("binary:t.bin", "csv:back.csv") == 1);
    CHECK(remove("t.bin.symbols") == 0);
    dfrt_source *source;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    CHECK(dfrt_source_open(&source, "in", "binary:t.bin", &trade_record, &options, &error) == DFRT_MISSING);
    CHECK(strstr(error.text, "t.bin.symbols") != NULL);
}

typedef struct pair {
    int64_t a;
    double b;
} pair;

static void encode_pair(const void *record, unsigned char *packed)
{
    memcpy(packed, record, sizeof(pair));
}

static const dfrt_field pair_fields[] = {{"a", DFRT_I64, offsetof(pair, a), 0, 0},
                                         {"b", DFRT_F64, offsetof(pair, b), 0, 0}};
static const dfrt_record pair_record = {.name = "pair", .size = sizeof(pair), .packed_size = sizeof(pair),
                                        .field_count = 2, .fields = pair_fields, .encode = encode_pair};

/* Many at once are the same as one after the other: rows, records with symbols, and those that go in one piece, fewer and
 * more than the buffer holds. */
static void test_many(void)
{
    trade trades[4] = {make_trade(1, "B", 0.1, ""), make_trade(2, "a,\n\"x\"", 2e20, "n,o"), make_trade(3, "", -3, "sixsix")};
    trades[3] = trades[1];
    for (int binary = 0; binary < 2; binary++) {
        dfrt_sink *sink;
        CHECK(dfrt_sink_open(&sink, "out", binary ? "binary:m.bin" : "csv:m.csv", &trade_record, &error) == DFRT_OK);
        dfrt_sink_write_many(sink, trades, 4);
        CHECK(dfrt_sink_count(sink) == 4 && dfrt_sink_close(sink, &error) == DFRT_OK);
        if (binary) CHECK(copy_to_csv("binary:m.bin", "csv:m.csv") == 0);
        check_file("m.csv", rows);
    }
    enum { PAIRS = 20000 };
    static pair pairs[PAIRS], back[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) pairs[i] = (pair){i, i / 8.0};
    dfrt_sink *sink;
    CHECK(dfrt_sink_open(&sink, "out", "binary:p.bin", &pair_record, &error) == DFRT_OK);
    dfrt_sink_write(sink, &pairs[0]);
    dfrt_sink_write_many(sink, pairs + 1, 0);
    dfrt_sink_write_many(sink, pairs + 1, 7);
    dfrt_sink_write_many(sink, pairs + 8, PAIRS - 8);
    dfrt_sink_write_many(sink, pairs, PAIRS);
    CHECK(dfrt_sink_count(sink) == 2 * PAIRS && dfrt_sink_close(sink, &error) == DFRT_OK);
    FILE *file = fopen("p.bin", "rb");
    CHECK(file != NULL && fread(back, sizeof *back, 2 * PAIRS, file) == 2 * PAIRS && fgetc(file) == EOF && fclose(file) == 0);
    CHECK(memcmp(back, pairs, sizeof pairs) == 0 && memcmp(back + PAIRS, pairs, sizeof pairs) == 0);
}

static void test_failures(void)
{
    dfrt_sink *sink;
    CHECK(dfrt_sink_open(&sink, "out", "csv:/no/such/file", &trade_record, &error) == DFRT_IO && sink == NULL);
    CHECK(dfrt_sink_open(&sink, "out", "csv:", &trade_record, &error) == DFRT_USAGE);
    CHECK(dfrt_sink_open(&sink, "out", "tape:x", &trade_record, &error) == DFRT_USAGE);
    CHECK(dfrt_sink_open(&sink, "out", "binary:-", &trade_record, &error) == DFRT_USAGE);
    CHECK(dfrt_sink_open(&sink, "out", "csv:/dev/full", &trade_record, &error) == DFRT_IO);
    CHECK(dfrt_sink_open(&sink, "out", "discard:", &trade_record, &error) == DFRT_OK);
    trade t = make_trade(1, "x", 1, "");
    dfrt_sink_write(sink, &t);
    CHECK(dfrt_sink_count(sink) == 1 && dfrt_sink_flush(sink, &error) == DFRT_OK && dfrt_sink_close(sink, &error) == DFRT_OK);
}

int main(void)
{
    enter_scratch_folder();
    write_three("csv:t.csv");
    check_file("t.csv", rows);
    CHECK(copy_to_csv("csv:t.csv", "csv:again.csv") == 0);
    check_file("again.csv", rows);
    test_binary();
    test_many();
    test_failures();
    leave_scratch_folder();
    puts("ok");
    return 0;
}
