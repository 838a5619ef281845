/* The cheapest way through a grid of configurations (workers × frequencies) over a few steps: each step has a cost for
 * each configuration, and going from one to another costs gamma times the squared distance. Only the first
 * configuration of that way is taken, so only it is asked for.
 *
 * Threads:   none.
 * Ownership: the caller gives the memory (dfrt_trajectory_doubles) and owns it.
 * Progress:  bounded: the envelope by horizon · configurations, dynamic programming by horizon · configurations²,
 *            branch and bound by DFRT_MOST_BRANCHES costs. No allocation, no I/O, no clock.
 *
 * There are at most DFRT_MOST_WORKERS by DFRT_MOST_FREQUENCIES. A configuration is numbered
 * `frequency · workers + worker`. Costs are finite, or INFINITY for what is not allowed; at least one is finite in each
 * step.
 */
#ifndef DFRT_CONTROL_TRAJECTORY_H
#define DFRT_CONTROL_TRAJECTORY_H

#include "policy.h"

enum { DFRT_MOST_BRANCHES = 1 << 24 };

typedef struct dfrt_trajectory {
    unsigned workers, frequencies, horizon; /* how many there are */
    double gamma;
    double now_workers, now_frequency;      /* the present place in the grid; may lie outside */
    double *stages;  /* in: horizon · configurations costs */
    double *totals;  /* out: for each configuration the cost of the cheapest way that begins with it */
    double *onward;  /* room for as many */
} dfrt_trajectory;

/* How many doubles a trajectory of this size needs, and how it divides them. */
size_t dfrt_trajectory_doubles(unsigned workers, unsigned frequencies, unsigned horizon);
void dfrt_trajectory_lay(dfrt_trajectory *trajectory, double *room);

/* Each fills `totals` and answers the number of the cheapest. `complete`: false when branch and bound had to stop; then
 * the answer is the best found. Its totals are those of the ways that it followed to the end, and otherwise what such a
 * way costs at least. */
unsigned dfrt_trajectory_envelope(dfrt_trajectory *trajectory);
unsigned dfrt_trajectory_dynamic(dfrt_trajectory *trajectory);
unsigned dfrt_trajectory_branch_and_bound(dfrt_trajectory *trajectory, bool *complete);

#endif
