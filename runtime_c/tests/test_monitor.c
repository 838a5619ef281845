#define _GNU_SOURCE
#include <dfrt/monitor.h>

#include <pthread.h>

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

/* Long triggers are timed one by one. */
static void test_long(void)
{
    dfrt_watch *slow = dfrt_watch_open(monitor);
    for (unsigned i = 0; i < 64; i++) {
        if (dfrt_watch_due(slow)) {
            dfrt_watch_begin(slow);
            slow->began_ns -= 1000000; /* as if it had taken a millisecond */
            dfrt_watch_end(slow, 99, 0, true);
        }
    }
    const dfrt_watched_alternate *last = &slow->alternates[DFRT_WATCHED_ALTERNATES - 1];
    CHECK(slow->every == 1 && atomic_load(&last->samples) == 64 - 15);
    CHECK(atomic_load(&last->ns) >= 49 * 1e6);
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

int main(void)
{
    monitor = dfrt_stage_monitor_open(3);
    watch = dfrt_watch_open(monitor);
    test_counters();
    test_long();
    test_spacing();
    dfrt_watch_close(watch);
    dfrt_stage_monitor_close(monitor);
    return 0;
}
