#define _GNU_SOURCE
#include "../src/monitor.h"

#include <pthread.h>
#include <time.h>

#include "check.h"

enum { TRIGGERS = 300000 };

static dfrt_stage_monitor *monitor;
static dfrt_watch *watch;
static _Atomic bool done;
static unsigned samples[2];

/* What generated code does, with work that costs next to nothing. */
static void *trigger_many(void *unused)
{
    dfrt_monitor_start(monitor);
    for (unsigned i = 0; i < TRIGGERS; i++) {
        if (dfrt_watch_due(watch)) {
            dfrt_watch_begin(watch);
            dfrt_watch_end(watch, i % 2, (uint64_t)(i % 4) << 54, i % 3 != 0);
            samples[i % 2]++;
        }
        if (i % 1000 == 999) dfrt_monitor_read(monitor, 1000, dfrt_now_ns());
    }
    atomic_store_explicit(&done, true, memory_order_release); /* partner: the acquire in test_counters */
    return unused;
}

/* A reader beside the writer sees numbers that only grow; of many cheap triggers few are timed. */
static void test_counters(void)
{
    pthread_t writer;
    uint64_t before = 0;
    CHECK(pthread_create(&writer, NULL, trigger_many, NULL) == 0);
    while (!atomic_load_explicit(&done, memory_order_acquire)) {
        uint64_t now = atomic_load_explicit(&watch->triggers, memory_order_relaxed);
        CHECK(now >= before && now <= TRIGGERS);
        before = now;
    }
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(atomic_load(&watch->triggers) == TRIGGERS);
    double slots = 0, elsewhere = 0;
    for (unsigned slot = 0; slot < 1024; slot++) *(slot < 4 ? &slots : &elsewhere) += atomic_load(&watch->slot_triggers[slot]);
    CHECK(slots > 0 && elsewhere == 0);
    dfrt_sampled_key key;
    unsigned keys = 0;
    for (unsigned place = 0; place < DFRT_KEY_PLACES; place++) keys += dfrt_key_samples_read(watch->keys, place, &key);
    CHECK(keys == 4 && atomic_load(&watch->keys->samples) == samples[0] + samples[1]);
    for (unsigned a = 0; a < 2; a++) {
        const dfrt_watched_alternate *seen = &watch->alternates[a];
        CHECK(atomic_load(&seen->samples) == samples[a] && atomic_load(&seen->results) <= samples[a]);
        CHECK(atomic_load(&seen->squares) * samples[a] >= atomic_load(&seen->ns) * atomic_load(&seen->ns) * 0.999);
    }
    CHECK(samples[0] > 0 && samples[1] > 0 && samples[0] + samples[1] < TRIGGERS / 4);
    CHECK(atomic_load(&monitor->arrivals.count) == TRIGGERS - 1000); /* the first ones have no gap before them */
}

static uint64_t computed_ns(void)
{
    struct timespec time;
    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void compute_for(uint64_t ns)
{
    for (uint64_t began = computed_ns(); computed_ns() - began < ns;) continue;
}

/* A process that is stopped within the last trigger: what that costs is not how long the stop was, but some times what was
 * measured before, however long that was. */
static void test_stop(uint64_t trigger_ns, unsigned triggers)
{
    dfrt_stage_monitor *own = dfrt_stage_monitor_open(1);
    dfrt_watch *stopped = dfrt_watch_open(own);
    double before = 0, usual = 0, last = 0;
    for (unsigned i = 0; i < triggers; i++) {
        bool timed = dfrt_watch_due(stopped);
        before = atomic_load(&stopped->alternates[0].ns);
        usual = stopped->mean_ns;
        if (timed) dfrt_watch_begin(stopped);
        compute_for(trigger_ns);
        if (timed && i + 1 == triggers) nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        if (timed) dfrt_watch_end(stopped, 0, 0, true);
        last = atomic_load(&stopped->alternates[0].ns) - before;
    }
    double samples = (double)atomic_load(&stopped->alternates[0].samples);
    CHECK(samples >= 64 && before / (samples - 1) > 0.9 * (double)trigger_ns);
    CHECK(last > 0 && last < 200e6 && last <= 8.01 * usual);
    dfrt_watch_close(stopped);
    dfrt_stage_monitor_close(own);
}

/* Operators that wait for something take as long as they take; also when they begin to do so. */
static void test_waiting(void)
{
    dfrt_stage_monitor *own = dfrt_stage_monitor_open(1);
    dfrt_watch *waiting = dfrt_watch_open(own);
    for (unsigned i = 0; i < 260; i++) {
        bool timed = dfrt_watch_due(waiting);
        if (timed) dfrt_watch_begin(waiting);
        if (i < 200) compute_for(20000);
        else nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        if (timed) dfrt_watch_end(waiting, i >= 200, 0, true);
    }
    double mean = atomic_load(&waiting->alternates[1].ns) / (double)atomic_load(&waiting->alternates[1].samples);
    CHECK(atomic_load(&waiting->alternates[1].samples) == 60 && mean > 1.7e6);
    dfrt_watch_close(waiting);
    dfrt_stage_monitor_close(own);
}

/* Long triggers are timed one by one. */
static void test_long(void)
{
    dfrt_watch *slow = dfrt_watch_open(monitor);
    for (unsigned i = 0; i < 64; i++) {
        if (dfrt_watch_due(slow)) {
            dfrt_watch_begin(slow);
            compute_for(1000000);
            dfrt_watch_end(slow, 99, 0, true);
        }
    }
    const dfrt_watched_alternate *last = &slow->alternates[DFRT_WATCHED_ALTERNATES - 1];
    CHECK(slow->every == 1 && atomic_load(&last->samples) == 64 - 15);
    CHECK(atomic_load(&last->ns) >= 49 * 0.9e6);
    dfrt_watch_close(slow);
}

static void test_spacing(void)
{
    dfrt_spacing even = {0}, odd = {0};
    for (uint64_t t = 1; t <= 100; t++) dfrt_spacing_add(&even, t * 1000, 10);
    CHECK(atomic_load(&even.count) == 990 && atomic_load(&even.ns) == 99 * 1000);
    CHECK(atomic_load(&even.squares) == 99 * 1e6 / 10);
    dfrt_spacing_add(&odd, 5000, 1);
    dfrt_spacing_add(&odd, 4000, 3); /* the clock went back: no gap */
    dfrt_spacing_add(&odd, 9000, 0);
    CHECK(atomic_load(&odd.count) == 3 && atomic_load(&odd.ns) == 0);
}

static uint64_t own_hash(const void *element)
{
    return *(const uint64_t *)element << 54;
}

/* Rounds of 500 tuples, as if each tuple had taken so long. */
static void take_rounds(dfrt_stage *stage, unsigned rounds, uint64_t tuple_ns)
{
    static uint64_t elements[500] = {0};
    const dfrt_edge edge = {.element_size = sizeof *elements, .hash = own_hash};
    const dfrt_batch batch = {.count = 500, .elements = (unsigned char *)elements};
    for (unsigned i = 0; i < rounds; i++) {
        dfrt__monitor_take(stage->monitor, &edge, &batch);
        stage->monitor->since_ns = dfrt_now_ns() - 500 * tuple_ns;
        dfrt__monitor_end_round(stage, 0, stage->monitor->began_ns);
    }
}

/* The cheaper a tuple the fewer are looked at; the samples stand for about as many tuples as there were. */
static void test_key_samples_spread(void)
{
    dfrt_count counts[1] = {{0}};
    dfrt_segment_head head = {.counts = counts};
    dfrt_stage stage = {.segment = &head, .monitor = dfrt_stage_monitor_open(1)};
    dfrt_stage_monitor *own = stage.monitor;
    dfrt_stage_monitor_keys(own);
    dfrt_monitor_start(own);
    take_rounds(&stage, 2000, 1000000);
    uint64_t dear = atomic_load(&own->keys->samples);
    CHECK(own->key_every == 128 && dear > 2000 * 500 / 128 * 0.9 && dear < 2000 * 500 / 128 * 1.1);
    take_rounds(&stage, 20000, 0);
    uint64_t cheap = atomic_load(&own->keys->samples) - dear;
    double tuples = atomic_load(&own->slot_tuples[0]);
    CHECK(own->key_every <= 1024 && cheap > 20000 * 500 / 1024 * 0.9 && cheap < 20000 * 500 / 128 / 4);
    CHECK(tuples > 22000 * 500 * 0.9 && tuples < 22000 * 500 * 1.1);
    dfrt_stage_monitor_close(own);
}

int main(void)
{
    monitor = dfrt_stage_monitor_open(3);
    watch = dfrt_watch_open(monitor);
    test_counters();
    test_long();
    test_stop(1000000, 79);
    test_waiting();
    test_spacing();
    test_key_samples_spread();
    dfrt_watch_close(watch);
    dfrt_stage_monitor_close(monitor);
    return 0;
}
