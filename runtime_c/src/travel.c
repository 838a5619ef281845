#include "travel.h"

#include <dfrt/hash.h>
#include <dfrt/symbol.h>

#include "packed.h"

enum { TEXT_SIZE = sizeof(uint32_t) };

void dfrt__travel_clear(dfrt__travel_room *room)
{
    room->count = 0;
    room->offsets.size = room->bytes.size = room->order.size = room->source.size = 0;
    room->index.size = room->watermark.size = room->key.size = 0;
}

void dfrt__travel_free(dfrt__travel_room *room)
{
    dfrt_bytes *all[] = {&room->offsets, &room->bytes,     &room->order, &room->source,
                         &room->index,   &room->watermark, &room->key};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        dfrt_bytes_free(all[i]);
    }
}

dfrt_row_columns dfrt__travel_columns(const dfrt__travel_room *room)
{
    return (dfrt_row_columns){.count = room->count,
                              .offsets = (const int32_t *)room->offsets.data,
                              .bytes = room->bytes.data,
                              .order = (const int64_t *)room->order.data,
                              .source = (const int32_t *)room->source.data,
                              .index = (const int64_t *)room->index.data,
                              .watermark = (const int64_t *)room->watermark.data,
                              .key = (const int64_t *)room->key.data};
}

/* The string of a symbol or text field. */
static dfrt_slice string_of(const dfrt_field *field, const unsigned char *record)
{
    uint32_t number;
    memcpy(&number, record + field->offset, sizeof number);
    return field->kind == DFRT_SYMBOL ? dfrt_symbol_text(number)
                                      : (dfrt_slice){(const char *)record + field->offset + TEXT_SIZE, number};
}

static bool is_string(const dfrt_field *field)
{
    return field->kind == DFRT_SYMBOL || field->kind == DFRT_TEXT;
}

static void add_field(dfrt_bytes *bytes, const dfrt_field *field, const unsigned char *record)
{
    if (is_string(field)) {
        dfrt_slice text = string_of(field, record);
        uint32_t size = (uint32_t)text.size;
        dfrt_pack(dfrt_bytes_add(bytes, TEXT_SIZE), &size, TEXT_SIZE);
        dfrt_bytes_append(bytes, text.data, text.size);
        return;
    }
    size_t size = dfrt__packed_size(field);
    dfrt_pack(dfrt_bytes_add(bytes, size), record + field->offset, size);
}

static void add_offset(dfrt__travel_room *room)
{
    int32_t end = (int32_t)room->bytes.size;
    dfrt_bytes_append(&room->offsets, &end, sizeof end);
}

dfrt_status dfrt__travel_add(dfrt__travel_room *room, const dfrt_record *form, const void *record, dfrt_error *error)
{
    if (room->offsets.size == 0) {
        add_offset(room);
    }
    for (size_t i = 0; i < form->field_count; i++) {
        add_field(&room->bytes, &form->fields[i], record);
    }
    if (room->bytes.size > INT32_MAX) {
        return dfrt_fail(error, DFRT_USAGE, "the rows of a batch of %s are more than 2 GiB", form->name);
    }
    add_offset(room);
    room->count++;
    return DFRT_OK;
}

/* --- back ------------------------------------------------------------------------------------------- */

typedef struct remaining {
    const uint8_t *at;
    size_t size;
} remaining;

static const uint8_t *step_over(remaining *rest, size_t size)
{
    const uint8_t *here = rest->at;
    if (size > rest->size) {
        return NULL;
    }
    rest->at += size;
    rest->size -= size;
    return here;
}

static dfrt_status take_string(remaining *rest, const dfrt_field *field, unsigned char *record)
{
    uint32_t size = 0;
    const uint8_t *packed = step_over(rest, TEXT_SIZE);
    if (packed != NULL) {
        dfrt_unpack(&size, packed, TEXT_SIZE);
    }
    const uint8_t *text = packed == NULL ? NULL : step_over(rest, size);
    if (text == NULL) {
        return DFRT_USAGE;
    }
    if (field->kind == DFRT_SYMBOL) {
        dfrt_symbol symbol;
        dfrt_status status = dfrt_symbol_intern((const char *)text, size, &symbol);
        memcpy(record + field->offset, &symbol, sizeof symbol);
        return status;
    }
    if (size > field->capacity) {
        return DFRT_USAGE;
    }
    memcpy(record + field->offset, &size, TEXT_SIZE);
    memcpy(record + field->offset + TEXT_SIZE, text, size);
    memset(record + field->offset + TEXT_SIZE + size, 0, field->capacity - size);
    return DFRT_OK;
}

static dfrt_status take_field(remaining *rest, const dfrt_field *field, unsigned char *record)
{
    if (is_string(field)) {
        return take_string(rest, field, record);
    }
    size_t size = dfrt__packed_size(field);
    const uint8_t *packed = step_over(rest, size);
    if (packed == NULL) {
        return DFRT_USAGE;
    }
    dfrt_unpack(record + field->offset, packed, size);
    return DFRT_OK;
}

dfrt_status dfrt__travel_take(const dfrt_row_columns *rows, uint64_t at, const dfrt_record *form, void *record,
                              dfrt_error *error)
{
    remaining rest = {rows->bytes + rows->offsets[at], (size_t)(rows->offsets[at + 1] - rows->offsets[at])};
    memset(record, 0, form->size);
    dfrt_status status = DFRT_OK;
    for (size_t i = 0; i < form->field_count && status == DFRT_OK; i++) {
        status = take_field(&rest, &form->fields[i], record);
    }
    if (status == DFRT_OK && rest.size == 0) {
        return DFRT_OK;
    }
    return status == DFRT_MEMORY ? dfrt_fail(error, DFRT_MEMORY, "no memory for a symbol")
                                 : dfrt_fail(error, DFRT_USAGE, "bytes that are no row of %s", form->name);
}

uint64_t dfrt__travel_hash(const dfrt_field *field, const void *record)
{
    if (is_string(field)) {
        dfrt_slice text = string_of(field, record);
        return dfrt_hash_bytes(text.data, text.size);
    }
    unsigned char packed[8] = {0};
    size_t size = dfrt__packed_size(field);
    dfrt_pack(packed, (const unsigned char *)record + field->offset, size);
    return dfrt_hash_bytes(packed, size);
}
