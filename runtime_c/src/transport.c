#include "transport.h"

#include <dfrt/endpoint.h>

#include <stdlib.h>
#include <string.h>

#include "csv_scan.h"
#include "packed.h"

struct dfrt__transport {
    dfrt_endpoint *endpoint;
    dfrt_input *waiting; /* a connection whose header is not complete yet */
    bool retry;
    bool useful;         /* the present connection has brought a row */
    /* The search for the end of the header. */
    bool behind_mark;
    size_t row, scanned;
    dfrt__csv_state scan;
    uint64_t newlines;
};

static const dfrt__source_kind *kind_of(dfrt_format format)
{
    switch (format) {
    case DFRT_FORMAT_JSONL: return &dfrt__jsonl_source;
    case DFRT_FORMAT_LINES: return &dfrt__lines_source;
    case DFRT_FORMAT_BINARY: return &dfrt__binary_source;
    default: return &dfrt__csv_source;
    }
}

/* What no connection can mend is told before there is one. */
static dfrt_status check_record(const dfrt_source *source, dfrt_format format, dfrt_error *error)
{
    if (format == DFRT_FORMAT_LINES) return dfrt__check_lines_record(source, error);
    if (format == DFRT_FORMAT_BINARY && dfrt__has_symbols(source->record))
        return dfrt_fail(error, DFRT_USAGE,
                         "source '%s': a socket cannot carry packed symbols, which need a file of their texts; use "
                         "text<N> or another format",
                         source->name);
    return DFRT_OK;
}

dfrt_status dfrt__transport_open(dfrt_source *source, const char *spec, dfrt_error *error)
{
    dfrt_endpoint_spec about;
    dfrt_error reason;
    dfrt__transport *transport = source->transport = calloc(1, sizeof *transport);
    if (transport == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    dfrt_status status = dfrt_endpoint_spec_read(&about, spec, &reason);
    if (status == DFRT_OK) {
        source->kind = kind_of(about.format);
        transport->retry = about.retry;
        if (about.max_row > 0) source->options.max_row = about.max_row;
        status = check_record(source, about.format, error);
        if (status == DFRT_OK) {
            status = dfrt_endpoint_open(&transport->endpoint, source->name, &about, source->options.quiet, &reason);
            if (status != DFRT_OK) (void)dfrt_fail(error, status, "source '%s': %.400s", source->name, reason.text);
        }
        dfrt_endpoint_spec_free(&about);
        return status;
    }
    return dfrt_fail(error, status, "source '%s': %.400s", source->name, reason.text);
}

/* --- one connection after the other --- */

/* The connection is over. DFRT_AGAIN when there will be another, else DFRT_END. */
static dfrt_status end_connection(dfrt_source *source, const char *why)
{
    dfrt__transport *transport = source->transport;
    source->kind->close(source);
    source->state = NULL;
    dfrt_input_close(transport->waiting);
    dfrt_input_close(source->connection); /* a format that failed early has not taken it */
    transport->waiting = source->connection = NULL;
    return dfrt_endpoint_lost(transport->endpoint, why, transport->useful) ? DFRT_AGAIN : DFRT_END;
}

static dfrt_status take_connection(dfrt_source *source)
{
    dfrt__transport *transport = source->transport;
    int fd;
    dfrt_status status = dfrt_endpoint_take(transport->endpoint, &fd, &source->error);
    if (status != DFRT_OK) return status;
    size_t limit = source->kind == &dfrt__binary_source ? source->record->packed_size : dfrt__max_row(source) + 2;
    transport->useful = transport->behind_mark = false;
    return dfrt_input_adopt(&transport->waiting, fd, dfrt_endpoint_title(transport->endpoint), limit, &source->error);
}

static void begin_row(dfrt__transport *transport, size_t at)
{
    transport->row = transport->scanned = at;
    transport->scan = DFRT__CSV_FIELD_START;
}

/* False while what is there could still become a byte-order mark. */
static bool pass_mark(dfrt__transport *transport)
{
    const dfrt_input *input = transport->waiting;
    static const char mark[] = "\xef\xbb\xbf";
    if (transport->behind_mark) return true;
    if (input->size < 3 && memcmp(input->data, mark, input->size) == 0) return false;
    transport->behind_mark = true;
    begin_row(transport, memcmp(input->data, mark, 3) == 0 ? 3 : 0);
    return true;
}

/* Goes on looking for the end of the first row that is not empty; true when it is there. csv.c must see it in the same
 * place, or it would wait for more. */
static bool find_header(dfrt__transport *transport)
{
    const dfrt_input *input = transport->waiting;
    if (!pass_mark(transport)) return false;
    for (;;) {
        size_t end =
            dfrt__csv_find_end(input->data, transport->scanned, input->size, &transport->scan, &transport->newlines);
        transport->scanned = end;
        if (end == input->size) return false;
        size_t size = end - transport->row;
        if (size > 1 || (size == 1 && input->data[transport->row] != '\r')) return true;
        begin_row(transport, end + 1);
    }
}

/* Lets go of what is before the header, so that it does not count as its length; false when there is nothing. */
static bool drop_before_header(dfrt__transport *transport)
{
    size_t row = transport->row;
    dfrt_input_consume(transport->waiting, row);
    transport->scanned -= row;
    transport->row = 0;
    return row > 0;
}

/* DFRT_OK when the format can be opened without waiting: CSV needs its header, or the certainty that none comes. */
static dfrt_status await_header(dfrt_source *source)
{
    dfrt_input *input = source->transport->waiting;
    while (source->kind == &dfrt__csv_source && !find_header(source->transport)) {
        dfrt_status status = dfrt_input_fill(input, &source->error);
        if (status == DFRT_MALFORMED && drop_before_header(source->transport)) continue;
        if (status == DFRT_MALFORMED)
            return dfrt_fail(&source->error, status, "the header is longer than %zu bytes", dfrt__max_row(source));
        if (status == DFRT_END) return input->size == 0 ? DFRT_END : DFRT_OK; /* opening says what is wrong with it */
        if (status != DFRT_OK) return status;
    }
    return DFRT_OK;
}

/* A caller who sends nonsense ends his own connection, not the program, when others may follow. */
static dfrt_status refuse_connection(dfrt_source *source, dfrt_status status)
{
    return source->transport->retry && status != DFRT_MEMORY ? end_connection(source, source->error.text) : status;
}

static dfrt_status open_format(dfrt_source *source)
{
    dfrt__transport *transport = source->transport;
    source->connection = transport->waiting;
    transport->waiting = NULL;
    dfrt_status status = source->kind->open(source, dfrt_endpoint_title(transport->endpoint), &source->error);
    return status == DFRT_OK ? DFRT_OK : refuse_connection(source, status);
}

static dfrt_status next_connection(dfrt_source *source)
{
    dfrt__transport *transport = source->transport;
    dfrt_status status = transport->waiting == NULL ? take_connection(source) : DFRT_OK;
    if (status != DFRT_OK) return status;
    status = await_header(source);
    if (status == DFRT_OK) return open_format(source);
    if (status == DFRT_END) return end_connection(source, "closed by the other side before it sent anything");
    if (status == DFRT_IO) return end_connection(source, source->error.text);
    return status == DFRT_AGAIN ? status : refuse_connection(source, status);
}

dfrt_status dfrt__transport_read(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    dfrt_status status = source->state == NULL ? next_connection(source) : DFRT_OK;
    if (status != DFRT_OK) return status;
    status = source->kind->read(source, records, capacity, count);
    source->transport->useful |= *count > 0;
    if (status == DFRT_END) return end_connection(source, "closed by the other side");
    return status == DFRT_IO ? end_connection(source, source->error.text) : status;
}

int dfrt__transport_poll_fd(const dfrt_source *source)
{
    return dfrt_endpoint_poll_fd(source->transport->endpoint);
}

void dfrt__transport_close(dfrt_source *source)
{
    if (source->transport == NULL) return;
    dfrt_input_close(source->transport->waiting);
    dfrt_input_close(source->connection);
    dfrt_endpoint_close(source->transport->endpoint);
    free(source->transport);
}
