/* Rows that travel, in and out of records, and the columns that hold many of them.
 *
 * Threads:   nothing here is shared.
 * Ownership: a room owns its columns.
 * Progress:  nothing waits. Without memory the program ends, as in bytes.h.
 */
#ifndef DFRT_TRAVEL_H
#define DFRT_TRAVEL_H

#include <dfrt/bytes.h>
#include <dfrt/cluster.h>
#include <dfrt/record.h>

/* Columns that grow. Those that a user has no need of stay empty. */
typedef struct dfrt__travel_room {
    size_t count;
    dfrt_bytes offsets, bytes, order, source, index, watermark, key;
} dfrt__travel_room;

void dfrt__travel_clear(dfrt__travel_room *room);
void dfrt__travel_free(dfrt__travel_room *room);
dfrt_row_columns dfrt__travel_columns(const dfrt__travel_room *room);

/* Adds the bytes of a row. DFRT_USAGE: the rows of these columns are more than 2 GiB. */
dfrt_status dfrt__travel_add(dfrt__travel_room *room, const dfrt_record *form, const void *record, dfrt_error *error);

/* Row `at` as a record. DFRT_USAGE: it is none of this form; DFRT_MEMORY: no room for a symbol. */
dfrt_status dfrt__travel_take(const dfrt_row_columns *rows, uint64_t at, const dfrt_record *form, void *record,
                              dfrt_error *error);

/* The hash of one field, by its value: equal on every machine. */
uint64_t dfrt__travel_hash(const dfrt_field *field, const void *record);

static inline void dfrt__travel_put(dfrt_bytes *column, int64_t value)
{
    dfrt_bytes_append(column, &value, sizeof value);
}

#endif
