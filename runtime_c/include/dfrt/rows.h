/* Rows of text whose fields are known by their bounds, and parsers of such fields for generated code. They read the
 * usual forms inline and leave all others to number.h, symbol.h and text.h, which decide what is right.
 *
 * Threads:   pure functions, but for the cache of symbols, which belongs to one thread at a time.
 * Ownership: everything is borrowed. Behind a field sixteen bytes can be loaded, though they mean nothing.
 * Progress:  nothing waits.
 */
#ifndef DFRT_ROWS_H
#define DFRT_ROWS_H

#include <dfrt/field_digits.h>
#include <dfrt/number.h>
#include <dfrt/symbol.h>
#include <dfrt/text.h>

/* Symbols of short texts that came lately, by their bytes: most fields need not ask the table of all symbols. */
typedef struct dfrt_recent_symbol {
    uint64_t text; /* up to seven bytes at the top, their number in the lowest; 0 is free */
    dfrt_symbol symbol;
} dfrt_recent_symbol;

enum { DFRT_RECENT_BITS = 14, DFRT_RECENT_SYMBOLS = 1 << DFRT_RECENT_BITS };

typedef struct dfrt_rows {
    const char *data;
    const uint32_t *bounds;  /* row r, column c is data[bounds[r * width + c] … bounds[r * width + c + 1] - 1) */
    size_t count;            /* of rows */
    size_t width;            /* columns of the file */
    const uint32_t *columns; /* field i of the record is the file's column columns[i] */
    bool in_order;           /* these are 0, 1, …, and the file has no more */
    size_t max_row;          /* bytes of the longest row that is allowed */
    dfrt_recent_symbol *recent; /* DFRT_RECENT_SYMBOLS of them */
} dfrt_rows;

/* Whether the row at `bounds` has the right number of fields and may be read field by field; *end is its end, without
 * a carriage return. */
static inline bool dfrt_row_is_plain(const dfrt_rows *rows, const uint32_t *bounds, size_t width, uint32_t *end)
{
    uint32_t newline = bounds[width] - 1;
    for (size_t i = 1; i < width; i++)
        if (rows->data[bounds[i] - 1] != ',') return false;
    if (rows->data[newline] != '\n' || newline - bounds[0] > rows->max_row || newline == bounds[0]) return false;
    *end = newline - (rows->data[newline - 1] == '\r');
    return *end > bounds[0]; /* an empty line is no row */
}

/* Column `column` of the row at `bounds`, which ends at `end`. */
static inline dfrt_slice dfrt_row_field(const dfrt_rows *rows, const uint32_t *bounds, uint32_t column, uint32_t end)
{
    uint32_t from = bounds[column], to = bounds[column + 1] - 1;
    to = to < end ? to : end;
    return (dfrt_slice){rows->data + from, to - from};
}

/* --- whole numbers ----------------------------------------------------------------------------------- */

static inline bool dfrt_field_u64(dfrt_slice field, uint64_t *out)
{
    return dfrt__field_digits(field, out) || dfrt_parse_u64(field.data, field.size, out);
}

static inline bool dfrt_field_i64(dfrt_slice field, int64_t *out)
{
    uint64_t digits;
    if (!dfrt__field_digits(field, &digits)) return dfrt_parse_i64(field.data, field.size, out);
    *out = (int64_t)digits;
    return true;
}

#define DFRT__NARROW_FIELD(name, type, wide, field_wide, low, high)                                                    \
    static inline bool name(dfrt_slice field, type *out)                                                               \
    {                                                                                                                  \
        wide value;                                                                                                    \
        if (!field_wide(field, &value) || value < (low) || value > (high)) return false;                               \
        *out = (type)value;                                                                                            \
        return true;                                                                                                   \
    }

DFRT__NARROW_FIELD(dfrt_field_i8, int8_t, int64_t, dfrt_field_i64, INT8_MIN, INT8_MAX)
DFRT__NARROW_FIELD(dfrt_field_i16, int16_t, int64_t, dfrt_field_i64, INT16_MIN, INT16_MAX)
DFRT__NARROW_FIELD(dfrt_field_i32, int32_t, int64_t, dfrt_field_i64, INT32_MIN, INT32_MAX)

#undef DFRT__NARROW_FIELD

#define DFRT__NARROW_UNSIGNED_FIELD(name, type, high)                                                                  \
    static inline bool name(dfrt_slice field, type *out)                                                               \
    {                                                                                                                  \
        uint64_t value;                                                                                                \
        if (!dfrt_field_u64(field, &value) || value > (high)) return false;                                            \
        *out = (type)value;                                                                                            \
        return true;                                                                                                   \
    }

DFRT__NARROW_UNSIGNED_FIELD(dfrt_field_u8, uint8_t, UINT8_MAX)
DFRT__NARROW_UNSIGNED_FIELD(dfrt_field_u16, uint16_t, UINT16_MAX)
DFRT__NARROW_UNSIGNED_FIELD(dfrt_field_u32, uint32_t, UINT32_MAX)

#undef DFRT__NARROW_UNSIGNED_FIELD

/* --- the others -------------------------------------------------------------------------------------- */

static inline bool dfrt_field_f64(dfrt_slice field, double *out)
{
    return dfrt__field_decimal(field, out) || dfrt_parse_f64(field.data, field.size, out);
}

static inline bool dfrt_field_f32(dfrt_slice field, float *out)
{
    return dfrt_parse_f32(field.data, field.size, out);
}

static inline bool dfrt_field_bool(dfrt_slice field, bool *out)
{
    return dfrt_parse_bool(field.data, field.size, out);
}

static inline bool dfrt_field_text(dfrt_slice field, void *out, uint32_t capacity)
{
    return dfrt_parse_text(field.data, field.size, out, capacity);
}

static inline bool dfrt_field_symbol(dfrt_slice field, dfrt_recent_symbol *recent, dfrt_symbol *out)
{
    if (field.size - 1 >= 7) return dfrt_parse_symbol(field.data, field.size, out);
    uint64_t text = dfrt__load_eight(field.data) << (64 - 8 * field.size) | field.size;
    dfrt_recent_symbol *known = &recent[text * UINT64_C(0x9e3779b97f4a7c15) >> (64 - DFRT_RECENT_BITS)];
    if (known->text != text) {
        if (!dfrt_parse_symbol(field.data, field.size, &known->symbol)) return known->text = 0, false;
        known->text = text;
    }
    *out = known->symbol;
    return true;
}

#endif
