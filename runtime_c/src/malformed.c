/* Rows that do not fit their record: why, where, and into the file for them. */
#include <dfrt/number.h>
#include <dfrt/utf8.h>

#include <inttypes.h>
#include <stdio.h>

#include "excerpt.h"
#include "source_kind.h"

static bool is_whole_number(dfrt_slice text)
{
    size_t i = text.size > 0 && text.data[0] == '-';
    if (i == text.size) return false;
    for (; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9') return false;
    return true;
}

static const char *kind_name(dfrt_kind kind)
{
    static const char *const names[] = {"i8",  "i16", "i32", "i64",  "u8",        "u16",      "u32",   "u64",
                                        "f32", "f64", "bool", "timestamp", "duration", "symbol", "text"};
    return names[kind];
}

static void explain(const dfrt_field *field, dfrt_slice text, char *out, size_t room)
{
    const char *reason = "not a whole number";
    switch (field->kind) {
    case DFRT_F32:
    case DFRT_F64: reason = "not a number"; break;
    case DFRT_BOOL: reason = "neither true nor false"; break;
    case DFRT_SYMBOL: reason = "not valid UTF-8"; break;
    case DFRT_TEXT:
        reason = "not valid UTF-8";
        if (text.size > field->capacity) {
            (void)snprintf(out, room, "longer than %" PRIu32 " bytes", field->capacity);
            return;
        }
        break;
    default:
        if (is_whole_number(text)) {
            (void)snprintf(out, room, "out of the range of %s", kind_name(field->kind));
            return;
        }
    }
    (void)snprintf(out, room, "%s", reason);
}

static void keep(dfrt_source *source, dfrt_slice raw)
{
    source->malformed++;
    atomic_store_explicit(&source->malformed_told, source->malformed, memory_order_relaxed);
    if (source->kept.buffer == NULL || raw.size == 0) return;
    dfrt_put_bytes(&source->kept, raw.data, raw.size);
    if (source->unit[0] == 'l') dfrt_put_char(&source->kept, '\n');
}

static bool is_reported(const dfrt_source *source)
{
    if (source->malformed < source->options.report_limit) return true;
    if (source->malformed == source->options.report_limit && source->malformed > 0 && source->options.report == NULL)
        (void)fprintf(stderr, "%s: further malformed rows are only counted\n", source->name);
    return false;
}

static void tell(const dfrt_source *source, uint64_t number, const char *text)
{
    if (source->options.report != NULL) source->options.report(source->options.report_context, number, text);
    else (void)fprintf(stderr, "%s: %s %" PRIu64 ": %s\n", source->name, source->unit, number, text);
}

void dfrt__malformed(dfrt_source *source, uint64_t number, const char *reason, dfrt_slice raw)
{
    if (is_reported(source)) tell(source, number, reason);
    keep(source, raw);
}

void dfrt__malformed_field(dfrt_source *source, uint64_t number, int index, dfrt_slice text, dfrt_slice raw)
{
    const dfrt_field *field = &source->record->fields[index];
    if (is_reported(source)) {
        char shown[DFRT__EXCERPT_ROOM], reason[64], why[512];
        (void)dfrt__excerpt(shown, sizeof shown, text);
        explain(field, text, reason, sizeof reason);
        (void)snprintf(why, sizeof why, "field '%s': %s: \"%s\"", field->name, reason, shown);
        tell(source, number, why);
    }
    keep(source, raw);
}
