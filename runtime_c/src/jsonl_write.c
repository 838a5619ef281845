#include <dfrt/jsonl.h>

#include <math.h>
#include <stdlib.h>

struct dfrt_jsonl_writer {
    const dfrt_record *record;
    char **openings;  /* by field: the brace or comma, the key and the colon before its value */
    size_t *sizes;
};

static void put_escaped(dfrt_output *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char names[] = "\"\\bfnrt", meanings[] = "\"\\\b\f\n\r\t";
    const char *meaning = memchr(meanings, c, sizeof meanings - 1);
    dfrt_put_char(out, '\\');
    if (meaning != NULL) {
        dfrt_put_char(out, names[meaning - meanings]);
        return;
    }
    dfrt_put_bytes(out, "u00", 3);
    dfrt_put_char(out, hex[c >> 4]);
    dfrt_put_char(out, hex[c & 15]);
}

static void put_string(dfrt_output *out, const char *data, size_t size)
{
    size_t run = 0;
    dfrt_put_char(out, '"');
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        dfrt_put_bytes(out, data + run, i - run);
        put_escaped(out, c);
        run = i + 1;
    }
    dfrt_put_bytes(out, data + run, size - run);
    dfrt_put_char(out, '"');
}

static void put_symbol(dfrt_output *out, const char *field)
{
    dfrt_symbol symbol;
    memcpy(&symbol, field, sizeof symbol);
    dfrt_slice text = dfrt_symbol_text(symbol);
    put_string(out, text.data, text.size);
}

static void put_text(dfrt_output *out, const char *field)
{
    uint32_t size;
    memcpy(&size, field, sizeof size);
    put_string(out, field + sizeof size, size);
}

/* JSON has no word for these. */
static void put_special(dfrt_output *out, double value)
{
    if (isnan(value)) dfrt_put_bytes(out, "\"nan\"", 5);
    else if (value > 0) dfrt_put_bytes(out, "\"inf\"", 5);
    else dfrt_put_bytes(out, "\"-inf\"", 6);
}

static void put_f64(dfrt_output *out, const char *field)
{
    double value;
    memcpy(&value, field, sizeof value);
    if (isfinite(value)) dfrt_put_f64(out, value);
    else put_special(out, value);
}

static void put_f32(dfrt_output *out, const char *field)
{
    float value;
    memcpy(&value, field, sizeof value);
    if (isfinite(value)) dfrt_put_f32(out, value);
    else put_special(out, (double)value);
}

#define PUT_WHOLE(name, type, put)                                                                                     \
    static void name(dfrt_output *out, const char *field)                                                              \
    {                                                                                                                  \
        type value;                                                                                                    \
        memcpy(&value, field, sizeof value);                                                                           \
        put(out, value);                                                                                               \
    }

PUT_WHOLE(put_i8, int8_t, dfrt_put_i64)
PUT_WHOLE(put_i16, int16_t, dfrt_put_i64)
PUT_WHOLE(put_i32, int32_t, dfrt_put_i64)
PUT_WHOLE(put_i64, int64_t, dfrt_put_i64)
PUT_WHOLE(put_u8, uint8_t, dfrt_put_u64)
PUT_WHOLE(put_u16, uint16_t, dfrt_put_u64)
PUT_WHOLE(put_u32, uint32_t, dfrt_put_u64)
PUT_WHOLE(put_u64, uint64_t, dfrt_put_u64)
PUT_WHOLE(put_bool, bool, dfrt_put_bool)

static void put_value(dfrt_output *out, dfrt_kind kind, const char *field)
{
    switch (kind) {
    case DFRT_I8: put_i8(out, field); break;
    case DFRT_I16: put_i16(out, field); break;
    case DFRT_I32: put_i32(out, field); break;
    case DFRT_U8: put_u8(out, field); break;
    case DFRT_U16: put_u16(out, field); break;
    case DFRT_U32: put_u32(out, field); break;
    case DFRT_U64: put_u64(out, field); break;
    case DFRT_F32: put_f32(out, field); break;
    case DFRT_F64: put_f64(out, field); break;
    case DFRT_BOOL: put_bool(out, field); break;
    case DFRT_SYMBOL: put_symbol(out, field); break;
    case DFRT_TEXT: put_text(out, field); break;
    default: put_i64(out, field);
    }
}

/* Names of fields are words of the language: nothing in them needs an escape. */
static bool make_opening(dfrt_jsonl_writer *writer, size_t index)
{
    const char *name = writer->record->fields[index].name;
    size_t size = strlen(name) + 4;
    char *text = malloc(size + 1);
    writer->openings[index] = text;
    if (text == NULL) return false;
    writer->sizes[index] = (size_t)snprintf(text, size + 1, "%c\"%s\":", index == 0 ? '{' : ',', name);
    return true;
}

dfrt_status dfrt_jsonl_writer_open(dfrt_jsonl_writer **out, const dfrt_record *record, dfrt_error *error)
{
    dfrt_jsonl_writer *writer = *out = calloc(1, sizeof *writer);
    bool good = writer != NULL;
    if (good) {
        writer->record = record;
        writer->openings = calloc(record->field_count + 1, sizeof *writer->openings);
        writer->sizes = calloc(record->field_count + 1, sizeof *writer->sizes);
        good = writer->openings != NULL && writer->sizes != NULL;
    }
    for (size_t i = 0; good && i < record->field_count; i++) good = make_opening(writer, i);
    if (good) return DFRT_OK;
    dfrt_jsonl_writer_close(writer);
    *out = NULL;
    return dfrt_fail(error, DFRT_MEMORY, "no memory to write %s", record->name);
}

void dfrt_jsonl_write(const dfrt_jsonl_writer *writer, dfrt_output *out, const void *record)
{
    const dfrt_record *about = writer->record;
    if (about->field_count == 0) dfrt_put_char(out, '{');
    for (size_t i = 0; i < about->field_count; i++) {
        dfrt_put_bytes(out, writer->openings[i], writer->sizes[i]);
        put_value(out, about->fields[i].kind, (const char *)record + about->fields[i].offset);
    }
    dfrt_put_bytes(out, "}\n", 2);
}

void dfrt_jsonl_writer_close(dfrt_jsonl_writer *writer)
{
    if (writer == NULL) return;
    for (size_t i = 0; writer->openings != NULL && i < writer->record->field_count; i++) free(writer->openings[i]);
    free(writer->openings);
    free(writer->sizes);
    free(writer);
}
