/* windows.dfl by hand: windows INPUT OUTPUT
 *
 * A window of 1000 is five panes of 200 tuples. Panes that are full lie in a ring beside their group and are added up
 * when a window comes out: five additions a 200 tuples cost nothing, so no cleverer structure is needed. The pane that
 * is being filled lies in the one or two cache lines that every tuple touches. A block of tuples is looked up first
 * and worked on afterwards, so that the cache misses of many keys overlap. */
#include "keyed.h"

enum { SLIDE = 200, PANES = 5, BLOCK = 256 };

/* Distances are from `shift`, one of the values: their squares do not cancel. */
typedef struct pane {
    double shift, distance, square, low, high, worth, volume;
} pane;

typedef struct group {
    pane now;
    uint32_t left;  /* tuples until the pane is full */
    uint32_t full;  /* panes that are */
} __attribute__((aligned(64))) group;

typedef struct history {
    pane panes[PANES];
} history;

typedef struct result {
    int64_t key;
    double mean, low, high, deviation, weighted;
} result;

typedef struct state {
    table table;
    group *groups;
    history **histories; /* only of keys that have filled a pane */
    size_t capacity;
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
    group *g = &s->groups[number];
    history **h = &s->histories[number];
    if (*h == NULL) *h = allocate(sizeof **h);
    (*h)->panes[g->full % PANES] = g->now;
    g->full++;
    g->left = SLIDE;
    if (g->full < PANES) return;
    result r = combine(key, *h);
    memcpy(room(s->out, sizeof r), &r, sizeof r);
    s->out->used += sizeof r;
}

static __attribute__((noinline)) void grow(state *s)
{
    size_t capacity = s->capacity == 0 ? 4096 : s->capacity * 4;
    group *groups = allocate_huge(capacity * sizeof *groups);
    history **histories = allocate_huge(capacity * sizeof *histories);
    memcpy(groups, s->groups, s->capacity * sizeof *groups);
    memcpy(histories, s->histories, s->capacity * sizeof *histories);
    for (size_t i = s->capacity; i < capacity; i++) groups[i].left = SLIDE;
    free(s->groups);
    free(s->histories);
    s->groups = groups;
    s->histories = histories;
    s->capacity = capacity;
}

static inline void push(state *s, uint32_t number, const quote *q)
{
    group *g = &s->groups[number];
    pane *p = &g->now;
    if (UNLIKELY(g->left == SLIDE)) *p = (pane){.shift = q->price, .low = INFINITY, .high = -INFINITY};
    double distance = q->price - p->shift;
    p->distance += distance;
    p->square += distance * distance;
    p->low = q->price < p->low ? q->price : p->low;
    p->high = q->price > p->high ? q->price : p->high;
    p->worth += q->price * q->volume;
    p->volume += q->volume;
    if (UNLIKELY(--g->left == 0)) fill(s, number, q->key);
}

static inline void look_up(state *s, const quote *quotes, size_t count, uint32_t *numbers)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&s->table.slots[mix((uint64_t)quotes[i].key) & s->table.mask]);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = group_of(&s->table, quotes[i].key);
        if (UNLIKELY(numbers[i] >= s->capacity)) grow(s);
        __builtin_prefetch(&s->groups[numbers[i]], 1);
    }
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
        look_up(&s, quotes + from, here, numbers);
        for (size_t i = 0; i < here; i++) push(&s, numbers[i], &quotes[from + i]);
    }
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(s.out);
    return 0;
}
