/* Collecting freely: a slow replica holds up nothing that others have given, a change waits for all links, nothing is lost
 * at the end, and what one key gives stays in order while keys move. The segments are hand-written. */
#define _GNU_SOURCE
#include <dfrt/elastic.h>
#include <dfrt/hash.h>

#include <pthread.h>

#include "../src/elastic_state.h"
#include "../src/run.h"
#include "../src/threads.h"
#include "check.h"
#include "numbers.h"

enum { SLOW, FAST, OTHER, WORKERS }; /* key n begins with worker n */
enum { KEYS = WORKERS, MANY_KEYS = 64, ROUNDS = 8, MANY_ROUNDS = 3000 };

static uint64_t hash_of_key[MANY_KEYS];
static _Atomic bool gate_is_open;
static _Atomic unsigned taken[MANY_KEYS];     /* results that were collected */
static _Atomic unsigned passed, failed_after; /* what came past the workers; how many results the collector bears, 0: all */

/* --- reads, counts by key, collects ---------------------------------------------------------------------- */

typedef struct counting {
    dfrt_segment_head head;
    uint64_t counts[MANY_KEYS];
    uint64_t passed;
} counting;

static uint64_t hash_of(const void *element) { return hash_of_key[((const number *)element)->key]; }

static void move_counts(void *segment, void *const *to, unsigned count, const dfrt_routing *routing, unsigned self)
{
    counting *own = segment;
    (void)count;
    for (unsigned key = 0; key < MANY_KEYS; key++) {
        unsigned owner = routing == NULL ? 0 : dfrt_routing_of(routing, hash_of_key[key]);
        if (own->counts[key] > 0 && (routing == NULL || owner != self)) {
            ((counting *)to[owner])->counts[key] += own->counts[key];
            own->counts[key] = 0;
        }
    }
}

/* The first worker stops before its first tuple until the gate opens. */
static void count_numbers(void *segment, const dfrt_run *run)
{
    counting *own = segment;
    while (own->head.stage->replica == SLOW && !atomic_load(&gate_is_open)) wait_a_little();
    for (size_t i = 0; i < run->count; i++) {
        number one;
        memcpy(&one, run->elements + i * sizeof one, sizeof one);
        one.count = ++own->counts[one.key];
        own->head.stage->position = run->positions[i];
        own->head.stage->order = run->orders[i];
        dfrt_stage_put(own->head.stage, 1, 0, run->times[i], &one);
    }
}

/* As a sink would: nothing comes once the run has failed. */
static void collect(counting *own, unsigned count)
{
    CHECK(!dfrt_run_failed(own->head.stage->run));
    own->head.stage->results += count;
    unsigned bearable = atomic_load(&failed_after);
    if (bearable > 0 && atomic_fetch_sub(&failed_after, 1) == 1) {
        dfrt_error error;
        (void)dfrt_fail(&error, DFRT_IO, "full");
        dfrt_stage_fail(own->head.stage, &error);
    }
}

static void collect_counts(void *segment, const dfrt_run *run)
{
    counting *own = segment;
    collect(own, (unsigned)run->count);
    for (size_t i = 0; i < run->count; i++) {
        number one;
        memcpy(&one, run->elements + i * sizeof one, sizeof one);
        CHECK(one.count == ++own->counts[one.key]); /* each key in order, once */
        atomic_fetch_add(&taken[one.key], 1);
    }
}

static void collect_passed(void *segment, const dfrt_run *run)
{
    counting *own = segment;
    collect(own, (unsigned)run->count);
    for (size_t i = 0; i < run->count; i++) {
        number one;
        memcpy(&one, run->elements + i * sizeof one, sizeof one);
        CHECK(one.count == ++own->passed); /* one link is in order whatever the others do */
        atomic_fetch_add(&passed, 1);
    }
}

static void no_watermark(void *segment, int64_t watermark)
{
    (void)segment;
    (void)watermark;
    CHECK(false); /* nothing that collects freely looks at one, and nobody else gets one here */
}

static const dfrt_segment segments[] = {
    {"read", "read", sizeof(counting), 0, false, false, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
    {"keyed", "counts", sizeof(counting), 1, true, false, open_nothing, close_nothing, NULL, move_counts, NULL, NULL},
    {"single", "collects", sizeof(counting), 0, false, true, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
};
static const dfrt_edge edges[] = {
    {"numbers", 0, 1, sizeof(number), NULL, count_numbers, no_watermark, hash_of, false},
    {"counts", 1, 2, sizeof(number), NULL, collect_counts, no_watermark, NULL, false},
    {"passed", 0, 2, sizeof(number), NULL, collect_passed, no_watermark, NULL, false},
};
static const dfrt_program program = {
    .name = "free", .segment_count = 3, .edge_count = 3, .segments = segments, .edges = edges};

/* --- the stream ------------------------------------------------------------------------------------------ */

typedef struct stream {
    dfrt__layout_plan layout;
    dfrt_run_state run;
    dfrt__threads threads;
    pthread_t reader;
    unsigned rounds, keys;
    bool changes; /* between as many rounds as can be */
} stream;

static void ask(dfrt_elastic *elastic, unsigned workers, const uint16_t *owners, enum dfrt_migration how)
{
    dfrt_error error;
    CHECK(dfrt_elastic_request(elastic, 0, workers, owners, NULL, 0, how, &error) == DFRT_OK);
}

static void ask_for_any_change(dfrt_elastic *elastic, unsigned round)
{
    static const enum dfrt_migration how[] = {DFRT_FLUENT, DFRT_R_BLOCKING, DFRT_S_BLOCKING};
    unsigned workers = 1 + round * 7 % WORKERS;
    uint16_t owners[DFRT_SLOTS];
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) owners[slot] = (uint16_t)((slot * 31 + round) % workers);
    ask(elastic, workers, owners, how[round / 5 % 3]);
}

/* A tuple of each key in every round, and one that goes past the workers, with a watermark that nobody gets to see. */
static void *read_all(void *argument)
{
    stream *all = argument;
    dfrt_stage *first = all->layout.stages[0];
    for (unsigned round = 0; round < all->rounds; round++) {
        for (first->position = 0; first->position < all->keys; first->position++) {
            number one = {.key = first->position};
            first->order++;
            dfrt_stage_put(first, 0, dfrt_stage_route(first, 0, hash_of(&one)), (int64_t)round, &one);
        }
        dfrt_stage_put(first, 2, 0, (int64_t)round, &(number){.count = round + 1});
        dfrt_stage_mark_round(first, 2, (int64_t)round);
        bool ends = round + 1 == all->rounds;
        if (all->changes && !ends && !dfrt_elastic_busy(all->layout.elastic)) {
            ask_for_any_change(all->layout.elastic, round);
        }
        dfrt_round_end end = {.ends_stream = ends, .flush = round % 3 == 0, .read_ns = dfrt_now_ns(),
                              .configuration = dfrt__elastic_next(all->layout.elastic)};
        dfrt_stage_end_round(first, &end);
        dfrt__elastic_await(first->configuration);
    }
    return NULL;
}

static void open_stream(stream *all, unsigned workers, unsigned rounds, unsigned keys)
{
    dfrt_error error;
    all->rounds = rounds;
    all->keys = keys;
    for (unsigned key = 0; key < MANY_KEYS; key++) atomic_store(&taken[key], 0);
    atomic_store(&passed, 0);
    CHECK(dfrt__run_open(&all->run, &program, &error) == DFRT_OK);
    dfrt__degrees degrees = {workers, WORKERS};
    CHECK(dfrt__layout_open(&all->layout, &program, &all->run, degrees, false, &error) == DFRT_OK);
    CHECK(dfrt__threads_start(&all->threads, &all->layout, &error) == DFRT_OK);
}

static void begin_reading(stream *all) { CHECK(pthread_create(&all->reader, NULL, read_all, all) == 0); }

static dfrt_stage *collector(const stream *all) { return all->layout.stages[all->layout.first_stage[2]]; }

static void join_stream(stream *all)
{
    CHECK(pthread_join(all->reader, NULL) == 0);
    dfrt__threads_join(&all->threads);
}

static void close_stream(stream *all)
{
    dfrt__layout_close(&all->layout);
    dfrt__run_close(&all->run);
}

/* Everything has come, and its latency was counted. */
static void check_and_close(stream *all)
{
    join_stream(all);
    for (unsigned key = 0; key < all->keys; key++) CHECK(atomic_load(&taken[key]) == all->rounds);
    CHECK(atomic_load(&passed) == all->rounds);
    CHECK(dfrt_histogram_count(&collector(all)->latency) == (uint64_t)all->rounds * (all->keys + 1));
    CHECK(!dfrt_elastic_busy(all->layout.elastic));
    close_stream(all);
}

static void await(const _Atomic unsigned *number, unsigned least)
{
    for (unsigned waited = 0; atomic_load(number) < least; waited++) {
        CHECK(waited < 20000); /* it would go on at once */
        wait_a_little();
    }
}

/* --- tests ----------------------------------------------------------------------------------------------- */

/* While one worker has not ended its first round, all rounds of the others are delivered. */
static void test_slow_worker(void)
{
    stream all = {0};
    atomic_store(&gate_is_open, false);
    open_stream(&all, WORKERS, ROUNDS, KEYS);
    begin_reading(&all);
    await(&taken[FAST], ROUNDS);
    await(&taken[OTHER], ROUNDS);
    await(&passed, ROUNDS);
    CHECK(atomic_load(&taken[SLOW]) == 0);
    atomic_store(&gate_is_open, true);
    check_and_close(&all);
}

/* A key moves behind the first round. Nobody has state to wait for from the slow worker, and still nothing of later rounds
 * is taken before that one has ended the first: a tenth of a second is enough to do what must not be. */
static void test_change_waits_for_all(void)
{
    stream all = {0};
    uint16_t owners[DFRT_SLOTS];
    atomic_store(&gate_is_open, false);
    open_stream(&all, WORKERS, ROUNDS, KEYS);
    dfrt_elastic_owners(all.layout.elastic, 0, owners);
    owners[hash_of_key[FAST] >> 54] = OTHER;
    ask(all.layout.elastic, WORKERS, owners, DFRT_FLUENT);
    begin_reading(&all);
    await(&taken[FAST], 1);
    await(&taken[OTHER], 1);
    await(&passed, 1);
    for (unsigned i = 0; i < 100; i++) wait_a_little();
    CHECK(atomic_load(&taken[FAST]) == 1 && atomic_load(&taken[OTHER]) == 1 && atomic_load(&passed) == 1);
    CHECK(dfrt_elastic_busy(all.layout.elastic));
    atomic_store(&gate_is_open, true);
    check_and_close(&all);
}

/* Degrees and routes change all the time; each key's results stay in order, and workers that slept are taken in. */
static void test_many_changes(unsigned workers)
{
    stream all = {.changes = true};
    atomic_store(&gate_is_open, true);
    open_stream(&all, workers, MANY_ROUNDS, MANY_KEYS);
    begin_reading(&all);
    check_and_close(&all);
}

static void test_failure(void)
{
    stream all = {0};
    dfrt_error error;
    atomic_store(&gate_is_open, true);
    open_stream(&all, WORKERS, ROUNDS, KEYS);
    atomic_store(&failed_after, 3);
    begin_reading(&all);
    join_stream(&all);
    CHECK(dfrt__run_status(&all.run, &error) == DFRT_IO);
    close_stream(&all);
}

int main(void)
{
    for (unsigned key = 0; key < MANY_KEYS; key++) hash_of_key[key] = (uint64_t)key << 54; /* slot n: worker n % workers */
    test_slow_worker();
    test_change_waits_for_all();
    for (unsigned workers = 1; workers <= WORKERS; workers++) test_many_changes(workers);
    test_failure();
    return 0;
}
