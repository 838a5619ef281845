/* csv.dfl by hand: csv INPUT OUTPUT
 *
 * Sixty-four bytes at a time become a mask of commas, quotes and newlines; a row is four marks of it. Rows as the file
 * has nearly all of them (no quotes, plain numbers) are read by the fast path, everything else by the slow one, which
 * knows all of RFC 4180 and says what is wrong. Every row is checked: number of fields, digits, ranges, UTF-8.
 *
 * A window of 10 s is five panes of 2 s; each key has a ring of eight panes. */
#include <dfrt/number.h>
#include <dfrt/utf8.h>
#include <immintrin.h>

#include "limit.h"

enum { FIELDS = 4, SLIDE = 2000, WINDOW = 10000, SLACK = 200, PANES = WINDOW / SLIDE, RING = 8 };
static const char HEADER[] = "ts,key,price,volume";

typedef struct slice {
    const char *data;
    size_t size;
} slice;

typedef struct row {
    int64_t ts, volume;
    slice key;
    double price;
} row;

/* --- keys and panes -------------------------------------------------------------------------------- */

typedef struct pane {
    int64_t n, volume;
    double sum, low, high;
} pane;

typedef struct group {
    slice key;
    uint64_t hash;
    int64_t last; /* the latest pane that holds something */
    pane panes[RING];
} group;

typedef struct slot {
    uint64_t hash;
    group *group; /* NULL is free */
} slot;

typedef struct state {
    slot *slots;
    uint64_t mask;
    group **sorted; /* by key; those from `in_order` on came since the last window */
    size_t groups, in_order, capacity;
    int64_t highest, watermark, next_end; /* next_end: no window before it holds a row */
    uint64_t late, malformed;
    output *out;
} state;

static const pane EMPTY = {0, 0, 0.0, INFINITY, -INFINITY};

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Bytes behind the key may be read (the file is followed by a page of zeros), but do not count. */
static inline uint64_t hash_key(slice key)
{
    uint64_t word = 0, hash = key.size;
    const char *at = key.data;
    size_t left = key.size;
    for (; UNLIKELY(left > 8); left -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = mix(hash ^ word);
    }
    memcpy(&word, at, 8);
    word = left == 0 ? 0 : word << (64 - 8 * left);
    hash ^= word;
    return mix(hash ^ hash >> 32);
}

static inline bool same(slice a, slice b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* Keys whose hashes are equal: of less than eight bytes they are the same then, because nothing was lost. */
static inline bool same_hashed(slice a, slice b)
{
    return LIKELY(a.size < 8 && b.size < 8) || same(a, b);
}

static void place(state *s, group *g)
{
    uint64_t at = g->hash & s->mask;
    while (s->slots[at].group != NULL) at = (at + 1) & s->mask;
    s->slots[at] = (slot){g->hash, g};
}

static void rebuild(state *s, uint64_t slots)
{
    free(s->slots);
    s->slots = allocate_huge(slots * sizeof *s->slots);
    s->mask = slots - 1;
    for (size_t i = 0; i < s->groups; i++) place(s, s->sorted[i]);
}

static __attribute__((noinline)) group *new_group(state *s, slice key, uint64_t hash)
{
    if (s->groups == s->capacity) {
        s->capacity = s->capacity == 0 ? 1024 : 2 * s->capacity;
        s->sorted = realloc(s->sorted, s->capacity * sizeof *s->sorted);
        if (s->sorted == NULL) die("memory");
    }
    if (s->slots == NULL || 2 * (s->groups + 1) > s->mask) rebuild(s, s->slots == NULL ? 4096 : 2 * (s->mask + 1));
    group *g = allocate(sizeof *g);
    char *copy = allocate(key.size + 8);
    memcpy(copy, key.data, key.size);
    *g = (group){.key = {copy, key.size}, .hash = hash, .last = INT64_MIN};
    for (int i = 0; i < RING; i++) g->panes[i] = EMPTY;
    s->sorted[s->groups++] = g;
    place(s, g);
    return g;
}

static inline group *find(state *s, slice key)
{
    uint64_t hash = hash_key(key);
    if (LIKELY(s->slots != NULL))
        for (uint64_t at = hash & s->mask; s->slots[at].group != NULL; at = (at + 1) & s->mask)
            if (s->slots[at].hash == hash && same_hashed(s->slots[at].group->key, key)) return s->slots[at].group;
    return new_group(s, key, hash);
}

/* --- windows --------------------------------------------------------------------------------------- */

static char *put_key(char *at, slice key)
{
    if (memchr(key.data, ',', key.size) == NULL && memchr(key.data, '"', key.size) == NULL &&
        memchr(key.data, '\n', key.size) == NULL && memchr(key.data, '\r', key.size) == NULL) {
        memcpy(at, key.data, key.size);
        return at + key.size;
    }
    *at++ = '"';
    for (size_t i = 0; i < key.size; i++) {
        if (key.data[i] == '"') *at++ = '"';
        *at++ = key.data[i];
    }
    *at++ = '"';
    return at;
}

static void put(state *s, const group *g, int64_t start, const pane *p)
{
    char *begin = room(s->out, 2 * g->key.size + 6 * DFRT_NUMBER_ROOM + 16), *at = put_key(begin, g->key);
    *at++ = ',';
    at += dfrt_format_i64(start, at);
    *at++ = ',';
    at += dfrt_format_i64(p->n, at);
    *at++ = ',';
    at += dfrt_format_i64(p->volume, at);
    *at++ = ',';
    at += dfrt_format_f64(p->sum / (double)p->n, at);
    *at++ = ',';
    at += dfrt_format_f64(p->low <= p->high ? p->low : NAN, at);
    *at++ = ',';
    at += dfrt_format_f64(p->low <= p->high ? p->high : NAN, at);
    *at++ = '\n';
    s->out->used += (size_t)(at - begin);
}

static int by_key(const void *left, const void *right)
{
    const group *a = *(group *const *)left, *b = *(group *const *)right;
    size_t common = a->key.size < b->key.size ? a->key.size : b->key.size;
    int order = memcmp(a->key.data, b->key.data, common);
    return order != 0 ? order : (a->key.size > b->key.size) - (a->key.size < b->key.size);
}

/* All windows that end at `end`; then the oldest of their panes is over. Keys without rows are forgotten. */
static void fire(state *s, int64_t end)
{
    int64_t first = floor_divide(end - WINDOW, SLIDE), latest = INT64_MIN;
    if (s->in_order < s->groups) qsort(s->sorted, s->groups, sizeof *s->sorted, by_key);
    size_t live = 0;
    for (size_t i = 0; i < s->groups; i++) {
        group *g = s->sorted[i];
        pane whole = EMPTY;
        for (int64_t k = first; k < first + PANES; k++) {
            const pane *p = &g->panes[k & (RING - 1)];
            whole.n += p->n;
            whole.volume = (int64_t)((uint64_t)whole.volume + (uint64_t)p->volume);
            whole.sum += p->sum;
            whole.low = p->low < whole.low ? p->low : whole.low;
            whole.high = p->high > whole.high ? p->high : whole.high;
        }
        if (whole.n > 0) put(s, g, end - WINDOW, &whole);
        g->panes[first & (RING - 1)] = EMPTY;
        if (g->last > first) {
            latest = g->last > latest ? g->last : latest;
            s->sorted[live++] = g;
        } else {
            free((char *)g->key.data);
            g->key.data = NULL;
        }
    }
    if (live < s->groups) {
        uint64_t mask = s->mask;
        for (uint64_t at = 0; at <= mask; at++)
            if (s->slots[at].group != NULL && s->slots[at].group->key.data == NULL) free(s->slots[at].group);
        s->groups = live;
        rebuild(s, mask + 1);
    }
    s->in_order = s->groups;
    s->next_end = latest == INT64_MIN ? INT64_MAX : end + SLIDE;
}

/* Panes before the tuple's own are over first: that is what its watermark will do anyway, and keeps the ring short. */
static inline void push(state *s, const row *r)
{
    if (UNLIKELY(r->ts < s->watermark)) {
        s->late++;
        return;
    }
    if (r->ts > s->highest) {
        s->highest = r->ts;
        s->watermark = r->ts < INT64_MIN + SLACK ? INT64_MIN : r->ts - SLACK;
        while (UNLIKELY(s->next_end <= s->watermark)) fire(s, s->next_end);
    }
    int64_t index = floor_divide(r->ts, SLIDE);
    group *g = find(s, r->key);
    pane *p = &g->panes[index & (RING - 1)];
    if (UNLIKELY(p->n == 0)) {
        int64_t end = (index + 1) * SLIDE; /* the first window that holds it */
        s->next_end = end < s->next_end ? end : s->next_end;
        g->last = index > g->last ? index : g->last;
    }
    p->n++;
    p->volume = (int64_t)((uint64_t)p->volume + (uint64_t)r->volume);
    p->sum += r->price;
    p->low = r->price < p->low ? r->price : p->low;
    p->high = r->price > p->high ? r->price : p->high;
}

/* --- rows ------------------------------------------------------------------------------------------ */

typedef struct columns {
    size_t count;          /* of the file */
    size_t at[FIELDS];     /* where ts, key, price and volume stand */
    bool plain;            /* these four and no other, in this order */
    slice *fields;
    char *scratch;
} columns;

static void malformed(state *s, uint64_t line, const char *why)
{
    if (s->malformed++ < 10) fprintf(stderr, "trades: line %llu: %s\n", (unsigned long long)line, why);
}

/* Splits a whole row; NULL, or what is wrong with it. */
static const char *split(const char *data, size_t size, char *scratch, slice *fields, size_t room, size_t *count)
{
    const char *at = data, *end = data + size;
    for (*count = 0;; at++) {
        slice field = {at, 0};
        if (at < end && *at == '"') {
            field.data = scratch;
            for (at++;; at++) {
                if (at == end) return "a quote is never closed";
                if (*at == '"' && (at + 1 == end || at[1] != '"')) break;
                at += *at == '"';
                *scratch++ = *at;
            }
            at++;
            field.size = (size_t)(scratch - field.data);
            if (at < end && *at != ',') return "text after the closing quote of a field";
        } else {
            while (at < end && *at != ',')
                if (*at++ == '"') return "a quote inside an unquoted field";
            field.size = (size_t)(at - field.data);
        }
        if (*count < room) fields[*count] = field;
        ++*count;
        if (at == end) return NULL;
    }
}

static const char *convert(const columns *c, row *r)
{
    slice ts = c->fields[c->at[0]], price = c->fields[c->at[2]], volume = c->fields[c->at[3]];
    r->key = c->fields[c->at[1]];
    if (!dfrt_parse_i64(ts.data, ts.size, &r->ts)) return "ts is no timestamp";
    if (!dfrt_utf8_valid(r->key.data, r->key.size)) return "key is not valid UTF-8";
    if (!dfrt_parse_f64(price.data, price.size, &r->price)) return "price is no number";
    if (!dfrt_parse_i64(volume.data, volume.size, &r->volume)) return "volume is no whole number";
    return NULL;
}

/* A row of any kind, from `at`; answers what comes behind it. */
static __attribute__((noinline)) const char *slow_row(state *s, const columns *c, const char *at, const char *end,
                                                      uint64_t *line)
{
    const char *stop = at;
    uint64_t here = *line, lines = 0;
    for (bool quoted = false, start = true; stop < end && (quoted || *stop != '\n'); stop++) {
        if (*stop == '"' && (quoted || start)) quoted = !quoted, start = true; /* a second one doubles it */
        else if (!quoted) start = *stop == ',';
        lines += *stop == '\n';
    }
    size_t size = (size_t)(stop - at), count;
    *line += lines + 1;
    if (size > 0 && at[size - 1] == '\r') size--;
    if (size > 0) {
        row r;
        const char *wrong = split(at, size, c->scratch, c->fields, c->count, &count);
        if (wrong == NULL && count != c->count) wrong = "another number of fields than the header";
        if (wrong == NULL) wrong = convert(c, &r);
        if (wrong != NULL) malformed(s, here, wrong);
        else push(s, &r);
    }
    return stop < end ? stop + 1 : end;
}

/* A word with `size` digits at its top, 1 to 8 of them, and zeros below; false when one is no digit. */
static inline bool top_digits(uint64_t word, size_t size, uint64_t *out)
{
    uint64_t digits = word - (UINT64_C(0x3030303030303030) << (64 - 8 * size));
    if (((digits | (digits + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080)) != 0) return false;
    digits = digits * 10 + (digits >> 8);
    *out = (((digits & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
            (((digits >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >> 32;
    return true;
}

static inline bool few_digits(const char *at, size_t size, uint64_t *out)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return top_digits(word << (64 - 8 * size), size, out);
}

static inline bool many_digits(const char *at, size_t size, uint64_t *out)
{
    uint64_t high, low;
    if (size - 1 < 8) return few_digits(at, size, out);
    if (size - 9 >= 8) return false;
    if (!few_digits(at, size - 8, &high) || !few_digits(at + size - 8, 8, &low)) return false;
    *out = high * 100000000 + low;
    return true;
}

/* Digits and perhaps a point among them, in at most eight bytes: the point is taken out of the word, and one division
 * rounds correctly. */
static inline bool plain_price(const char *at, size_t size, double *out)
{
    static const double powers[] = {1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    if (UNLIKELY(size - 2 > 6)) return dfrt_parse_f64(at, size, out);
    uint64_t word, value;
    memcpy(&word, at, 8);
    word <<= 64 - 8 * size;
    uint64_t other = word ^ UINT64_C(0x2e2e2e2e2e2e2e2e);
    uint64_t point = (other - UINT64_C(0x0101010101010101)) & ~other & UINT64_C(0x8080808080808080);
    if (UNLIKELY(point == 0)) return dfrt_parse_f64(at, size, out);
    unsigned place = (unsigned)__builtin_ctzll(point) & ~7u;
    uint64_t before = (UINT64_C(1) << place) - 1;
    word = (word & ~(before << 8 | 0xff)) | (word & before) << 8;
    if (UNLIKELY(!top_digits(word, size - 1, &value))) return dfrt_parse_f64(at, size, out);
    *out = (double)(int64_t)value / powers[7 - place / 8];
    return true;
}

static inline bool ascii(const char *at, size_t size)
{
    uint64_t word;
    if (UNLIKELY(size > 8)) return dfrt_utf8_valid(at, size);
    memcpy(&word, at, 8);
    return size == 0 || LIKELY((word << (64 - 8 * size) & UINT64_C(0x8080808080808080)) == 0) ||
           dfrt_utf8_valid(at, size);
}

static inline uint64_t marks_of(const char *at, uint64_t *quotes)
{
#ifdef __AVX512BW__
    __m512i bytes = _mm512_loadu_si512(at);
    *quotes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"'));
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(',')) | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
#else
    uint64_t marks = 0;
    *quotes = 0;
    for (int i = 0; i < 64; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(at + i));
        __m256i hits = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(',')),
                                       _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n')));
        __m256i quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
        marks |= (uint64_t)(uint32_t)_mm256_movemask_epi8(hits) << i;
        *quotes |= (uint64_t)(uint32_t)_mm256_movemask_epi8(quote) << i;
    }
    return marks;
#endif
}

/* One row of at most 64 bytes without quotes; NULL when it is another. */
static inline const char *fast_row(state *s, const char *at, const char *end)
{
    uint64_t quotes, marks = marks_of(at, &quotes);
    unsigned mark[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        if (UNLIKELY(marks == 0)) return NULL;
        mark[i] = (unsigned)__builtin_ctzll(marks);
        marks &= marks - 1;
    }
    const char *stop = at + mark[3];
    if (UNLIKELY(stop >= end || *stop != '\n' || at[mark[0]] != ',' || at[mark[1]] != ',' || at[mark[2]] != ',' ||
                 (quotes & ((UINT64_C(2) << mark[3]) - 1)) != 0))
        return NULL;
    row r;
    uint64_t ts, volume;
    unsigned last = mark[3] - (stop[-1] == '\r');
    r.key = (slice){at + mark[0] + 1, mark[1] - mark[0] - 1};
    if (UNLIKELY(!many_digits(at, mark[0], &ts) || !ascii(r.key.data, r.key.size) ||
                 !plain_price(at + mark[1] + 1, mark[2] - mark[1] - 1, &r.price) ||
                 !many_digits(at + mark[2] + 1, last - mark[2] - 1, &volume)))
        return NULL;
    r.ts = (int64_t)ts;
    r.volume = (int64_t)volume;
    push(s, &r);
    return stop + 1;
}

/* --- the file -------------------------------------------------------------------------------------- */

static const char *read_header(columns *c, const char *at, const char *end)
{
    static const char *const names[FIELDS] = {"ts", "key", "price", "volume"};
    if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    while (at < end && (*at == '\n' || *at == '\r')) at++;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t size = (size_t)((stop == NULL ? end : stop) - at);
    const char *next = at + size + (stop != NULL);
    if (size > 0 && at[size - 1] == '\r') size--;
    c->scratch = malloc((size_t)(end - at) + 1);
    c->fields = calloc(size + 1, sizeof *c->fields);
    if (c->scratch == NULL || c->fields == NULL) die("memory");
    if (split(at, size, c->scratch, c->fields, size + 1, &c->count) != NULL) die("header");
    for (int i = 0; i < FIELDS; i++) {
        size_t column = 0;
        while (column < c->count && !same(c->fields[column], (slice){names[i], strlen(names[i])})) column++;
        if (column == c->count) {
            fprintf(stderr, "no column '%s'\n", names[i]);
            exit(4);
        }
        c->at[i] = column;
    }
    c->plain = size == sizeof HEADER - 1 && memcmp(at, HEADER, size) == 0;
    return next;
}

/* The file with 64 readable bytes behind it. */
static const char *map_padded(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) die(path);
    *size = (size_t)about.st_size;
    char *base = mmap(NULL, *size + 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) die(path);
    if (*size > 0 && mmap(base, *size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) die(path);
    return base;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    size_t size;
    const char *data = map_padded(argv[1], &size), *end = data + size, *mapped = data;
    mapping file = {(const unsigned char *)data, size};
    static const char header[] = "key,start,n,volume,mean,low,high\n";
    columns c;
    state s = {.highest = INT64_MIN, .watermark = INT64_MIN, .next_end = INT64_MAX, .out = create(argv[2])};
    memcpy(room(s.out, sizeof header), header, sizeof header - 1);
    s.out->used += sizeof header - 1;
    const char *at = read_header(&c, data, end);
    for (uint64_t line = 2; at < end;) {
        if (UNLIKELY(at >= mapped)) {
            touch(&file, (size_t)(mapped - data));
            mapped += AHEAD;
        }
        const char *next = c.plain ? fast_row(&s, at, end) : NULL;
        if (UNLIKELY(next == NULL)) next = slow_row(&s, &c, at, end, &line);
        else line++;
        at = next;
    }
    while (s.next_end != INT64_MAX) fire(&s, s.next_end);
    flush(s.out);
    if (s.late > 0) fprintf(stderr, "trades: %llu late\n", (unsigned long long)s.late);
    if (s.malformed > 0) fprintf(stderr, "trades: %llu malformed rows in all\n", (unsigned long long)s.malformed);
    return 0;
}
