/* join.dfl by hand: join BIDS ASKS OUTPUT
 *
 * Each key has a ring of bids and one of asks, in order of time. Of what the other side has passed by more than 10 ms
 * a ring lets go at its front; what is left there is near enough to be walked through. */
#include "keyed.h"

enum { WITHIN = 10000, SLACK = 5000 };

typedef struct entry {
    int64_t ts;
    double price;
} entry;

typedef struct ring {
    entry *entries;
    uint32_t head, tail, mask; /* numbers that only grow; & mask is the place */
} ring;

typedef struct group {
    ring sides[2];
} __attribute__((aligned(64))) group;

typedef struct pair {
    int64_t key, bid_at, ask_at;
    double bid, ask;
} pair;

typedef struct input {
    mapping file;
    const order *orders;
    size_t at, count;
    int64_t highest, watermark;
    uint64_t late;
} input;

typedef struct state {
    table table;
    group *groups;
    size_t capacity;
    input inputs[2];
    output *out;
} state;

static input open_input(const char *path)
{
    mapping file = map_file(path);
    if (file.size % sizeof(order) != 0) fprintf(stderr, "%s ends within a record\n", path);
    return (input){file, (const order *)file.data, 0, file.size / sizeof(order), INT64_MIN, INT64_MIN, 0};
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

static __attribute__((noinline)) void grow_ring(ring *r)
{
    uint32_t room = r->entries == NULL ? 16 : 2 * (r->mask + 1);
    entry *entries = allocate(room * sizeof *entries);
    for (uint32_t i = r->head; i != r->tail; i++) entries[i & (room - 1)] = r->entries[i & r->mask];
    free(r->entries);
    r->entries = entries;
    r->mask = room - 1;
}

static inline void purge(ring *r, int64_t passed)
{
    while (r->head != r->tail && r->entries[r->head & r->mask].ts < passed) r->head++;
}

static inline void keep(ring *r, entry e)
{
    if (UNLIKELY(r->entries == NULL || r->tail - r->head > r->mask)) grow_ring(r);
    uint32_t at = r->tail++;
    for (; at != r->head && r->entries[(at - 1) & r->mask].ts > e.ts; at--)
        r->entries[at & r->mask] = r->entries[(at - 1) & r->mask];
    r->entries[at & r->mask] = e;
}

static inline int64_t minus(int64_t time, int64_t span)
{
    return time < INT64_MIN + span ? INT64_MIN : time - span;
}

static inline int64_t plus(int64_t time, int64_t span)
{
    return time > INT64_MAX - span ? INT64_MAX : time + span;
}

static inline void push(state *s, int side, const order *o)
{
    uint32_t number = group_of(&s->table, o->key);
    if (UNLIKELY(number >= s->capacity)) grow_groups(s);
    ring *own = &s->groups[number].sides[side], *other = &s->groups[number].sides[!side];
    purge(other, minus(s->inputs[side].watermark, WITHIN));
    int64_t first = minus(o->ts, WITHIN), last = plus(o->ts, WITHIN);
    for (uint32_t i = other->head; i != other->tail; i++) {
        entry e = other->entries[i & other->mask];
        if (e.ts > last) break;
        if (e.ts < first) continue;
        pair p = side == 0 ? (pair){o->key, o->ts, e.ts, o->price, e.price}
                           : (pair){o->key, e.ts, o->ts, e.price, o->price};
        memcpy(room(s->out, sizeof p), &p, sizeof p);
        s->out->used += sizeof p;
    }
    purge(own, minus(s->inputs[!side].watermark, WITHIN));
    if (s->inputs[!side].watermark != INT64_MAX) keep(own, (entry){o->ts, o->price});
}

static bool holds_any(void *context, uint32_t number)
{
    state *s = context;
    group *g = &s->groups[number];
    purge(&g->sides[0], minus(s->inputs[1].watermark, WITHIN));
    purge(&g->sides[1], minus(s->inputs[0].watermark, WITHIN));
    return g->sides[0].head != g->sides[0].tail || g->sides[1].head != g->sides[1].tail;
}

static inline void take(state *s, int side)
{
    input *in = &s->inputs[side];
    if (in->at == in->count) {
        in->watermark = INT64_MAX;
        return;
    }
    const order *o = &in->orders[in->at++];
    if (LIKELY(o->ts >= in->watermark)) push(s, side, o);
    else in->late++;
    if (o->ts > in->highest) {
        in->highest = o->ts;
        in->watermark = minus(o->ts, SLACK);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    state s = {.table = new_table(1 << 12), .out = create(argv[3])};
    s.table.live = holds_any;
    s.table.context = &s;
    s.inputs[0] = open_input(argv[1]);
    s.inputs[1] = open_input(argv[2]);
    while (s.inputs[0].watermark != INT64_MAX || s.inputs[1].watermark != INT64_MAX)
        take(&s, s.inputs[1].watermark < s.inputs[0].watermark);
    flush(s.out);
    return 0;
}
