/* What a running program measures of itself: counters that the stages write and the controller's thread reads.
 *
 * Threads:   a dfrt_watch and a dfrt_stage_monitor are written by the thread that runs their stage and read by any. Numbers
 *            are relaxed atomics with one writer: each stands for itself, and a reader that is a tuple late loses nothing.
 * Ownership: the agent owns them; a stage borrows them while it runs. NULL: nobody watches, and nothing is measured.
 * Progress:  nothing waits. Of the triggers every k-th is timed, k such that the clock costs about a hundredth of what is
 *            timed; memory is fixed, whatever the number of keys.
 */
#ifndef DFRT_MONITOR_H
#define DFRT_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dfrt/key_samples.h"

enum { DFRT_WATCHED_ALTERNATES = 16 };

/* Sampled triggers of one alternate: how many, how many gave a result, their nanoseconds and the squares of those. */
typedef struct dfrt_watched_alternate {
    _Atomic uint64_t samples, results;
    _Atomic double ns, squares;
} dfrt_watched_alternate;

/* One operator in one stage. */
typedef struct dfrt_watch {
    uint32_t left, every; /* of the stage's thread: triggers to the next sample; how far samples are apart */
    uint64_t began_ns, chance;
    double mean_ns;
    struct dfrt_stage_monitor *monitor; /* of the thread that computes; a round may take longer than a control step */
    _Alignas(64) _Atomic uint64_t triggers;
    dfrt_watched_alternate alternates[DFRT_WATCHED_ALTERNATES];
    _Atomic double *slot_ns;       /* by slot: time of sampled triggers, times `every` */
    _Atomic double *slot_triggers; /* by slot: sampled triggers, times `every` */
    dfrt_key_samples *keys;        /* the heaviest ones, in the measure of slot_ns */
} dfrt_watch;

/* The sum over gaps, and over their squares, of things that come in bunches: `count` at once after a gap are taken as
 * evenly spread over it. */
typedef struct dfrt_spacing {
    uint64_t last_ns; /* of the stage's thread; 0: nothing came yet */
    _Atomic uint64_t count;
    _Atomic double ns, squares;
} dfrt_spacing;

typedef struct dfrt_counted {
    _Atomic uint64_t out, faults, late;
} dfrt_counted;

/* One stage. */
typedef struct dfrt_stage_monitor {
    uint64_t since_ns, away_ns; /* of the stage's thread: what of the time since `since_ns` it has waited */
    uint64_t seen_ns;           /* when it last looked at the clock */
    uint64_t asked_ns, computed_ns; /* when it last asked how long it has had a processor, and the answer */
    uint64_t began_ns;          /* when the work on the round at hand began */
    uint64_t round_elements;
    _Alignas(64) _Atomic uint64_t rounds, elements; /* taken in */
    _Atomic uint64_t busy_ns, blocked_ns, idle_ns;
    _Atomic double waited_ns; /* of all elements, from being read to the middle of the service of their round */
    dfrt_spacing arrivals;    /* of tuples, where the stage reads the sources */
    dfrt_spacing results;     /* of results, where it has sinks */
    dfrt_counted *counts;     /* by step of the program, as of the last end of a round */
    /* Where nobody times the triggers, otherwise NULL: */
    _Atomic double *slot_tuples; /* by slot of their key: sampled tuples */
    dfrt_key_samples *keys;   /* the heaviest ones, in the same measure */
    uint32_t key_left, key_every; /* of the stage's thread: tuples to the next sample; how far samples are apart */
    double mean_ns;           /* what a tuple costs */
    uint64_t chance;
    unsigned step_count;
} dfrt_stage_monitor;

/* A single writer needs no read-modify-write. */
static inline void dfrt__watch_bump(_Atomic uint64_t *number, uint64_t by)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline void dfrt__watch_raise(_Atomic double *number, double by)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + by, memory_order_relaxed);
}

/* --- for generated code -------------------------------------------------------------------------------- */

/* Counts a trigger; true when this one is to be timed, between dfrt_watch_begin and dfrt_watch_end. */
static inline bool dfrt_watch_due(dfrt_watch *watch)
{
    dfrt__watch_bump(&watch->triggers, 1);
    return --watch->left == 0;
}

void dfrt_watch_begin(dfrt_watch *watch);
/* `hash`: of the key, 0 without one. `gave`: whether there is a result. */
void dfrt_watch_end(dfrt_watch *watch, unsigned alternate, uint64_t hash, bool gave);

/* --- for the agent ------------------------------------------------------------------------------------- */

/* `monitor`: of the stage whose thread computes. They end the program when there is no memory. */
dfrt_watch *dfrt_watch_open(dfrt_stage_monitor *monitor);
void dfrt_watch_close(dfrt_watch *watch);
dfrt_stage_monitor *dfrt_stage_monitor_open(unsigned step_count);
/* From now on it samples the tuples that come by key. */
void dfrt_stage_monitor_keys(dfrt_stage_monitor *monitor);
void dfrt_stage_monitor_close(dfrt_stage_monitor *monitor);

/* --- for stages, which call them only when they are watched ---------------------------------------------- */

uint64_t dfrt_now_ns(void);
void dfrt_spacing_add(dfrt_spacing *spacing, uint64_t now_ns, uint64_t count);
/* The thread begins to work. A stage of the fused layout that is not the first one has none. */
void dfrt_monitor_start(dfrt_stage_monitor *monitor);
/* It has waited since `began_ns`, for input or for room. */
void dfrt_monitor_idle(dfrt_stage_monitor *monitor, uint64_t began_ns);
void dfrt_monitor_blocked(dfrt_stage_monitor *monitor, uint64_t began_ns);

/* A stage that reads the sources has taken so many tuples, from `read_ns` on. */
void dfrt_monitor_read(dfrt_stage_monitor *monitor, uint64_t tuples, uint64_t read_ns);

#endif
