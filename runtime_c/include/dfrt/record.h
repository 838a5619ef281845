/* How records look to the runtime: a table of fields, and the functions generated for that one record.
 *
 * Threads:   descriptors are constant; the functions touch only what they are given.
 * Ownership: a slice borrows; it is valid until its giver says otherwise.
 * Progress:  nothing here waits.
 */
#ifndef DFRT_RECORD_H
#define DFRT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t dfrt_symbol; /* an interned string: see symbol.h */

typedef struct dfrt_slice {
    const char *data;
    size_t size;
} dfrt_slice;

/* A text<N> field is { uint32_t size; char data[N]; } with the bytes after `size` zero. */

typedef enum dfrt_kind {
    DFRT_I8, DFRT_I16, DFRT_I32, DFRT_I64,
    DFRT_U8, DFRT_U16, DFRT_U32, DFRT_U64,
    DFRT_F32, DFRT_F64, DFRT_BOOL,
    DFRT_TIMESTAMP, /* int64_t in the unit of the field */
    DFRT_DURATION,  /* likewise */
    DFRT_SYMBOL,    /* dfrt_symbol */
    DFRT_TEXT,      /* text<N> */
} dfrt_kind;

typedef struct dfrt_field {
    const char *name;
    dfrt_kind kind;
    size_t offset;         /* in the C struct */
    uint32_t capacity;     /* N of text<N>, else 0 */
    int64_t unit_ns;       /* nanoseconds of one unit of a timestamp or duration, else 0 */
} dfrt_field;

/* Packed numbers are little endian, whatever the machine is. */
static inline void dfrt__pack_bytes(unsigned char *to, const unsigned char *from, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < size; i++) {
        to[i] = from[size - 1 - i];
    }
#else
    memcpy(to, from, size);
#endif
}

static inline void dfrt_pack(unsigned char *packed, const void *number, size_t size)
{
    dfrt__pack_bytes(packed, (const unsigned char *)number, size);
}

static inline void dfrt_unpack(void *number, const unsigned char *packed, size_t size)
{
    dfrt__pack_bytes((unsigned char *)number, packed, size);
}

struct dfrt_output;
struct dfrt_rows;

typedef struct dfrt_record {
    const char *name;
    size_t size;           /* sizeof the C struct */
    size_t packed_size;    /* bytes of one packed record: field order, little endian, no padding */
    size_t field_count;
    const dfrt_field *fields;
    /* One slice a field, in field order. Answers -1 when the row fits, else the index of the field that does not. */
    int (*parse)(const dfrt_slice *row, void *record);
    /* As many rows as are plain and fit, from the first one; answers their number. What stopped it is for `parse`.
     * NULL: all are. */
    size_t (*parse_rows)(const struct dfrt_rows *rows, void *records);
    /* One CSV row with its newline. */
    void (*print)(struct dfrt_output *out, const void *record);
    /* Packed bytes; symbols are the raw u32 and are translated by the connector. */
    int (*decode)(const unsigned char *packed, void *record);
    void (*encode)(const void *record, unsigned char *packed);
} dfrt_record;

#endif
