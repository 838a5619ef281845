/* Taking a line apart: one pass, which finds keys, checks the grammar and cuts out the wanted values. What a value
 * means is left to the record's own parser. */
#include <dfrt/jsonl.h>

#include <dfrt/utf8.h>

#include <stdlib.h>

#include "excerpt.h"
#include "json_scan.h"

struct dfrt_jsonl_reader {
    const dfrt_record *record;
    size_t *name_sizes; /* by field */
    char *scratch;      /* strings with escapes, decoded */
    size_t scratch_capacity;
    dfrt_error reason;
};

dfrt_status dfrt_jsonl_open(dfrt_jsonl_reader **out, const dfrt_record *record, dfrt_error *error)
{
    dfrt_jsonl_reader *reader = calloc(1, sizeof *reader);
    *out = reader;
    if (reader != NULL) reader->name_sizes = calloc(record->field_count + 1, sizeof *reader->name_sizes);
    if (reader == NULL || reader->name_sizes == NULL) {
        dfrt_jsonl_close(reader);
        *out = NULL;
        return dfrt_fail(error, DFRT_MEMORY, "no memory to read %s", record->name);
    }
    reader->record = record;
    for (size_t i = 0; i < record->field_count; i++) reader->name_sizes[i] = strlen(record->fields[i].name);
    return DFRT_OK;
}

void dfrt_jsonl_close(dfrt_jsonl_reader *reader)
{
    if (reader == NULL) return;
    free(reader->name_sizes);
    free(reader->scratch);
    free(reader);
}

const char *dfrt_jsonl_reason(const dfrt_jsonl_reader *reader)
{
    return reader->reason.text;
}

static dfrt_status ensure_scratch(dfrt_jsonl_reader *reader, size_t size)
{
    if (size <= reader->scratch_capacity) return DFRT_OK;
    size_t capacity = size < 4096 ? 4096 : size + size / 4;
    char *scratch = realloc(reader->scratch, capacity);
    if (scratch == NULL) return dfrt_fail(&reader->reason, DFRT_MEMORY, "no memory for a line of %zu bytes", size);
    reader->scratch = scratch;
    reader->scratch_capacity = capacity;
    return DFRT_OK;
}

/* Most writers keep to one order, so the field behind the last one is tried first. */
static size_t find_field(const dfrt_jsonl_reader *reader, dfrt_slice key, size_t expected)
{
    const dfrt_record *record = reader->record;
    for (size_t tried = 0; tried < record->field_count; tried++) {
        size_t i = expected + tried < record->field_count ? expected + tried : expected + tried - record->field_count;
        if (reader->name_sizes[i] == key.size && memcmp(record->fields[i].name, key.data, key.size) == 0) return i;
    }
    return record->field_count;
}

static bool is_special_float(dfrt_slice text)
{
    return (text.size == 3 && (memcmp(text.data, "nan", 3) == 0 || memcmp(text.data, "inf", 3) == 0)) ||
           (text.size == 4 && memcmp(text.data, "-inf", 4) == 0);
}

static const char *wanted_kind(dfrt_kind kind)
{
    switch (kind) {
    case DFRT_TEXT:
    case DFRT_SYMBOL: return "a string";
    case DFRT_BOOL: return "true or false";
    case DFRT_F32:
    case DFRT_F64: return "a number";
    default: return "a whole number";
    }
}

static bool fits_kind(dfrt_kind kind, char first, dfrt_slice text)
{
    switch (kind) {
    case DFRT_TEXT:
    case DFRT_SYMBOL: return first == '"';
    case DFRT_BOOL: return first == 't' || first == 'f';
    case DFRT_F32:
    case DFRT_F64:
        if (first == '"') return is_special_float(text);
        break;
    default: break;
    }
    return first == '-' || (first >= '0' && first <= '9');
}

/* The value of a wanted field. Objects and arrays are gone over, so that a mistake in them is the one that is told. */
static bool take_value(dfrt_jsonl_reader *reader, dfrt__json *json, size_t index, dfrt_slice *value, char **scratch)
{
    const dfrt_field *field = &reader->record->fields[index];
    const char *start = json->at;
    char first = json->at < json->end ? *json->at : '\0';
    bool good = first == '"'                    ? dfrt__json_string(json, value, scratch)
                : first == '{' || first == '['  ? dfrt__json_skip(json, DFRT_JSONL_DEPTH - 1, *scratch)
                : first >= 'a' && first <= 'z'  ? dfrt__json_word(json, value)
                                                : dfrt__json_number(json, value);
    if (!good) return false;
    if (first != '{' && first != '[' && fits_kind(field->kind, first, *value)) return true;
    char shown[DFRT__EXCERPT_ROOM];
    (void)dfrt__excerpt(shown, sizeof shown, (dfrt_slice){start, (size_t)(json->at - start)});
    (void)dfrt_fail(&reader->reason, DFRT_MALFORMED, "field '%.64s': expected %s, not %s", field->name,
                    wanted_kind(field->kind), shown);
    return dfrt__json_fail(json, reader->reason.text);
}

static bool take_member(dfrt_jsonl_reader *reader, dfrt__json *json, dfrt_slice *row, size_t *expected, char **scratch)
{
    dfrt_slice key;
    char *rest = *scratch; /* a decoded key is not kept */
    dfrt__json_blanks(json);
    if (!dfrt__json_string(json, &key, &rest)) return false;
    dfrt__json_blanks(json);
    if (!dfrt__json_take(json, ':')) return dfrt__json_fail(json, "a colon is expected");
    dfrt__json_blanks(json);
    size_t index = find_field(reader, key, *expected);
    if (index == reader->record->field_count) return dfrt__json_skip(json, DFRT_JSONL_DEPTH - 1, *scratch);
    if (row[index].data != NULL) {
        (void)dfrt_fail(&reader->reason, DFRT_MALFORMED, "field '%.64s' is there twice",
                        reader->record->fields[index].name);
        return dfrt__json_fail(json, reader->reason.text);
    }
    *expected = index + 1;
    return take_value(reader, json, index, &row[index], scratch);
}

static bool take_object(dfrt_jsonl_reader *reader, dfrt__json *json, dfrt_slice *row)
{
    char *scratch = reader->scratch;
    size_t expected = 0;
    if (!dfrt__json_take(json, '{')) return dfrt__json_fail(json, "an object is expected");
    dfrt__json_blanks(json);
    if (!dfrt__json_take(json, '}')) {
        do {
            if (!take_member(reader, json, row, &expected, &scratch)) return false;
            dfrt__json_blanks(json);
        } while (dfrt__json_take(json, ','));
        if (!dfrt__json_take(json, '}')) return dfrt__json_fail(json, "a comma or the end of an object is expected");
    }
    dfrt__json_blanks(json);
    return json->at == json->end || dfrt__json_fail(json, "there is more behind the object");
}

static dfrt_status check_complete(dfrt_jsonl_reader *reader, const dfrt_slice *row)
{
    for (size_t i = 0; i < reader->record->field_count; i++)
        if (row[i].data == NULL)
            return dfrt_fail(&reader->reason, DFRT_MALFORMED, "there is no field '%.64s'",
                             reader->record->fields[i].name);
    return DFRT_OK;
}

dfrt_status dfrt_jsonl_split(dfrt_jsonl_reader *reader, dfrt_slice line, dfrt_slice *row)
{
    dfrt__json json = {line.data, line.data + line.size, NULL};
    dfrt__json_blanks(&json);
    if (json.at == json.end) return DFRT_AGAIN;
    if (!dfrt_utf8_valid(line.data, line.size))
        return dfrt_fail(&reader->reason, DFRT_MALFORMED, "not valid UTF-8");
    dfrt_status status = ensure_scratch(reader, line.size);
    if (status != DFRT_OK) return status;
    memset(row, 0, reader->record->field_count * sizeof *row);
    if (take_object(reader, &json, row)) return check_complete(reader, row);
    if (json.wrong == reader->reason.text) return DFRT_MALFORMED;
    return dfrt_fail(&reader->reason, DFRT_MALFORMED, "no JSON at byte %zu: %s", (size_t)(json.at - line.data) + 1,
                     json.wrong);
}
