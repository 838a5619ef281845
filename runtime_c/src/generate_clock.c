#include "generate_clock.h"

#include <math.h>

static const dfrt_rate_step *holding(const dfrt__generate_clock *state)
{
    return &state->plan->rates.steps[state->at];
}

/* --- evenly ---------------------------------------------------------------------------------------------- */

/* Begins with step `at`, or the first one behind it during which a tuple comes. */
static void begin_even(dfrt__generate_clock *state, size_t at)
{
    const dfrt_rates *rates = &state->plan->rates;
    while (at < rates->count && rates->steps[at].tuples == 0) at++;
    state->ended = at == rates->count;
    if (state->ended) return;
    state->at = at;
    state->left = rates->steps[at].tuples;
    state->offset_ns = rates->steps[at].start_ns;
    state->step_ns = 1000000000 / rates->steps[at].rate;
    state->step_rest = 1000000000 % rates->steps[at].rate;
    state->rest = 0;
}

/* The times of up to `most` tuples that are due at `now`. */
static size_t take_until(dfrt__generate_clock *state, size_t most, uint64_t now, int64_t *times)
{
    uint64_t start = (uint64_t)state->plan->start_ns, offset = state->offset_ns, rest = state->rest;
    uint64_t rate = holding(state)->rate;
    size_t count = 0;
    for (; count < most && offset <= now; count++) {
        times[count] = (int64_t)(start + offset);
        rest += state->step_rest;
        bool carry = rest >= rate;
        rest -= carry ? rate : 0;
        offset += state->step_ns + carry;
    }
    state->offset_ns = offset;
    state->rest = rest;
    return count;
}

/* The same where nobody waits and the distance is a whole number: every time is known without the one before. */
static size_t take_whole(dfrt__generate_clock *state, size_t count, int64_t *times)
{
    uint64_t first = (uint64_t)state->plan->start_ns + state->offset_ns, step = state->step_ns;
    for (size_t i = 0; i < count; i++) times[i] = (int64_t)(first + i * step);
    state->offset_ns += count * step;
    return count;
}

static size_t take_even(dfrt__generate_clock *state, size_t most, uint64_t now, int64_t *times)
{
    size_t count = state->left < most ? (size_t)state->left : most;
    if (state->timed)
        count = now == UINT64_MAX && state->step_rest == 0 ? take_whole(state, count, times)
                                                           : take_until(state, count, now, times);
    if (state->left != UINT64_MAX) state->left -= count;
    if (state->left == 0) begin_even(state, state->at + 1);
    return count;
}

/* --- by chance ------------------------------------------------------------------------------------------- */

/* From the position to the next tuple: an exponential number is used up at the rates on the way. */
static void advance(dfrt__generate_clock *state)
{
    double work = -log1p(-dfrt_random_fraction(&(dfrt_random){state->draw}));
    state->draw += state->plan->draws * DFRT_RANDOM_STEP;
    for (;;) {
        const dfrt_rate_step *step = holding(state);
        double need = step->rate > 0 ? work * 1e9 / (double)step->rate : INFINITY;
        double room = step->end_ns == UINT64_MAX ? INFINITY : (double)step->end_ns - state->position_ns;
        if (need < room) {
            state->position_ns += need;
            state->offset_ns = (uint64_t)state->position_ns;
            return;
        }
        if (state->at + 1 == state->plan->rates.count) {
            state->ended = true;
            return;
        }
        work -= room * (double)step->rate / 1e9;
        state->position_ns = (double)step->end_ns;
        state->at++;
    }
}

static size_t take_by_chance(dfrt__generate_clock *state, size_t most, uint64_t now, int64_t *times)
{
    size_t count = 0;
    for (; count < most && !state->ended && state->offset_ns <= now; count++) {
        times[count] = (int64_t)((uint64_t)state->plan->start_ns + state->offset_ns);
        advance(state);
    }
    return count;
}

void dfrt__generate_clock_open(dfrt__generate_clock *state, const dfrt_generate_plan *plan, bool timed)
{
    *state = (dfrt__generate_clock){.plan = plan, .timed = timed, .draw = plan->seed};
    if (plan->by_chance) advance(state);
    else begin_even(state, 0);
}

size_t dfrt__generate_clock_take(dfrt__generate_clock *state, size_t most, uint64_t now, int64_t *times)
{
    if (state->ended) return 0;
    return state->plan->by_chance ? take_by_chance(state, most, now, times) : take_even(state, most, now, times);
}
