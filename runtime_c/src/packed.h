/* Sizes in the packed form of records, for the binary source and sink. Pure functions on constant descriptors. */
#ifndef DFRT_PACKED_H
#define DFRT_PACKED_H

#include <dfrt/record.h>

static inline size_t dfrt__packed_size(const dfrt_field *field)
{
    switch (field->kind) {
    case DFRT_I8:
    case DFRT_U8:
    case DFRT_BOOL: return 1;
    case DFRT_I16:
    case DFRT_U16: return 2;
    case DFRT_I32:
    case DFRT_U32:
    case DFRT_F32:
    case DFRT_SYMBOL: return 4;
    case DFRT_TEXT: return field->capacity;
    default: return 8;
    }
}

static inline bool dfrt__has_symbols(const dfrt_record *record)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (record->fields[i].kind == DFRT_SYMBOL) return true;
    return false;
}

/* Whether a packed record is its C struct: no padding, and every value of the bytes is one of the field. */
static inline bool dfrt__is_plain(const dfrt_record *record)
{
    size_t offset = 0;
    bool same = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && record->size == record->packed_size;
    for (size_t i = 0; i < record->field_count && same; i++) {
        const dfrt_field *field = &record->fields[i];
        same = field->offset == offset && field->kind != DFRT_BOOL && field->kind != DFRT_TEXT &&
               field->kind != DFRT_SYMBOL;
        offset += dfrt__packed_size(field);
    }
    return same;
}

#endif
