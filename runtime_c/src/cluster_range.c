/* A part of a file, read by the source that reads whole files: it is given the header and then the part. */
#define _GNU_SOURCE
#include <dfrt/arith.h>
#include <dfrt/channel.h>
#include <dfrt/hash.h>
#include <dfrt/input.h>

#include <stdlib.h>
#include <unistd.h>

#include "cluster_state.h"

enum { MOST_ROWS = 8192, ROOM_BYTES = 4 << 20, MAX_ROW = 16 << 20 };

struct dfrt_range {
    const dfrt_source_entry *entry;
    dfrt_source *source;
    int32_t number;
    uint64_t header, begin, end, at; /* `at` is where the next byte of the file comes from */
    bool in_part;
    int fd;
    int64_t slack;
    dfrt_progress progress;
    dfrt_range_measure measure;
    const dfrt_field **keys;
    size_t key_count, most;
    unsigned char *records;
    dfrt__travel_room room;
    dfrt__reports reports;
};

void dfrt__reports_add(void *reports, uint64_t number, const char *text)
{
    dfrt__reports *all = reports;
    char line[512];
    if (all->text.size > 0) {
        all->text.size--; /* the NUL */
    }
    int size = all->name == NULL
                   ? snprintf(line, sizeof line, "%llu\t%s\n", (unsigned long long)number, text)
                   : snprintf(line, sizeof line, "%s\t%llu\t%s\n", all->name, (unsigned long long)number, text);
    size_t kept = size < 0 ? 0 : (size_t)size < sizeof line ? (size_t)size : sizeof line - 1;
    dfrt_bytes_append(&all->text, line, kept);
    dfrt_bytes_append(&all->text, "", 1);
}

const char *dfrt__reports_text(const dfrt__reports *reports)
{
    return reports->text.size == 0 ? "" : (const char *)reports->text.data;
}

/* --- bytes ------------------------------------------------------------------------------------------ */

static void look_at(dfrt_range *range, const char *bytes, size_t size)
{
    for (const char *at = bytes; (at = memchr(at, '\n', size - (size_t)(at - bytes))) != NULL; at++) {
        range->measure.lines++;
    }
    range->measure.quotes |= memchr(bytes, '"', size) != NULL;
}

/* Instead of read(2): the header, then the part. */
static ssize_t read_part(void *context, char *to, size_t size)
{
    dfrt_range *range = context;
    if (!range->in_part && range->at == range->header) {
        range->in_part = true;
        range->at = range->begin;
    }
    uint64_t left = (range->in_part ? range->end : range->header) - range->at;
    ssize_t got = left == 0 ? 0 : pread(range->fd, to, size < left ? size : (size_t)left, (off_t)range->at);
    if (got > 0) {
        range->at += (uint64_t)got;
        if (range->in_part) {
            look_at(range, to, (size_t)got);
        }
    }
    return got;
}

static dfrt_status open_part(dfrt_range *range, const char *spec, uint64_t max_row, dfrt_input **out,
                             dfrt_error *error)
{
    const char *colon = strchr(spec, ':');
    if (colon == NULL) {
        return dfrt_fail(error, DFRT_USAGE, "source '%s': '%s' is no file", range->entry->name, spec);
    }
    dfrt_status status = dfrt_input_open(out, colon + 1, (max_row == 0 ? MAX_ROW : max_row) + 2, error);
    if (status == DFRT_OK) {
        range->fd = (*out)->fd;
        (*out)->read = read_part;
        (*out)->read_context = range;
    }
    return status;
}

/* --- opening ---------------------------------------------------------------------------------------- */

static const dfrt_field *field_named(const dfrt_record *form, const char *name)
{
    for (size_t i = 0; i < form->field_count; i++) {
        if (strcmp(form->fields[i].name, name) == 0) {
            return &form->fields[i];
        }
    }
    return NULL;
}

static dfrt_status find_keys(dfrt_range *range, const dfrt_range_options *options, dfrt_error *error)
{
    range->keys = calloc(options->key_count + 1, sizeof *range->keys);
    if (range->keys == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for a range of '%s'", range->entry->name);
    }
    range->key_count = options->key_count;
    for (size_t i = 0; i < range->key_count; i++) {
        range->keys[i] = field_named(range->entry->record, options->keys[i]);
        if (range->keys[i] == NULL) {
            return dfrt_fail(error, DFRT_USAGE, "source '%s' has no field '%s'", range->entry->name, options->keys[i]);
        }
    }
    return DFRT_OK;
}

static dfrt_status open_source(dfrt_range *range, const dfrt_range_options *options, dfrt_error *error)
{
    dfrt_source_options how = DFRT_SOURCE_DEFAULTS;
    how.event_time = range->entry->time_field;
    how.max_row = options->max_row;
    how.report_limit = options->report_limit;
    how.report = dfrt__reports_add;
    how.report_context = &range->reports;
    dfrt_status status =
        options->whole ? DFRT_OK : open_part(range, options->spec, options->max_row, &how.input, error);
    return status != DFRT_OK ? status
                             : dfrt_source_open(&range->source, range->entry->name, options->spec,
                                                range->entry->record, &how, error);
}

static dfrt_status prepare_range(dfrt_range *range, const dfrt_range_options *options, dfrt_error *error)
{
    size_t size = range->entry->record->size;
    range->most = ROOM_BYTES / size < 1 ? 1 : ROOM_BYTES / size > MOST_ROWS ? MOST_ROWS : ROOM_BYTES / size;
    range->records = calloc(range->most, size);
    if (range->records == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for a range of '%s'", range->entry->name);
    }
    dfrt_status status = find_keys(range, options, error);
    return status == DFRT_OK ? open_source(range, options, error) : status;
}

dfrt_status dfrt__range_open(dfrt_range **out, const dfrt_program *program, const dfrt_range_options *options,
                             dfrt_error *error)
{
    *out = NULL;
    if (options->source >= program->source_count) {
        return dfrt_fail(error, DFRT_USAGE, "%s has no source number %u", program->name, options->source);
    }
    dfrt_range *range = calloc(1, sizeof *range);
    if (range == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for a range");
    }
    range->entry = &program->sources[options->source];
    range->number = (int32_t)options->source;
    range->header = options->header;
    range->begin = options->begin;
    range->end = options->end;
    range->slack = options->slack;
    range->progress = options->progress;
    range->measure = (dfrt_range_measure){.highest = INT64_MIN, .lowest = INT64_MAX};
    dfrt_status status = prepare_range(range, options, error);
    if (status != DFRT_OK) {
        dfrt__range_close(range);
        return status;
    }
    *out = range;
    return DFRT_OK;
}

void dfrt__range_close(dfrt_range *range)
{
    dfrt_error ignored; /* nothing is written */
    if (range == NULL) {
        return;
    }
    (void)dfrt_source_close(range->source, &ignored);
    dfrt__travel_free(&range->room);
    dfrt_bytes_free(&range->reports.text);
    free(range->records);
    free(range->keys);
    free(range);
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* By the rule of generated sources: beyond the ends of the axis a tuple moves nothing. */
static void move_on(dfrt_range *range, int64_t time)
{
    dfrt_progress *now = &range->progress;
    dfrt_range_measure *own = &range->measure;
    if (time != dfrt_on_axis(time)) {
        return;
    }
    own->highest = time > own->highest ? time : own->highest;
    own->lowest = time < own->lowest ? time : own->lowest;
    int64_t own_delay = dfrt_sub_time(own->highest, time);
    own->delay = own_delay > own->delay ? own_delay : own->delay;
    now->highest = time > now->highest ? time : now->highest;
    int64_t delay = dfrt_sub_time(now->highest, time);
    now->delay = delay > now->delay ? delay : now->delay;
    int64_t passed = dfrt_sub_time(now->highest, range->slack < 0 ? now->delay : range->slack);
    now->watermark = passed > now->watermark ? passed : now->watermark;
}

static void pass_record(dfrt_range *range, const unsigned char *record)
{
    if (range->entry->time_field >= 0) {
        int64_t time;
        memcpy(&time, record + range->entry->record->fields[range->entry->time_field].offset, sizeof time);
        move_on(range, time);
    }
    range->progress.index++;
}

static int64_t key_of(const dfrt_range *range, const unsigned char *record)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < range->key_count; i++) {
        hash = dfrt_hash_combine(hash, dfrt__travel_hash(range->keys[i], record));
    }
    return (int64_t)hash;
}

static dfrt_status add_row(dfrt_range *range, const unsigned char *record, dfrt_error *error)
{
    dfrt__travel_put(&range->room.index, range->progress.index);
    dfrt__travel_put(&range->room.watermark, range->progress.watermark);
    dfrt__travel_put(&range->room.key, key_of(range, record));
    dfrt_bytes_append(&range->room.source, &range->number, sizeof range->number);
    return dfrt__travel_add(&range->room, range->entry->record, record, error);
}

/* As dfrt_source_read, of a source that never waits. */
static dfrt_status read_some(dfrt_range *range, size_t *count, dfrt_error *error)
{
    dfrt_status status = dfrt_source_read(range->source, range->records, range->most, count);
    if (status == DFRT_OK || status == DFRT_END) {
        return status;
    }
    return status == DFRT_AGAIN
               ? dfrt_fail(error, DFRT_USAGE, "source '%s' is no file: only files can be read in ranges",
                           range->entry->name)
               : dfrt_fail(error, status, "%s", dfrt_source_error(range->source));
}

dfrt_status dfrt__range_measure(dfrt_range *range, dfrt_range_measure *measure, dfrt_error *error)
{
    size_t count;
    dfrt_status status;
    while ((status = read_some(range, &count, error)) == DFRT_OK) {
        for (size_t i = 0; i < count; i++) {
            pass_record(range, range->records + i * range->entry->record->size);
        }
    }
    range->measure.after = range->progress;
    range->measure.malformed = dfrt_source_malformed(range->source);
    *measure = range->measure;
    return status == DFRT_END ? DFRT_OK : status;
}

dfrt_status dfrt__range_rows(dfrt_range *range, dfrt_row_columns *rows, dfrt_error *error)
{
    size_t count = 0;
    dfrt__travel_clear(&range->room);
    dfrt_status status = read_some(range, &count, error);
    for (size_t i = 0; i < count && status == DFRT_OK; i++) {
        const unsigned char *record = range->records + i * range->entry->record->size;
        status = add_row(range, record, error);
        pass_record(range, record);
    }
    *rows = dfrt__travel_columns(&range->room);
    return status;
}

const char *dfrt__range_reports(const dfrt_range *range)
{
    return dfrt__reports_text(&range->reports);
}
