#define _GNU_SOURCE
#include "dfrt/calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 256, KEY_SLOTS = 1 << 17, PROBES = 64, TOP = 64, BINS = 64 };

/* One event in so many is timed, and stands for all of them: tuples, and watermarks, of which few release anything, but
 * then the results of a whole window. */
static const unsigned every[2] = {64, 2};

/* Calls, and those that were made inside of them: each has timers of its own, which its caller sees a part of. */
typedef struct sum {
    uint64_t calls, ticks, results, watermarks;
} sum;

/* Calls of one kind, by the logarithm of their length: what lies far out was interrupted. */
typedef struct span {
    sum bins[BINS];
} span;

typedef struct frame {
    uint64_t begin, inside, results, watermarks;
    unsigned step;
    bool pushes;
} frame;

typedef struct key_count {
    uint64_t hash, count;
    unsigned step;
} key_count;

static span spans[DFRT_CALIBRATE_STEPS][2][2]; /* by step, push or watermark, without or with results */
static frame frames[DEPTH];
static unsigned depth, until[2] = {1, 1}, stands_for;
static bool sampling;
static uint64_t chance = UINT64_C(0x9E3779B97F4A7C15);
static key_count keys[KEY_SLOTS];

static uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* can't fail with these arguments */
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
#endif
}

static unsigned next_gap(unsigned mean)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return 1 + (unsigned)(chance % (2 * mean - 1)); /* never in step with the input */
}

void dfrt_calibrate_enter(unsigned step, bool pushes)
{
    unsigned kind = pushes ? 0 : 1;
    if (depth == 0 && --until[kind] == 0) {
        sampling = true;
        stands_for = every[kind];
        until[kind] = next_gap(every[kind]);
    }
    depth++;
    if (sampling && depth < DEPTH) {
        frames[depth] = (frame){.step = step, .pushes = pushes};
        frames[depth].begin = ticks();
    }
}

void dfrt_calibrate_leave(void)
{
    if (sampling && depth < DEPTH) {
        uint64_t took = ticks() - frames[depth].begin;
        const frame *own = &frames[depth];
        span *to = &spans[own->step][own->pushes ? 0 : 1][own->results > 0 ? 1 : 0];
        uint64_t alone = took - own->inside;
        sum *bin = &to->bins[63 - __builtin_clzll(alone | 1)];
        bin->calls += stands_for;
        bin->ticks += stands_for * alone;
        bin->results += stands_for * own->results;
        bin->watermarks += stands_for * own->watermarks;
        frames[depth - 1].inside += took;
        frames[depth - 1].results += own->pushes ? 1 : 0;
        frames[depth - 1].watermarks += own->pushes ? 0 : 1;
    }
    if (--depth == 0) {
        sampling = false;
    }
}

void dfrt_calibrate_key(unsigned step, uint64_t hash)
{
    if (sampling) {
        return; /* counting would be part of what is timed */
    }
    uint64_t at = hash ^ (uint64_t)step * UINT64_C(0x9E3779B97F4A7C15);
    for (unsigned i = 0; i < PROBES; i++, at++) {
        key_count *slot = &keys[at % KEY_SLOTS];
        if (slot->count == 0 || (slot->hash == hash && slot->step == step)) {
            slot->hash = hash;
            slot->step = step;
            slot->count++;
            return;
        }
    }
}

/* --- what it says ----------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* can't fail with these arguments */
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double ticks_per_ns(void)
{
    double from = seconds();
    uint64_t first = ticks();
    while (seconds() - from < 0.02) {
    }
    return (double)(ticks() - first) / ((seconds() - from) * 1e9);
}

/* All calls but those that took more than 64 times the median, if they are rare: another thread had the core. */
static sum undisturbed(const span *all)
{
    uint64_t calls = 0, half = 0, far = 0;
    int median = 0, last = BINS - 1;
    for (int i = 0; i < BINS; i++) {
        calls += all->bins[i].calls;
    }
    while (median < last && (half += all->bins[median].calls) * 2 < calls) {
        median++;
    }
    for (int i = median + 7; i < BINS; i++) {
        far += all->bins[i].calls;
    }
    if (far * 200 < calls) {
        last = median + 6 < last ? median + 6 : last;
    }
    sum found = {0};
    for (int i = 0; i <= last; i++) {
        found.calls += all->bins[i].calls;
        found.ticks += all->bins[i].ticks;
        found.results += all->bins[i].results;
        found.watermarks += all->bins[i].watermarks;
    }
    return found;
}

/* An empty step inside of an empty step: what the inner one sees of its own timing, and what the outer one sees. */
static void timing_cost(double per_ns, double *inside, double *outside)
{
    enum { TIMES = 20000, OUTER = DFRT_CALIBRATE_STEPS - 1, INNER = DFRT_CALIBRATE_STEPS - 2 };
    for (int i = 0; i < TIMES; i++) {
        until[0] = 1;
        dfrt_calibrate_enter(OUTER, true);
        dfrt_calibrate_enter(INNER, true);
        dfrt_calibrate_leave();
        dfrt_calibrate_leave();
    }
    sum inner = undisturbed(&spans[INNER][0][0]);
    sum outer = undisturbed(&spans[OUTER][0][1]);
    *inside = (double)inner.ticks / (double)inner.calls / per_ns;
    *outside = (double)outer.ticks / (double)outer.calls / per_ns - *inside;
}

static int heavier(const void *left, const void *right)
{
    const key_count *a = left;
    const key_count *b = right;
    if (a->step != b->step) {
        return a->step < b->step ? -1 : 1;
    }
    return a->count > b->count ? -1 : a->count < b->count ? 1 : 0;
}

static void write_keys(FILE *out, unsigned step)
{
    uint64_t total = 0, distinct = 0;
    for (unsigned i = 0; i < KEY_SLOTS; i++) {
        if (keys[i].count != 0 && keys[i].step == step) {
            total += keys[i].count;
            distinct++;
        }
    }
    (void)fprintf(out, ",\"keys\":%" PRIu64 ",\"key_tuples\":%" PRIu64 ",\"top\":[", distinct, total);
    unsigned shown = 0;
    for (unsigned i = 0; i < KEY_SLOTS && shown < TOP; i++) {
        if (keys[i].count != 0 && keys[i].step == step) {
            (void)fprintf(out, "%s%" PRIu64, shown++ == 0 ? "" : ",", keys[i].count);
        }
    }
    (void)fprintf(out, "]");
}

static void write_step(FILE *out, unsigned step, double per_ns)
{
    static const char *const kinds[] = {"push", "watermark"};
    (void)fprintf(out, "%s{\"step\":%u", step == 0 ? "" : ",\n", step);
    for (int kind = 0; kind < 2; kind++) {
        for (int with = 0; with < 2; with++) {
            sum one = undisturbed(&spans[step][kind][with]);
            (void)fprintf(out, ",\"%s%s\":{\"calls\":%" PRIu64 ",\"ns\":%.1f,\"results\":%" PRIu64, kinds[kind],
                          with ? "_with_results" : "", one.calls, (double)one.ticks / per_ns, one.results);
            (void)fprintf(out, ",\"watermarks\":%" PRIu64 "}", one.watermarks);
        }
    }
    write_keys(out, step);
    (void)fprintf(out, "}");
}

int dfrt_calibrate_write(unsigned step_count)
{
    const char *path = getenv("DFC_CALIBRATE");
    FILE *out = path == NULL ? NULL : fopen(path, "w");
    if (out == NULL || step_count > DFRT_CALIBRATE_STEPS - 2) {
        (void)fprintf(stderr, "the measurements can't be written\n");
        if (out != NULL) {
            (void)fclose(out);
        }
        return 1;
    }
    double inside = 0, outside = 0, per_ns = ticks_per_ns();
    depth = 0;
    sampling = false;
    timing_cost(per_ns, &inside, &outside);
    qsort(keys, KEY_SLOTS, sizeof *keys, heavier);
    (void)fprintf(out, "{\"inside_ns\":%.2f,\"outside_ns\":%.2f,\"steps\":[\n", inside, outside);
    for (unsigned step = 0; step < step_count; step++) {
        write_step(out, step, per_ns);
    }
    (void)fprintf(out, "]}\n");
    return fclose(out) == 0 ? 0 : 1; /* a full disk shows here at the latest */
}
