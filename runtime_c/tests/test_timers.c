/* Timers against a model that looks at every group: whatever the watermark and the groups do, each group's time comes
 * when the watermark has reached it, the earliest first, equal times by key. */
#define _GNU_SOURCE
#include <dfrt/timers.h>

#include "check.h"

enum { GROUPS = 300 };

static uint64_t state = 1;

static uint32_t below(uint32_t limit) /* SplitMix64: the same numbers on every machine */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % limit;
}

static int keys[GROUPS];
static int64_t ends[GROUPS];  /* INT64_MAX: the group waits for nothing */
static int64_t times[GROUPS]; /* of its timer */

static int by_key(const void *context, uint32_t left, uint32_t right)
{
    (void)context;
    return keys[left] < keys[right] ? -1 : keys[left] > keys[right];
}

static void set(dfrt_timers *timers, uint32_t group)
{
    if (ends[group] >= times[group]) return;
    times[group] = ends[group];
    dfrt_timers_put(timers, (dfrt_timer){ends[group], group}, by_key, NULL);
}

static int earliest(void)
{
    int first = -1;
    for (int i = 0; i < GROUPS; i++) {
        bool better = first < 0 || ends[i] < ends[first] || (ends[i] == ends[first] && keys[i] < keys[first]);
        if (ends[i] != INT64_MAX && better) first = i;
    }
    return first;
}

static void look_through(dfrt_timers *timers)
{
    for (uint32_t i = 0; i < timers->due.count; i++) {
        dfrt_timer timer = timers->due.timers[i];
        if (timer.time != times[timer.group]) continue;
        times[timer.group] = INT64_MAX;
        set(timers, timer.group);
    }
}

static void advance(dfrt_timers *timers, int64_t watermark)
{
    while (dfrt_timers_turn(timers, watermark)) look_through(timers);
    while (dfrt_timers_ripe(timers, watermark)) {
        dfrt_timer timer = dfrt_timers_pop(timers, by_key, NULL);
        if (timer.time != times[timer.group]) continue;
        times[timer.group] = INT64_MAX;
        if (ends[timer.group] <= timer.time) {
            int expected = earliest();
            CHECK(expected >= 0 && timer.time == ends[expected] && timer.group == (uint32_t)expected);
            ends[timer.group] = INT64_MAX;
        } else {
            set(timers, timer.group);
        }
    }
    int left = earliest();
    CHECK(left < 0 || ends[left] > watermark);
}

/* Ends lie up to `spread` after the watermark; now and then it jumps by `jump`. */
static void run(int64_t span, int64_t start, uint32_t spread, uint32_t jump)
{
    dfrt_timers timers;
    dfrt_timers_open(&timers, span);
    for (int i = 0; i < GROUPS; i++) ends[i] = times[i] = INT64_MAX;
    int64_t watermark = start;
    for (int i = 0; i < 20000; i++) {
        uint32_t group = below(GROUPS);
        int64_t end = watermark + 1 + below(spread);
        bool longer = ends[group] != INT64_MAX && below(4) > 0;
        ends[group] = longer && ends[group] > end ? ends[group] + below(spread) : end;
        set(&timers, group);
        if (below(3) == 0) {
            watermark += below(50) == 0 ? below(jump) : below(8);
            advance(&timers, watermark);
        }
    }
    advance(&timers, INT64_MAX);
    CHECK(earliest() < 0);
    dfrt_timers_close(&timers);
}

/* The ends of the time axis. */
static void test_limits(void)
{
    for (int64_t span = 1; span < INT64_MAX / 1000; span *= 1000) {
        static const int64_t at[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1};
        dfrt_timers timers;
        dfrt_timers_open(&timers, span);
        for (int i = 0; i < GROUPS; i++) ends[i] = times[i] = INT64_MAX;
        for (uint32_t i = 0; i < sizeof at / sizeof *at; i++) {
            ends[i] = at[i];
            set(&timers, i);
        }
        for (uint32_t i = 0; i < sizeof at / sizeof *at; i++) advance(&timers, at[i]);
        CHECK(earliest() < 0);
        dfrt_timers_close(&timers);
    }
}

int main(void)
{
    for (int i = 0; i < GROUPS; i++) keys[i] = (i * 37) % GROUPS;
    run(1, -100, 3, 10);
    run(1, -100, 1000, 10000);
    run(300, -5000, 320, 20);
    run(300, INT64_C(1700000000000000), 320, 5000);
    run(1000000, INT64_MIN + 1, 2000, 10000);
    run(16, 0, 100000, 1000);
    run(300, INT64_MAX - 10000000, 300, 100);
    test_limits();
    return 0;
}
