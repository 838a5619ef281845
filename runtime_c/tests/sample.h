/* A record as codegen would write it, for the tests of connectors. */
#ifndef DFRT_TESTS_SAMPLE_H
#define DFRT_TESTS_SAMPLE_H

#include <dfrt/output.h>
#include <dfrt/rows.h>

typedef struct trade {
    int64_t ts;
    dfrt_symbol symbol;
    double price;
    int32_t size;
    bool buy;
    struct {
        uint32_t size;
        char data[6];
    } note;
} trade;

enum { TRADE_PACKED = 8 + 4 + 8 + 4 + 1 + 6 };

static int trade_parse(const dfrt_slice *row, void *record)
{
    trade *t = record;
    if (!dfrt_parse_i64(row[0].data, row[0].size, &t->ts)) return 0;
    if (!dfrt_parse_symbol(row[1].data, row[1].size, &t->symbol)) return 1;
    if (!dfrt_parse_f64(row[2].data, row[2].size, &t->price)) return 2;
    if (!dfrt_parse_i32(row[3].data, row[3].size, &t->size)) return 3;
    if (!dfrt_parse_bool(row[4].data, row[4].size, &t->buy)) return 4;
    if (!dfrt_parse_text(row[5].data, row[5].size, &t->note, sizeof t->note.data)) return 5;
    return -1;
}

static size_t trade_parse_rows(const dfrt_rows *rows, void *records)
{
    trade *t = records;
    const uint32_t *bounds = rows->bounds, *columns = rows->columns;
    size_t n = 0;
    uint32_t end;
    for (; n < rows->count && dfrt_row_is_plain(rows, bounds, rows->width, &end); n++, t++) {
        if (!dfrt_field_i64(dfrt_row_field(rows, bounds, columns[0], end), &t->ts)) break;
        if (!dfrt_field_symbol(dfrt_row_field(rows, bounds, columns[1], end), rows->recent, &t->symbol)) break;
        if (!dfrt_field_f64(dfrt_row_field(rows, bounds, columns[2], end), &t->price)) break;
        if (!dfrt_field_i32(dfrt_row_field(rows, bounds, columns[3], end), &t->size)) break;
        if (!dfrt_field_bool(dfrt_row_field(rows, bounds, columns[4], end), &t->buy)) break;
        if (!dfrt_field_text(dfrt_row_field(rows, bounds, columns[5], end), &t->note, sizeof t->note.data)) break;
        bounds += rows->width;
    }
    return n;
}

static void trade_print(dfrt_output *out, const void *record)
{
    const trade *t = record;
    dfrt_put_i64(out, t->ts);
    dfrt_put_char(out, ',');
    dfrt_put_symbol(out, t->symbol);
    dfrt_put_char(out, ',');
    dfrt_put_f64(out, t->price);
    dfrt_put_char(out, ',');
    dfrt_put_i64(out, t->size);
    dfrt_put_char(out, ',');
    dfrt_put_bool(out, t->buy);
    dfrt_put_char(out, ',');
    dfrt_put_text(out, t->note.data, t->note.size);
    dfrt_put_char(out, '\n');
}

static int trade_decode(const unsigned char *packed, void *record)
{
    trade *t = record;
    memcpy(&t->ts, packed, 8);
    memcpy(&t->symbol, packed + 8, 4);
    memcpy(&t->price, packed + 12, 8);
    memcpy(&t->size, packed + 20, 4);
    if (packed[24] > 1) return 4;
    t->buy = packed[24] == 1;
    return dfrt_text_decode(packed + 25, &t->note, sizeof t->note.data) ? -1 : 5;
}

static void trade_encode(const void *record, unsigned char *packed)
{
    const trade *t = record;
    memcpy(packed, &t->ts, 8);
    memcpy(packed + 8, &t->symbol, 4);
    memcpy(packed + 12, &t->price, 8);
    memcpy(packed + 20, &t->size, 4);
    packed[24] = t->buy;
    memcpy(packed + 25, t->note.data, 6);
}

static const dfrt_field trade_fields[] = {
    {"ts", DFRT_TIMESTAMP, offsetof(trade, ts), 0, 1000000},
    {"symbol", DFRT_SYMBOL, offsetof(trade, symbol), 0, 0},
    {"price", DFRT_F64, offsetof(trade, price), 0, 0},
    {"size", DFRT_I32, offsetof(trade, size), 0, 0},
    {"buy", DFRT_BOOL, offsetof(trade, buy), 0, 0},
    {"note", DFRT_TEXT, offsetof(trade, note), 6, 0},
};

static const dfrt_record trade_record = {
    "Trade",     sizeof(trade),    TRADE_PACKED, 6,            trade_fields,
    trade_parse, trade_parse_rows, trade_print,  trade_decode, trade_encode,
};

#endif
