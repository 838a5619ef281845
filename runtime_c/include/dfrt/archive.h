/* The state of a program as bytes, and back. Generated code goes over its state once for both directions: each of these
 * functions writes what it is pointed to, or fills it from bytes that were written so.
 *
 * What is loaded may be damaged or made up. Counts are bounded by the bytes that are left; who keeps positions checks
 * them and calls dfrt_archive_refuse. From the first thing that is wrong on, everything loads as zero, and the state is
 * good for nothing but closing.
 *
 * Threads:   an archive belongs to one thread.
 * Ownership: an archive borrows its bytes.
 * Progress:  nothing waits. Without memory the program ends (dfrt_out_of_memory).
 */
#ifndef DFRT_ARCHIVE_H
#define DFRT_ARCHIVE_H

#include <stdbool.h>

#include "dfrt/bytes.h"
#include "dfrt/kept.h"
#include "dfrt/record.h"
#include "dfrt/status.h"

typedef struct dfrt_archive {
    bool loads;
    dfrt_bytes *saved;   /* saving: what there is so far */
    const uint8_t *at;   /* loading: what is left */
    size_t left;
    dfrt_status status;
} dfrt_archive;

/* The members of a struct that are state. */
typedef struct dfrt_form {
    const dfrt_field *fields;
    size_t count;
} dfrt_form;

static inline bool dfrt_archive_good(const dfrt_archive *archive)
{
    return archive->status == DFRT_OK;
}

/* What was loaded can't be state of this program. */
void dfrt_archive_refuse(dfrt_archive *archive);

void dfrt_archive_i64(dfrt_archive *archive, int64_t *number);
void dfrt_archive_u32(dfrt_archive *archive, uint32_t *number);
void dfrt_archive_bool(dfrt_archive *archive, bool *value);
/* How many elements follow, each of one byte at least. */
uint32_t dfrt_archive_count(dfrt_archive *archive, uint32_t count);
/* A time that a tuple can have. */
void dfrt_archive_time(dfrt_archive *archive, int64_t *time);
/* A struct; one without members takes a byte, so that it counts. */
void dfrt_archive_struct(dfrt_archive *archive, const dfrt_form *form, void *members);

/* Kept tuples; `columns` are the forms of their elements, by column. Loaded ones begin at place 0 of a group that held
 * nothing, and there is room for one more. `timed`: the first column has times; `sorted`: in their order. */
typedef struct dfrt_kept_form {
    dfrt_widths widths;
    const dfrt_form *columns;
    bool timed, sorted;
} dfrt_kept_form;

void dfrt_archive_kept(dfrt_archive *archive, const dfrt_kept_form *form, dfrt_pool *pool, dfrt_kept *kept);

#endif
