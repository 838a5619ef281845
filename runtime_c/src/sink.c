#define _GNU_SOURCE
#include <dfrt/sink.h>

#include <stdlib.h>

#include "packed.h"
#include "peer.h"
#include "sink_results.h"

struct dfrt__binary_sink {
    dfrt_output symbols;
    bool out_of_memory;
    unsigned char *packed; /* room for one record */
    uint32_t *numbers;     /* [symbol of the process]: its number in the file plus 1, or 0 */
    size_t number_count;   /* entries of `numbers` */
    uint32_t next_number;
    size_t *places;        /* where in a packed record the symbols are */
    size_t place_count;
    bool plain;            /* a packed record is its C struct */
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

static dfrt_status open_symbols(dfrt_sink *sink, const char *path, int stop_fd, dfrt_error *error)
{
    if (strcmp(path, "-") == 0)
        return dfrt_fail(error, DFRT_USAGE, "binary:- cannot carry symbols, which need a second file");
    char *beside;
    if (asprintf(&beside, "%s.symbols", path) < 0) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", path);
    dfrt_status status = dfrt_output_open(&sink->binary->symbols, beside, stop_fd, error);
    free(beside);
    return status;
}

static dfrt_status open_binary(dfrt_sink *sink, const char *path, int stop_fd, dfrt_error *error)
{
    const dfrt_record *record = sink->record;
    dfrt__binary_sink *binary = sink->binary = calloc(1, sizeof *binary);
    if (binary == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", path);
    binary->packed = calloc(1, record->packed_size + 1);
    binary->places = calloc(record->field_count + 1, sizeof *binary->places);
    if (binary->packed == NULL || binary->places == NULL)
        return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", path);
    binary->plain = dfrt__is_plain(record);
    size_t place = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        if (record->fields[i].kind == DFRT_SYMBOL) binary->places[binary->place_count++] = place;
        place += dfrt__packed_size(&record->fields[i]);
    }
    return binary->place_count == 0 ? DFRT_OK : open_symbols(sink, path, stop_fd, error);
}

/* What the format needs beside the output, which is open. */
static dfrt_status open_format(dfrt_sink *sink, dfrt__sink_kind format, const char *path, int stop_fd,
                               dfrt_error *error)
{
    switch (format) {
    case DFRT__SINK_BINARY: return open_binary(sink, path, stop_fd, error);
    case DFRT__SINK_JSONL: return dfrt_jsonl_writer_open(&sink->json, sink->record, error);
    default: write_header(sink); return DFRT_OK;
    }
}

static dfrt_status open_file(dfrt_sink *sink, const char *name, const char *spec, int stop_fd, dfrt_error *error)
{
    static const struct { const char *prefix; dfrt__sink_kind kind; } kinds[] = {
        {"csv:", DFRT__SINK_CSV}, {"jsonl:", DFRT__SINK_JSONL}, {"binary:", DFRT__SINK_BINARY}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *path = spec + strlen(kinds[i].prefix);
        if (strncmp(spec, kinds[i].prefix, strlen(kinds[i].prefix)) != 0) continue;
        if (*path == '\0') return dfrt_fail(error, DFRT_USAGE, "sink '%s': '%s' needs a path", name, spec);
        sink->kind = kinds[i].kind;
        dfrt_status status = dfrt_output_open(&sink->output, path, stop_fd, error);
        if (status == DFRT_OK) status = open_format(sink, sink->kind, path, stop_fd, error);
        /* Also a stream without results has its header. */
        return status == DFRT_OK ? dfrt_output_flush(&sink->output, error) : status;
    }
    return dfrt_fail(error, DFRT_USAGE,
                     "sink '%s': unknown connector '%s'; it must begin with csv:, jsonl:, binary:, tcp:, unix: or "
                     "discard:",
                     name, spec);
}

static dfrt_status check_format(dfrt_sink *sink, const char *name, dfrt_format format, dfrt_error *error)
{
    if (format == DFRT_FORMAT_LINES)
        return dfrt_fail(error, DFRT_USAGE, "sink '%s': lines can only be read; use csv or jsonl", name);
    if (format == DFRT_FORMAT_BINARY && dfrt__has_symbols(sink->record))
        return dfrt_fail(error, DFRT_USAGE,
                         "sink '%s': a socket cannot carry packed symbols, which need a file of their texts; use "
                         "text<N> or another format",
                         name);
    sink->format = format == DFRT_FORMAT_BINARY  ? DFRT__SINK_BINARY
                   : format == DFRT_FORMAT_JSONL ? DFRT__SINK_JSONL
                                                 : DFRT__SINK_CSV;
    return DFRT_OK;
}

/* Every connection begins with a header, if the format has one: what opening the format has put. */
static dfrt_status open_peer(dfrt_sink *sink, const char *name, const dfrt_endpoint_spec *spec,
                             const dfrt_sink_options *options, dfrt_error *error)
{
    dfrt_status status = check_format(sink, name, spec->format, error);
    if (status != DFRT_OK) return status;
    dfrt__peer *peer;
    dfrt_error reason;
    status = dfrt__peer_open(&peer, name, spec, options->stop_fd, options->quiet, &reason);
    if (status != DFRT_OK) return dfrt_fail(error, status, "sink '%s': %.400s", name, reason.text);
    status = dfrt__output_open_peer(&sink->output, peer, spec->address, error);
    if (status == DFRT_OK) status = open_format(sink, sink->format, spec->address, options->stop_fd, error);
    if (status == DFRT_OK)
        status = dfrt__peer_greet(peer, (dfrt_slice){sink->output.buffer, sink->output.used}, error);
    sink->output.used = 0;
    return status == DFRT_OK ? dfrt_output_flush(&sink->output, error) : status;
}

static dfrt_status open_socket(dfrt_sink *sink, const char *name, const char *text, const dfrt_sink_options *options,
                               dfrt_error *error)
{
    dfrt_endpoint_spec spec;
    dfrt_error reason;
    sink->kind = DFRT__SINK_SOCKET;
    dfrt_status status = dfrt_endpoint_spec_read(&spec, text, &reason);
    if (status != DFRT_OK) return dfrt_fail(error, status, "sink '%s': %.400s", name, reason.text);
    status = open_peer(sink, name, &spec, options, error);
    dfrt_endpoint_spec_free(&spec);
    return status;
}

static dfrt_status open_kind(dfrt_sink *sink, const char *name, const char *spec, const dfrt_sink_options *options,
                             dfrt_error *error)
{
    if (strncmp(spec, "discard:", 8) == 0) {
        sink->kind = DFRT__SINK_DISCARD;
        return DFRT_OK;
    }
    if (dfrt_is_endpoint_spec(spec)) return open_socket(sink, name, spec, options, error);
    return open_file(sink, name, spec, options->stop_fd, error);
}

dfrt_status dfrt_sink_open(dfrt_sink **out, const char *name, const char *spec, const dfrt_record *record,
                           dfrt_error *error)
{
    return dfrt_sink_open_with(out, name, spec, record, &(dfrt_sink_options){.stop_fd = -1}, error);
}

dfrt_status dfrt_sink_open_with(dfrt_sink **out, const char *name, const char *spec, const dfrt_record *record,
                                const dfrt_sink_options *options, dfrt_error *error)
{
    *out = NULL;
    dfrt_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for sink '%s'", name);
    sink->record = record;
    dfrt_status status = open_kind(sink, name, spec, options, error);
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
    size_t size = sink->record->packed_size;
    if (binary->place_count == 0 && size <= DFRT_OUTPUT_CAPACITY) { /* nothing to translate: straight to its place */
        sink->record->encode(record, (unsigned char *)dfrt__output_room(&sink->output, size));
        sink->output.used += size;
        return;
    }
    sink->record->encode(record, binary->packed);
    for (size_t i = 0; i < binary->place_count; i++) {
        unsigned char *at = binary->packed + binary->places[i];
        dfrt_symbol symbol = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        uint32_t number = number_of(binary, symbol);
        for (unsigned byte = 0; byte < 4; byte++) at[byte] = (unsigned char)(number >> 8 * byte);
    }
    if (!binary->out_of_memory) dfrt_put_bytes(&sink->output, binary->packed, size);
}

void dfrt_sink_write_many(dfrt_sink *sink, const void *records, size_t count)
{
    const unsigned char *at = records;
    if (sink->kind == DFRT__SINK_BINARY && sink->binary->plain) {
        uint64_t before = atomic_load_explicit(&sink->count, memory_order_relaxed);
        atomic_store_explicit(&sink->count, before + count, memory_order_relaxed);
        dfrt_put_bytes(&sink->output, at, count * sink->record->size);
        return;
    }
    for (size_t i = 0; i < count; i++) dfrt_sink_write(sink, at + i * sink->record->size);
}

/* Half the buffer is room for most rows: they are sent whole. */
void dfrt__sink_write_socket(dfrt_sink *sink, const void *record)
{
    dfrt_output *out = &sink->output;
    if (out->used > DFRT_OUTPUT_CAPACITY / 2 || !dfrt__peer_row(out->peer, out->used)) {
        dfrt__output_drain(out);
        (void)dfrt__peer_row(out->peer, 0); /* there is room for one after draining */
    }
    if (sink->format == DFRT__SINK_CSV) sink->record->print(out, record);
    else if (sink->format == DFRT__SINK_JSONL) dfrt_jsonl_write(sink->json, out, record);
    else dfrt__sink_write_binary(sink, record);
}

/* Symbols go first: a record that is in the file must be readable. */
dfrt_status dfrt_sink_flush(dfrt_sink *sink, dfrt_error *error)
{
    if (sink->kind == DFRT__SINK_DISCARD) return DFRT_OK;
    if (sink->kind == DFRT__SINK_RESULTS) return dfrt__sink_deliver(sink, error);
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
    dfrt_jsonl_writer_close(sink->json);
    free(sink->results.records);
    free(sink);
    return symbols != DFRT_OK ? symbols : output;
}
