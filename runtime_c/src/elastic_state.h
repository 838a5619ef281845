/* Configurations: who works and has which keys, from one round on. At any time there are two, the one in force and the
 * one before it, which a change compares it with; when a change is complete nobody looks at the older one any more.
 *
 * Threads:   a configuration is written by whoever requests it, while no other change is under way. The reader takes it
 *            (dfrt__elastic_next) and the batches that end its last old round carry it to all stages that work.
 * Ownership: the layout owns the elastic state, which owns the configurations.
 * Progress:  nothing waits, but dfrt__elastic_await.
 */
#ifndef DFRT_SRC_ELASTIC_STATE_H
#define DFRT_SRC_ELASTIC_STATE_H

#include "dfrt/elastic.h"
#include "layout.h"

typedef struct dfrt__configuration {
    dfrt_routing *routings; /* by segment */
    /* What it changes: */
    const struct dfrt__configuration *before; /* NULL: it is the first one */
    unsigned segment;
    enum dfrt_migration how;
    dfrt_stage **replicas; /* of that segment, `most` of them */
    unsigned most;
    bool *moves; /* [from · most + to]: something goes from one replica to the other */
    /* Stages that have not done their part. Each takes itself away (release), who looks acquires. */
    _Atomic unsigned outstanding;
    dfrt_waiter *reader; /* who may wait for that */
} dfrt__configuration;

struct dfrt_elastic {
    const dfrt__layout_plan *layout;
    unsigned *segments; /* those whose degree can change */
    unsigned count;
    dfrt__configuration configurations[2];
    dfrt__configuration *latest; /* of whoever requests */
    dfrt__configuration *taken; /* of the reader */
    /* Written by whoever requests (release), taken by the reader (acquire). */
    _Atomic(dfrt__configuration *) requested;
};

/* Begins with the degrees that the layout has planned (`active`, by segment). */
dfrt_elastic *dfrt__elastic_open(const dfrt__layout_plan *layout, const unsigned *active);
void dfrt__elastic_close(dfrt_elastic *elastic);

/* For the reader, at the end of a round: the configuration from the next round on. */
dfrt__configuration *dfrt__elastic_next(dfrt_elastic *elastic);
/* For the reader, after that round: a change that must not meet tuples is waited for. */
void dfrt__elastic_await(const dfrt__configuration *configuration);
/* For a stage that has done its part of a change. */
void dfrt__configuration_done(dfrt__configuration *configuration);

#endif
