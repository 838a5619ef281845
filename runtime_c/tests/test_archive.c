/* What is saved is loaded again; what is cut off, or made up, is refused and touches nothing beside it. */
#define _GNU_SOURCE
#include <dfrt/archive.h>
#include <dfrt/symbol.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct sample {
    int64_t number;
    double value;
    dfrt_symbol name;
    bool on;
    struct {
        uint32_t size;
        char data[6];
    } note;
} sample;

static const dfrt_field fields[] = {
    {"", DFRT_I64, offsetof(sample, number), 0, 0}, {"", DFRT_F64, offsetof(sample, value), 0, 0},
    {"", DFRT_SYMBOL, offsetof(sample, name), 0, 0}, {"", DFRT_BOOL, offsetof(sample, on), 0, 0},
    {"", DFRT_TEXT, offsetof(sample, note), 6, 0},
};
static const dfrt_form form = {fields, 5};
static const dfrt_form empty_form = {NULL, 0};

static const dfrt_field time_field[] = {{"", DFRT_I64, 0, 0, 0}};
static const dfrt_form columns[] = {{time_field, 1}, {fields, 5}};
static const uint32_t widths[] = {sizeof(int64_t), sizeof(sample)};
static const dfrt_kept_form kept_form = {{widths, 2, NULL, 0}, columns, true, true};

static sample a_sample(int64_t number)
{
    sample made = {.number = number, .value = (double)number / 4, .on = number % 2 == 0, .note = {2, "ab"}};
    CHECK(dfrt_symbol_intern("name", 4, &made.name) == DFRT_OK);
    return made;
}

static dfrt_archive loading(const dfrt_bytes *bytes, size_t size)
{
    return (dfrt_archive){.loads = true, .at = bytes->data, .left = size};
}

static void save_all(dfrt_archive *archive, sample *one, dfrt_pool *pool, dfrt_kept *kept)
{
    dfrt_archive_struct(archive, &form, one);
    dfrt_archive_struct(archive, &empty_form, one);
    dfrt_archive_kept(archive, &kept_form, pool, kept);
}

static dfrt_kept some_kept(dfrt_pool *pool)
{
    dfrt_kept kept = {0};
    for (uint32_t i = 0; i < 30; i++) {
        (void)dfrt_kept_room(pool, &kept, kept_form.widths);
        int64_t time = i;
        sample one = a_sample(i);
        memcpy(kept.room + (size_t)kept.tail * 8, &time, 8);
        memcpy(kept.room + (size_t)kept.capacity * 8 + (size_t)kept.tail * sizeof one, &one, sizeof one);
        kept.tail++;
    }
    kept.head = 5; /* what was forgotten is not saved */
    return kept;
}

static void test_back_again(const dfrt_bytes *bytes)
{
    dfrt_archive archive = loading(bytes, bytes->size);
    dfrt_pool pool = {0};
    dfrt_kept kept = {0};
    sample back = {0}, wanted = a_sample(7);
    save_all(&archive, &back, &pool, &kept);
    CHECK(archive.status == DFRT_OK && archive.left == 0);
    CHECK(back.number == wanted.number && back.value == wanted.value && back.name == wanted.name);
    CHECK(back.on == wanted.on && back.note.size == 2 && memcmp(back.note.data, wanted.note.data, 6) == 0);
    CHECK(kept.head == 0 && kept.tail == 25 && kept.capacity > kept.tail && dfrt_kept_times(&kept)[3] == 8);
    dfrt_pool_close(&pool);
}

/* Each beginning of the bytes, in memory of exactly that size. */
static void test_cut_off(const dfrt_bytes *bytes)
{
    for (size_t size = 0; size < bytes->size; size++) {
        dfrt_bytes part = {0};
        dfrt_bytes_append(&part, bytes->data, size);
        dfrt_archive archive = loading(&part, size);
        dfrt_pool pool = {0};
        dfrt_kept kept = {0};
        sample back = {0};
        save_all(&archive, &back, &pool, &kept);
        CHECK(archive.status == DFRT_MALFORMED);
        dfrt_pool_close(&pool);
        dfrt_bytes_free(&part);
    }
}

static void test_made_up(void)
{
    unsigned char many[] = {0xff, 0xff, 0xff, 0xff, 1, 2, 3}, no_bool[] = {2};
    unsigned char long_text[64] = {[21] = 7}; /* the length of a text<6> */
    dfrt_archive archive = {.loads = true, .at = many, .left = sizeof many};
    CHECK(dfrt_archive_count(&archive, 0) == 0 && archive.status == DFRT_MALFORMED);
    int64_t number = 5;
    dfrt_archive_i64(&archive, &number);
    CHECK(number == 0); /* after a failure all is zero */
    bool value = true;
    archive = (dfrt_archive){.loads = true, .at = no_bool, .left = 1};
    dfrt_archive_bool(&archive, &value);
    CHECK(!value && archive.status == DFRT_MALFORMED);
    sample back = {0};
    archive = (dfrt_archive){.loads = true, .at = long_text, .left = sizeof long_text};
    dfrt_archive_struct(&archive, &form, &back);
    CHECK(archive.status == DFRT_MALFORMED);
}

static void test_times_out_of_order(dfrt_bytes *bytes)
{
    size_t first = bytes->size - 25 * (8 + 8 + 8 + 8 + 1 + 6); /* the column of times: name and note take 4 more each */
    dfrt_pool pool = {0};
    dfrt_kept kept = {0};
    sample back = {0};
    bytes->data[first]++; /* is the second time now, and the one after it is as large: still in order */
    dfrt_archive archive = loading(bytes, bytes->size);
    save_all(&archive, &back, &pool, &kept);
    CHECK(archive.status == DFRT_OK);
    bytes->data[first] = 200;
    kept = (dfrt_kept){0};
    archive = loading(bytes, bytes->size);
    save_all(&archive, &back, &pool, &kept);
    CHECK(archive.status == DFRT_MALFORMED);
    dfrt_pool_close(&pool);
}

int main(void)
{
    dfrt_bytes bytes = {0};
    dfrt_archive archive = {.saved = &bytes};
    dfrt_pool pool = {0};
    dfrt_kept kept = some_kept(&pool);
    sample one = a_sample(7);
    save_all(&archive, &one, &pool, &kept);
    CHECK(archive.status == DFRT_OK);
    dfrt_pool_close(&pool);
    test_back_again(&bytes);
    test_cut_off(&bytes);
    test_made_up();
    test_times_out_of_order(&bytes);
    dfrt_bytes_free(&bytes);
    return 0;
}
