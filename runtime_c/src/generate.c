/* The specification of generate:, read and checked against the record. */
#define _GNU_SOURCE
#include <dfrt/generate.h>

#include <dfrt/number.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_START_NS (INT64_C(1700000000) * 1000000000)

typedef struct reader {
    dfrt_generate_plan *plan;
    const dfrt_record *record;
    int event_time;
    dfrt_error *error;
    bool has_rate, has_rates, has_keys, has_weights; /* which were given */
} reader;

static bool slice_is(dfrt_slice text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static bool strip_suffix(dfrt_slice *text, const char *suffix)
{
    size_t size = strlen(suffix);
    if (text->size < size || memcmp(text->data + text->size - size, suffix, size) != 0) return false;
    text->size -= size;
    return true;
}

/* A whole number that may be written as 300k or 1.5M. */
static bool parse_amount(dfrt_slice text, uint64_t *out)
{
    double scale = strip_suffix(&text, "k") ? 1e3 : strip_suffix(&text, "M") ? 1e6 : 1.0;
    if (scale == 1.0) return dfrt_parse_u64(text.data, text.size, out);
    double value;
    if (!dfrt_parse_f64(text.data, text.size, &value)) return false;
    value *= scale;
    if (!(value >= 0.0 && value < 0x1p53) || value != floor(value)) return false;
    *out = (uint64_t)value;
    return true;
}

static bool parse_duration(dfrt_slice text, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"min", UINT64_C(60000000000)}, /* "s" after "ms" */
                 {"s", 1000000000}, {"h", UINT64_C(3600000000000)}, {"d", UINT64_C(86400000000000)}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!strip_suffix(&text, units[i].name)) continue;
        uint64_t value;
        if (!dfrt_parse_u64(text.data, text.size, &value) || value > INT64_MAX / units[i].ns) return false;
        *ns = value * units[i].ns;
        return true;
    }
    return slice_is(text, "0") ? (*ns = 0, true) : false;
}

static bool parse_rate(dfrt_slice text, uint64_t *rate)
{
    (void)strip_suffix(&text, "/s");
    return parse_amount(text, rate) && *rate >= 1 && *rate <= UINT64_C(10000000000);
}

static bool parse_start(const reader *r, dfrt_slice text)
{
    int64_t start, unit = r->event_time < 0 ? 1 : r->record->fields[r->event_time].unit_ns;
    return dfrt_parse_i64(text.data, text.size, &start) &&
           !__builtin_mul_overflow(start, unit > 0 ? unit : 1, &r->plan->start_ns);
}

static bool is_float(dfrt_kind kind)
{
    return kind == DFRT_F32 || kind == DFRT_F64;
}

/* Bounds of what a whole-number kind holds; u64 has its own way. */
static bool whole_bounds(dfrt_kind kind, int64_t *low, int64_t *high)
{
    switch (kind) {
    case DFRT_I8: return *low = INT8_MIN, *high = INT8_MAX, true;
    case DFRT_I16: return *low = INT16_MIN, *high = INT16_MAX, true;
    case DFRT_I32: return *low = INT32_MIN, *high = INT32_MAX, true;
    case DFRT_U8: return *low = 0, *high = UINT8_MAX, true;
    case DFRT_U16: return *low = 0, *high = UINT16_MAX, true;
    case DFRT_U32: return *low = 0, *high = UINT32_MAX, true;
    case DFRT_I64:
    case DFRT_TIMESTAMP:
    case DFRT_DURATION: return *low = INT64_MIN, *high = INT64_MAX, true;
    default: return false;
    }
}

static bool parse_float_range(dfrt_slice low, dfrt_slice high, dfrt_generate_field *field)
{
    double top;
    if (!dfrt_parse_f64(low.data, low.size, &field->low_float) || !dfrt_parse_f64(high.data, high.size, &top))
        return false;
    field->width = top - field->low_float;
    field->recipe = DFRT_RECIPE_FLOAT;
    return isfinite(field->low_float) && isfinite(field->width) && field->width >= 0.0;
}

static bool parse_unsigned_range(dfrt_slice low, dfrt_slice high, dfrt_generate_field *field)
{
    uint64_t top;
    if (!dfrt_parse_u64(low.data, low.size, &field->low) || !dfrt_parse_u64(high.data, high.size, &top)) return false;
    field->span = top - field->low + 1;
    return field->low <= top;
}

static bool parse_range(dfrt_slice low, dfrt_slice high, dfrt_kind kind, dfrt_generate_field *field)
{
    if (is_float(kind)) return parse_float_range(low, high, field);
    field->recipe = DFRT_RECIPE_WHOLE;
    if (kind == DFRT_U64) return parse_unsigned_range(low, high, field);
    int64_t least, most, from, to;
    if (!whole_bounds(kind, &least, &most)) return false;
    if (!dfrt_parse_i64(low.data, low.size, &from) || !dfrt_parse_i64(high.data, high.size, &to)) return false;
    field->low = (uint64_t)from;
    field->span = (uint64_t)to - (uint64_t)from + 1;
    return from <= to && least <= from && to <= most;
}

static dfrt_status read_field(const reader *r, dfrt_slice key, dfrt_slice value)
{
    for (size_t i = 0; i < r->record->field_count; i++) {
        if (!slice_is(key, r->record->fields[i].name)) continue;
        if ((int)i == r->event_time)
            return dfrt_fail(r->error, DFRT_USAGE, "generate: '%s' is the event time and takes no range",
                             r->record->fields[i].name);
        const char *dots = memmem(value.data, value.size, "..", 2);
        if (dots != NULL) {
            dfrt_slice low = {value.data, (size_t)(dots - value.data)};
            dfrt_slice high = {dots + 2, value.size - low.size - 2};
            if (parse_range(low, high, r->record->fields[i].kind, &r->plan->fields[i])) return DFRT_OK;
        }
        return dfrt_fail(r->error, DFRT_USAGE, "generate: '%.*s' is no range LOW..HIGH for field '%s'",
                         (int)value.size, value.data, r->record->fields[i].name);
    }
    return dfrt_fail(r->error, DFRT_USAGE,
                     "generate: '%.*s' is neither a field of '%s' nor one of count, rate, rates, arrivals, paced, "
                     "start, keys, zipf, weights, disorder, seed",
                     (int)key.size, key.data, r->record->name);
}

static bool parse_arrivals(dfrt_slice text, bool *by_chance)
{
    *by_chance = slice_is(text, "poisson");
    return *by_chance || slice_is(text, "even");
}

/* Rates or weights; their messages name the file. */
static dfrt_status read_file(reader *r, dfrt_slice key, dfrt_slice value)
{
    char *path = strndup(value.data, value.size);
    if (path == NULL) return dfrt_fail(r->error, DFRT_MEMORY, "no memory for a path");
    dfrt_error found;
    size_t keys;
    bool twice = slice_is(key, "rates") ? r->has_rates : r->has_weights;
    dfrt_status status = twice ? dfrt_fail(&found, DFRT_USAGE, "'%.*s' stands twice", (int)key.size, key.data)
                         : slice_is(key, "rates") ? dfrt_rates_read(&r->plan->rates, path, &found)
                                                  : dfrt_weights_read(&r->plan->weights, &keys, path, &found);
    free(path);
    if (status != DFRT_OK) return dfrt_fail(r->error, status, "generate: %s", found.text);
    if (slice_is(key, "weights")) r->plan->keys = keys;
    r->has_rates |= slice_is(key, "rates");
    r->has_weights |= slice_is(key, "weights");
    return DFRT_OK;
}

static dfrt_status read_pair(reader *r, dfrt_slice key, dfrt_slice value)
{
    dfrt_generate_plan *plan = r->plan;
    bool good;
    r->has_rate |= slice_is(key, "rate");
    r->has_keys |= slice_is(key, "keys") || slice_is(key, "zipf");
    if (slice_is(key, "rates") || slice_is(key, "weights")) return read_file(r, key, value);
    if (slice_is(key, "count")) good = parse_amount(value, &plan->count);
    else if (slice_is(key, "rate")) good = parse_rate(value, &plan->rate);
    else if (slice_is(key, "paced")) good = dfrt_parse_bool(value.data, value.size, &plan->paced);
    else if (slice_is(key, "arrivals")) good = parse_arrivals(value, &plan->by_chance);
    else if (slice_is(key, "start")) good = parse_start(r, value);
    else if (slice_is(key, "keys"))
        good = parse_amount(value, &plan->keys) && plan->keys >= 1 && plan->keys <= 100000000;
    else if (slice_is(key, "zipf"))
        good = dfrt_parse_f64(value.data, value.size, &plan->zipf) && plan->zipf >= 0.0 && isfinite(plan->zipf);
    else if (slice_is(key, "disorder")) good = parse_duration(value, &plan->disorder_ns);
    else if (slice_is(key, "seed")) good = dfrt_parse_u64(value.data, value.size, &plan->seed);
    else return read_field(r, key, value);
    if (good) return DFRT_OK;
    return dfrt_fail(r->error, DFRT_USAGE, "generate: '%.*s' is no value for '%.*s'", (int)value.size, value.data,
                     (int)key.size, key.data);
}

static dfrt_status read_pairs(reader *r, const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, ",");
        const char *equals = memchr(text, '=', size);
        if (equals == NULL)
            return dfrt_fail(r->error, DFRT_USAGE, "generate: '%.*s' is not key=value", (int)size, text);
        dfrt_slice key = {text, (size_t)(equals - text)}, value = {equals + 1, size - key.size - 1};
        dfrt_status status = read_pair(r, key, value);
        if (status != DFRT_OK) return status;
        text += size + (text[size] == ',');
    }
    return DFRT_OK;
}

static void choose_recipes(const reader *r)
{
    for (size_t i = 0; i < r->record->field_count; i++) {
        dfrt_generate_field *field = &r->plan->fields[i];
        dfrt_kind kind = r->record->fields[i].kind;
        *field = (dfrt_generate_field){.recipe = DFRT_RECIPE_KEY, .width = 1.0};
        if ((int)i == r->event_time || kind == DFRT_TIMESTAMP) field->recipe = DFRT_RECIPE_TIME;
        else if (is_float(kind)) field->recipe = DFRT_RECIPE_FLOAT;
        else if (kind == DFRT_BOOL) field->recipe = DFRT_RECIPE_COIN;
    }
}

/* One rate, or those of a file; so many keys, or those of a file. */
static dfrt_status check_files(const reader *r)
{
    if (r->has_rate && r->has_rates) return dfrt_fail(r->error, DFRT_USAGE, "generate: give rate or rates, not both");
    if (r->has_keys && r->has_weights)
        return dfrt_fail(r->error, DFRT_USAGE,
                         "generate: weights say how many keys there are: leave out keys and zipf");
    return r->has_rates ? DFRT_OK : dfrt_rates_one(&r->plan->rates, r->plan->rate, r->error);
}

/* Every key must fit into the fields that are keys: nothing may be cut off silently. */
static dfrt_status check_keys(const reader *r)
{
    char room[DFRT_NUMBER_ROOM];
    uint64_t last = r->plan->keys - 1;
    size_t text_size = 1 + dfrt_format_u64(last, room);
    for (size_t i = 0; i < r->record->field_count; i++) {
        const dfrt_field *field = &r->record->fields[i];
        int64_t low, high;
        if (r->plan->fields[i].recipe != DFRT_RECIPE_KEY) continue;
        bool fits = field->kind == DFRT_TEXT ? text_size <= field->capacity
                                             : !whole_bounds(field->kind, &low, &high) || last <= (uint64_t)high;
        if (!fits)
            return dfrt_fail(r->error, DFRT_USAGE, "generate: %llu keys do not fit into field '%s'; give it a range",
                             (unsigned long long)r->plan->keys, field->name);
    }
    return DFRT_OK;
}

static void number_draws(const reader *r)
{
    r->plan->draws = (uint64_t)r->plan->by_chance + (r->plan->disorder_ns > 0);
    for (size_t i = 0; i < r->record->field_count; i++) {
        dfrt_generate_field *field = &r->plan->fields[i];
        field->draw = r->plan->draws;
        r->plan->draws += field->recipe != DFRT_RECIPE_TIME;
    }
}

dfrt_status dfrt_generate_parse(dfrt_generate_plan *plan, const char *text, const dfrt_record *record, int event_time,
                                dfrt_error *error)
{
    *plan = (dfrt_generate_plan){
        .count = UINT64_MAX, .rate = 1000000, .keys = 1000, .seed = 1, .start_ns = DEFAULT_START_NS};
    plan->fields = calloc(record->field_count + 1, sizeof *plan->fields);
    if (plan->fields == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory to generate '%s'", record->name);
    reader r = {.plan = plan, .record = record, .event_time = event_time, .error = error};
    choose_recipes(&r);
    dfrt_status status = read_pairs(&r, text);
    if (status == DFRT_OK) status = check_files(&r);
    if (status == DFRT_OK) status = check_keys(&r);
    number_draws(&r);
    if (status != DFRT_OK) dfrt_generate_free(plan);
    return status;
}

void dfrt_generate_free(dfrt_generate_plan *plan)
{
    free(plan->fields);
    free(plan->weights);
    dfrt_rates_free(&plan->rates);
    plan->fields = NULL;
    plan->weights = NULL;
}
