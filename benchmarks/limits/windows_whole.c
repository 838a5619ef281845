/* windows_whole.dfl by hand: windows_whole INPUT OUTPUT
 *
 * Prices and volumes of a key in two arrays, which grow up to twice the window: when they are full then, their last 800
 * go to the front. Each window is computed whole, by loops over columns that the compiler turns into vectors. Small
 * arrays lie in huge pages, and come from lists of those that are free again. */
#include "tagged.h"

enum { WINDOW = 1000, SLIDE = 200, ROOM = 2 * WINDOW, LANES = 8, PLACES_AHEAD = NEAR / 2 };
enum { FIRST = 8, SIZES = 4, POOL = 4 << 20 };

typedef struct group {
    double *prices; /* `room` of them, and as many volumes behind them */
    uint32_t at;    /* where the next tuple goes */
    uint32_t until; /* where something must be done: no room, or a window is complete */
    uint32_t room;
    uint32_t complete; /* where the next window is */
    uint32_t high;     /* half of the hash */
} __attribute__((aligned(32))) group;

typedef struct result {
    int64_t key;
    double mean, low, high, deviation, weighted;
} result;

typedef struct state {
    tags tags;
    group *groups;
    double *free[SIZES]; /* arrays for 8, 32, 128, 512 tuples, each with the next one in its first place */
    char *pool;
    size_t left;
    output *out;
} state;

/* Eight of each run side by side. */
typedef struct sums {
    double distance[LANES], square[LANES], weight[LANES], worth[LANES], low[LANES], high[LANES];
} sums;

static double total(const double *lanes)
{
    double sum = 0.0;
    for (int k = 0; k < LANES; k++) sum += lanes[k];
    return sum;
}

static result compute(int64_t key, const double *restrict price, const double *restrict volume)
{
    double shift = price[0]; /* distances from one of the values: their squares do not cancel */
    sums s = {0};
    for (int k = 0; k < LANES; k++) s.low[k] = INFINITY, s.high[k] = -INFINITY;
    for (int i = 0; i < WINDOW; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            double p = price[i + k], v = volume[i + k], distance = p - shift;
            s.distance[k] += distance;
            s.square[k] += distance * distance;
            s.weight[k] += v;
            s.worth[k] += p * v;
            s.low[k] = p < s.low[k] ? p : s.low[k];
            s.high[k] = p > s.high[k] ? p : s.high[k];
        }
    }
    double n = WINDOW, sum = total(s.distance), low = s.low[0], high = s.high[0];
    for (int k = 1; k < LANES; k++) {
        low = s.low[k] < low ? s.low[k] : low;
        high = s.high[k] > high ? s.high[k] : high;
    }
    bool known = low <= high; /* else every price is NaN */
    return (result){key, shift + sum / n, known ? low : NAN, known ? high : NAN,
                    sqrt(fmax(total(s.square) - sum * sum / n, 0.0) / (n - 1.0)), total(s.worth) / total(s.weight)};
}

static void emit(state *s, const group *g, int64_t key)
{
    const double *from = g->prices + g->at - WINDOW;
    result r = compute(key, from, from + g->room);
    memcpy(room(s->out, sizeof r), &r, sizeof r);
    s->out->used += sizeof r;
}

static void move_to_front(group *g)
{
    uint32_t first = g->at - (WINDOW - SLIDE);
    memmove(g->prices, g->prices + first, (WINDOW - SLIDE) * sizeof(double));
    memmove(g->prices + g->room, g->prices + g->room + first, (WINDOW - SLIDE) * sizeof(double));
    g->at = WINDOW - SLIDE;
    g->complete = WINDOW;
}

static int size_of(uint32_t room)
{
    return (__builtin_ctz(room) - 3) / 2;
}

static double *take_arrays(state *s, uint32_t room)
{
    size_t size = 2 * room * sizeof(double);
    if (room == ROOM) return allocate(size);
    double *reused = s->free[size_of(room)];
    if (reused != NULL) {
        memcpy(&s->free[size_of(room)], reused, sizeof reused);
        return reused;
    }
    if (s->left < size) {
        s->pool = allocate_huge(POOL);
        s->left = POOL;
    }
    s->left -= size;
    return (double *)(s->pool + s->left);
}

static void more_room(state *s, group *g)
{
    uint32_t more = g->room == 0 ? FIRST : 4 * g->room < ROOM ? 4 * g->room : ROOM;
    double *prices = take_arrays(s, more), *old = g->prices;
    if (old != NULL) {
        memcpy(prices, old, g->at * sizeof *prices);
        memcpy(prices + more, old + g->room, g->at * sizeof *prices);
        memcpy(old, &s->free[size_of(g->room)], sizeof old); /* never as large as it can be */
        s->free[size_of(g->room)] = old;
    }
    g->prices = prices;
    g->room = more;
}

/* A window is complete, or the arrays are full. */
static __attribute__((noinline)) void pause_at(state *s, group *g, int64_t key)
{
    if (g->room > 0 && g->at == g->complete) {
        emit(s, g, key);
        g->complete += SLIDE;
        if (g->complete > ROOM) move_to_front(g);
    }
    if (g->at == g->room) more_room(s, g);
    g->until = g->complete < g->room ? g->complete : g->room;
}

static uint32_t new_group(state *s, uint64_t hash)
{
    uint32_t number = add_group(&s->tags, hash);
    fetch_fresh(&s->groups[number], sizeof(group));
    group *g = &s->groups[number];
    g->high = (uint32_t)(hash >> 32);
    g->complete = WINDOW;
    pause_at(s, g, 0);
    return number;
}

#include "guess.h"

static inline void push(state *s, uint32_t number, const quote *q)
{
    uint64_t hash = mix((uint64_t)q->key);
    if (UNLIKELY(s->groups[number].high != hash >> 32)) number = search(s, hash);
    group *g = &s->groups[number];
    g->prices[g->at] = q->price;
    g->prices[g->at + g->room] = q->volume;
    if (UNLIKELY(++g->at == g->until)) pause_at(s, g, q->key);
}

static void begin(state *s, const quote *quotes, size_t count, uint32_t *numbers)
{
    for (size_t i = 0; i < NEAR && i < count; i++) numbers[i] = guess(s, mix((uint64_t)quotes[i].key));
}

static inline void run(state *s, const quote *quotes, size_t from, size_t to, uint32_t *numbers)
{
    for (size_t i = from; i < to; i++) {
        const quote *q = &quotes[i];
        uint32_t number = numbers[i % NEAR];
        const group *next = &s->groups[numbers[(i + PLACES_AHEAD) % NEAR]];
        __builtin_prefetch(next->prices + next->at, 1);
        __builtin_prefetch(next->prices + next->at + next->room, 1);
        __builtin_prefetch((const char *)&q[FAR] + INPUT_AHEAD, 0, 0);
        __builtin_prefetch(&s->tags.slots[mix((uint64_t)q[FAR].key) & s->tags.mask]);
        numbers[i % NEAR] = guess(s, mix((uint64_t)q[NEAR].key));
        push(s, number, q);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const quote *quotes = (const quote *)file.data;
    size_t count = file.size / sizeof *quotes, at = 0, block = AHEAD / sizeof *quotes;
    state s = {.tags = new_tags(), .groups = reserve(sizeof(group)), .out = create(argv[2])};
    uint32_t numbers[NEAR];
    begin(&s, quotes, count, numbers);
    for (; at + block + FAR <= count; at += block) {
        if (at == 0) touch(&file, 0);
        touch(&file, (at + block) * sizeof *quotes);
        run(&s, quotes, at, at + block, numbers);
    }
    for (; at < count; at++) push(&s, guess(&s, mix((uint64_t)quotes[at].key)), &quotes[at]);
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(s.out);
    return 0;
}
