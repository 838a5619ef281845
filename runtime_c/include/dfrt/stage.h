/* A stage is one replica of a segment of the graph, run by one thread: it takes rounds from the stages before
 * it, runs the generated code of its segment, and passes rounds on.
 *
 * Threads:   a stage and its segment belong to the thread that runs it. In the fused layout one thread runs
 *            all stages and elements pass by calls.
 * Ownership: the program owns stages, segments, links and sinks; a stage borrows them while it runs.
 * Progress:  a stage waits only for a batch of a round that has been sent to it, or at the end of a round
 *            for room in the links after it, or for state that a stage which is not further hands over to it, or for
 *            a turn before its own.
 */
#ifndef DFRT_STAGE_H
#define DFRT_STAGE_H

#include "dfrt/channel.h"
#include "dfrt/histogram.h"
#include "dfrt/monitor.h"
#include "dfrt/multicast.h"
#include "dfrt/routing.h"
#include "dfrt/sink.h"

#define DFRT_ROUND_END (UINT32_MAX - 1) /* the position of what happens at the end of a round, in every stage */
#define DFRT_SECOND_INPUT (UINT32_C(1) << 31) /* in an order: results for the second input come after the first's */

typedef struct dfrt_count {
    uint64_t out;
    uint64_t faults;
    uint64_t late;
} dfrt_count;

/* Elements [0, count) of one edge, in order. */
typedef struct dfrt_run {
    const unsigned char *elements;
    const int64_t *times;
    const uint32_t *positions;
    const uint32_t *orders;
    size_t count;
} dfrt_run;

/* An edge of the graph that joins two segments (generated, constant). */
typedef struct dfrt_edge {
    const char *name;
    unsigned from, to;
    size_t element_size;
    /* Which of two elements that one event released in two replicas of `from` comes first, times being equal.
     * NULL: their orders tell. */
    int (*order)(const void *left, const void *right);
    void (*consume)(void *segment, const dfrt_run *run);
    void (*watermark)(void *segment, int64_t watermark);
    uint64_t (*hash)(const void *element); /* of the key that it goes by; NULL when it goes by none */
    bool to_all; /* every replica of `to` gets every element */
} dfrt_edge;

struct dfrt_archive;

/* A segment of the graph (generated, constant). Every segment's struct begins with a dfrt_segment_head. */
typedef struct dfrt_segment {
    const char *name;
    const char *step; /* the first one, by which its degree is asked for */
    size_t size;
    unsigned degree; /* replicas that are planned; 0: it is not replicated */
    bool elastic;    /* their number may change while the program runs */
    bool collects_freely; /* what comes from several replicas is taken as it comes, link by link */
    dfrt_status (*open)(void *segment, dfrt_error *error);
    void (*close)(void *segment);
    void (*end_event)(void *segment); /* NULL when nothing waits for the end of an event */
    /* Between two rounds: the state of keys that `routing` gives to other replicas than `self` goes to their segments
     * among the `count` in `to`; without a routing all of it goes to the first. NULL when there is nothing to move. */
    void (*move)(void *segment, void *const *to, unsigned count, const dfrt_routing *routing, unsigned self);
    /* Between two events: the state as bytes, or bytes as the state of a segment that has none yet. NULL when it never has
     * any, or the program was built without (`identity`). */
    void (*archive)(void *segment, struct dfrt_archive *archive);
    /* Keys that a profile knows to be heavy, at most DFRT_HEAVY_KEYS, by their hashes, with their shares of all tuples;
     * answers how many. NULL: none is known. */
    unsigned (*heavy)(uint64_t *hashes, double *shares);
} dfrt_segment;

/* Where the replicas of one edge's receiving segment are reached. */
typedef struct dfrt_outlet {
    dfrt_sender *senders; /* one a replica, also of those that sleep */
    dfrt_multicast *multicast; /* what goes to all of them; NULL: each element goes to one */
    unsigned most;   /* so many */
    unsigned degree; /* the first so many work */
    int64_t marked;  /* the last watermark that was sent */
    int64_t pending; /* one that is sent at the end of the round */
    const dfrt_routing *routing;
    unsigned turn; /* where stateless work is dealt out one by one: how much was */
} dfrt_outlet;

/* The links of one edge that end in this stage. */
typedef struct dfrt_inlet {
    const dfrt_edge *edge;
    dfrt_receiver *receivers; /* one a replica of edge->from, also of those that sleep */
    int64_t *watermarks;
    unsigned degree; /* the first so many work */
    int64_t watermark; /* the smallest of them, as last told to the segment */
} dfrt_inlet;

typedef struct dfrt_stage {
    const struct dfrt_program *program;
    struct dfrt_run_state *run;
    const dfrt_segment *segment_type;
    void *segment;
    bool fused;
    uint32_t position;     /* of the event at hand in its round */
    uint32_t order;        /* of the element at hand among those of its event: stages that are not replicated
                            * number what they put out, replicas of a keyed one pass the number on */
    uint32_t rounds;       /* that have ended; where links are taken each by itself, of every one */
    unsigned replica, replicas; /* of the segment: this one's number, how many there are */
    dfrt_outlet *outlets;  /* by edge; those of other segments are empty */
    dfrt_inlet *inlets;    /* in the order in which one event's elements are taken */
    unsigned inlet_count;
    dfrt_sink **sinks;     /* by sink of the program; opened by the program */
    uint64_t results;      /* handed to sinks in this round */
    dfrt_histogram latency;
    dfrt_stage_monitor *monitor; /* NULL: nobody watches */
    bool thread_timed;           /* the CPU time of the thread is asked for: */
    uint64_t begin_cpu_ns, wait_cpu_ns, busy_cpu_ns; /* at its begin, in waits, and without those when it has ended */
    struct dfrt__trace *trace; /* of a stage with sinks, when somebody wants to see latency over time; else NULL */
    struct dfrt__configuration *configuration; /* of the round at hand; NULL in the fused layout */
    bool working;                              /* false: this replica sleeps until it is needed */
    struct dfrt__arrival *arrival; /* state that is on its way here while the stage goes on without it, or NULL */
    struct dfrt__later *later; /* what is put off until a turn comes, or NULL */
    _Atomic(struct dfrt__parcel *) parcels; /* other replicas push (release), this stage takes all (acquire) */
    dfrt_waiter waiter;
} dfrt_stage;

/* How every generated segment begins. `counts` has one entry a step of the program. */
typedef struct dfrt_segment_head {
    dfrt_stage *stage;
    dfrt_count *counts;
    void **peers; /* the segments of the fused layout, by number */
    _Atomic unsigned *alternates; /* of the run: which one is active, by operator with alternates */
    dfrt_watch **watches; /* by step; NULL where nobody watches */
} dfrt_segment_head;

/* --- for generated code ----------------------------------------------------------------------------- */

/* Who watches the triggers of an operator of this segment, or NULL. */
static inline dfrt_watch *dfrt_watched(const dfrt_segment_head *head, unsigned step)
{
    return head->watches == NULL ? NULL : head->watches[step];
}

/* There is no way on without memory: says so and ends the program. */
_Noreturn void dfrt_out_of_memory(void);
/* Remembers the first failure of the run and stops the sources. */
void dfrt_stage_fail(dfrt_stage *stage, const dfrt_error *error);

/* The first so many senders pass on what they have; NULL: the round goes on. */
void dfrt_outlet_turn(dfrt_outlet *outlet, unsigned count, const dfrt_round_end *end);

static inline void dfrt_stage_put(dfrt_stage *stage, unsigned edge, unsigned replica, int64_t time,
                                  const void *element)
{
    if (!dfrt_sender_put(&stage->outlets[edge].senders[replica], stage->position, stage->order, time, element)) {
        dfrt_out_of_memory();
    }
}

/* Over an edge that goes to all. */
static inline void dfrt_stage_put_all(dfrt_stage *stage, unsigned edge, int64_t time, const void *element)
{
    dfrt_outlet *outlet = &stage->outlets[edge];
    if (__builtin_expect(dfrt_multicast_is_full(outlet->multicast), 0)) {
        dfrt_outlet_turn(outlet, outlet->degree, NULL);
    }
    dfrt_multicast_put(outlet->multicast, stage->position, stage->order, time, element);
}

/* The replica that keeps the state of a key with this hash. */
static inline unsigned dfrt_stage_route(const dfrt_stage *stage, unsigned edge, uint64_t hash)
{
    return dfrt_routing_of(stage->outlets[edge].routing, hash);
}

/* Stateless work is dealt out in blocks of events, so that neighbours stay together; a round begins with another
 * replica than the one before, or short rounds would all be the first one's. Only the reader deals so. */
static inline unsigned dfrt_stage_deal(const dfrt_stage *stage, unsigned edge)
{
    return ((stage->position >> 6) + stage->rounds) % stage->outlets[edge].degree;
}

/* Who gets the next tuple of stateless work that lies behind other work: one event may release many at once. Their
 * numbers tell their order, so it does not matter who has which. */
static inline unsigned dfrt_stage_turn(dfrt_stage *stage, unsigned edge)
{
    dfrt_outlet *outlet = &stage->outlets[edge];
    return outlet->turn++ % outlet->degree;
}

/* How many replicas take what goes over an edge, and how many could. */
static inline unsigned dfrt_stage_degree(const dfrt_stage *stage, unsigned edge)
{
    return stage->fused ? 1 : stage->outlets[edge].degree;
}

static inline unsigned dfrt_stage_most(const dfrt_stage *stage, unsigned edge)
{
    return stage->fused ? 1 : stage->outlets[edge].most;
}

/* Whether a window, or a batch of them, is this replica's, of replicas that all see all tuples. Windows of
 * many keys may end together: who goes by their time adds the hash of the key, or they would all be one replica's. */
static inline bool dfrt_stage_owns(const dfrt_stage *stage, int64_t window)
{
    return (uint64_t)window % stage->replicas == stage->replica;
}

/* Sends a watermark in order with the elements. */
void dfrt_stage_mark(dfrt_stage *stage, unsigned edge, int64_t watermark);

/* Sends the round's last watermark at its end: enough where nobody can see between which tuples it moved. */
static inline void dfrt_stage_mark_round(dfrt_stage *stage, unsigned edge, int64_t watermark)
{
    stage->outlets[edge].pending = watermark;
}

static inline void dfrt_stage_emit(dfrt_stage *stage, unsigned sink, const void *record)
{
    stage->results++;
    dfrt_sink_write(stage->sinks[sink], record); /* failures show at the next flush */
}

/* Records one after the other. */
static inline void dfrt_stage_emit_many(dfrt_stage *stage, unsigned sink, const void *records, size_t count)
{
    stage->results += count;
    dfrt_sink_write_many(stage->sinks[sink], records, count);
}

/* --- for the program -------------------------------------------------------------------------------- */

/* Runs rounds until the streams before this stage have ended. */
void dfrt_stage_run(dfrt_stage *stage);
/* Ends a round: counts latency, flushes sinks when asked, passes the round on, waits for room. */
void dfrt_stage_end_round(dfrt_stage *stage, const dfrt_round_end *end);

#endif
