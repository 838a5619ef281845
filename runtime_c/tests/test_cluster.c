#define _GNU_SOURCE
#include <dfrt/cluster.h>
#include <dfrt/program.h>
#include <dfrt/symbol.h>

#include "check.h"
#include "sample.h"

static dfrt_error error;
static const dfrt_source_entry sources[] = {{.name = "trades", .spec = "", .record = &trade_record, .time_field = 0}};
static const dfrt_sink_entry sinks[] = {{.name = "out", .spec = "", .record = &trade_record}};
static const dfrt_program program = {
    .name = "sample", .source_count = 1, .sink_count = 1, .sources = sources, .sinks = sinks};
static const dfrt_cluster *const cluster = &dfrt_cluster_functions;
static const char header[] = "ts,symbol,price,size,buy,note\n";
static const dfrt_progress start = {.highest = INT64_MIN, .watermark = INT64_MIN};

/* Writes the header and lines; answers where each line begins, and the end. */
static void write_lines(const char *const *lines, size_t count, uint64_t *at)
{
    FILE *file = fopen("range.csv", "w");
    CHECK(file != NULL && fputs(header, file) >= 0);
    for (size_t i = 0; i < count; i++) {
        at[i] = (uint64_t)ftell(file);
        CHECK(fputs(lines[i], file) >= 0);
    }
    at[count] = (uint64_t)ftell(file);
    CHECK(fclose(file) == 0);
}

static dfrt_range *open_range(uint64_t begin, uint64_t end, dfrt_progress progress, int64_t slack)
{
    static const char *const keys[] = {"symbol"};
    dfrt_range_options options = {.spec = "csv:range.csv", .header = sizeof header - 1, .begin = begin, .end = end,
                                  .slack = slack, .progress = progress, .keys = keys, .key_count = 1,
                                  .report_limit = 10};
    dfrt_range *range;
    CHECK(cluster->range_open(&range, &program, &options, &error) == DFRT_OK);
    return range;
}

static const char *const disordered[] = {"10,A,1.5,1,true,\n", "30,B,1.5,2,true,é\n", "25,A,1,3,false,x\n",
                                         "what,A,1,3,false,x\n", "40,A,1,4,false,x\n", "38,B,1,5,false,x"};

static void test_measuring(void)
{
    uint64_t at[7];
    write_lines(disordered, 6, at);
    dfrt_range_measure found;
    dfrt_range *range = open_range(at[0], at[6], start, -1);
    CHECK(cluster->range_measure(range, &found, &error) == DFRT_OK);
    CHECK(found.after.index == 5 && found.highest == 40 && found.lowest == 10 && found.delay == 5);
    CHECK(found.after.watermark == 35 && found.malformed == 1 && found.lines == 5 && !found.quotes);
    CHECK(strncmp(cluster->range_reports(range), "5\tfield 'ts': ", 14) == 0);
    cluster->range_close(range);
}

/* Two ranges, the second with the progress that the first has made, give what one gives. */
static void test_two_ranges(void)
{
    static const int64_t marks[] = {INT64_MIN, 10, 30, 30, 35};
    uint64_t at[7];
    write_lines(disordered, 6, at);
    dfrt_progress progress = start;
    int64_t index = 0, first_key = 0;
    for (int part = 0; part < 2; part++) {
        dfrt_range *range = open_range(part == 0 ? at[0] : at[2], part == 0 ? at[2] : at[6], progress, -1);
        dfrt_row_columns rows;
        while (cluster->range_rows(range, &rows, &error) == DFRT_OK) {
            for (uint64_t i = 0; i < rows.count; i++, index++) {
                CHECK(rows.index[i] == index && rows.watermark[i] == marks[index]);
                first_key = index == 0 ? rows.key[i] : first_key;
                CHECK((rows.key[i] == first_key) == (index != 1 && index != 4));
            }
        }
        cluster->range_close(range);
        progress = (dfrt_progress){.index = 2, .highest = 30, .delay = 0, .watermark = 30};
    }
    CHECK(index == 5);
}

static void test_quotes_are_noticed(void)
{
    static const char *const lines[] = {"10,A,1.5,1,true,\"a\n", "b\"\n"};
    uint64_t at[3];
    write_lines(lines, 2, at);
    dfrt_range_measure found;
    dfrt_range *range = open_range(at[0], at[2], start, 0);
    CHECK(cluster->range_measure(range, &found, &error) == DFRT_OK && found.quotes && found.after.index == 1);
    cluster->range_close(range);
}

/* Rows that were read are written again: the same text comes out. */
static void test_rows_travel(void)
{
    static const char *const lines[] = {"-1,,0.1,-2147483648,true,\n", "2,über,inf,7,false,a b\n", "3,x,nan,0,true,é\n"};
    uint64_t at[4];
    write_lines(lines, 3, at);
    dfrt_range *range = open_range(at[0], at[3], start, 0);
    dfrt_writer *writer;
    dfrt_row_columns rows;
    CHECK(cluster->writer_open(&writer, &program, 0, "csv:again.csv", &error) == DFRT_OK);
    CHECK(cluster->range_rows(range, &rows, &error) == DFRT_OK && rows.count == 3);
    CHECK(cluster->writer_rows(writer, &rows, &error) == DFRT_OK);
    dfrt_row_columns cut = rows;
    int32_t short_by_one[] = {0, rows.offsets[1] - 1};
    cut.count = 1;
    cut.offsets = short_by_one;
    CHECK(cluster->writer_rows(writer, &cut, &error) == DFRT_USAGE && strstr(error.text, "no row of") != NULL);
    CHECK(cluster->writer_close(writer, &error) == DFRT_OK);
    cluster->range_close(range);
    char *whole = read_text("range.csv");
    check_file("again.csv", whole);
    free(whole);
}

static void test_what_is_not_there(void)
{
    dfrt_range *range;
    static const char *const keys[] = {"colour"};
    dfrt_range_options options = {.spec = "csv:range.csv", .whole = true, .progress = start, .keys = keys, .key_count = 1};
    CHECK(cluster->range_open(&range, &program, &options, &error) == DFRT_USAGE && range == NULL);
    CHECK(strcmp(error.text, "source 'trades' has no field 'colour'") == 0);
    options = (dfrt_range_options){.spec = "csv:nowhere.csv", .progress = start};
    CHECK(cluster->range_open(&range, &program, &options, &error) == DFRT_MISSING);
    options = (dfrt_range_options){.source = 1, .spec = "csv:range.csv", .progress = start};
    CHECK(cluster->range_open(&range, &program, &options, &error) == DFRT_USAGE);
}

int main(void)
{
    test_measuring();
    test_two_ranges();
    test_quotes_are_noticed();
    test_rows_travel();
    test_what_is_not_there();
    return 0;
}
