/* Columns of a caller's memory into a field of records, and out of it: each value is copied once, without a column in
 * between. For callers that have columns, such as numpy and Arrow; whoever has records needs none of this.
 *
 * Threads:   every function from every thread, on records that no other thread uses meanwhile.
 * Ownership: everything is borrowed for the call.
 * Progress:  nothing waits; interning a new text is lock-free (symbol.h).
 */
#ifndef DFRT_COLUMNS_H
#define DFRT_COLUMNS_H

#include <dfrt/record.h>

/* A field: of the first record, and the bytes from one record to the next. */
typedef struct dfrt_place {
    void *first;
    size_t stride;
} dfrt_place;

typedef enum dfrt_strings_form {
    DFRT_STRINGS_BYTES,     /* `width` bytes each; zeros at the end do not count */
    DFRT_STRINGS_UCS4,      /* `width` code points of 32 bits each; likewise */
    DFRT_STRINGS_OFFSETS32, /* string i is data[offsets[i] … offsets[i + 1]), offsets of 32 bits */
    DFRT_STRINGS_OFFSETS64, /* likewise, of 64 bits */
} dfrt_strings_form;

typedef struct dfrt_strings {
    dfrt_strings_form form;
    const void *data, *offsets;
    size_t width;
    ptrdiff_t stride; /* from one string of fixed width to the next */
} dfrt_strings;

/* Whole numbers of 1, 2, 4 or 8 bytes that say which entry of a table is meant. */
typedef struct dfrt_codes {
    const void *first;
    ptrdiff_t stride;
    size_t size;
    bool is_signed;
} dfrt_codes;

/* What one library offers. The `put` functions answer how many values are stored: fewer than `count` when the next one
 * does not fit (no UTF-8, too long for the text, no entry of the table), or when there is no memory. */
typedef struct dfrt_columns {
    size_t (*put_symbols)(dfrt_place to, const dfrt_strings *strings, size_t count);
    size_t (*put_texts)(dfrt_place to, uint32_t capacity, const dfrt_strings *strings, size_t count);
    /* Entries of `size` bytes: symbols, or texts with their sizes. */
    size_t (*put_entries)(dfrt_place to, size_t size, const void *table, size_t entries, const dfrt_codes *codes,
                          size_t count);
    /* Bools that are bits, lowest first, from bit `from` on. */
    void (*put_bits)(dfrt_place to, const uint8_t *bits, size_t from, size_t count);
    /* Symbols as codes into `found`, in the order of their first appearance; answers how many different ones there
     * are. `found` has room for all of them, `numbers` is zeroed, with a place for every symbol of the process. */
    size_t (*get_codes)(dfrt_place from, size_t count, int32_t *codes, uint32_t *numbers, dfrt_symbol *found);
    /* Strings of fixed width as count + 1 offsets and, unless `data` is NULL, their bytes. */
    void (*get_texts)(const dfrt_strings *strings, size_t count, int32_t *offsets, char *data);
} dfrt_columns;

extern const dfrt_columns dfrt_columns_functions;

#endif
