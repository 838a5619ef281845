/* Opening by name, and what all kinds of sources have in common. */
#define _GNU_SOURCE
#include <dfrt/source.h>

#include <dfrt/endpoint.h>
#include <dfrt/input.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pace.h"
#include "source_kind.h"
#include "transport.h"

static const dfrt__source_kind *const kinds[] = {
    &dfrt__csv_source,
    &dfrt__jsonl_source,
    &dfrt__lines_source,
    &dfrt__binary_source,
    &dfrt__generate_source,
};

static dfrt_status choose_kind(dfrt_source *source, const char *spec, const char **rest, dfrt_error *error)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t size = strlen(kinds[i]->prefix);
        if (strncmp(spec, kinds[i]->prefix, size) != 0) continue;
        source->kind = kinds[i];
        *rest = spec + size;
        if (**rest == '\0' && kinds[i] != &dfrt__generate_source)
            return dfrt_fail(error, DFRT_USAGE, "source '%s': '%s' needs a path", source->name, spec);
        return DFRT_OK;
    }
    return dfrt_fail(error, DFRT_USAGE,
                     "source '%s': unknown connector '%s'; it must begin with csv:, jsonl:, lines:, binary:, tcp:, "
                     "unix: or generate:",
                     source->name, spec);
}

static dfrt_status prepare(dfrt_source *source, const char *name, const char *spec, dfrt_error *error)
{
    const char *rest = "";
    source->name = strdup(name);
    if (source->name == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", name);
    bool socket = dfrt_is_endpoint_spec(spec);
    dfrt_status status = socket ? DFRT_OK : choose_kind(source, spec, &rest, error);
    if (status == DFRT_OK && source->options.malformed_path != NULL)
        status = dfrt_output_open(&source->kept, source->options.malformed_path, source->options.stop_fd, error);
    if (status == DFRT_OK)
        status = socket ? dfrt__transport_open(source, spec, error) : source->kind->open(source, rest, error);
    if (status == DFRT_OK) status = dfrt__pace_open(source, error);
    source->options.malformed_path = NULL; /* borrowed for the call only */
    return status;
}

dfrt_status dfrt_source_open(dfrt_source **out, const char *name, const char *spec, const dfrt_record *record,
                             const dfrt_source_options *options, dfrt_error *error)
{
    *out = NULL;
    dfrt_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        dfrt_input_close(options->input);
        return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", name);
    }
    source->record = record;
    source->options = *options;
    source->connection = options->input;
    source->unit = "line";
    dfrt_status status = prepare(source, name, spec, error);
    if (status != DFRT_OK) {
        dfrt_error ignored; /* the first failure is the one to report */
        (void)dfrt_source_close(source, &ignored);
        return status;
    }
    *out = source;
    return DFRT_OK;
}

dfrt_status dfrt__source_read_now(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    return source->transport != NULL ? dfrt__transport_read(source, records, capacity, count)
                                     : source->kind->read(source, records, capacity, count);
}

/* What a call answers that has read `count` records and got `status`. */
static dfrt_status answer(dfrt_source *source, dfrt_status status, size_t count)
{
    source->good += count;
    /* Between bursts the file of malformed rows is brought up to date. */
    if (status != DFRT_OK && source->kept.used > 0) {
        dfrt_status kept = dfrt_output_flush(&source->kept, &source->error);
        if (kept != DFRT_OK) status = kept;
    }
    if (status == DFRT_OK || status == DFRT_AGAIN) return status;
    source->final = status;
    return count > 0 ? DFRT_OK : status;
}

dfrt_status dfrt_source_read(dfrt_source *source, void *records, size_t capacity, size_t *count)
{
    *count = 0;
    if (source->final != DFRT_OK) return source->final;
    dfrt_status status = source->pace != NULL ? dfrt__pace_read(source, records, capacity, count)
                                              : dfrt__source_read_now(source, records, capacity, count);
    return answer(source, status, *count);
}

bool dfrt_source_has_views(const dfrt_source *source)
{
    return source->kind->has_views != NULL && source->pace == NULL && source->transport == NULL &&
           source->kind->has_views(source);
}

dfrt_status dfrt_source_view(dfrt_source *source, void *room, size_t capacity, dfrt_view *view)
{
    if (source->final == DFRT_OK && dfrt_source_has_views(source)) {
        *view = (dfrt_view){NULL, 0};
        dfrt_status status = source->kind->view(source, capacity, view);
        if (status != DFRT_OK || view->count > 0) return answer(source, status, view->count);
    }
    view->records = room;
    return dfrt_source_read(source, room, capacity, &view->count);
}

dfrt_status dfrt_source_read_ahead(dfrt_source *source, unsigned helpers, bool *done, dfrt_error *error)
{
    *done = false;
    if (dfrt_source_is_live(source) || source->kind->ahead == NULL) return DFRT_OK;
    return source->kind->ahead(source, helpers, done, error);
}

dfrt_status dfrt_source_wait(dfrt_source *source)
{
    int fd = dfrt_source_poll_fd(source);
    return fd < 0 ? DFRT_OK : dfrt_wait_readable(fd, source->options.stop_fd);
}

int dfrt_source_poll_fd(const dfrt_source *source)
{
    if (source->final != DFRT_OK) return -1;
    if (source->pace != NULL) return dfrt__pace_poll_fd(source);
    return source->transport != NULL ? dfrt__transport_poll_fd(source) : source->kind->poll_fd(source);
}

uint64_t dfrt_source_due_ns(const dfrt_source *source)
{
    if (source->pace != NULL) return dfrt__pace_due_ns(source);
    return source->kind == &dfrt__generate_source ? dfrt__generate_due_ns(source) : 0;
}

bool dfrt_source_is_live(const dfrt_source *source)
{
    return source->pace != NULL || source->transport != NULL || source->kind->is_live(source);
}

uint64_t dfrt_source_position(const dfrt_source *source)
{
    return source->good + source->malformed;
}

uint64_t dfrt_source_malformed(const dfrt_source *source)
{
    return atomic_load_explicit(&source->malformed_told, memory_order_relaxed);
}

const char *dfrt_source_error(const dfrt_source *source)
{
    return source->error.text;
}

dfrt_status dfrt_source_close(dfrt_source *source, dfrt_error *error)
{
    if (source == NULL) return DFRT_OK;
    if (source->malformed > 0 && source->options.report == NULL)
        (void)fprintf(stderr, "%s: %" PRIu64 " malformed row%s in all\n", source->name, source->malformed,
                      source->malformed == 1 ? "" : "s");
    if (source->kind != NULL) source->kind->close(source);
    if (source->transport == NULL) dfrt_input_close(source->connection); /* nobody has taken it */
    dfrt__transport_close(source);
    dfrt__pace_close(source);
    dfrt_status status = dfrt_output_close(&source->kept, error);
    free(source->name);
    free(source);
    return status;
}
