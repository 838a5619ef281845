#define _GNU_SOURCE
#include "later.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dfrt/program.h"
#include "dfrt/store.h"
#include "waits.h"

/* Who is so far ahead waits: results would come late, and what is put off takes room. */
enum { MOST_LATER = 32 };

/* The one whose turn it is computes, and nobody wakes us: whoever passes a turn on does not know who has the next one. Who
 * wakes late keeps nobody from working: the others put off as much. */
enum { TURN_YIELDS = 64, NAP_NS = 50000 };

enum later_kind { LATER_TURN, LATER_WATERMARK, LATER_END };

typedef struct dfrt__later_entry {
    enum later_kind kind;
    bool given; /* something, for a turn */
    uint32_t position, order; /* of the event at hand when it was put off */
    union {
        dfrt__turn turn;
        struct {
            const dfrt_edge *edge;
            int64_t watermark;
        };
        dfrt_round_end end;
    };
} later_entry;

/* --- the oldest entry --------------------------------------------------------------------------------- */

/* After a failure of the run nothing is worked on any more, but rounds end. */
static void do_entry(dfrt_stage *stage, const later_entry *it, const unsigned char *given)
{
    bool failed = dfrt_run_failed(stage->run);
    if (it->kind == LATER_END) {
        dfrt_stage_end_round(stage, &it->end);
    } else if (it->kind == LATER_WATERMARK && !failed) {
        it->edge->watermark(stage->segment, it->watermark);
    } else if (!failed) {
        it->turn.work(stage->segment, it->turn.turns, it->turn.time, given);
        dfrt__turn_pass(it->turn.turns);
    }
}

static void do_oldest(dfrt_stage *stage)
{
    struct dfrt__later *later = stage->later;
    uint32_t at = later->first, position = stage->position, order = stage->order;
    later_entry it = later->entries[at];
    stage->position = it.position;
    stage->order = it.order;
    do_entry(stage, &it, it.given ? later->given + at * later->size : NULL);
    later->first = (at + 1) % MOST_LATER;
    later->count--;
    stage->position = position;
    stage->order = order;
}

static bool oldest_is_due(const dfrt_stage *stage)
{
    const later_entry *it = &stage->later->entries[stage->later->first];
    return it->kind != LATER_TURN || dfrt__is_now(it->turn.turns, it->turn.turn) || dfrt_run_failed(stage->run);
}

/* Others get the core; for a while, when this was in vain many times. */
static void let_others(unsigned looks)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    if (looks < TURN_YIELDS) {
        (void)sched_yield();
    } else {
        (void)nanosleep(&nap, NULL); /* an interrupted one only means another look */
    }
}

static void wait_for_oldest(dfrt_stage *stage)
{
    dfrt__wait wait = dfrt__wait_begin(stage);
    for (unsigned looks = 0; !oldest_is_due(stage); looks++) {
        let_others(looks);
    }
    dfrt__wait_end(stage, wait, false);
}

void dfrt__later_pause(dfrt_stage *stage, unsigned looks)
{
    dfrt__wait wait = dfrt__wait_begin(stage);
    let_others(looks);
    dfrt__wait_end(stage, wait, false);
    dfrt__later_catch_up(stage);
}

void dfrt__later_catch_up(dfrt_stage *stage)
{
    while (dfrt__has_later(stage) && oldest_is_due(stage)) {
        do_oldest(stage);
    }
}

void dfrt__later_finish(dfrt_stage *stage)
{
    while (dfrt__has_later(stage)) {
        if (!oldest_is_due(stage)) {
            wait_for_oldest(stage);
        }
        do_oldest(stage);
    }
}

/* --- putting off -------------------------------------------------------------------------------------- */

static struct dfrt__later *make_later(size_t size)
{
    struct dfrt__later *later = dfrt_allocate(sizeof *later);
    later->size = (size + 15) / 16 * 16;
    later->entries = dfrt_allocate(MOST_LATER * sizeof *later->entries);
    later->given = dfrt_allocate(MOST_LATER * later->size);
    return later;
}

/* The place of a new entry. */
static uint32_t put_off(dfrt_stage *stage, later_entry it)
{
    struct dfrt__later *later = stage->later;
    if (later->count == MOST_LATER) {
        wait_for_oldest(stage);
        do_oldest(stage);
    }
    uint32_t at = (later->first + later->count) % MOST_LATER;
    it.position = stage->position;
    it.order = stage->order;
    later->entries[at] = it;
    later->count++;
    return at;
}

void dfrt__later_turn(dfrt_stage *stage, const dfrt__turn *turn, const void *given, size_t size)
{
    if (stage->later == NULL) {
        stage->later = make_later(size);
    }
    uint32_t at = put_off(stage, (later_entry){.kind = LATER_TURN, .given = given != NULL, .turn = *turn});
    if (given != NULL) {
        memcpy(stage->later->given + at * stage->later->size, given, size);
    }
    dfrt__later_catch_up(stage);
}

void dfrt__later_watermark(dfrt_stage *stage, const dfrt_edge *edge, int64_t watermark)
{
    (void)put_off(stage, (later_entry){.kind = LATER_WATERMARK, .edge = edge, .watermark = watermark});
    dfrt__later_catch_up(stage);
}

void dfrt__later_end_round(dfrt_stage *stage, const dfrt_round_end *end)
{
    (void)put_off(stage, (later_entry){.kind = LATER_END, .end = *end});
    dfrt__later_catch_up(stage);
}

void dfrt__later_free(dfrt_stage *stage)
{
    if (stage->later != NULL) {
        free(stage->later->entries);
        free(stage->later->given);
        free(stage->later);
        stage->later = NULL;
    }
}
