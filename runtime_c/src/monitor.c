#define _GNU_SOURCE
#include "monitor.h"

#include <stdlib.h>
#include <time.h>

#include "dfrt/store.h"

/* What a sample costs, about: two looks at the clock and the sums. */
static const double SAMPLE_NS = 80, SHARE = 0.01;
enum { EVERY_MOST = 4096, FIRST_EVERY = 16, MEAN_OVER = 8 };
/* What looking at a key costs, about; far more tuples come when each costs next to nothing. */
static const double KEY_NS = 80, KEY_SHARE = 0.005;
enum { KEY_EVERY_LEAST = 128, KEY_EVERY_MOST = 1024 };
/* How often a thread asks for how long it has had a processor, which costs some hundred nanoseconds: shorter stops are not
 * told from work. And from how many times the mean on what was not computed is a stop: operators may wait, too. */
static const uint64_t STOPS_FROM_NS = 1000000;
static const double STOPS_FROM_MEANS = 8;
static const uint64_t FIRST_CHANCE = UINT64_C(0x9E3779B97F4A7C15);

/* --- triggers ----------------------------------------------------------------------------------------- */

/* Samples are `every` apart in the mean, but never in step with the input. */
static uint32_t next_gap(uint64_t *chance, uint32_t every)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return 1 + (uint32_t)(*chance % (2 * (uint64_t)every - 1));
}

void dfrt_watch_begin(dfrt_watch *watch)
{
    watch->began_ns = dfrt_now_ns();
}

static void count_sample(dfrt_watch *watch, unsigned alternate, uint64_t hash, bool gave, double ns)
{
    dfrt_watched_alternate *seen =
        &watch->alternates[alternate < DFRT_WATCHED_ALTERNATES ? alternate : DFRT_WATCHED_ALTERNATES - 1];
    dfrt__watch_bump(&seen->samples, 1);
    dfrt__watch_bump(&seen->results, gave ? 1 : 0);
    dfrt__watch_raise(&seen->ns, ns);
    dfrt__watch_raise(&seen->squares, ns * ns);
    dfrt__watch_raise(&watch->slot_ns[hash >> 54], ns * watch->every);
    dfrt__watch_raise(&watch->slot_triggers[hash >> 54], watch->every);
    dfrt_key_samples_add(watch->keys, hash, ns * watch->every);
}

/* How long the thread has worked since this was called last. */
static uint64_t publish_busy(dfrt_stage_monitor *monitor, uint64_t now_ns)
{
    if (monitor->since_ns == 0 || now_ns <= monitor->since_ns) {
        return 0;
    }
    uint64_t passed = now_ns - monitor->since_ns;
    uint64_t busy = passed > monitor->away_ns ? passed - monitor->away_ns : 0;
    dfrt__watch_bump(&monitor->busy_ns, busy);
    monitor->since_ns = now_ns;
    monitor->away_ns = 0;
    return busy;
}

static uint64_t processor_ns(void)
{
    struct timespec time;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0
               ? (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec
               : 0;
}

/* A process that was stopped, or had to leave its core to others for long, says nothing about what a trigger costs: what it can't
 * have computed counts up to some times the mean. Whatever is longer than STOPS_FROM_NS comes here with a question that is
 * due. */
static double without_stops(const dfrt_watch *watch, uint64_t now_ns, double ns)
{
    dfrt_stage_monitor *monitor = watch->monitor;
    if (now_ns - monitor->asked_ns < STOPS_FROM_NS) {
        return ns;
    }
    uint64_t before = monitor->computed_ns, now = processor_ns();
    bool known = monitor->asked_ns > 0 && now > before && watch->mean_ns > 0;
    double computed = (double)(now - before), believed = STOPS_FROM_MEANS * watch->mean_ns;
    believed = computed > believed ? computed : believed;
    monitor->asked_ns = now_ns;
    monitor->computed_ns = now;
    return known && ns > believed ? believed : ns;
}

void dfrt_watch_end(dfrt_watch *watch, unsigned alternate, uint64_t hash, bool gave)
{
    uint64_t now_ns = dfrt_now_ns();
    double ns = without_stops(watch, now_ns, (double)(now_ns - watch->began_ns));
    count_sample(watch, alternate, hash, gave, ns);
    watch->mean_ns += watch->mean_ns == 0 ? ns : (ns - watch->mean_ns) / MEAN_OVER;
    double every = SAMPLE_NS / SHARE / (watch->mean_ns > 1 ? watch->mean_ns : 1);
    watch->every = every < 1 ? 1 : every > EVERY_MOST ? EVERY_MOST : (uint32_t)every;
    watch->left = next_gap(&watch->chance, watch->every);
    (void)publish_busy(watch->monitor, now_ns);
}

dfrt_watch *dfrt_watch_open(dfrt_stage_monitor *monitor)
{
    dfrt_watch *watch = dfrt__allocate_lines(sizeof *watch);
    watch->left = watch->every = FIRST_EVERY;
    watch->chance = FIRST_CHANCE;
    watch->monitor = monitor;
    watch->slot_ns = dfrt__allocate_lines(DFRT_SLOTS * sizeof *watch->slot_ns);
    watch->slot_triggers = dfrt__allocate_lines(DFRT_SLOTS * sizeof *watch->slot_triggers);
    watch->keys = dfrt__allocate_lines(sizeof *watch->keys);
    return watch;
}

void dfrt_watch_close(dfrt_watch *watch)
{
    if (watch != NULL) {
        free((void *)watch->slot_ns);
        free((void *)watch->slot_triggers);
        free(watch->keys);
        free(watch);
    }
}

/* --- stages ------------------------------------------------------------------------------------------- */

void *dfrt__allocate_lines(size_t size)
{
    size_t whole = (size + 63) / 64 * 64;
    void *room = aligned_alloc(64, whole);
    if (room == NULL) {
        dfrt_out_of_memory();
    }
    return memset(room, 0, whole);
}

dfrt_stage_monitor *dfrt_stage_monitor_open(unsigned step_count)
{
    dfrt_stage_monitor *monitor = dfrt__allocate_lines(sizeof *monitor);
    monitor->counts = dfrt__allocate_lines((step_count + 1u) * sizeof *monitor->counts);
    monitor->key_left = monitor->key_every = KEY_EVERY_LEAST;
    monitor->chance = FIRST_CHANCE;
    monitor->step_count = step_count;
    return monitor;
}

void dfrt_stage_monitor_keys(dfrt_stage_monitor *monitor)
{
    monitor->slot_tuples = dfrt__allocate_lines(DFRT_SLOTS * sizeof *monitor->slot_tuples);
    monitor->keys = dfrt__allocate_lines(sizeof *monitor->keys);
}

void dfrt_stage_monitor_close(dfrt_stage_monitor *monitor)
{
    if (monitor != NULL) {
        free(monitor->counts);
        free((void *)monitor->slot_tuples);
        free(monitor->keys);
        free(monitor);
    }
}

void dfrt_spacing_add(dfrt_spacing *spacing, uint64_t now_ns, uint64_t count)
{
    if (count == 0) {
        return;
    }
    if (spacing->last_ns != 0) {
        double gap = now_ns > spacing->last_ns ? (double)(now_ns - spacing->last_ns) : 0;
        dfrt__watch_bump(&spacing->count, count);
        dfrt__watch_raise(&spacing->ns, gap);
        dfrt__watch_raise(&spacing->squares, gap * gap / (double)count);
    }
    spacing->last_ns = now_ns;
}

void dfrt_monitor_start(dfrt_stage_monitor *monitor)
{
    monitor->since_ns = monitor->seen_ns = dfrt_now_ns();
}

static void leave(dfrt_stage_monitor *monitor, _Atomic uint64_t *total, uint64_t began_ns)
{
    monitor->seen_ns = dfrt_now_ns();
    uint64_t away = monitor->seen_ns - began_ns;
    dfrt__watch_bump(total, away);
    monitor->away_ns += away;
}

void dfrt_monitor_idle(dfrt_stage_monitor *monitor, uint64_t began_ns)
{
    leave(monitor, &monitor->idle_ns, began_ns);
}

void dfrt_monitor_blocked(dfrt_stage_monitor *monitor, uint64_t began_ns)
{
    leave(monitor, &monitor->blocked_ns, began_ns);
}

static void sample_keys(dfrt_stage_monitor *monitor, const dfrt_edge *edge, const dfrt_batch *batch)
{
    size_t at = monitor->key_left;
    for (; at <= batch->count; at += next_gap(&monitor->chance, monitor->key_every)) {
        uint64_t hash = edge->hash(batch->elements + (at - 1) * edge->element_size);
        dfrt__watch_raise(&monitor->slot_tuples[hash >> 54], monitor->key_every);
        dfrt_key_samples_add(monitor->keys, hash, monitor->key_every);
    }
    monitor->key_left = (uint32_t)(at - batch->count);
}

/* A round in which the thread was interrupted says little about what a tuple costs. */
static void space_samples(dfrt_stage_monitor *monitor, uint64_t busy_ns, uint64_t elements)
{
    double ns = (double)busy_ns / (double)elements, mean = monitor->mean_ns;
    monitor->mean_ns += mean == 0 ? ns : ((ns < 2 * mean ? ns : 2 * mean) - mean) / MEAN_OVER;
    double every = KEY_NS / KEY_SHARE / (monitor->mean_ns > 1 ? monitor->mean_ns : 1);
    monitor->key_every = every < KEY_EVERY_LEAST ? KEY_EVERY_LEAST
                                                 : every > KEY_EVERY_MOST ? KEY_EVERY_MOST : (uint32_t)every;
}

/* The work on a round begins when the one before it has ended or the wait for it is over: both have looked at the clock. */
void dfrt__monitor_take(dfrt_stage_monitor *monitor, const dfrt_edge *edge, const dfrt_batch *batch)
{
    if (monitor->round_elements == 0) {
        monitor->began_ns = monitor->seen_ns;
    }
    monitor->round_elements += batch->count;
    if (edge->hash != NULL && monitor->keys != NULL) {
        sample_keys(monitor, edge, batch);
    }
}

void dfrt_monitor_read(dfrt_stage_monitor *monitor, uint64_t tuples, uint64_t read_ns)
{
    dfrt_spacing_add(&monitor->arrivals, read_ns, tuples);
    if (tuples > 0) {
        monitor->round_elements = tuples;
        monitor->began_ns = read_ns;
    }
}

static void publish_round(dfrt_stage_monitor *monitor, uint64_t now_ns, uint64_t read_ns)
{
    double service = (double)(now_ns - monitor->began_ns);
    double before = monitor->began_ns > read_ns ? (double)(monitor->began_ns - read_ns) : 0;
    dfrt__watch_raise(&monitor->waited_ns, (before + service / 2) * (double)monitor->round_elements);
    dfrt__watch_bump(&monitor->elements, monitor->round_elements);
    monitor->round_elements = 0;
}

void dfrt__monitor_end_round(dfrt_stage *stage, uint64_t results, uint64_t read_ns)
{
    dfrt_stage_monitor *monitor = stage->monitor;
    const dfrt_count *counts = ((dfrt_segment_head *)stage->segment)->counts;
    uint64_t now_ns = monitor->seen_ns = dfrt_now_ns();
    uint64_t busy_ns = publish_busy(monitor, now_ns);
    for (unsigned s = 0; s < monitor->step_count; s++) {
        atomic_store_explicit(&monitor->counts[s].out, counts[s].out, memory_order_relaxed);
        atomic_store_explicit(&monitor->counts[s].faults, counts[s].faults, memory_order_relaxed);
        atomic_store_explicit(&monitor->counts[s].late, counts[s].late, memory_order_relaxed);
    }
    dfrt_spacing_add(&monitor->results, now_ns, results);
    if (monitor->round_elements > 0) {
        space_samples(monitor, busy_ns, monitor->round_elements);
        publish_round(monitor, now_ns, read_ns);
    }
    dfrt__watch_bump(&monitor->rounds, 1);
}
