#include "travel.h"

#include <dfrt/hash.h>

#include "field_bytes.h"
#include "packed.h"

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
        dfrt__field_add(&room->bytes, &form->fields[i], record);
    }
    if (room->bytes.size > INT32_MAX) {
        return dfrt_fail(error, DFRT_USAGE, "the rows of a batch of %s are more than 2 GiB", form->name);
    }
    add_offset(room);
    room->count++;
    return DFRT_OK;
}

/* --- back ------------------------------------------------------------------------------------------- */

dfrt_status dfrt__travel_take(const dfrt_row_columns *rows, uint64_t at, const dfrt_record *form, void *record,
                              dfrt_error *error)
{
    dfrt__rest rest = {rows->bytes + rows->offsets[at], (size_t)(rows->offsets[at + 1] - rows->offsets[at])};
    memset(record, 0, form->size);
    dfrt_status status = DFRT_OK;
    for (size_t i = 0; i < form->field_count && status == DFRT_OK; i++) {
        status = dfrt__field_take(&rest, &form->fields[i], record);
    }
    if (status == DFRT_OK && rest.size == 0) {
        return DFRT_OK;
    }
    return status == DFRT_MEMORY ? dfrt_fail(error, DFRT_MEMORY, "no memory for a symbol")
                                 : dfrt_fail(error, DFRT_USAGE, "bytes that are no row of %s", form->name);
}

uint64_t dfrt__travel_hash(const dfrt_field *field, const void *record)
{
    if (dfrt__field_is_string(field)) {
        dfrt_slice text = dfrt__field_string(field, record);
        return dfrt_hash_bytes(text.data, text.size);
    }
    unsigned char packed[8] = {0};
    size_t size = dfrt__packed_size(field);
    dfrt_pack(packed, (const unsigned char *)record + field->offset, size);
    return dfrt_hash_bytes(packed, size);
}
