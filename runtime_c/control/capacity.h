/* What alternates cost, which settings would keep the goals with them, and how much would have to be shed.
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  every call is bounded by workers or alternates. No allocation, no I/O, no clock.
 *
 * The models are those of models.h; here the alternate varies, which its service time enters for.
 */
#ifndef DFRT_CONTROL_CAPACITY_H
#define DFRT_CONTROL_CAPACITY_H

#include "policy.h"

/* Service times at the highest frequency, results a trigger, and what a result costs the operators that follow, as last
 * measured; NaN: never seen. What was measured once may have been a bad moment of the machine, so that a cost above that of the
 * active alternate is believed less with every step in which it is not measured again; more slowly after each time that it
 * was taken and soon given up. */
typedef struct dfrt__costs {
    double seen[DFRT_MOST_ALTERNATES], selectivity[DFRT_MOST_ALTERNATES];
    double belief[DFRT_MOST_ALTERNATES];   /* what of `seen` is still believed, if less than 1 */
    unsigned failures[DFRT_MOST_ALTERNATES]; /* how often in a row it was soon given up */
    unsigned active, active_for;           /* since so many steps */
    double downstream;
} dfrt__costs;

void dfrt__costs_start(dfrt__costs *costs);
/* After each step whose measurements can be used. */
void dfrt__costs_note(dfrt__costs *costs, const dfrt_situation *situation);
/* As measured, as far as that is believed; otherwise as declared, scaled by how the active one's measurement differs from its declaration. NaN: not
 * known. */
double dfrt__cost_of(const dfrt__costs *costs, const dfrt_situation *situation, unsigned alternate);
/* The same with what its results cost behind it (004 Tab. 1: cost + selectivity · cost of the successors). A selectivity
 * that was never seen is taken to be that of the active one. */
double dfrt__whole_cost_of(const dfrt__costs *costs, const dfrt_situation *situation, unsigned alternate);
/* Whether it may be taken: the one that is held, otherwise those that the program's goal of value allows. */
bool dfrt__may_take(const dfrt_situation *situation, unsigned alternate);
/* The cheapest of those for this operator; the active one if costs are not known. */
unsigned dfrt__cheapest(const dfrt__costs *costs, const dfrt_situation *situation);

/* All that the limits allow, with the alternate of `setting`. */
dfrt_setting dfrt__at_the_limits(dfrt_setting setting, const dfrt_limits *limits);
bool dfrt__is_at_the_limits(dfrt_setting setting, const dfrt_limits *limits);

/* What latency there is to keep: the goal; where the overhead alone is more than that, the goal for the rest, since
 * neither workers nor alternates help against it. NaN: no such goal. */
double dfrt__latency_bound(const dfrt_situation *situation);
/* Whether `setting` keeps the goals if `rate` triggers a second come, with this share of latency and utilisation used at
 * most (1: all of it). `prediction` may be NULL. False if the alternate's cost is not known. */
bool dfrt__feasible(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting, double rate,
                    double share, dfrt_prediction *prediction);
/* The fewest workers with which that holds, from `setting.workers` on; 0: none. */
unsigned dfrt__fewest_workers(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting,
                              double rate, double share);
/* The highest rate of the next `steps`, what waits included. NaN: not known. */
double dfrt__peak_rate(const dfrt_situation *situation, unsigned steps);
/* The share of tuples to drop so that the rest is feasible, shed_most at most. */
double dfrt__shed_needed(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting, double rate);
/* What to shed when nothing else is left: as much as the model says, more while the goals are missed all the same, and
 * less by halves when they are not. */
double dfrt__shed_next(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting setting, bool missed);

#endif
