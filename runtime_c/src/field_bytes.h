/* Single fields as bytes that mean the same in every process: numbers little endian, a symbol or text as its length
 * (u32) and its bytes. Rows that travel and saved state are made of them.
 *
 * Threads:   nothing here is shared.
 * Ownership: `dfrt__rest` borrows the bytes that it stands in.
 * Progress:  nothing waits. Without memory the program ends, as in bytes.h.
 */
#ifndef DFRT_FIELD_BYTES_H
#define DFRT_FIELD_BYTES_H

#include <dfrt/bytes.h>
#include <dfrt/record.h>
#include <dfrt/status.h>

/* Bytes that are not read yet. */
typedef struct dfrt__rest {
    const uint8_t *at;
    size_t size;
} dfrt__rest;

/* The next `size` bytes, or NULL when there are fewer. */
const uint8_t *dfrt__rest_step(dfrt__rest *rest, size_t size);

/* The string of a symbol or text field. */
dfrt_slice dfrt__field_string(const dfrt_field *field, const unsigned char *record);
bool dfrt__field_is_string(const dfrt_field *field);

void dfrt__field_add(dfrt_bytes *bytes, const dfrt_field *field, const unsigned char *record);
/* DFRT_USAGE: the bytes are none of this field; DFRT_MEMORY: no room for a symbol. */
dfrt_status dfrt__field_take(dfrt__rest *rest, const dfrt_field *field, unsigned char *record);

#endif
