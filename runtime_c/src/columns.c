#include <dfrt/columns.h>

#include <dfrt/symbol.h>
#include <dfrt/text.h>

#include <stdlib.h>

enum { SHORT_STRING = 256 };

static void *field_at(dfrt_place place, size_t i)
{
    return (char *)place.first + i * place.stride;
}

/* --- strings of a caller ---------------------------------------------------------------------------- */

static int64_t offset_at(const dfrt_strings *strings, size_t i)
{
    return strings->form == DFRT_STRINGS_OFFSETS32 ? ((const int32_t *)strings->offsets)[i]
                                                   : ((const int64_t *)strings->offsets)[i];
}

static const char *fixed_at(const dfrt_strings *strings, size_t i)
{
    return (const char *)strings->data + (ptrdiff_t)i * strings->stride;
}

/* String i of every form but UCS4, where it lies. */
static dfrt_slice slice_at(const dfrt_strings *strings, size_t i)
{
    if (strings->form == DFRT_STRINGS_BYTES) {
        const char *data = fixed_at(strings, i);
        size_t size = strings->width;
        while (size > 0 && data[size - 1] == '\0') size--;
        return (dfrt_slice){data, size};
    }
    int64_t from = offset_at(strings, i);
    return (dfrt_slice){(const char *)strings->data + from, (size_t)(offset_at(strings, i + 1) - from)};
}

static uint32_t code_point(const char *at, size_t index)
{
    uint32_t point; /* numpy does not promise that they are aligned */
    memcpy(&point, at + index * sizeof point, sizeof point);
    return point;
}

/* One code point as UTF-8: its bytes, 0 if it is none. */
static size_t encode_point(uint32_t point, unsigned char bytes[4])
{
    if (point < 0x80) {
        bytes[0] = (unsigned char)point;
        return 1;
    }
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0;
    size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, point >>= 6) bytes[i] = (unsigned char)(0x80 | (point & 0x3f));
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (unsigned char)(lead[size] | point);
    return size;
}

/* String i of UCS4 as UTF-8 in `room`. False: a code point that is none, or more than `capacity` bytes. */
static bool encode_at(const dfrt_strings *strings, size_t i, char *room, size_t capacity, size_t *size)
{
    const char *points = fixed_at(strings, i);
    size_t count = strings->width;
    while (count > 0 && code_point(points, count - 1) == 0) count--;
    *size = 0;
    for (size_t k = 0; k < count; k++) {
        unsigned char bytes[4];
        size_t more = encode_point(code_point(points, k), bytes);
        if (more == 0 || more > capacity - *size) return false;
        memcpy(room + *size, bytes, more);
        *size += more;
    }
    return true;
}

/* --- into records ----------------------------------------------------------------------------------- */

static bool store_symbol(void *field, dfrt_slice text)
{
    dfrt_symbol symbol;
    if (!dfrt_parse_symbol(text.data, text.size, &symbol)) return false;
    memcpy(field, &symbol, sizeof symbol);
    return true;
}

static size_t put_symbols_ucs4(dfrt_place to, const dfrt_strings *strings, size_t count)
{
    char few[SHORT_STRING], *room = few;
    size_t capacity = strings->width * 4, size, i = 0;
    if (capacity > sizeof few && (room = malloc(capacity)) == NULL) return 0;
    while (i < count && encode_at(strings, i, room, capacity, &size) &&
           store_symbol(field_at(to, i), (dfrt_slice){room, size})) {
        i++;
    }
    if (room != few) free(room);
    return i;
}

static size_t put_symbols(dfrt_place to, const dfrt_strings *strings, size_t count)
{
    if (strings->form == DFRT_STRINGS_UCS4) return put_symbols_ucs4(to, strings, count);
    size_t i = 0;
    while (i < count && store_symbol(field_at(to, i), slice_at(strings, i))) i++;
    return i;
}

/* Straight into the field: what is behind the text is zeroed. */
static bool store_ucs4(void *field, uint32_t capacity, const dfrt_strings *strings, size_t i)
{
    char *data = (char *)field + sizeof(uint32_t);
    size_t size;
    if (!encode_at(strings, i, data, capacity, &size)) return false;
    memset(data + size, 0, capacity - size);
    uint32_t stored = (uint32_t)size;
    memcpy(field, &stored, sizeof stored);
    return true;
}

static bool store_slice(void *field, uint32_t capacity, dfrt_slice text)
{
    return dfrt_parse_text(text.data, text.size, field, capacity);
}

static size_t put_texts(dfrt_place to, uint32_t capacity, const dfrt_strings *strings, size_t count)
{
    bool wide = strings->form == DFRT_STRINGS_UCS4;
    size_t i = 0;
    while (i < count && (wide ? store_ucs4(field_at(to, i), capacity, strings, i)
                              : store_slice(field_at(to, i), capacity, slice_at(strings, i)))) {
        i++;
    }
    return i;
}

/* A negative code becomes a number that no table is long enough for. */
static uint64_t code_at(const dfrt_codes *codes, size_t i)
{
    const char *at = (const char *)codes->first + (ptrdiff_t)i * codes->stride;
    uint64_t code = 0;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy((char *)&code + sizeof code - codes->size, at, codes->size);
#else
    memcpy(&code, at, codes->size);
#endif
    return codes->is_signed && code >> (codes->size * 8 - 1) != 0 ? UINT64_MAX : code;
}

static size_t put_entries(dfrt_place to, size_t size, const void *table, size_t entries, const dfrt_codes *codes,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t code = code_at(codes, i);
        if (code >= entries) return i;
        memcpy(field_at(to, i), (const char *)table + code * size, size);
    }
    return count;
}

static void put_bits(dfrt_place to, const uint8_t *bits, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t bit = from + i;
        *(bool *)field_at(to, i) = (bits[bit / 8] >> (bit % 8)) & 1;
    }
}

/* --- out of records --------------------------------------------------------------------------------- */

static size_t get_codes(dfrt_place from, size_t count, int32_t *codes, uint32_t *numbers, dfrt_symbol *found)
{
    uint32_t different = 0;
    for (size_t i = 0; i < count; i++) {
        dfrt_symbol symbol;
        memcpy(&symbol, field_at(from, i), sizeof symbol);
        if (numbers[symbol] == 0) { /* 0 is none, 1 the first */
            found[different++] = symbol;
            numbers[symbol] = different;
        }
        codes[i] = (int32_t)(numbers[symbol] - 1);
    }
    return different;
}

static void get_texts(const dfrt_strings *strings, size_t count, int32_t *offsets, char *data)
{
    size_t end = 0;
    offsets[0] = 0;
    for (size_t i = 0; i < count; i++) {
        dfrt_slice text = slice_at(strings, i);
        if (data != NULL) memcpy(data + end, text.data, text.size);
        end += text.size;
        offsets[i + 1] = (int32_t)end;
    }
}

const dfrt_columns dfrt_columns_functions = {
    put_symbols, put_texts, put_entries, put_bits, get_codes, get_texts,
};
