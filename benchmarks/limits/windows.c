/* windows.dfl by hand: windows INPUT OUTPUT
 *
 * A window of 1000 is five panes of 200 tuples. Panes that are full lie in a ring apart from their group and are added up
 * when a window comes out: five additions a 200 tuples cost nothing, so no cleverer structure is needed. The pane that
 * is being filled, and what else every tuple touches, is one cache line. */
#include "tagged.h"

enum { SLIDE = 200, PANES = 5 };

/* Distances are from `shift`, one of the values: their squares do not cancel. */
typedef struct pane {
    double shift, distance, square, low, high, worth, volume;
} pane;

typedef struct group {
    pane now;
    uint32_t high;   /* half of the hash */
    uint32_t filled; /* tuples of the pane; 0 only before the first one */
} __attribute__((aligned(64))) group;

typedef struct history {
    uint64_t full; /* panes that are */
    pane panes[PANES];
} history;

typedef struct result {
    int64_t key;
    double mean, low, high, deviation, weighted;
} result;

typedef struct state {
    tags tags;
    group *groups;
    history **histories; /* only of keys that have filled a pane */
    output *out;
} state;

static result combine(int64_t key, const history *h)
{
    double sum = 0.0, worth = 0.0, volume = 0.0, low = INFINITY, high = -INFINITY, n = SLIDE * PANES;
    for (int i = 0; i < PANES; i++) {
        const pane *p = &h->panes[i];
        sum += p->shift * SLIDE + p->distance;
        worth += p->worth;
        volume += p->volume;
        low = p->low < low ? p->low : low;
        high = p->high > high ? p->high : high;
    }
    double mean = sum / n, spread = 0.0;
    for (int i = 0; i < PANES; i++) {
        const pane *p = &h->panes[i];
        double own = p->square - p->distance * p->distance / SLIDE, gap = p->shift + p->distance / SLIDE - mean;
        spread += own + gap * gap * SLIDE;
    }
    bool known = low <= high; /* else every price is NaN */
    return (result){key, mean, known ? low : NAN, known ? high : NAN, sqrt(fmax(spread, 0.0) / (n - 1.0)),
                    worth / volume};
}

static __attribute__((noinline)) void fill(state *s, uint32_t number, int64_t key)
{
    history *h = s->histories[number];
    if (h == NULL) {
        h = s->histories[number] = allocate(sizeof *h);
        h->full = 0;
    }
    h->panes[h->full++ % PANES] = s->groups[number].now;
    if (h->full < PANES) return;
    result r = combine(key, h);
    memcpy(room(s->out, sizeof r), &r, sizeof r);
    s->out->used += sizeof r;
}

static uint32_t new_group(state *s, uint64_t hash)
{
    uint32_t number = add_group(&s->tags, hash);
    fetch_fresh(&s->groups[number], sizeof(group));
    s->groups[number].high = (uint32_t)(hash >> 32);
    return number;
}

#include "guess.h"

static inline void push(state *s, uint32_t number, const quote *q)
{
    uint64_t hash = mix((uint64_t)q->key);
    if (UNLIKELY(s->groups[number].high != hash >> 32)) number = search(s, hash);
    group *g = &s->groups[number];
    pane *p = &g->now;
    if (UNLIKELY(g->filled == 0 || g->filled == SLIDE)) {
        *p = (pane){.shift = q->price, .low = INFINITY, .high = -INFINITY};
        g->filled = 0;
    }
    double distance = q->price - p->shift;
    p->distance += distance;
    p->square += distance * distance;
    p->low = q->price < p->low ? q->price : p->low;
    p->high = q->price > p->high ? q->price : p->high;
    p->worth += q->price * q->volume;
    p->volume += q->volume;
    if (UNLIKELY(++g->filled == SLIDE)) fill(s, number, q->key);
}

/* The slots and the groups of the first tuples are on their way when `run` begins. */
static void begin(state *s, const quote *quotes, size_t count, uint32_t *numbers)
{
    for (size_t i = 0; i < NEAR && i < count; i++) numbers[i] = guess(s, mix((uint64_t)quotes[i].key));
}

static inline void run(state *s, const quote *quotes, size_t from, size_t to, uint32_t *numbers)
{
    for (size_t i = from; i < to; i++) {
        const quote *q = &quotes[i];
        uint32_t number = numbers[i % NEAR];
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
    state s = {.tags = new_tags(), .groups = reserve(sizeof(group)), .histories = reserve(sizeof(history *)),
               .out = create(argv[2])};
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
