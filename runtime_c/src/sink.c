#define _GNU_SOURCE
#include <dfrt/sink.h>

#include <stdlib.h>

#include "packed.h"

struct dfrt__binary_sink {
    dfrt_output symbols;
    bool out_of_memory;
    unsigned char *packed; /* room for one record */
    uint32_t *numbers;     /* [symbol of the process]: its number in the file plus 1, or 0 */
    size_t number_count;   /* entries of `numbers` */
    uint32_t next_number;
    size_t *places;        /* where in a packed record the symbols are */
    size_t place_count;
};

static void write_header(dfrt_sink *sink)
{
    const dfrt_record *record = sink->record;
    for (size_t i = 0; i < record->field_count; i++) {
        if (i > 0) dfrt_put_char(&sink->output, ',');
        dfrt_put_text(&sink->output, record->fields[i].name, strlen(record->fields[i].name));
    }
    dfrt_put_char(&sink->output, '\n');
}

static void free_binary(dfrt__binary_sink *binary)
{
    if (binary == NULL) return;
    free(binary->packed);
    free(binary->numbers);
    free(binary->places);
    free(binary);
}

static dfrt_status open_symbols(dfrt_sink *sink, const char *path, dfrt_error *error)
{
    if (strcmp(path, "-") == 0)
        return dfrt_fail(error, DFRT_USAGE, "binary:- cannot carry symbols, which need a second file");
    char *beside;
    if (asprintf(&beside, "%s.symbols", path) < 0) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", path);
    dfrt_status status = dfrt_output_open(&sink->binary->symbols, beside, error);
    free(beside);
    return status;
}

static dfrt_status open_binary(dfrt_sink *sink, const char *path, dfrt_error *error)
{
    const dfrt_record *record = sink->record;
    dfrt__binary_sink *binary = sink->binary = calloc(1, sizeof *binary);
    if (binary == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", path);
    binary->packed = calloc(1, record->packed_size + 1);
    binary->places = calloc(record->field_count + 1, sizeof *binary->places);
    if (binary->packed == NULL || binary->places == NULL)
        return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", path);
    size_t place = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        if (record->fields[i].kind == DFRT_SYMBOL) binary->places[binary->place_count++] = place;
        place += dfrt__packed_size(&record->fields[i]);
    }
    return binary->place_count == 0 ? DFRT_OK : open_symbols(sink, path, error);
}

static dfrt_status open_kind(dfrt_sink *sink, const char *name, const char *spec, dfrt_error *error)
{
    const char *path = strchr(spec, ':');
    path = path == NULL ? "" : path + 1;
    if (strncmp(spec, "discard:", 8) == 0) {
        sink->kind = DFRT__SINK_DISCARD;
        return DFRT_OK;
    }
    bool csv = strncmp(spec, "csv:", 4) == 0;
    if (!csv && strncmp(spec, "binary:", 7) != 0)
        return dfrt_fail(error, DFRT_USAGE,
                         "sink '%s': unknown connector '%s'; it must begin with csv:, binary: or discard:", name, spec);
    if (*path == '\0') return dfrt_fail(error, DFRT_USAGE, "sink '%s': '%s' needs a path", name, spec);
    sink->kind = csv ? DFRT__SINK_CSV : DFRT__SINK_BINARY;
    dfrt_status status = dfrt_output_open(&sink->output, path, error);
    if (status != DFRT_OK) return status;
    if (!csv) return open_binary(sink, path, error);
    write_header(sink);
    return dfrt_output_flush(&sink->output, error); /* also a stream without results has its header */
}

dfrt_status dfrt_sink_open(dfrt_sink **out, const char *name, const char *spec, const dfrt_record *record,
                           dfrt_error *error)
{
    *out = NULL;
    dfrt_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for sink '%s'", name);
    sink->record = record;
    dfrt_status status = open_kind(sink, name, spec, error);
    if (status != DFRT_OK) {
        dfrt_error ignored; /* the first failure is the one to report */
        (void)dfrt_sink_close(sink, &ignored);
        return status;
    }
    *out = sink;
    return DFRT_OK;
}

static bool ensure_number(dfrt__binary_sink *binary, dfrt_symbol symbol)
{
    if (symbol < binary->number_count) return true;
    size_t count = binary->number_count == 0 ? 1024 : binary->number_count;
    while (count <= symbol) count *= 2;
    uint32_t *grown = realloc(binary->numbers, count * sizeof *grown);
    if (grown == NULL) return binary->out_of_memory = true, false;
    memset(grown + binary->number_count, 0, (count - binary->number_count) * sizeof *grown);
    binary->numbers = grown;
    binary->number_count = count;
    return true;
}

static uint32_t number_of(dfrt__binary_sink *binary, dfrt_symbol symbol)
{
    if (!ensure_number(binary, symbol)) return 0;
    if (binary->numbers[symbol] == 0) {
        binary->numbers[symbol] = ++binary->next_number;
        dfrt_put_lone_symbol(&binary->symbols, symbol);
        dfrt_put_char(&binary->symbols, '\n');
    }
    return binary->numbers[symbol] - 1;
}

void dfrt__sink_write_binary(dfrt_sink *sink, const void *record)
{
    dfrt__binary_sink *binary = sink->binary;
    sink->record->encode(record, binary->packed);
    for (size_t i = 0; i < binary->place_count; i++) {
        unsigned char *at = binary->packed + binary->places[i];
        dfrt_symbol symbol = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        uint32_t number = number_of(binary, symbol);
        for (unsigned byte = 0; byte < 4; byte++) at[byte] = (unsigned char)(number >> 8 * byte);
    }
    if (!binary->out_of_memory) dfrt_put_bytes(&sink->output, binary->packed, sink->record->packed_size);
}

/* Symbols go first: a record that is in the file must be readable. */
dfrt_status dfrt_sink_flush(dfrt_sink *sink, dfrt_error *error)
{
    if (sink->kind == DFRT__SINK_DISCARD) return DFRT_OK;
    if (sink->binary != NULL) {
        if (sink->binary->out_of_memory)
            return dfrt_fail(error, DFRT_MEMORY, "no memory for the symbols of '%s'", sink->output.path);
        dfrt_status status =
            sink->binary->place_count == 0 ? DFRT_OK : dfrt_output_flush(&sink->binary->symbols, error);
        if (status != DFRT_OK) return status;
    }
    return dfrt_output_flush(&sink->output, error);
}

dfrt_status dfrt_sink_close(dfrt_sink *sink, dfrt_error *error)
{
    if (sink == NULL) return DFRT_OK;
    dfrt_status symbols = DFRT_OK;
    dfrt_error output_error;
    if (sink->binary != NULL) {
        symbols = sink->binary->out_of_memory ? dfrt_fail(error, DFRT_MEMORY, "no memory for the symbols of a sink")
                                              : dfrt_output_close(&sink->binary->symbols, error);
    }
    dfrt_status output = dfrt_output_close(&sink->output, &output_error);
    if (symbols == DFRT_OK && output != DFRT_OK) *error = output_error;
    free_binary(sink->binary);
    free(sink);
    return symbols != DFRT_OK ? symbols : output;
}
