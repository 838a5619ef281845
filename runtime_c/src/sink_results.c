#include "sink_results.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RECORDS = 256 };

static bool make_room(dfrt_results *results, size_t count, size_t size)
{
    size_t capacity = results->capacity == 0 ? FIRST_RECORDS : results->capacity;
    while (capacity - results->count < count && capacity <= SIZE_MAX / 2 / size) capacity *= 2;
    unsigned char *grown = capacity - results->count < count ? NULL : realloc(results->records, capacity * size);
    if (grown == NULL) return false;
    results->records = grown;
    results->capacity = capacity;
    return true;
}

void dfrt_results_append(dfrt_results *results, const void *records, size_t count, size_t size)
{
    if (count == 0) return;
    bool fits = results->capacity - results->count >= count || make_room(results, count, size);
    if (!fits || results->out_of_memory) {
        results->out_of_memory = true;
        return;
    }
    memcpy(results->records + results->count * size, records, count * size);
    results->count += count;
}

dfrt_status dfrt_sink_open_results(dfrt_sink **out, const dfrt_record *record, dfrt_deliver deliver, void *context,
                                   dfrt_error *error)
{
    dfrt_sink *sink = *out = calloc(1, sizeof *sink);
    if (sink == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for a sink");
    sink->kind = DFRT__SINK_RESULTS;
    sink->record = record;
    sink->deliver = deliver;
    sink->context = context;
    return DFRT_OK;
}

dfrt_status dfrt__sink_deliver(dfrt_sink *sink, dfrt_error *error)
{
    if (sink->results.out_of_memory) return dfrt_fail(error, DFRT_MEMORY, "no memory for the results of a sink");
    if (sink->results.count > 0) sink->deliver(sink->context, &sink->results);
    sink->results.count = 0;
    return DFRT_OK;
}
