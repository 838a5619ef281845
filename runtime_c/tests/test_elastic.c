/* Degrees, routes and heavy keys change at random while numbers run through: nothing is lost, doubled or out of order, and
 * each key counts on whoever has it. The segments are hand-written. */
#define _GNU_SOURCE
#include <dfrt/elastic.h>
#include <dfrt/hash.h>
#include <dfrt/store.h>

#include <pthread.h>

#include "../src/elastic_state.h"
#include "../src/run.h"
#include "../src/threads.h"
#include "check.h"
#include "numbers.h"

enum { KEYS = 100, MOST = 5, ROUNDS = 3000, MOST_EVENTS = 40 };

/* --- segment 0: sends; segment 1: counts by key; segment 2: looks whether all is right ----------------- */

typedef struct counting {
    dfrt_segment_head head;
    uint64_t counts[KEYS]; /* 0: the key is not here */
    int64_t watermark;
} counting;

typedef struct checking {
    dfrt_segment_head head;
    uint64_t counts[KEYS];
    uint64_t taken;
    int64_t watermark;
} checking;

static uint64_t hash_of(const void *element) { return dfrt_hash_u64(((const number *)element)->key); }

static void move_counts(void *segment, void *const *to, unsigned count, const dfrt_routing *routing, unsigned self)
{
    counting *own = segment;
    for (uint32_t key = 0; key < KEYS; key++) {
        unsigned replica = routing == NULL ? 0 : dfrt_routing_of(routing, dfrt_hash_u64(key));
        if (own->counts[key] > 0 && (routing == NULL || replica != self)) {
            counting *other = to[replica];
            CHECK(other->counts[key] == 0);
            other->counts[key] = own->counts[key];
            own->counts[key] = 0;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (to[i] != NULL) ((counting *)to[i])->watermark = own->watermark;
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
        CHECK(own->watermark <= run->times[i]);
        dfrt_stage_put(own->head.stage, 1, 0, run->times[i], &one);
    }
}

static void pass_watermark(void *segment, int64_t watermark)
{
    counting *own = segment;
    CHECK(watermark >= own->watermark);
    own->watermark = watermark;
    dfrt_stage_mark(own->head.stage, 1, watermark);
}

static void check_numbers(void *segment, const dfrt_run *run)
{
    checking *own = segment;
    for (size_t i = 0; i < run->count; i++) {
        number one;
        memcpy(&one, run->elements + i * sizeof one, sizeof one);
        CHECK(one.count == ++own->counts[one.key]);
        CHECK(run->times[i] == (int64_t)own->taken++); /* in the order in which they were sent */
        CHECK(own->watermark <= run->times[i]);
    }
}

static void check_watermark(void *segment, int64_t watermark) { ((checking *)segment)->watermark = watermark; }

/* Keys 0, 7 and 14, as a profile would know them; the last one is too light for a route of its own. */
static unsigned known_keys(uint64_t *hashes, double *shares)
{
    static const double known[] = {0.3, 0.2, 0.01};
    for (unsigned i = 0; i < 3; i++) {
        hashes[i] = dfrt_hash_u64(i * 7);
        shares[i] = known[i];
    }
    return 3;
}

static const dfrt_segment segments[] = {
    {"read", "read", sizeof(counting), 0, false, false, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
    {"keyed", "counts", sizeof(counting), 1, true, false, open_nothing, close_nothing, NULL, move_counts, NULL, NULL},
    {"single", "checks", sizeof(checking), 0, false, false, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
};
static const dfrt_segment known_segments[] = {
    {"read", "read", sizeof(counting), 0, false, false, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
    {"keyed", "counts", sizeof(counting), 1, true, false, open_nothing, close_nothing, NULL, move_counts, NULL, known_keys},
    {"single", "checks", sizeof(checking), 0, false, false, open_nothing, close_nothing, NULL, NULL, NULL, NULL},
};
static const dfrt_edge edges[] = {
    {"numbers", 0, 1, sizeof(number), NULL, count_numbers, pass_watermark, hash_of, false},
    {"counts", 1, 2, sizeof(number), NULL, check_numbers, check_watermark, NULL, false},
};
static const dfrt_program program = {
    .name = "counts", .segment_count = 3, .edge_count = 2, .segments = segments, .edges = edges};

static const dfrt_program known_program = {
    .name = "known", .segment_count = 3, .edge_count = 2, .segments = known_segments, .edges = edges};

/* --- changes ---------------------------------------------------------------------------------------- */

static uint64_t random_from(uint64_t *state, uint64_t below)
{
    return dfrt_hash_u64(*state += UINT64_C(0x9e3779b97f4a7c15)) % below;
}

static bool ask_for_something(dfrt_elastic *elastic, uint64_t *chance)
{
    dfrt_error error;
    uint16_t owners[DFRT_SLOTS];
    dfrt_heavy_key heavy[4];
    unsigned workers = 1 + (unsigned)random_from(chance, MOST);
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) owners[slot] = (uint16_t)random_from(chance, workers);
    for (unsigned i = 0; i < 4; i++) {
        heavy[i] = (dfrt_heavy_key){dfrt_hash_u64(i * 7), (uint16_t)random_from(chance, workers)};
    }
    dfrt_status status = dfrt_elastic_request(
        elastic, 0, workers, random_from(chance, 2) == 0 ? owners : NULL, heavy, (unsigned)random_from(chance, 5),
        (enum dfrt_migration)random_from(chance, 3), &error);
    CHECK(status == DFRT_OK || status == DFRT_AGAIN);
    return status == DFRT_OK;
}

typedef struct asking {
    dfrt_elastic *elastic;
    _Atomic bool stop;
    unsigned asked;
} asking;

static void *ask_all_the_time(void *argument)
{
    asking *own = argument;
    uint64_t chance = 1;
    while (!atomic_load_explicit(&own->stop, memory_order_relaxed)) {
        own->asked += ask_for_something(own->elastic, &chance);
        (void)sched_yield();
    }
    return NULL;
}

/* --- the stream ------------------------------------------------------------------------------------- */

static uint64_t send_rounds(dfrt__layout_plan *layout, uint64_t *chance)
{
    dfrt_stage *first = layout->stages[0];
    uint64_t sent = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t events = random_from(chance, MOST_EVENTS);
        for (first->position = 0; first->position < events; first->position++) {
            number one = {.key = (uint32_t)(random_from(chance, KEYS) * random_from(chance, KEYS) / KEYS)};
            first->order++;
            dfrt_stage_put(first, 0, dfrt_stage_route(first, 0, hash_of(&one)), (int64_t)sent++, &one);
            if (random_from(chance, 5) == 0) dfrt_stage_mark(first, 0, (int64_t)sent - 1);
        }
        bool ends = round + 1 == ROUNDS;
        dfrt_round_end end = {.ends_stream = ends,
                              .configuration = ends ? first->configuration : dfrt__elastic_next(layout->elastic)};
        dfrt_stage_end_round(first, &end);
        dfrt__elastic_await(first->configuration);
    }
    return sent;
}

static void test_changes_while_numbers_run(uint64_t chance)
{
    dfrt_error error;
    dfrt_run_state run;
    dfrt__layout_plan layout;
    dfrt__threads threads;
    CHECK(dfrt__run_open(&run, &program, &error) == DFRT_OK);
    dfrt__degrees degrees = {.workers = 1 + (unsigned)(chance % MOST), .most = MOST};
    CHECK(dfrt__layout_open(&layout, &program, &run, degrees, false, &error) == DFRT_OK);
    CHECK(dfrt__threads_start(&threads, &layout, &error) == DFRT_OK);
    asking asks = {.elastic = layout.elastic};
    pthread_t controller;
    CHECK(pthread_create(&controller, NULL, ask_all_the_time, &asks) == 0);
    uint64_t sent = send_rounds(&layout, &chance);
    atomic_store_explicit(&asks.stop, true, memory_order_relaxed);
    CHECK(pthread_join(controller, NULL) == 0);
    dfrt__threads_join(&threads);
    const checking *last = layout.stages[layout.first_stage[2]]->segment;
    CHECK(last->taken == sent && asks.asked > 0);
    dfrt__layout_close(&layout);
    dfrt__run_close(&run);
}

/* --- requests --------------------------------------------------------------------------------------- */

static unsigned moved_slots(const uint16_t *before, const uint16_t *after)
{
    unsigned count = 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) count += before[slot] != after[slot];
    return count;
}

/* Without routes of its own a change moves as few slots as evenness needs; before it is complete none other is taken. */
static void test_requests(void)
{
    dfrt_error error;
    dfrt_run_state run;
    dfrt__layout_plan layout;
    CHECK(dfrt__run_open(&run, &program, &error) == DFRT_OK);
    CHECK(dfrt__layout_open(&layout, &program, &run, (dfrt__degrees){4, MOST}, false, &error) == DFRT_OK);
    dfrt_elastic *elastic = layout.elastic;
    CHECK(dfrt_elastic_count(elastic) == 1);
    dfrt_elastic_info info = dfrt_elastic_at(elastic, 0);
    CHECK_TEXT(info.name, "counts");
    CHECK(info.segment == 1 && info.most == MOST && info.workers == 4 && info.keyed && !dfrt_elastic_busy(elastic));
    uint16_t before[DFRT_SLOTS], after[DFRT_SLOTS], wrong[DFRT_SLOTS] = {[77] = 5};
    dfrt_heavy_key heavy = {.hash = 1, .replica = 5};
    CHECK(dfrt_elastic_request(elastic, 0, 6, NULL, NULL, 0, DFRT_FLUENT, &error) == DFRT_USAGE);
    CHECK_TEXT(error.text, "counts can have 1 to 5 workers, not 6");
    CHECK(dfrt_elastic_request(elastic, 0, 5, wrong, NULL, 0, DFRT_FLUENT, &error) == DFRT_USAGE);
    CHECK(dfrt_elastic_request(elastic, 0, 5, NULL, &heavy, 1, DFRT_FLUENT, &error) == DFRT_USAGE);
    CHECK(dfrt_elastic_request(elastic, 0, 5, NULL, &heavy, DFRT_HEAVY_KEYS + 1, DFRT_FLUENT, &error) == DFRT_USAGE);
    dfrt_elastic_owners(elastic, 0, before);
    CHECK(dfrt_elastic_request(elastic, 0, 5, NULL, NULL, 0, DFRT_FLUENT, &error) == DFRT_OK);
    dfrt_elastic_owners(elastic, 0, after);
    CHECK(moved_slots(before, after) == DFRT_SLOTS / 5 && dfrt_elastic_busy(elastic));
    CHECK(dfrt_elastic_request(elastic, 0, 4, NULL, NULL, 0, DFRT_FLUENT, &error) == DFRT_AGAIN);
    CHECK(dfrt_elastic_at(elastic, 0).workers == 5);
    dfrt__layout_close(&layout);
    dfrt__run_close(&run);
}

static void test_heavy_keys(void)
{
    dfrt_routing routing = {.active = 3, .heavy_count = 1, .heavy = {{UINT64_C(5) << 54, 2}}};
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) routing.routes[slot] = slot % 2;
    routing.routes[5] |= DFRT_HEAVY_SLOT;
    CHECK(dfrt_routing_of(&routing, UINT64_C(5) << 54) == 2);
    CHECK(dfrt_routing_of(&routing, (UINT64_C(5) << 54) + 1) == 1);
    CHECK(dfrt_routing_of(&routing, UINT64_C(6) << 54) == 0);
}

/* With 4 workers a fair share is a quarter: 0.3 is one's whole work, and the slots make up for 0.2. */
static void test_known_keys(unsigned workers, unsigned apart)
{
    dfrt_error error;
    dfrt_run_state run;
    dfrt__layout_plan layout;
    dfrt_heavy_key heavy[DFRT_HEAVY_KEYS];
    uint16_t routes[DFRT_SLOTS];
    unsigned slots[MOST] = {0};
    CHECK(dfrt__run_open(&run, &known_program, &error) == DFRT_OK);
    dfrt__degrees degrees = {.workers = workers, .most = MOST};
    CHECK(dfrt__layout_open(&layout, &known_program, &run, degrees, false, &error) == DFRT_OK);
    CHECK(dfrt_elastic_heavy(layout.elastic, 0, heavy) == apart);
    dfrt_elastic_owners(layout.elastic, 0, routes);
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) slots[routes[slot]]++;
    for (unsigned worker = workers; worker < MOST; worker++) CHECK(slots[worker] == 0);
    if (apart == 2) {
        CHECK(heavy[0].hash == dfrt_hash_u64(0) && heavy[1].hash == dfrt_hash_u64(7));
        CHECK(heavy[0].replica != heavy[1].replica);
        CHECK(slots[heavy[0].replica] < slots[heavy[1].replica] && slots[heavy[1].replica] < DFRT_SLOTS / workers);
    }
    dfrt__layout_close(&layout);
    dfrt__run_close(&run);
}

int main(void)
{
    test_known_keys(1, 0);
    test_known_keys(4, 2);
    test_heavy_keys();
    test_requests();
    for (uint64_t chance = 1; chance <= 4; chance++) test_changes_while_numbers_run(chance);
    return 0;
}
