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

/* --- a block of tuples, field by field -------------------------------------------------------------------
 *
 * SplitMix64 is a counter that is scrambled, and every tuple makes the same number of draws: so draw k of tuple i can
 * be made without those before it, and the loops below are short enough for a compiler to turn into vectors. */

enum { BLOCK = 256 };

typedef struct block {
    generate_state *state;
    char *tuples;
    size_t size; /* of a tuple */
    size_t count;
    uint64_t drawn, draws; /* of one tuple: so far, in all */
    int64_t times[BLOCK];
    uint64_t values[BLOCK]; /* of the field at hand */
} block;

/* One draw of every tuple. */
static void draw(block *b)
{
    uint64_t first = b->state->random.state + b->drawn * DFRT_RANDOM_STEP, step = b->draws * DFRT_RANDOM_STEP;
    b->drawn++;
    for (size_t i = 0; i < b->count; i++) {
        dfrt_random random = {first + i * step};
        b->values[i] = dfrt_random_next(&random);
    }
}

static void draw_below(block *b, uint64_t bound)
{
    draw(b);
    if (bound == 0) return;
    for (size_t i = 0; i < b->count; i++) b->values[i] = (uint64_t)((dfrt__random_wide)b->values[i] * bound >> 64);
}

#define STORE_ALL(type, value)                                                                                         \
    for (size_t i = 0; i < b->count; i++) {                                                                            \
        type narrow = (type)(value);                                                                                   \
        memcpy(at + i * b->size, &narrow, sizeof narrow);                                                              \
    }

static void store_whole(const block *b, const dfrt_field *field, uint64_t low)
{
    char *at = b->tuples + field->offset;
    switch (dfrt__packed_size(field)) {
    case 1: STORE_ALL(uint8_t, low + b->values[i]) break;
    case 2: STORE_ALL(uint16_t, low + b->values[i]) break;
    case 4: STORE_ALL(uint32_t, low + b->values[i]) break;
    default: STORE_ALL(uint64_t, low + b->values[i])
    }
}

static void make_floats(block *b, const dfrt_field *field, const dfrt_generate_field *how)
{
    char *at = b->tuples + field->offset;
    draw(b);
    if (field->kind == DFRT_F32)
        STORE_ALL(float, how->low_float + how->width * dfrt__fraction_of(b->values[i]))
    else
        STORE_ALL(double, how->low_float + how->width * dfrt__fraction_of(b->values[i]))
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void make_times(block *b, const dfrt_field *field)
{
    int64_t unit = field->unit_ns > 0 ? field->unit_ns : 1;
    for (size_t i = 0; i < b->count; i++) b->values[i] = (uint64_t)floor_divide(b->times[i], unit);
    store_whole(b, field, 0);
}

static bool store_keys(block *b, const dfrt_field *field)
{
    for (size_t i = 0; i < b->count; i++) {
        char text[DFRT_NUMBER_ROOM + 1], *at = b->tuples + i * b->size + field->offset;
        if (field->kind == DFRT_SYMBOL) {
            dfrt_symbol symbol;
            if (!key_symbol(b->state, b->values[i], &symbol)) return false;
            memcpy(at, &symbol, sizeof symbol);
        } else { /* open saw that it fits */
            (void)dfrt_text_assign(at, field->capacity, (dfrt_slice){text, write_key(b->values[i], text)});
        }
    }
    return true;
}

static bool make_keys(block *b, const dfrt_field *field)
{
    const dfrt_zipf *zipf = &b->state->zipf;
    if (zipf->limits == NULL) {
        draw_below(b, zipf->keys);
    } else {
        draw(b);
        for (size_t i = 0; i < b->count; i++) b->values[i] = dfrt_zipf_of(zipf, b->values[i]);
    }
    if (field->kind == DFRT_SYMBOL || field->kind == DFRT_TEXT) return store_keys(b, field);
    store_whole(b, field, 0);
    return true;
}

static bool make_field(block *b, const dfrt_field *field, const dfrt_generate_field *how)
{
    switch (how->recipe) {
    case DFRT_RECIPE_TIME: make_times(b, field); break;
    case DFRT_RECIPE_WHOLE:
        draw_below(b, how->span);
        store_whole(b, field, how->low);
        break;
    case DFRT_RECIPE_FLOAT: make_floats(b, field, how); break;
    case DFRT_RECIPE_COIN:
        draw_below(b, 2);
        store_whole(b, field, 0);
        break;
    case DFRT_RECIPE_KEY: return make_keys(b, field);
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

/* Up to `most` tuples that are due at `now`; their times are in the block. */
static size_t make_clock(block *b, size_t most, uint64_t now)
{
    generate_state *state = b->state;
    size_t count = 0;
    for (; count < most && state->index < state->plan.count && state->offset_ns <= now; count++) {
        b->times[count] = (int64_t)((uint64_t)state->plan.start_ns + state->offset_ns);
        advance(state);
    }
    return count;
}

static bool make_block(generate_state *state, const dfrt_record *record, char *tuples, size_t most, uint64_t now,
                       size_t *count)
{
    block b = {.state = state, .tuples = tuples, .size = record->size, .draws = state->plan.disorder_ns > 0};
    for (size_t i = 0; i < record->field_count; i++) b.draws += state->plan.fields[i].recipe != DFRT_RECIPE_TIME;
    *count = b.count = make_clock(&b, most < BLOCK ? most : BLOCK, now);
    if (state->plan.disorder_ns > 0) {
        draw_below(&b, state->plan.disorder_ns + 1);
        for (size_t i = 0; i < b.count; i++) b.times[i] = (int64_t)((uint64_t)b.times[i] - b.values[i]);
    }
    for (size_t i = 0; i < record->field_count; i++)
        if (!make_field(&b, &record->fields[i], &state->plan.fields[i])) return false;
    state->random.state += b.count * b.draws * DFRT_RANDOM_STEP;
    return true;
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
    while (*count < capacity) {
        size_t made;
        if (state->index == state->plan.count) return DFRT_END;
        if (state->offset_ns > now) return arm_timer(state, &source->error);
        if (!make_block(state, source->record, records + *count * source->record->size, capacity - *count, now, &made))
            return dfrt_fail(&source->error, DFRT_MEMORY, "generate: no memory for symbols");
        *count += made;
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
                                                 generate_poll_fd, generate_is_live, close_generate, NULL, NULL};
