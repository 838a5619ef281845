#define _GNU_SOURCE
#include <dfrt/source.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"
#include "sample.h"

static dfrt_error error;
static const char header[] = "ts,symbol,price,size,buy,note\n";

static dfrt_source *open_source(const char *spec, dfrt_source_options options)
{
    dfrt_source *source;
    dfrt_status status = dfrt_source_open(&source, "trades", spec, &trade_record, &options, &error);
    if (status != DFRT_OK) fprintf(stderr, "%s\n", error.text);
    CHECK(status == DFRT_OK);
    return source;
}

/* Reads everything in small batches; what malformed rows say goes to the file "said". */
static size_t read_all(dfrt_source *source, trade *records, size_t room)
{
    size_t total = 0, count;
    dfrt_status status;
    while ((status = dfrt_source_read(source, records + total, room - total < 3 ? room - total : 3, &count)) != DFRT_END) {
        CHECK(status == DFRT_OK || status == DFRT_AGAIN);
        total += count;
        CHECK(total < room);
    }
    return total;
}

static int saved_stderr;

static void capture(void)
{
    (void)fflush(stderr);
    saved_stderr = dup(2);
    int file = open("said", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(saved_stderr >= 0 && file >= 0 && dup2(file, 2) == 2 && close(file) == 0);
}

static void release(void)
{
    (void)fflush(stderr);
    CHECK(dup2(saved_stderr, 2) == 2 && close(saved_stderr) == 0);
}

static void test_csv(void)
{
    trade got[20];
    FILE *file = fopen("t.csv", "w");
    CHECK(file != NULL);
    fprintf(file, "extra,note,%s", "ts,symbol,price,size,buy\n");
    fputs("x,,1,A,1.5,10,true\n", file);
    fputs("x,\"a,b\",2,\"B \"\"b\"\"\",-1e3,-7,false\n", file);
    fputs("x,,bad,A,1,1,true\nx,,3,A,abc,1,true\nx,,3,A,,1,true\nx,,3,A,1,3000000000,true\nx,,3,A,1,1.0,true\n", file);
    fputs("x,,3,A,1,1,yes\nx,1234567,3,A,1,1,true\nx,\xff,3,A,1,1,true\nx,\"q\",3\nx,\x1b\x9b,3,A\xfe,1,1,true\n", file);
    fputs("x,\xc3\xa4\xc3\xa4,9,,nan,1,true\n", file);
    CHECK(fclose(file) == 0);
    capture();
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.malformed_path = "bad.csv";
    options.report_limit = 9;
    dfrt_source *source = open_source("csv:t.csv", options);
    CHECK(!dfrt_source_is_live(source) && dfrt_source_poll_fd(source) == -1 && dfrt_source_wait(source) == DFRT_OK);
    CHECK(read_all(source, got, 20) == 3);
    CHECK(dfrt_source_malformed(source) == 10 && dfrt_source_position(source) == 13);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
    release();
    CHECK(got[0].ts == 1 && got[0].price == 1.5 && got[0].size == 10 && got[0].buy && got[0].note.size == 0);
    CHECK(got[1].price == -1000 && memcmp(got[1].note.data, "a,b\0\0", 6) == 0);
    CHECK(strcmp(dfrt_symbol_text(got[1].symbol).data, "B \"b\"") == 0);
    CHECK(got[2].ts == 9 && got[2].symbol == 0 && got[2].note.size == 4);
    check_file("said", "trades: line 4: field 'ts': not a whole number: \"bad\"\n"
                       "trades: line 5: field 'price': not a number: \"abc\"\n"
                       "trades: line 6: field 'price': not a number: \"\"\n"
                       "trades: line 7: field 'size': out of the range of i32: \"3000000000\"\n"
                       "trades: line 8: field 'size': not a whole number: \"1.0\"\n"
                       "trades: line 9: field 'buy': neither true nor false: \"yes\"\n"
                       "trades: line 10: field 'note': longer than 6 bytes: \"1234567\"\n"
                       "trades: line 11: field 'note': not valid UTF-8: \"\\xff\"\n"
                       "trades: line 12: 3 fields, but there are 7 columns\n"
                       "trades: further malformed rows are only counted\n"
                       "trades: 10 malformed rows in all\n");
    check_file("bad.csv", "extra,note,ts,symbol,price,size,buy\n"
                          "x,,bad,A,1,1,true\nx,,3,A,abc,1,true\nx,,3,A,,1,true\nx,,3,A,1,3000000000,true\nx,,3,A,1,1.0,true\n"
                          "x,,3,A,1,1,yes\nx,1234567,3,A,1,1,true\nx,\xff,3,A,1,1,true\nx,\"q\",3\nx,\x1b\x9b,3,A\xfe,1,1,true\n");
}

static void test_pipe(void)
{
    CHECK(mkfifo("pipe", 0600) == 0);
    int writer = open("pipe", O_RDWR);
    CHECK(writer >= 0 && write(writer, header, sizeof header - 1) > 0);
    dfrt_source *source = open_source("csv:pipe", DFRT_SOURCE_DEFAULTS);
    CHECK(dfrt_source_is_live(source) && dfrt_source_poll_fd(source) >= 0);
    trade got[4];
    size_t count;
    CHECK(dfrt_source_read(source, got, 4, &count) == DFRT_AGAIN && count == 0);
    CHECK(write(writer, "1,A,1,1,true,\n2,B,2,", 20) == 20 && dfrt_source_wait(source) == DFRT_OK);
    CHECK(dfrt_source_read(source, got, 4, &count) == DFRT_AGAIN && count == 1 && got[0].ts == 1);
    CHECK(write(writer, "2,true,\n", 8) == 8 && close(writer) == 0);
    CHECK(dfrt_source_read(source, got, 4, &count) == DFRT_OK && count == 1 && got[0].price == 2.0);
    CHECK(dfrt_source_read(source, got, 4, &count) == DFRT_END && count == 0 && dfrt_source_poll_fd(source) == -1);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_stop(void)
{
    int stop[2];
    dfrt_source *source;
    CHECK(mkfifo("silent", 0600) == 0 && pipe(stop) == 0 && write(stop[1], "x", 1) == 1);
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.stop_fd = stop[0];
    CHECK(dfrt_source_open(&source, "trades", "csv:silent", &trade_record, &options, &error) == DFRT_END);
    CHECK(close(stop[0]) == 0 && close(stop[1]) == 0);
}

typedef struct word {
    struct {
        uint32_t size;
        char data[8];
    } text;
} word;

static int word_parse(const dfrt_slice *row, void *record)
{
    return dfrt_parse_text(row[0].data, row[0].size, &((word *)record)->text, 8) ? -1 : 0;
}

static const dfrt_field word_field = {"text", DFRT_TEXT, 0, 8, 0};
static const dfrt_record word_record = {"Word", sizeof(word), 8, 1, &word_field, word_parse, NULL, NULL, NULL, NULL};

static void test_lines(void)
{
    write_text("lines", "\xef\xbb\xbfone\r\n\n\"two\",x\nfar too long for it\nbad\xff\nthe very long line that is skipped\nlast");
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.max_row = 20;
    dfrt_source *source;
    CHECK(dfrt_source_open(&source, "words", "lines:lines", &word_record, &options, &error) == DFRT_OK);
    capture();
    word got[20];
    size_t count;
    CHECK(dfrt_source_read(source, got, 20, &count) == DFRT_OK && count == 4);
    CHECK(dfrt_source_read(source, got + 4, 16, &count) == DFRT_END && dfrt_source_malformed(source) == 3);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
    release();
    CHECK(got[0].text.size == 3 && got[1].text.size == 0 && got[2].text.size == 7 && memcmp(got[3].text.data, "last", 5) == 0);
    check_file("said", "words: line 4: field 'text': longer than 8 bytes: \"far too long for it\"\n"
                       "words: line 5: field 'text': not valid UTF-8: \"bad\\xff\"\n"
                       "words: line 6: the line is too long\nwords: 3 malformed rows in all\n");
    CHECK(dfrt_source_open(&source, "t", "lines:lines", &trade_record, &options, &error) == DFRT_USAGE);
}

static void test_usage(void)
{
    dfrt_source *source;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    CHECK(dfrt_source_open(&source, "t", "csv:absent.csv", &trade_record, &options, &error) == DFRT_MISSING);
    CHECK(dfrt_source_open(&source, "t", "kafka:x", &trade_record, &options, &error) == DFRT_USAGE);
    CHECK(strstr(error.text, "csv:") != NULL);
    CHECK(dfrt_source_open(&source, "t", "csv:", &trade_record, &options, &error) == DFRT_USAGE);
    CHECK(dfrt_source_open(&source, "t", "generate:nope=1", &trade_record, &options, &error) == DFRT_USAGE);
    options.malformed_path = "/no/such/file";
    CHECK(dfrt_source_open(&source, "t", "csv:t.csv", &trade_record, &options, &error) == DFRT_IO);
}

/* Nothing but malformed rows: a read must come back before the end. */
static void test_only_malformed(void)
{
    FILE *file = fopen("all.csv", "w");
    CHECK(file != NULL && fputs(header, file) >= 0);
    for (int i = 0; i < 10000; i++) CHECK(fputs("x,A,1,1,true,\n", file) >= 0);
    CHECK(fclose(file) == 0);
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.report_limit = 0;
    dfrt_source *source = open_source("csv:all.csv", options);
    capture();
    trade got[4];
    size_t count;
    CHECK(dfrt_source_read(source, got, 4, &count) == DFRT_OK && count == 0 && dfrt_source_malformed(source) == 4096);
    while (dfrt_source_read(source, got, 4, &count) != DFRT_END) CHECK(count == 0);
    CHECK(dfrt_source_malformed(source) == 10000 && dfrt_source_close(source, &error) == DFRT_OK);
    release();
    check_file("said", "trades: 10000 malformed rows in all\n");
}

int main(void)
{
    enter_scratch_folder();
    test_csv();
    test_pipe();
    test_stop();
    test_lines();
    test_usage();
    test_only_malformed();
    leave_scratch_folder();
    puts("ok");
    return 0;
}
