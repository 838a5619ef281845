/* sessions.dfl by hand: sessions INPUT OUTPUT
 *
 * The gap is longer than the slack, so a key has at most two open sessions: the one that may end and the one that began
 * behind it. Ends are looked after by a wheel of slots of one millisecond: a session stands in the slot of the end it
 * had when it was put there, and is put further on when that has come and it has grown. */
#include "keyed.h"

enum { GAP = 300000, SLACK = 20000, SLOT = 1000, SLOTS = 1024 };

typedef struct session {
    int64_t first, last, n;
    double total, high;
    bool known; /* some price was no NaN */
} session;

typedef struct group {
    int64_t key;
    uint32_t open;   /* 0, 1 or 2 */
    bool waiting;    /* stands in the wheel */
    session sessions[2];
} __attribute__((aligned(64))) group;

typedef struct due {
    int64_t end;
    uint32_t group;
} due;

typedef struct slot_list {
    due *entries;
    uint32_t count, capacity;
    int64_t earliest;
} slot_list;

typedef struct result {
    int64_t key, start, end, n;
    double total, high;
} result;

typedef struct state {
    table table;
    group *groups;
    size_t capacity;
    slot_list wheel[SLOTS];
    int64_t slot; /* the one the watermark is in: number, not place */
    bool turning;
    due *ripe;
    uint32_t ripe_capacity;
    output *out;
} state;

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static __attribute__((noinline)) void grow_groups(state *s)
{
    size_t capacity = s->capacity == 0 ? 4096 : s->capacity * 4;
    group *groups = allocate_huge(capacity * sizeof *groups);
    memcpy(groups, s->groups, s->capacity * sizeof *groups);
    free(s->groups);
    s->groups = groups;
    s->capacity = capacity;
}

static inline void add(session *x, const order *o)
{
    x->n++;
    x->total += o->price;
    x->high = o->price > x->high ? o->price : x->high;
    x->known |= o->price == o->price;
}

static inline session begin(int64_t time)
{
    return (session){.first = time, .last = time, .high = -INFINITY};
}

static void merge(session *x, const session *later)
{
    x->last = later->last;
    x->n += later->n;
    x->total += later->total;
    x->high = later->high > x->high ? later->high : x->high;
    x->known |= later->known;
}

/* Ends lie less than the wheel's turn ahead of the watermark: a tuple is at most the slack ahead of it. */
static inline void wait_for(state *s, uint32_t number, int64_t end)
{
    slot_list *list = &s->wheel[floor_divide(end, SLOT) & (SLOTS - 1)];
    if (UNLIKELY(list->count == list->capacity)) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->entries = realloc(list->entries, list->capacity * sizeof *list->entries);
        if (list->entries == NULL) die("memory");
    }
    if (list->count == 0 || end < list->earliest) list->earliest = end;
    list->entries[list->count++] = (due){end, number};
}

static inline void push(state *s, const order *o)
{
    uint32_t number = group_of(&s->table, o->key);
    if (UNLIKELY(number >= s->capacity)) grow_groups(s);
    group *g = &s->groups[number];
    int64_t t = o->ts;
    session *x = &g->sessions[0];
    if (UNLIKELY(g->open == 0)) {
        g->key = o->key;
        g->open = 1;
        *x = begin(t);
    } else if (LIKELY(g->open == 1)) {
        if (UNLIKELY(t - x->last >= GAP)) {
            g->open = 2;
            *++x = begin(t);
        } else if (UNLIKELY(x->first - t >= GAP)) {
            g->open = 2;
            x[1] = x[0];
            *x = begin(t);
        }
    } else {
        bool first = t - x[0].last < GAP, second = x[1].first - t < GAP;
        if (first && second) {
            merge(&x[0], &x[1]);
            g->open = 1;
        } else if (second) {
            x++;
        }
    }
    x->first = t < x->first ? t : x->first;
    x->last = t > x->last ? t : x->last;
    add(x, o);
    if (UNLIKELY(!g->waiting)) {
        g->waiting = true;
        wait_for(s, number, g->sessions[0].last + GAP);
    }
}

static int by_end_and_key(const void *left, const void *right, void *groups)
{
    const due *a = left, *b = right;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    int64_t x = ((group *)groups)[a->group].key, y = ((group *)groups)[b->group].key;
    return (x > y) - (x < y);
}

static void emit(state *s, group *g)
{
    const session *x = &g->sessions[0];
    result r = {g->key, x->first, x->last + GAP, x->n, x->total, x->known ? x->high : NAN};
    memcpy(room(s->out, sizeof r), &r, sizeof r);
    s->out->used += sizeof r;
    g->sessions[0] = g->sessions[1];
    g->open--;
}

/* What ends in this slot up to the watermark. Those that have grown, or go on with a second session, are put on. */
static void turn_slot(state *s, slot_list *list, int64_t watermark)
{
    uint32_t ripe = 0, left = 0;
    int64_t earliest = INT64_MAX;
    if (s->ripe_capacity < list->count) {
        s->ripe_capacity = list->capacity;
        s->ripe = realloc(s->ripe, s->ripe_capacity * sizeof *s->ripe);
        if (s->ripe == NULL) die("memory");
    }
    uint32_t count = list->count;
    list->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        due d = list->entries[i];
        if (d.end > watermark) {
            earliest = d.end < earliest ? d.end : earliest;
            list->entries[left++] = d;
            continue;
        }
        d.end = s->groups[d.group].sessions[0].last + GAP;
        s->ripe[ripe++] = d;
    }
    list->count = left;
    list->earliest = earliest;
    if (ripe > 1) qsort_r(s->ripe, ripe, sizeof *s->ripe, by_end_and_key, s->groups);
    for (uint32_t i = 0; i < ripe; i++) {
        group *g = &s->groups[s->ripe[i].group];
        if (s->ripe[i].end <= watermark) emit(s, g);
        g->waiting = g->open > 0;
        if (g->waiting) wait_for(s, s->ripe[i].group, g->sessions[0].last + GAP);
    }
}

static inline void advance(state *s, int64_t watermark)
{
    int64_t slot = floor_divide(watermark, SLOT);
    if (UNLIKELY(!s->turning)) {
        s->turning = true;
        s->slot = slot;
    }
    int64_t turns = slot - s->slot < SLOTS ? slot - s->slot + 1 : SLOTS;
    for (int64_t at = s->slot; at < s->slot + turns; at++) {
        slot_list *list = &s->wheel[at & (SLOTS - 1)];
        while (UNLIKELY(list->count > 0 && list->earliest <= watermark)) turn_slot(s, list, watermark);
    }
    s->slot = slot;
}

static bool is_open(void *context, uint32_t number)
{
    return ((state *)context)->groups[number].open > 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const order *orders = (const order *)file.data;
    size_t count = file.size / sizeof *orders;
    int64_t highest = INT64_MIN, watermark = INT64_MIN;
    uint64_t late = 0;
    state *s = allocate_huge(sizeof *s);
    s->table = new_table(1 << 12);
    s->table.live = is_open;
    s->table.context = s;
    s->out = create(argv[2]);
    for (size_t i = 0; i < count; i++) {
        const order *o = &orders[i];
        if (UNLIKELY(o->ts < watermark)) {
            late++;
            continue;
        }
        /* Sessions that this tuple's watermark ends can't hold the tuple: they come out before it is put in. */
        if (o->ts > highest) {
            highest = o->ts;
            watermark = o->ts < INT64_MIN + SLACK ? INT64_MIN : o->ts - SLACK;
            advance(s, watermark);
        }
        push(s, o);
    }
    for (int64_t end = watermark; end < watermark + GAP + SLACK + SLOT; end += SLOT) advance(s, end);
    if (file.size % sizeof *orders != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    if (late > 0) fprintf(stderr, "orders: %llu late\n", (unsigned long long)late);
    flush(s->out);
    return 0;
}
