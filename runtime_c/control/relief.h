/* What is left when a policy has all workers and the highest frequency and it is not enough: a cheaper alternate, then
 * shedding where the program allows it; and the way back when the better alternate would keep the goals again.
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  bounded by workers times alternates. No allocation, no I/O, no clock.
 *
 * Policies choose workers and frequency; this works with each of them that leaves alternates alone.
 */
#ifndef DFRT_CONTROL_RELIEF_H
#define DFRT_CONTROL_RELIEF_H

#include "capacity.h"

typedef struct dfrt__relief {
    dfrt__costs costs;   /* the controller notes them */
    double failed[DFRT_MOST_ALTERNATES]; /* the rate at which it was given up, which fades; INFINITY: never */
    unsigned short_for;  /* steps in a row in which the limits were not enough */
    unsigned room_for;   /* steps in a row in which a better alternate would have fitted */
} dfrt__relief;

void dfrt__relief_start(dfrt__relief *relief);
/* `missed`: a goal was missed or the backlog grew. Changes the decision, and adds to its reason what it changed. */
void dfrt__relieve(dfrt__relief *relief, const dfrt_situation *situation, bool missed, dfrt_decision *decision);

#endif
