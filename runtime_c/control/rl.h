/* The tables of the learning policy: what it has seen of the load and of its costs, and what follows from that.
 *
 * Threads:   none.
 * Ownership: the caller gives the room (dfrt__learned_doubles) and owns it.
 * Progress:  every call is bounded by workers · levels². No allocation, no I/O, no clock.
 *
 * A state is (workers, level of the load). The next level depends on the present one only, and the next number of workers
 * on the action, so that few numbers have to be learned (003 §6.2.2). The cost of a step is known in part (workers in use,
 * a change) and in part unknown (a missed goal, by the state that the step was in).
 */
#ifndef DFRT_CONTROL_RL_H
#define DFRT_CONTROL_RL_H

#include <stdbool.h>
#include <stddef.h>

enum { DFRT__ACTIONS = 3 }; /* one worker fewer, none, one more */

typedef struct dfrt__learned {
    unsigned workers, levels; /* how many there are; workers are counted from 1 here */
    double discount, rate;    /* of learning */
    double missed_weight, worker_weight, change_weight; /* sum: 1 */
    double *counts;  /* levels²: how often one level followed another */
    double *unknown; /* workers · levels: the unknown cost of a state */
    double *visits;  /* workers · levels */
    double *onward;  /* workers · levels: expected cost from having so many workers on, when the level was so */
    double *value;   /* workers · levels: the cost of the best action */
} dfrt__learned;

size_t dfrt__learned_doubles(unsigned workers, unsigned levels);
void dfrt__learned_lay(dfrt__learned *learned, double *room);

void dfrt__learned_transition(dfrt__learned *learned, unsigned from, unsigned to);
/* A step in this state cost so much that was not known before. More workers or a lower level never cost more. */
void dfrt__learned_cost(dfrt__learned *learned, unsigned workers, unsigned level, double cost);
/* Works out the long-run cost of every state and action once more (full backup). */
void dfrt__learned_backup(dfrt__learned *learned);
/* Long-run cost of going from `workers` to `then` when the level is `level`. */
double dfrt__learned_cost_of(const dfrt__learned *learned, unsigned workers, unsigned then, unsigned level);
double dfrt__learned_seen(const dfrt__learned *learned, unsigned level); /* transitions from this level */
double dfrt__learned_visits(const dfrt__learned *learned, unsigned workers, unsigned level);
/* What the state costs is not seen yet, but a level that so many workers can't carry misses its goal. */
void dfrt__learned_assume(dfrt__learned *learned, unsigned workers, unsigned level);

/* All tables as numbers between spaces; answers the bytes needed, with the zero at the end. `load` changes nothing and
 * answers false unless the text is exactly that. */
size_t dfrt__learned_save(const dfrt__learned *learned, char *text, size_t room);
bool dfrt__learned_load(dfrt__learned *learned, const char *text);

#endif
