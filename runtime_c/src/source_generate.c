/* Hands out what generate.h describes. */
#define _GNU_SOURCE
#include <dfrt/generate.h>
#include <dfrt/text.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "packed.h"
#include "source_kind.h"

typedef struct generate_state {
    dfrt_generate_plan plan;
    dfrt_zipf zipf;
    dfrt_random random;
    dfrt_symbol *symbols; /* [key], 0 while it was not drawn yet; only when the record has symbols */
    uint64_t index;
    /* index * 10**9 / rate without a division: quotient and remainder of 10**9 / rate are added up. */
    uint64_t offset_ns, step_ns, step_rest, rest;
    int timer;            /* tells when the next tuple is due; -1 unless paced */
    int64_t began_ns;     /* on the monotonic clock; 0 before the first read */
} generate_state;

static dfrt_status open_timer(generate_state *state, dfrt_error *error)
{
    if (!state->plan.paced) return DFRT_OK;
    state->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return state->timer >= 0 ? DFRT_OK : dfrt_fail(error, DFRT_IO, "generate: no timer: %s", strerror(errno));
}

static dfrt_status open_generate(dfrt_source *source, const char *rest, dfrt_error *error)
{
    generate_state *state = calloc(1, sizeof *state);
    source->state = state;
    if (state == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    state->timer = -1;
    dfrt_status status =
        dfrt_generate_parse(&state->plan, rest, source->record, source->options.event_time, error);
    if (status != DFRT_OK) return status;
    state->random = dfrt_random_seed(state->plan.seed);
    state->step_ns = 1000000000 / state->plan.rate;
    state->step_rest = 1000000000 % state->plan.rate;
    status = dfrt_zipf_make(&state->zipf, state->plan.keys, state->plan.zipf, error);
    if (status != DFRT_OK) return status;
    if (dfrt__has_symbols(source->record)) {
        state->symbols = calloc(state->plan.keys, sizeof *state->symbols);
        if (state->symbols == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for %llu keys",
                             (unsigned long long)state->plan.keys);
    }
    return open_timer(state, error);
}

static size_t write_key(uint64_t key, char *text)
{
    text[0] = 'k';
    return 1 + dfrt_format_u64(key, text + 1);
}

static bool key_symbol(generate_state *state, uint64_t key, dfrt_symbol *out)
{
    char text[DFRT_NUMBER_ROOM + 1];
    if (state->symbols[key] == 0 && dfrt_symbol_intern(text, write_key(key, text), &state->symbols[key]) != DFRT_OK)
        return false;
    *out = state->symbols[key];
    return true;
}

static void store_whole(const dfrt_field *field, char *at, uint64_t value)
{
    switch (dfrt__packed_size(field)) {
    case 1: *(uint8_t *)at = (uint8_t)value; break;
    case 2: memcpy(at, &(uint16_t){(uint16_t)value}, 2); break;
    case 4: memcpy(at, &(uint32_t){(uint32_t)value}, 4); break;
    default: memcpy(at, &value, 8);
    }
}

static void store_float(const dfrt_field *field, char *at, double value)
{
    float narrow = (float)value;
    if (field->kind == DFRT_F32) memcpy(at, &narrow, sizeof narrow);
    else memcpy(at, &value, sizeof value);
}

static bool store_key(generate_state *state, const dfrt_field *field, char *at)
{
    uint64_t key = dfrt_zipf_draw(&state->zipf, &state->random);
    if (field->kind == DFRT_SYMBOL) {
        dfrt_symbol symbol;
        if (!key_symbol(state, key, &symbol)) return false;
        memcpy(at, &symbol, sizeof symbol);
    } else if (field->kind == DFRT_TEXT) {
        char text[DFRT_NUMBER_ROOM + 1];
        (void)dfrt_text_assign(at, field->capacity, (dfrt_slice){text, write_key(key, text)}); /* open saw it fits */
    } else {
        store_whole(field, at, key);
    }
    return true;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool make_tuple(generate_state *state, const dfrt_record *record, char *tuple)
{
    int64_t time = (int64_t)((uint64_t)state->plan.start_ns + state->offset_ns);
    if (state->plan.disorder_ns > 0)
        time = (int64_t)((uint64_t)time - dfrt_random_below(&state->random, state->plan.disorder_ns + 1));
    for (size_t i = 0; i < record->field_count; i++) {
        const dfrt_field *field = &record->fields[i];
        const dfrt_generate_field *how = &state->plan.fields[i];
        char *at = tuple + field->offset;
        switch (how->recipe) {
        case DFRT_RECIPE_TIME:
            store_whole(field, at, (uint64_t)floor_divide(time, field->unit_ns > 0 ? field->unit_ns : 1));
            break;
        case DFRT_RECIPE_WHOLE: store_whole(field, at, how->low + dfrt_random_below(&state->random, how->span)); break;
        case DFRT_RECIPE_FLOAT:
            store_float(field, at, how->low_float + how->width * dfrt_random_fraction(&state->random));
            break;
        case DFRT_RECIPE_COIN: store_whole(field, at, dfrt_random_next(&state->random) >> 63); break;
        case DFRT_RECIPE_KEY:
            if (!store_key(state, field, at)) return false;
        }
    }
    return true;
}

static void advance(generate_state *state)
{
    state->index++;
    state->offset_ns += state->step_ns;
    state->rest += state->step_rest;
    if (state->rest >= state->plan.rate) {
        state->rest -= state->plan.rate;
        state->offset_ns++;
    }
}

/* Nanoseconds of the stream that have passed in real time. */
static uint64_t elapsed(generate_state *state)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return UINT64_MAX; /* without a clock there is no pace */
    int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (state->began_ns == 0) state->began_ns = ns;
    return (uint64_t)(ns - state->began_ns);
}

static dfrt_status arm_timer(generate_state *state, dfrt_error *error)
{
    uint64_t due = (uint64_t)state->began_ns + state->offset_ns;
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(due / 1000000000), .tv_nsec = (long)(due % 1000000000)}};
    if (timerfd_settime(state->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0) return DFRT_AGAIN;
    return dfrt_fail(error, DFRT_IO, "generate: the timer failed: %s", strerror(errno));
}

static dfrt_status read_generate(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    generate_state *state = source->state;
    uint64_t now = state->plan.paced ? elapsed(state) : UINT64_MAX;
    for (; *count < capacity; ++*count) {
        if (state->index == state->plan.count) return DFRT_END;
        if (state->offset_ns > now) return arm_timer(state, &source->error);
        if (!make_tuple(state, source->record, records + *count * source->record->size))
            return dfrt_fail(&source->error, DFRT_MEMORY, "generate: no memory for symbols");
        advance(state);
    }
    return DFRT_OK;
}

static int generate_poll_fd(const dfrt_source *source)
{
    const generate_state *state = source->state;
    return state->timer;
}

static bool generate_is_live(const dfrt_source *source)
{
    const generate_state *state = source->state;
    return state->plan.paced;
}

static void close_generate(dfrt_source *source)
{
    generate_state *state = source->state;
    if (state == NULL) return;
    dfrt_generate_free(&state->plan);
    dfrt_zipf_free(&state->zipf);
    free(state->symbols);
    if (state->timer >= 0) (void)close(state->timer);
    free(state);
}

const dfrt__source_kind dfrt__generate_source = {"generate:",      open_generate,    read_generate,
                                                 generate_poll_fd, generate_is_live, close_generate};
