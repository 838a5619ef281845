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

#include "generate_clock.h"
#include "packed.h"
#include "source_kind.h"

typedef struct generate_state {
    dfrt_generate_plan plan;
    dfrt_zipf zipf;
    dfrt_random random;
    dfrt_symbol *symbols; /* [key], 0 while it was not drawn yet; only when the record has symbols */
    uint64_t index;
    dfrt__generate_clock clock;
    int timer;            /* tells when the next tuple is due; -1 unless paced */
    int64_t began_ns;     /* on the monotonic clock; 0 before the first read */
} generate_state;

static dfrt_status open_timer(generate_state *state, dfrt_error *error)
{
    if (!state->plan.paced) return DFRT_OK;
    state->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return state->timer >= 0 ? DFRT_OK : dfrt_fail(error, DFRT_IO, "generate: no timer: %s", strerror(errno));
}

static bool is_used(const dfrt_source *source, size_t field)
{
    return source->options.used == NULL || source->options.used[field];
}

static bool times_are_used(const dfrt_source *source, const dfrt_generate_plan *plan)
{
    bool used = false;
    for (size_t i = 0; i < source->record->field_count; i++)
        used |= plan->fields[i].recipe == DFRT_RECIPE_TIME && is_used(source, i);
    return used;
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
    dfrt__generate_clock_open(&state->clock, &state->plan, state->plan.paced || times_are_used(source, &state->plan));
    status = state->plan.weights != NULL
                 ? dfrt_zipf_by_weights(&state->zipf, state->plan.keys, state->plan.weights, error)
                 : dfrt_zipf_make(&state->zipf, state->plan.keys, state->plan.zipf, error);
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
 * SplitMix64 is a counter that is scrambled, and every tuple has the same number of draws: so draw k of tuple i can be
 * made without those before it. What nobody looks at is not drawn, and the loops below are short enough for a compiler
 * to turn into vectors. */

enum { BLOCK = 512 };

typedef struct block {
    generate_state *state;
    char *tuples;
    size_t size; /* of a tuple */
    size_t count;
    int64_t times[BLOCK]; /* only when somebody looks at them */
} block;

/* One field of every tuple, and the draws for it. */
typedef struct column {
    char *at;
    size_t size, count;
    uint64_t first, step; /* states of the generator: of the first tuple, and from one to the next */
} column;

static column column_of(const block *b, const dfrt_field *field, uint64_t draw)
{
    return (column){.at = b->tuples + field->offset,
                    .size = b->size,
                    .count = b->count,
                    .first = b->state->random.state + draw * DFRT_RANDOM_STEP,
                    .step = b->state->plan.draws * DFRT_RANDOM_STEP};
}

/* Sets the field of every tuple; `value` may name the tuple's draw `z`. Adding up the state keeps a multiplication out
 * of the loop. */
#define SET_ALL(c, type, value)                                                                                        \
    for (uint64_t i = 0, state = (c).first; i < (c).count; i++, state += (c).step) {                                   \
        uint64_t z = dfrt_random_next(&(dfrt_random){state});                                                          \
        type made = (type)(value);                                                                                     \
        memcpy((c).at + i * (c).size, &made, sizeof made);                                                             \
    }

#define SET_ALL_WHOLE(c, field, value)                                                                                 \
    switch (dfrt__packed_size(field)) {                                                                                \
    case 1: SET_ALL(c, uint8_t, value) break;                                                                          \
    case 2: SET_ALL(c, uint16_t, value) break;                                                                         \
    case 4: SET_ALL(c, uint32_t, value) break;                                                                         \
    default: SET_ALL(c, uint64_t, value)                                                                               \
    }

static void make_whole(column c, const dfrt_field *field, uint64_t low, uint64_t span)
{
    if (span > 0 && span <= UINT32_MAX) {
        SET_ALL_WHOLE(c, field, low + dfrt__below_small_of(z, span))
    } else {
        SET_ALL_WHOLE(c, field, low + dfrt__below_of(z, span))
    }
}

static void make_floats(column c, const dfrt_field *field, double low, double width)
{
    if (field->kind == DFRT_F32) {
        SET_ALL(c, float, low + width * dfrt__fraction_of(z))
    } else {
        SET_ALL(c, double, low + width * dfrt__fraction_of(z))
    }
}

static inline int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

#define SET_TIMES(c, times, unit)                                                                                      \
    for (size_t i = 0; i < (c).count; i++) {                                                                           \
        int64_t made = floor_divide((times)[i], unit);                                                                 \
        memcpy((c).at + i * (c).size, &made, sizeof made);                                                             \
    }

/* The compiler multiplies where it knows the divisor. */
static void make_times(column c, const int64_t *times, int64_t unit_ns)
{
    switch (unit_ns) {
    case 0:
    case 1: SET_TIMES(c, times, 1) break;
    case 1000: SET_TIMES(c, times, 1000) break;
    case 1000000: SET_TIMES(c, times, 1000000) break;
    case 1000000000: SET_TIMES(c, times, 1000000000) break;
    default: SET_TIMES(c, times, unit_ns)
    }
}

static inline uint64_t key_of(const dfrt_zipf *zipf, uint64_t draw)
{
    return zipf->limits == NULL ? dfrt__below_of(draw, zipf->keys) : dfrt_zipf_of(zipf, draw);
}

static bool make_key_words(generate_state *state, column c, const dfrt_field *field)
{
    for (size_t i = 0; i < c.count; i++) {
        char text[DFRT_NUMBER_ROOM + 1], *at = c.at + i * c.size;
        uint64_t key = key_of(&state->zipf, dfrt_random_next(&(dfrt_random){c.first + i * c.step}));
        if (field->kind == DFRT_SYMBOL) {
            dfrt_symbol symbol;
            if (!key_symbol(state, key, &symbol)) return false;
            memcpy(at, &symbol, sizeof symbol);
        } else { /* open saw that it fits */
            (void)dfrt_text_assign(at, field->capacity, (dfrt_slice){text, write_key(key, text)});
        }
    }
    return true;
}

static bool make_keys(generate_state *state, column c, const dfrt_field *field)
{
    const dfrt_zipf *zipf = &state->zipf;
    if (field->kind == DFRT_SYMBOL || field->kind == DFRT_TEXT) return make_key_words(state, c, field);
    if (zipf->limits == NULL) {
        make_whole(c, field, 0, zipf->keys);
    } else {
        SET_ALL_WHOLE(c, field, dfrt_zipf_of(zipf, z))
    }
    return true;
}

static bool make_field(const block *b, const dfrt_field *field, const dfrt_generate_field *how)
{
    column c = column_of(b, field, how->draw);
    switch (how->recipe) {
    case DFRT_RECIPE_TIME: make_times(c, b->times, field->unit_ns); break;
    case DFRT_RECIPE_WHOLE: make_whole(c, field, how->low, how->span); break;
    case DFRT_RECIPE_FLOAT: make_floats(c, field, how->low_float, how->width); break;
    case DFRT_RECIPE_COIN: make_whole(c, field, 0, 2); break;
    case DFRT_RECIPE_KEY: return make_keys(b->state, c, field);
    }
    return true;
}

/* How many of `most` tuples are left, and due at `now`; their times, if they matter, are in the block. */
static size_t take_times(block *b, size_t most, uint64_t now)
{
    generate_state *state = b->state;
    uint64_t left = state->plan.count - state->index;
    size_t count = dfrt__generate_clock_take(&state->clock, left < most ? (size_t)left : most, now, b->times);
    state->index += count;
    return count;
}

static void disturb_times(block *b)
{
    uint64_t first = b->state->random.state + (b->state->plan.by_chance ? DFRT_RANDOM_STEP : 0);
    uint64_t step = b->state->plan.draws * DFRT_RANDOM_STEP;
    for (size_t i = 0; i < b->count; i++) {
        dfrt_random random = {first + i * step};
        uint64_t older = dfrt_random_below(&random, b->state->plan.disorder_ns + 1);
        b->times[i] = (int64_t)((uint64_t)b->times[i] - older);
    }
}

static bool make_block(const dfrt_source *source, char *tuples, size_t most, uint64_t now, size_t *count)
{
    generate_state *state = source->state;
    const dfrt_record *record = source->record;
    block b; /* its times are not all needed, nor cleared */
    b.state = state;
    b.tuples = tuples;
    b.size = record->size;
    *count = b.count = take_times(&b, most < BLOCK ? most : BLOCK, now);
    if (state->clock.timed && state->plan.disorder_ns > 0) disturb_times(&b);
    for (size_t i = 0; i < record->field_count; i++)
        if (is_used(source, i) && !make_field(&b, &record->fields[i], &state->plan.fields[i])) return false;
    state->random.state += b.count * state->plan.draws * DFRT_RANDOM_STEP;
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

/* Not at once again: tuples that are due within a moment are handed out together. */
static dfrt_status arm_timer(generate_state *state, uint64_t now, dfrt_error *error)
{
    uint64_t least = now + DFRT__PACE_PAUSE_NS, next = state->clock.offset_ns;
    uint64_t due = (uint64_t)state->began_ns + (next > least ? next : least);
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
        if (state->index == state->plan.count || state->clock.ended) return DFRT_END;
        if (state->clock.offset_ns > now) return arm_timer(state, now, &source->error);
        if (!make_block(source, records + *count * source->record->size, capacity - *count, now, &made))
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

uint64_t dfrt__generate_due_ns(const dfrt_source *source)
{
    const generate_state *state = source->state;
    bool waits = state->plan.paced && state->began_ns > 0;
    return waits ? (uint64_t)state->began_ns + state->clock.offset_ns : 0;
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
                                                 generate_poll_fd, generate_is_live, close_generate, NULL, NULL, NULL};
