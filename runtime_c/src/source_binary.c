/* Packed records: the front of a regular file is mapped, everything else comes through the same buffer as text does. */
#define _GNU_SOURCE
#include <dfrt/csv.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mapped.h"
#include "packed.h"
#include "source_kind.h"

typedef struct binary_state {
    dfrt_input *input;
    dfrt__mapped *mapped; /* what comes before the input; NULL when there is nothing */
    uint64_t record; /* the number of the next one, from 1 */
    bool plain;      /* packed records are C structs already, and any bytes are good ones */
    bool has_symbols;
    dfrt_symbol *symbols; /* [number in the file] */
    size_t symbol_count, symbol_capacity;
} binary_state;

static dfrt_status append_symbol(binary_state *state, dfrt_slice text, dfrt_error *error)
{
    if (state->symbol_count == state->symbol_capacity) {
        size_t capacity = state->symbol_capacity == 0 ? 1024 : state->symbol_capacity * 2;
        dfrt_symbol *grown = realloc(state->symbols, capacity * sizeof *grown);
        if (grown == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for symbols");
        state->symbols = grown;
        state->symbol_capacity = capacity;
    }
    if (dfrt_symbol_intern(text.data, text.size, &state->symbols[state->symbol_count]) != DFRT_OK)
        return dfrt_fail(error, DFRT_MEMORY, "no memory for symbols");
    state->symbol_count++;
    return DFRT_OK;
}

static dfrt_status read_symbols(binary_state *state, dfrt_csv *csv, const char *path, int stop_fd, dfrt_error *error)
{
    for (;;) {
        dfrt_slice text;
        dfrt_status status = dfrt_csv_next(csv, &text);
        if (status == DFRT_OK && !dfrt_utf8_valid(text.data, text.size))
            return dfrt_fail(error, DFRT_MALFORMED, "'%s': line %llu is not valid UTF-8", path,
                             (unsigned long long)dfrt_csv_line(csv));
        if (status == DFRT_OK) status = append_symbol(state, text, error);
        else if (status == DFRT_END) return DFRT_OK;
        else if (status == DFRT_AGAIN) status = dfrt_input_wait(dfrt_csv_input(csv), stop_fd);
        else
            return dfrt_fail(error, status, "'%s': line %llu: %s", path, (unsigned long long)dfrt_csv_line(csv),
                             dfrt_csv_reason(csv));
        if (status != DFRT_OK) return status;
    }
}

static dfrt_status open_symbols(dfrt_source *source, binary_state *state, const char *path, dfrt_error *error)
{
    if (strcmp(path, "-") == 0)
        return dfrt_fail(error, DFRT_USAGE, "source '%s': binary:- cannot carry symbols, which need a second file",
                         source->name);
    char *beside;
    if (asprintf(&beside, "%s.symbols", path) < 0)
        return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    static const char *const column[] = {"symbol"};
    dfrt_csv_options options = {
        .columns = column, .column_count = 1, .no_header = true, .stop_fd = source->options.stop_fd};
    dfrt_csv *csv;
    dfrt_status status = dfrt_csv_open(&csv, beside, &options, error);
    if (status == DFRT_OK) status = read_symbols(state, csv, beside, options.stop_fd, error);
    dfrt_csv_close(csv);
    free(beside);
    return status;
}

static dfrt_status open_binary(dfrt_source *source, const char *path, dfrt_error *error)
{
    binary_state *state = calloc(1, sizeof *state);
    source->state = state;
    source->unit = "record";
    if (state == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    if (source->record->packed_size == 0)
        return dfrt_fail(error, DFRT_USAGE, "source '%s': a record without fields has no bytes", source->name);
    state->record = 1;
    state->plain = dfrt__is_plain(source->record);
    state->has_symbols = dfrt__has_symbols(source->record);
    dfrt_status status = dfrt__source_input(source, path, source->record->packed_size, &state->input, error);
    if (status != DFRT_OK) return status;
    if (!dfrt_input_is_live(state->input)) state->mapped = dfrt__map(state->input->fd, source->record->packed_size);
    return state->has_symbols ? open_symbols(source, state, path, error) : DFRT_OK;
}

/* Numbers of the file to symbols of the process. Answers the field that holds no symbol, or -1. */
static int translate(const dfrt_source *source, char *record)
{
    const binary_state *state = source->state;
    for (size_t i = 0; i < source->record->field_count; i++) {
        const dfrt_field *field = &source->record->fields[i];
        if (field->kind != DFRT_SYMBOL) continue;
        dfrt_symbol symbol;
        memcpy(&symbol, record + field->offset, sizeof symbol);
        if (symbol >= state->symbol_count) return (int)i;
        memcpy(record + field->offset, &state->symbols[symbol], sizeof symbol);
    }
    return -1;
}

static const char *misfit_reason(const dfrt_field *field)
{
    switch (field->kind) {
    case DFRT_BOOL: return "a bool that is neither 0 nor 1";
    case DFRT_TEXT: return "not valid UTF-8";
    case DFRT_SYMBOL: return "a symbol that is not in the file of symbols";
    default: return "does not fit";
    }
}

static void report_misfit(dfrt_source *source, uint64_t number, int index, dfrt_slice packed)
{
    char reason[160];
    const dfrt_field *field = &source->record->fields[index];
    (void)snprintf(reason, sizeof reason, "field '%.64s': %s", field->name, misfit_reason(field));
    dfrt__malformed(source, number, reason, packed);
}

static void take_record(dfrt_source *source, dfrt_slice packed, char *record, size_t *filled)
{
    binary_state *state = source->state;
    int misfit = source->record->decode((const unsigned char *)packed.data, record);
    if (misfit < 0 && state->has_symbols) misfit = translate(source, record);
    if (misfit < 0) ++*filled;
    else report_misfit(source, state->record, misfit, packed);
    state->record++;
}

/* As many as lie in data[0 … size) and fit; answers the bytes that were used up. */
static size_t take_records(dfrt_source *source, const char *data, size_t size, char *records, size_t capacity,
                           size_t *count)
{
    binary_state *state = source->state;
    size_t packed = source->record->packed_size, used = 0;
    if (state->plain) {
        size_t taken = size / packed < capacity - *count ? size / packed : capacity - *count;
        memcpy(records + *count * packed, data, taken * packed);
        *count += taken;
        state->record += taken;
        return taken * packed;
    }
    uint64_t enough = source->malformed + DFRT__MALFORMED_RUN;
    for (; size - used >= packed && *count < capacity && source->malformed < enough; used += packed)
        take_record(source, (dfrt_slice){data + used, packed}, records + *count * source->record->size, count);
    return used;
}

/* Behind what was mapped the file is read: it may have grown since. */
static dfrt_status leave_mapped(dfrt_source *source)
{
    binary_state *state = source->state;
    off_t taken = (off_t)dfrt__mapped_taken(state->mapped);
    dfrt__unmap(state->mapped);
    state->mapped = NULL;
    if (lseek(state->input->fd, taken, SEEK_SET) == taken) return DFRT_OK;
    return dfrt_fail(&source->error, DFRT_IO, "cannot read '%s': %s", state->input->path, strerror(errno));
}

static dfrt_status became_shorter(dfrt_source *source)
{
    const binary_state *state = source->state;
    return dfrt_fail(&source->error, DFRT_IO, "'%s' became shorter while it was read", state->input->path);
}

static dfrt_status read_mapped(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    binary_state *state = source->state;
    size_t packed = source->record->packed_size, size, before = *count;
    const unsigned char *front = dfrt__mapped_front(state->mapped, (capacity - *count) * packed, &size);
    dfrt__mapped_take(state->mapped, take_records(source, (const char *)front, size, records, capacity, count));
    if (dfrt__mapped_cut(state->mapped)) {
        *count = before; /* they may be zeros */
        return became_shorter(source);
    }
    return size == 0 ? leave_mapped(source) : DFRT_OK;
}

static bool binary_has_views(const dfrt_source *source)
{
    const binary_state *state = source->state;
    return state->plain && state->mapped != NULL;
}

/* A mapping begins with a page and plain records have no gaps, so that every one is aligned like its struct. */
static dfrt_status view_binary(dfrt_source *source, size_t capacity, dfrt_view *view)
{
    binary_state *state = source->state;
    size_t packed = source->record->packed_size, size;
    const unsigned char *front = dfrt__mapped_front(state->mapped, capacity * packed, &size);
    size_t count = size / packed < capacity ? size / packed : capacity;
    dfrt__mapped_touch(state->mapped, count * packed);
    if (dfrt__mapped_cut(state->mapped)) return became_shorter(source);
    if (size == 0) return leave_mapped(source);
    dfrt__mapped_take(state->mapped, count * packed);
    state->record += count;
    *view = (dfrt_view){front, count};
    return DFRT_OK;
}

static dfrt_status read_binary(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    binary_state *state = source->state;
    uint64_t enough = source->malformed + DFRT__MALFORMED_RUN;
    dfrt_status status = DFRT_OK;
    while (status == DFRT_OK && *count < capacity && source->malformed < enough) {
        dfrt_input *input = state->input;
        if (state->mapped != NULL) {
            status = read_mapped(source, records, capacity, count);
        } else if (input->size >= source->record->packed_size) {
            dfrt_input_consume(input, take_records(source, input->data, input->size, records, capacity, count));
        } else {
            status = dfrt_input_fill(input, &source->error);
        }
        if (status == DFRT_END && input->size > 0) {
            dfrt__malformed(source, state->record, "the input ends within it", (dfrt_slice){input->data, input->size});
            dfrt_input_consume(input, input->size);
        }
    }
    return status;
}

static int binary_poll_fd(const dfrt_source *source)
{
    const binary_state *state = source->state;
    return dfrt_input_poll_fd(state->input);
}

static bool binary_is_live(const dfrt_source *source)
{
    const binary_state *state = source->state;
    return dfrt_input_is_live(state->input);
}

static void close_binary(dfrt_source *source)
{
    binary_state *state = source->state;
    if (state == NULL) return;
    dfrt__unmap(state->mapped);
    dfrt_input_close(state->input);
    free(state->symbols);
    free(state);
}

const dfrt__source_kind dfrt__binary_source = {"binary:",      open_binary,    read_binary,
                                               binary_poll_fd, binary_is_live, close_binary,
                                               view_binary,    binary_has_views, NULL};
