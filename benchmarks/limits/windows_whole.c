/* windows_whole.dfl by hand: windows_whole INPUT OUTPUT
 *
 * Prices and volumes of a key in two arrays, which grow up to twice the window: when they are full then, their last 800
 * go to the front. Each window is computed whole, by loops over columns that the compiler turns into vectors. */
#include "keyed.h"

enum { WINDOW = 1000, SLIDE = 200, ROOM = 2 * WINDOW, BLOCK = 256, LANES = 8 };

typedef struct group {
    double *prices; /* `room` of them, and as many volumes behind them */
    uint32_t at;    /* where the next tuple goes */
    uint32_t until; /* where something must be done: no room, or a window is complete */
    uint32_t room;
    uint32_t complete; /* where the next window is */
} group;

typedef struct result {
    int64_t key;
    double mean, low, high, deviation, weighted;
} result;

typedef struct state {
    table table;
    group *groups;
    size_t capacity;
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

static void double_room(group *g)
{
    uint32_t more = g->room == 0 ? 8 : 4 * g->room < ROOM ? 4 * g->room : ROOM;
    double *prices = allocate(2 * more * sizeof *prices);
    memcpy(prices, g->prices, g->at * sizeof *prices);
    memcpy(prices + more, g->prices + g->room, g->at * sizeof *prices);
    free(g->prices);
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
    if (g->at == g->room) double_room(g);
    g->until = g->complete < g->room ? g->complete : g->room;
}

static __attribute__((noinline)) void grow(state *s)
{
    size_t capacity = s->capacity == 0 ? 4096 : s->capacity * 4;
    group *groups = allocate_huge(capacity * sizeof *groups);
    memcpy(groups, s->groups, s->capacity * sizeof *groups);
    for (size_t i = s->capacity; i < capacity; i++) groups[i].complete = WINDOW;
    free(s->groups);
    s->groups = groups;
    s->capacity = capacity;
}

static inline void push(state *s, group *g, const quote *q)
{
    if (UNLIKELY(g->room == 0)) pause_at(s, g, q->key);
    g->prices[g->at] = q->price;
    g->prices[g->at + g->room] = q->volume;
    if (UNLIKELY(++g->at == g->until)) pause_at(s, g, q->key);
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const quote *quotes = (const quote *)file.data;
    size_t count = file.size / sizeof *quotes;
    state s = {.table = new_table(1 << 12), .out = create(argv[2])};
    for (size_t from = 0; from < count; from += BLOCK) {
        size_t here = count - from < BLOCK ? count - from : BLOCK;
        uint32_t numbers[BLOCK];
        if (from * sizeof *quotes % AHEAD == 0) touch(&file, from * sizeof *quotes);
        for (size_t i = 0; i < here; i++)
            __builtin_prefetch(&s.table.slots[mix((uint64_t)quotes[from + i].key) & s.table.mask]);
        for (size_t i = 0; i < here; i++) {
            numbers[i] = group_of(&s.table, quotes[from + i].key);
            if (UNLIKELY(numbers[i] >= s.capacity)) grow(&s);
            __builtin_prefetch(&s.groups[numbers[i]], 1);
        }
        for (size_t i = 0; i < here; i++) {
            if (i + 16 < here) {
                const group *next = &s.groups[numbers[i + 16]];
                __builtin_prefetch(next->prices + next->at, 1);
                __builtin_prefetch(next->prices + next->at + next->room, 1);
            }
            push(&s, &s.groups[numbers[i]], &quotes[from + i]);
        }
    }
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(s.out);
    return 0;
}
