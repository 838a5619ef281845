#include "dfrt/archive.h"

#include "dfrt/arith.h"
#include "field_bytes.h"

enum { MOST_KEPT = 1 << 28 };

void dfrt_archive_refuse(dfrt_archive *archive)
{
    if (archive->status == DFRT_OK) {
        archive->status = DFRT_MALFORMED;
    }
}

static void archive_field(dfrt_archive *archive, const dfrt_field *field, void *members)
{
    if (!archive->loads) {
        dfrt__field_add(archive->saved, field, members);
        return;
    }
    if (archive->status != DFRT_OK) {
        return;
    }
    dfrt__rest rest = {archive->at, archive->left};
    dfrt_status status = dfrt__field_take(&rest, field, members);
    archive->at = rest.at;
    archive->left = rest.size;
    archive->status = status == DFRT_USAGE ? DFRT_MALFORMED : status;
}

void dfrt_archive_i64(dfrt_archive *archive, int64_t *number)
{
    static const dfrt_field field = {.name = "", .kind = DFRT_I64};
    *number = archive->loads ? 0 : *number;
    archive_field(archive, &field, number);
}

void dfrt_archive_u32(dfrt_archive *archive, uint32_t *number)
{
    static const dfrt_field field = {.name = "", .kind = DFRT_U32};
    *number = archive->loads ? 0 : *number;
    archive_field(archive, &field, number);
}

void dfrt_archive_bool(dfrt_archive *archive, bool *value)
{
    static const dfrt_field field = {.name = "", .kind = DFRT_BOOL};
    *value = archive->loads ? false : *value;
    archive_field(archive, &field, value);
}

uint32_t dfrt_archive_count(dfrt_archive *archive, uint32_t count)
{
    dfrt_archive_u32(archive, &count);
    if (archive->loads && count > archive->left) {
        dfrt_archive_refuse(archive);
    }
    return dfrt_archive_good(archive) ? count : 0;
}

void dfrt_archive_time(dfrt_archive *archive, int64_t *time)
{
    dfrt_archive_i64(archive, time);
    if (dfrt_on_axis(*time) != *time) {
        dfrt_archive_refuse(archive);
    }
}

void dfrt_archive_struct(dfrt_archive *archive, const dfrt_form *form, void *members)
{
    bool none = false;
    for (size_t i = 0; i < form->count; i++) {
        archive_field(archive, &form->fields[i], members);
    }
    if (form->count == 0) {
        dfrt_archive_bool(archive, &none);
    }
}

static void archive_column(dfrt_archive *archive, const dfrt_form *form, unsigned char *first, uint32_t count,
                           uint32_t width)
{
    for (uint32_t i = 0; i < count && dfrt_archive_good(archive); i++) {
        dfrt_archive_struct(archive, form, first + (size_t)i * width);
    }
}

static void check_times(dfrt_archive *archive, const dfrt_kept *kept, bool sorted)
{
    const int64_t *times = dfrt_kept_times(kept);
    for (uint32_t i = kept->head; i < kept->tail; i++) {
        if (dfrt_on_axis(times[i]) != times[i] || (sorted && i > kept->head && times[i] < times[i - 1])) {
            dfrt_archive_refuse(archive);
        }
    }
}

void dfrt_archive_kept(dfrt_archive *archive, const dfrt_kept_form *form, dfrt_pool *pool, dfrt_kept *kept)
{
    uint32_t count = dfrt_archive_count(archive, kept->tail - kept->head);
    uint32_t in_order = kept->in_order > kept->head ? kept->in_order - kept->head : 0;
    dfrt_archive_u32(archive, &in_order);
    if (archive->loads && (count > MOST_KEPT || in_order > count)) {
        dfrt_archive_refuse(archive);
    }
    if (!dfrt_archive_good(archive)) {
        return;
    }
    if (archive->loads) {
        dfrt_kept_reserve(pool, kept, count, form->widths);
        kept->tail = count;
        kept->in_order = in_order;
    }
    unsigned char *column = kept->room;
    for (uint32_t i = 0; i < form->widths.count && count > 0; i++) {
        uint32_t width = form->widths.of[i];
        archive_column(archive, &form->columns[i], column + (size_t)kept->head * width, count, width);
        column += (size_t)kept->capacity * width;
    }
    if (archive->loads && form->timed && dfrt_archive_good(archive)) {
        check_times(archive, kept, form->sorted);
    }
}
