/* A file is read the same way one row at a time, many at a time, and by several threads: records, messages, the file
 * of malformed rows. */
#define _GNU_SOURCE
#include <dfrt/random.h>
#include <dfrt/source.h>

#include <fcntl.h>

#include "check.h"
#include "sample.h"

enum { ROOM = 400000 };
static trade first[ROOM], again[ROOM];
static dfrt_error error;

/* What a file is made of; `odd` of them in a thousand are not the first kind. */
static const char *const plain_rows[] = {
    "1,A,1.5,2,true,x\n",
    "1700000000123,k999,150.25,999,false,note\n",
    "-5,sevenby,1e5,-7,true,\r\n",
    "7,a longer symbol,.125,0,false,\xc3\xa4\n",
    "12345678901234567,,123456.789012345,1,true,sixsix\n",
};
static const char *const odd_rows[] = {
    "1,\"quoted\",2,3,true,x\n", "1,\"two\nlines, \"\"x\"\"\",2,3,true,x\n", "1,A,2,3,true\n", "bad,A,2,3,true,x\n",
    "\n", "\r\n", "1,A,2,3,true,too long\n", "1,A,2,99999999999,true,x\n", "1,\xff,2,3,true,x\n", "1,A,2,3,true,x,y\n",
    "1,A\"B,2,3,true,x\n",
    "1,\"many\n\n\n\n\n\n\n\n\n\n1,A,2,3,true,x\n1,A,2,3,true,x\nlines\",2,3,true,x\n", "99999\n\n",
};

static void write_rows(dfrt_random *random, size_t size, uint64_t odd, bool swapped)
{
    FILE *file = fopen("t.csv", "w");
    CHECK(file != NULL);
    fputs(swapped ? "symbol,ts,price,size,buy,note\n" : "ts,symbol,price,size,buy,note\n", file);
    for (size_t written = 0; written < size;) {
        bool plain = dfrt_random_below(random, 1000) >= odd;
        size_t count = plain ? sizeof plain_rows / sizeof *plain_rows : sizeof odd_rows / sizeof *odd_rows;
        const char *row = (plain ? plain_rows : odd_rows)[dfrt_random_below(random, count)];
        written += (size_t)fprintf(file, "%s", row);
    }
    uint64_t end = dfrt_random_below(random, 4);
    if (end == 1) fputs("1,A,1.5,2,true,last", file);
    if (end == 2) fputs("1,\"never closed", file);
    if (end == 3)
        for (int i = 0; i < 100000; i++) fputs("very long", file);
    CHECK(fclose(file) == 0);
}

/* Into the room, or, with views, from where the source has them. */
static dfrt_status read_some(dfrt_source *source, bool views, trade *records, size_t capacity, size_t *count)
{
    if (!views) return dfrt_source_read(source, records, capacity, count);
    dfrt_view view;
    dfrt_status status = dfrt_source_view(source, records, capacity, &view);
    if (view.count > 0 && view.records != records) memcpy(records, view.records, view.count * sizeof *records);
    *count = view.count;
    return status;
}

static size_t read_all(const dfrt_record *record, unsigned helpers, trade *records, const char *said, const char *kept)
{
    (void)fflush(stderr);
    int saved = dup(2), file = open(said, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(saved >= 0 && file >= 0 && dup2(file, 2) == 2 && close(file) == 0);
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.report_limit = 100000;
    options.malformed_path = kept;
    options.max_row = 200000;
    dfrt_ahead_times times = {0};
    options.ahead_times = &times;
    dfrt_source *source;
    CHECK(dfrt_source_open(&source, "trades", "csv:t.csv", record, &options, &error) == DFRT_OK);
    bool ahead = false;
    if (helpers > 0) CHECK(dfrt_source_read_ahead(source, helpers, &ahead, &error) == DFRT_OK && ahead);
    size_t total = 0, count;
    while (read_some(source, helpers == 1, records + total, total + 256 < ROOM ? 256 : ROOM - total, &count) == DFRT_OK)
        total += count;
    CHECK(total < ROOM && dfrt_source_close(source, &error) == DFRT_OK);
    CHECK(helpers > 0 || times.parsers + times.reader + times.waited == 0);
    CHECK(helpers == 0 || total == 0 || times.parsers + times.reader > 0);
    (void)fflush(stderr);
    CHECK(dup2(saved, 2) == 2 && close(saved) == 0);
    return total;
}

static void check_same(size_t count, size_t other)
{
    CHECK(count == other);
    for (size_t i = 0; i < count; i++) {
        CHECK(first[i].ts == again[i].ts && first[i].symbol == again[i].symbol && first[i].price == again[i].price);
        CHECK(first[i].size == again[i].size && first[i].buy == again[i].buy);
        CHECK(first[i].note.size == again[i].note.size && memcmp(first[i].note.data, again[i].note.data, 6) == 0);
    }
    CHECK(system("cmp -s said first-said && cmp -s kept first-kept") == 0);
}

static void check_all_ways(void)
{
    dfrt_record one_by_one = trade_record;
    one_by_one.parse_rows = NULL;
    size_t count = read_all(&one_by_one, 0, first, "first-said", "first-kept");
    check_same(count, read_all(&trade_record, 0, again, "said", "kept"));
    check_same(count, read_all(&trade_record, 1, again, "said", "kept"));
    check_same(count, read_all(&trade_record, 3, again, "said", "kept"));
}

static void test_all_ways(uint64_t seed, size_t size, uint64_t odd)
{
    dfrt_random random = dfrt_random_seed(seed);
    write_rows(&random, size, odd, seed % 3 == 0);
    check_all_ways();
}

/* A row that begins `before` bytes before or behind the end of the first block, and is longer than what is read behind
 * a block: the next block begins behind it. */
static void test_long_row(size_t buffer, size_t block, int before)
{
    static const char header[] = "ts,symbol,price,size,buy,note\n", row[] = "1,A,1,2,true,x\n";
    FILE *file = fopen("t.csv", "w");
    CHECK(file != NULL);
    size_t written = (size_t)fprintf(file, "%s", header), place = buffer + block - 1 - (size_t)before;
    while (written + 2 * sizeof row < place) written += (size_t)fprintf(file, "%s", row);
    CHECK(fprintf(file, "1,%0*d,1,2,true,x\n", (int)(place - written - 14), 7) == (int)(place - written));
    fprintf(file, "2,%0*d,1,2,true,x\n", 50000, 8);
    for (int i = 0; i < 10000; i++) fputs(row, file);
    CHECK(fclose(file) == 0);
    check_all_ways();
}

/* Closing while helpers are at work, and before anything was read. */
static void test_early_close(void)
{
    dfrt_random random = dfrt_random_seed(5);
    write_rows(&random, 2000000, 0, false);
    for (size_t reads = 0; reads < 2000; reads += 400) {
        dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
        dfrt_source *source;
        bool ahead;
        size_t count;
        CHECK(dfrt_source_open(&source, "trades", "csv:t.csv", &trade_record, &options, &error) == DFRT_OK);
        CHECK(dfrt_source_read_ahead(source, 2, &ahead, &error) == DFRT_OK && ahead);
        for (size_t i = 0; i < reads; i++) (void)dfrt_source_read(source, first, 7, &count);
        CHECK(dfrt_source_close(source, &error) == DFRT_OK);
    }
}

int main(void)
{
    test_all_ways(1, 0, 0);
    test_all_ways(2, 1000, 100);
    test_all_ways(3, 300000, 0);
    test_all_ways(4, 2000000, 0);
    test_all_ways(5, 2000000, 1);
    test_all_ways(6, 2000000, 10);
    test_all_ways(7, 1000000, 300);
    for (uint64_t seed = 10; seed < 20; seed++) test_all_ways(seed, 700000, seed % 4);
    for (int before = -2; before <= 2; before++) test_long_row(256 << 10, 64 << 10, before);
    test_early_close();
    return 0;
}
