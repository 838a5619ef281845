#include "field_bytes.h"

#include <dfrt/symbol.h>

#include "packed.h"

enum { TEXT_SIZE = sizeof(uint32_t) };

const uint8_t *dfrt__rest_step(dfrt__rest *rest, size_t size)
{
    const uint8_t *here = rest->at;
    if (size > rest->size) {
        return NULL;
    }
    rest->at += size;
    rest->size -= size;
    return here;
}

dfrt_slice dfrt__field_string(const dfrt_field *field, const unsigned char *record)
{
    uint32_t number;
    memcpy(&number, record + field->offset, sizeof number);
    return field->kind == DFRT_SYMBOL ? dfrt_symbol_text(number)
                                      : (dfrt_slice){(const char *)record + field->offset + TEXT_SIZE, number};
}

bool dfrt__field_is_string(const dfrt_field *field)
{
    return field->kind == DFRT_SYMBOL || field->kind == DFRT_TEXT;
}

void dfrt__field_add(dfrt_bytes *bytes, const dfrt_field *field, const unsigned char *record)
{
    if (dfrt__field_is_string(field)) {
        dfrt_slice text = dfrt__field_string(field, record);
        uint32_t size = (uint32_t)text.size;
        dfrt_pack(dfrt_bytes_add(bytes, TEXT_SIZE), &size, TEXT_SIZE);
        dfrt_bytes_append(bytes, text.data, text.size);
        return;
    }
    size_t size = dfrt__packed_size(field);
    dfrt_pack(dfrt_bytes_add(bytes, size), record + field->offset, size);
}

static dfrt_status take_string(dfrt__rest *rest, const dfrt_field *field, unsigned char *record)
{
    uint32_t size = 0;
    const uint8_t *packed = dfrt__rest_step(rest, TEXT_SIZE);
    if (packed != NULL) {
        dfrt_unpack(&size, packed, TEXT_SIZE);
    }
    const uint8_t *text = packed == NULL ? NULL : dfrt__rest_step(rest, size);
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

dfrt_status dfrt__field_take(dfrt__rest *rest, const dfrt_field *field, unsigned char *record)
{
    if (dfrt__field_is_string(field)) {
        return take_string(rest, field, record);
    }
    size_t size = dfrt__packed_size(field);
    const uint8_t *packed = dfrt__rest_step(rest, size);
    if (packed == NULL || (field->kind == DFRT_BOOL && *packed > 1)) { /* a bool of another value is none */
        return DFRT_USAGE;
    }
    dfrt_unpack(record + field->offset, packed, size);
    return DFRT_OK;
}
