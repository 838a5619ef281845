/* Columns into fields and out of them, with strides, offsets and values that do not fit. */
#define _GNU_SOURCE
#include <dfrt/columns.h>
#include <dfrt/symbol.h>

#include "check.h"

typedef struct row {
    dfrt_symbol key;
    struct {
        uint32_t size;
        char data[5];
    } note;
    bool good;
} row;

static row rows[4];
static const dfrt_columns *const columns = &dfrt_columns_functions;

static dfrt_place place_of(void *first)
{
    return (dfrt_place){first, sizeof(row)};
}

static void check_notes(const char *const wanted[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK(rows[i].note.size == strlen(wanted[i]) && memcmp(rows[i].note.data, wanted[i], rows[i].note.size) == 0);
        for (size_t k = rows[i].note.size; k < sizeof rows[i].note.data; k++) CHECK(rows[i].note.data[k] == 0);
    }
}

static void test_texts(void)
{
    const uint32_t points[] = {0xe4, 0x20ac, 0x61, 0, 0x1f642, 0, 0xd800, 0}; /* ä€ a 🙂 and half a character */
    dfrt_strings wide = {.form = DFRT_STRINGS_UCS4, .data = points, .width = 2, .stride = 8};
    memset(rows, 7, sizeof rows);
    CHECK(columns->put_texts(place_of(&rows[0].note), 5, &wide, 4) == 3);
    check_notes((const char *const[]){"\xc3\xa4\xe2\x82\xac", "a", "\xf0\x9f\x99\x82"}, 3);
    CHECK(columns->put_texts(place_of(&rows[0].note), 4, &wide, 4) == 0);
    CHECK(columns->put_symbols(place_of(&rows[0].key), &wide, 4) == 3);
    CHECK_TEXT(dfrt_symbol_text(rows[2].key).data, "\xf0\x9f\x99\x82");

    const int32_t offsets[] = {1, 1, 3, 9};
    dfrt_strings parts = {.form = DFRT_STRINGS_OFFSETS32, .data = "xabcdefghi", .offsets = offsets};
    CHECK(columns->put_texts(place_of(&rows[0].note), 5, &parts, 3) == 2);
    check_notes((const char *const[]){"", "ab"}, 2);
    CHECK(columns->put_symbols(place_of(&rows[0].key), &parts, 3) == 3 && rows[0].key == 0);
    CHECK_TEXT(dfrt_symbol_text(rows[2].key).data, "cdefgh");

    dfrt_strings backwards = {.form = DFRT_STRINGS_BYTES, .data = "ab\0cd\0\xff\0" + 3, .width = 3, .stride = -3};
    CHECK(columns->put_texts(place_of(&rows[0].note), 5, &backwards, 2) == 2);
    check_notes((const char *const[]){"cd", "ab"}, 2);
}

static void test_long_symbols(void)
{
    static uint32_t points[1000];
    for (size_t i = 0; i < 1000; i++) points[i] = 0xe4;
    dfrt_strings wide = {.form = DFRT_STRINGS_UCS4, .data = points, .width = 1000, .stride = 0};
    CHECK(columns->put_symbols(place_of(&rows[0].key), &wide, 2) == 2 && rows[0].key == rows[1].key);
    CHECK(dfrt_symbol_text(rows[0].key).size == 2000);
}

static void test_codes(void)
{
    const dfrt_symbol table[] = {70, 80, 90};
    const int8_t few[] = {2, 0, -1, 1};
    dfrt_codes codes = {few, 1, 1, true};
    CHECK(columns->put_entries(place_of(&rows[0].key), 4, table, 3, &codes, 4) == 2);
    CHECK(rows[0].key == 90 && rows[1].key == 70);
    const uint64_t many[] = {1, 3};
    codes = (dfrt_codes){many, 8, 8, false};
    CHECK(columns->put_entries(place_of(&rows[0].key), 4, table, 3, &codes, 2) == 1 && rows[0].key == 80);
}

static void test_bits(void)
{
    columns->put_bits(place_of(&rows[0].good), (const uint8_t[]){0x40, 0x02}, 6, 4);
    CHECK(rows[0].good && !rows[1].good && !rows[2].good && rows[3].good);
}

static void test_out(void)
{
    int32_t codes[4], offsets[4];
    uint32_t numbers[10] = {0};
    dfrt_symbol found[4];
    char data[16];
    for (size_t i = 0; i < 4; i++) rows[i].key = (dfrt_symbol[]){9, 0, 9, 3}[i];
    CHECK(columns->get_codes(place_of(&rows[0].key), 4, codes, numbers, found) == 3);
    CHECK(memcmp(codes, (int32_t[]){0, 1, 0, 2}, sizeof codes) == 0);
    CHECK(found[0] == 9 && found[1] == 0 && found[2] == 3);
    dfrt_strings fixed = {.form = DFRT_STRINGS_BYTES, .data = "ab\0\0\0\0a\0b", .width = 3, .stride = 3};
    columns->get_texts(&fixed, 3, offsets, NULL);
    CHECK(offsets[1] == 2 && offsets[2] == 2 && offsets[3] == 5);
    columns->get_texts(&fixed, 3, offsets, data);
    CHECK(memcmp(data, "aba\0b", 5) == 0);
}

int main(void)
{
    test_texts();
    test_long_symbols();
    test_codes();
    test_bits();
    test_out();
    puts("ok");
    return 0;
}
