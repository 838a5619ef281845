/* A binary source over a file that is large enough to be mapped: whole, growing, and cut short while it is read. */
#define _GNU_SOURCE
#include <dfrt/record.h>
#include <dfrt/source.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"

enum { RECORDS = 1000003, BATCH = 256 }; /* 16 MB and a bit: several blocks, the last one not full */

typedef struct pair {
    int64_t number, twice;
} pair;

static int decode_pair(const unsigned char *packed, void *record)
{
    memcpy(record, packed, sizeof(pair));
    return -1;
}

static const dfrt_field fields[] = {{"number", DFRT_I64, 0, 0, 0}, {"twice", DFRT_I64, 8, 0, 0}};
static const dfrt_record record = {.name = "Pair", .size = sizeof(pair), .packed_size = sizeof(pair),
                                   .field_count = 2, .fields = fields, .decode = decode_pair};
static dfrt_error error;

static void write_pairs(const char *path, int64_t count)
{
    pair *pairs = malloc((size_t)count * sizeof *pairs);
    CHECK(pairs != NULL);
    for (int64_t i = 0; i < count; i++) pairs[i] = (pair){i, 2 * i};
    write_file(path, pairs, (size_t)count * sizeof *pairs);
    free(pairs);
}

static void append(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

static dfrt_source *open_pairs(void)
{
    dfrt_source *source;
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.report_limit = 0;
    CHECK(dfrt_source_open(&source, "pairs", "binary:pairs", &record, &options, &error) == DFRT_OK);
    return source;
}

static bool viewed; /* records are looked at where they are; else they are read into an array */

static dfrt_status read_batch(dfrt_source *source, pair *room, dfrt_view *view)
{
    if (viewed) return dfrt_source_view(source, room, BATCH, view);
    view->records = room;
    return dfrt_source_read(source, room, BATCH, &view->count);
}

/* Reads up to `most` records, each of which must be the next one; answers what ended it. */
static dfrt_status read_pairs(dfrt_source *source, int64_t most, int64_t *next)
{
    dfrt_status status = DFRT_OK;
    for (int64_t end = *next + most; status == DFRT_OK && *next < end;) {
        pair room[BATCH];
        dfrt_view view;
        status = read_batch(source, room, &view);
        const pair *pairs = view.records;
        for (size_t i = 0; i < view.count; i++, ++*next)
            CHECK(pairs[i].number == *next && pairs[i].twice == 2 * *next);
    }
    return status;
}

static void test_whole(void)
{
    int64_t next = 0;
    write_pairs("pairs", RECORDS);
    append("pairs", "half", 4);
    dfrt_source *source = open_pairs();
    CHECK(read_pairs(source, 2 * RECORDS, &next) == DFRT_END && next == RECORDS);
    CHECK(dfrt_source_malformed(source) == 1);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_growing(void)
{
    int64_t next = 0;
    pair more = {RECORDS, 2 * RECORDS};
    write_pairs("pairs", RECORDS);
    dfrt_source *source = open_pairs();
    CHECK(read_pairs(source, 1000, &next) == DFRT_OK);
    append("pairs", &more, sizeof more);
    CHECK(read_pairs(source, 2 * RECORDS, &next) == DFRT_END && next == RECORDS + 1);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_cut_short(off_t left)
{
    int64_t next = 0;
    write_pairs("pairs", RECORDS);
    dfrt_source *source = open_pairs();
    CHECK(read_pairs(source, 1000, &next) == DFRT_OK);
    CHECK(truncate("pairs", left) == 0);
    CHECK(read_pairs(source, 2 * RECORDS, &next) == DFRT_IO && next < RECORDS);
    CHECK(strstr(dfrt_source_error(source), "became shorter") != NULL);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_view_is_the_file(void)
{
    pair room[BATCH] = {{0}};
    dfrt_view view;
    write_pairs("pairs", RECORDS);
    dfrt_source *source = open_pairs();
    CHECK(dfrt_source_has_views(source));
    CHECK(dfrt_source_view(source, room, BATCH, &view) == DFRT_OK);
    CHECK(view.records != room && view.count == BATCH && room[1].twice == 0);
    CHECK(dfrt_source_position(source) == BATCH);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_small_files_are_read_into_the_room(void)
{
    pair room[BATCH];
    dfrt_view view;
    write_pairs("pairs", 3);
    dfrt_source *source = open_pairs();
    CHECK(!dfrt_source_has_views(source));
    CHECK(dfrt_source_view(source, room, BATCH, &view) == DFRT_OK);
    CHECK(view.records == room && view.count == 3 && room[2].twice == 4);
    CHECK(dfrt_source_view(source, room, BATCH, &view) == DFRT_END && view.count == 0);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

/* Between the call and the look at it: zeros instead of a signal, and the next call says so. */
static void test_view_cut_short(void)
{
    pair room[BATCH];
    dfrt_view view;
    write_pairs("pairs", RECORDS);
    dfrt_source *source = open_pairs();
    CHECK(dfrt_source_view(source, room, BATCH, &view) == DFRT_OK && view.count == BATCH);
    CHECK(truncate("pairs", 0) == 0);
    CHECK(((const pair *)view.records)[BATCH - 1].number == 0);
    CHECK(dfrt_source_view(source, room, BATCH, &view) == DFRT_IO && view.count == 0);
    CHECK(strstr(dfrt_source_error(source), "became shorter") != NULL);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static void test_both_ways(void)
{
    test_whole();
    test_growing();
    test_cut_short(0);
    test_cut_short(1 << 20);
    test_cut_short(9 << 20);
}

int main(void)
{
    enter_scratch_folder();
    test_both_ways();
    viewed = true;
    test_both_ways();
    test_view_is_the_file();
    test_small_files_are_read_into_the_room();
    test_view_cut_short();
    leave_scratch_folder();
    return 0;
}
