/* The three protocols of a change while one parcel is late: who goes on without it, and who waits. The worker that hands over
 * is held up at a gate; what the others do meanwhile is counted. The segments are hand-written. */
#define _GNU_SOURCE
#include <dfrt/elastic.h>
#include <dfrt/hash.h>

#include <pthread.h>

#include "../src/elastic_state.h"
#include "../src/run.h"
#include "../src/threads.h"
#include "check.h"
#include "numbers.h"

/* By worker: the first one hands key MOVES to the second one, STAYS and OTHER remain with the second and the third. */
enum { GIVES, RECEIVES, UNCONCERNED, WORKERS };
enum { MOVES, STAYS, OTHER, KEYS };
enum { ROUNDS = 4 };

static uint64_t hash_of_key[KEYS];
static _Atomic bool gate_is_open, at_the_gate;
static _Atomic unsigned sent; /* rounds that the reader is through with */
static _Atomic unsigned taken[WORKERS][KEYS]; /* tuples that a worker has computed */

/* --- reads, counts by key, looks whether all is right -------------------------------------------------- */

typedef struct counting {
    dfrt_segment_head head;
    uint64_t counts[KEYS];
} counting;

static uint64_t hash_of(const void *element) { return hash_of_key[((const number *)element)->key]; }

static void move_late(void *segment, void *const *to, unsigned count, const dfrt_routing *routing, unsigned self)
{
    counting *own = segment;
    (void)count;
    CHECK(self == GIVES && routing != NULL);
    atomic_store(&at_the_gate, true);
    while (!atomic_load(&gate_is_open)) wait_a_little();
    ((counting *)to[RECEIVES])->counts[MOVES] = own->counts[MOVES];
    own->counts[MOVES] = 0;
}

static void add_counts(void *segment, void *const *to, unsigned count, const dfrt_routing *routing, unsigned self)
{
    if (routing != NULL) {
        move_late(segment, to, count, routing, self);
        return;
    }
    counting *own = segment, *other = to[0]; /* a parcel is taken in */
    for (unsigned key = 0; key < KEYS; key++) {
        other->counts[key] += own->counts[key];
        own->counts[key] = 0;
    }
}

static void count_numbers(void *segment, const dfrt_run *run)
{
    counting *own = segment;
    for (size_t i = 0; i < run->count; i++) {
        number one;
        memcpy(&one, run->elements + i * sizeof one, sizeof one);
        one.count = ++own->counts[one.key];
        own->head.stage->position = run->positions[i];
        own->head.stage->order = run->orders[i];
        dfrt_stage_put(own->head.stage, 1, 0, run->times[i], &one);
        atomic_fetch_add(&taken[own->head.stage->replica][one.key], 1);
    }
}

static void check_numbers(void *segment, const dfrt_run *run)
{
    counting *own = segment;
    for (size_t i = 0; i < run->count; i++) {
        number one;
        memcpy(&one, run->elements + i * sizeof one, sizeof one);
        CHECK(one.count == ++own->counts[one.key]);
    }
}

static void no_watermark(void *segment, int64_t watermark)
{
    (void)segment;
    (void)watermark;
}

static const dfrt_segment segments[] = {
    {"read", "read", sizeof(counting), 0, false, false, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
    {"keyed", "counts", sizeof(counting), 1, true, false, open_nothing, close_nothing, NULL, add_counts, NULL, NULL},
    {"single", "checks", sizeof(counting), 0, false, false, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
};
static const dfrt_edge edges[] = {
    {"numbers", 0, 1, sizeof(number), NULL, count_numbers, no_watermark, hash_of, false},
    {"counts", 1, 2, sizeof(number), NULL, check_numbers, no_watermark, NULL, false},
};
static const dfrt_program program = {
    .name = "late", .segment_count = 3, .edge_count = 2, .segments = segments, .edges = edges};

/* --- the stream ------------------------------------------------------------------------------------------ */

/* A tuple of each key in every round; the change comes behind the first one. */
static void *read_all(void *argument)
{
    dfrt__layout_plan *layout = argument;
    dfrt_stage *first = layout->stages[0];
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (first->position = 0; first->position < KEYS; first->position++) {
            number one = {.key = (uint32_t)first->position};
            first->order++;
            dfrt_stage_put(first, 0, dfrt_stage_route(first, 0, hash_of(&one)), (int64_t)round, &one);
        }
        bool ends = round + 1 == ROUNDS;
        dfrt_round_end end = {.ends_stream = ends,
                              .configuration = ends ? first->configuration : dfrt__elastic_next(layout->elastic)};
        dfrt_stage_end_round(first, &end);
        dfrt__elastic_await(first->configuration);
        atomic_store(&sent, round + 1);
    }
    return NULL;
}

static void ask_for_the_change(dfrt_elastic *elastic, enum dfrt_migration how)
{
    dfrt_error error;
    uint16_t owners[DFRT_SLOTS];
    dfrt_elastic_owners(elastic, 0, owners);
    owners[hash_of_key[MOVES] >> 54] = RECEIVES;
    CHECK(dfrt_elastic_request(elastic, 0, WORKERS, owners, NULL, 0, how, &error) == DFRT_OK);
}

static void await(const _Atomic unsigned *number, unsigned least)
{
    for (unsigned waited = 0; atomic_load(number) < least; waited++) {
        CHECK(waited < 20000); /* it would go on at once */
        wait_a_little();
    }
}

/* Who goes on gets to the end; who does not has a tenth of a second to do what it must not. */
static void while_the_parcel_is_late(enum dfrt_migration how)
{
    bool reads = how != DFRT_S_BLOCKING, receiver_works = how == DFRT_FLUENT;
    await(&taken[GIVES][MOVES], 1);
    await(&taken[RECEIVES][STAYS], 1);
    await(&taken[UNCONCERNED][OTHER], 1);
    while (!atomic_load(&at_the_gate)) wait_a_little();
    if (reads) await(&sent, ROUNDS);
    if (reads) await(&taken[UNCONCERNED][OTHER], ROUNDS);
    if (receiver_works) await(&taken[RECEIVES][STAYS], ROUNDS);
    for (unsigned i = 0; i < 100; i++) wait_a_little();
    CHECK(atomic_load(&sent) == (reads ? ROUNDS : 0));
    CHECK(atomic_load(&taken[UNCONCERNED][OTHER]) == (reads ? ROUNDS : 1));
    CHECK(atomic_load(&taken[RECEIVES][STAYS]) == (receiver_works ? ROUNDS : 1));
    CHECK(atomic_load(&taken[RECEIVES][MOVES]) == 0);
}

static void test_late_parcel(enum dfrt_migration how)
{
    dfrt_error error;
    dfrt_run_state run;
    dfrt__layout_plan layout;
    dfrt__threads threads;
    pthread_t reader;
    atomic_store(&gate_is_open, false);
    atomic_store(&at_the_gate, false);
    atomic_store(&sent, 0);
    memset((void *)taken, 0, sizeof taken);
    CHECK(dfrt__run_open(&run, &program, &error) == DFRT_OK);
    CHECK(dfrt__layout_open(&layout, &program, &run, (dfrt__degrees){WORKERS, WORKERS}, false, &error) == DFRT_OK);
    CHECK(dfrt__threads_start(&threads, &layout, &error) == DFRT_OK);
    ask_for_the_change(layout.elastic, how);
    CHECK(pthread_create(&reader, NULL, read_all, &layout) == 0);
    while_the_parcel_is_late(how);
    CHECK(dfrt_elastic_busy(layout.elastic));
    atomic_store(&gate_is_open, true);
    CHECK(pthread_join(reader, NULL) == 0);
    dfrt__threads_join(&threads);
    const counting *last = layout.stages[layout.first_stage[2]]->segment;
    for (unsigned key = 0; key < KEYS; key++) CHECK(last->counts[key] == ROUNDS);
    CHECK(atomic_load(&taken[RECEIVES][MOVES]) == ROUNDS - 1 && !dfrt_elastic_busy(layout.elastic));
    dfrt__layout_close(&layout);
    dfrt__run_close(&run);
}

int main(void)
{
    for (unsigned key = 0; key < KEYS; key++) hash_of_key[key] = (uint64_t)key << 54; /* slot n begins with worker n */
    test_late_parcel(DFRT_FLUENT);
    test_late_parcel(DFRT_R_BLOCKING);
    test_late_parcel(DFRT_S_BLOCKING);
    return 0;
}
