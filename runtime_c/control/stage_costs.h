/* What each configuration (workers × frequencies) costs in one step of the horizon, the change to it not counted:
 * quality of service and resources, weighed (000 §3.3.1, 002 §6.3.1 and eq. 7.1).
 *
 * Threads:   none.
 * Ownership: the caller owns everything; nothing is kept.
 * Progress:  O(configurations). No allocation, no I/O, no clock.
 */
#ifndef DFRT_CONTROL_STAGE_COSTS_H
#define DFRT_CONTROL_STAGE_COSTS_H

#include "models.h"

/* The first word is the quality, the second the resource; BY_GOALS is a wish that dfrt_strategy_for answers. */
enum dfrt_strategy {
    DFRT_BY_GOALS,
    DFRT_TH_NODE,
    DFRT_TH_POWER,
    DFRT_LAT_NODE,
    DFRT_LAT_POWER,
    DFRT_RHO_NODE,
    DFRT_RHO_POWER,
};

/* Workers first_worker…, frequencies first_frequency…. A configuration is numbered as in trajectory.h. */
typedef struct dfrt_grid {
    unsigned first_worker, workers, first_frequency, frequencies;
} dfrt_grid;

/* What was asked for, or what the goals ask for. A strategy for latency needs to know which latency: without such a
 * goal it becomes the one for throughput. */
enum dfrt_strategy dfrt_strategy_for(enum dfrt_strategy asked, const dfrt_goals *goals);
bool dfrt_counts_power(enum dfrt_strategy strategy);
bool dfrt_counts_latency(enum dfrt_strategy strategy);

/* What makes up a cost. `bound`: how much of the way from the lowest latency that the grid allows to the goal a
 * configuration may go; 0: any is allowed, and latency is weighed against resources only, as the papers have it. */
typedef struct dfrt_pricing {
    enum dfrt_strategy strategy; /* never DFRT_BY_GOALS */
    double alpha, beta, bound;
} dfrt_pricing;

/* What the limits leave of the goals. GOALS_KEPT: something keeps up and, where there is a bound, the latency goal. */
enum dfrt_outlook { DFRT_NOTHING_KEEPS_UP, DFRT_NOTHING_KEEPS_THE_GOAL, DFRT_GOALS_KEPT };

/* Costs of a grid, INFINITY for what is not allowed: it can't keep up, or its latency lies beyond the bound. Where nothing
 * keeps the goal, what comes within a twentieth of the lowest latency is allowed; where nothing keeps up, only the largest
 * is, which then costs nothing. */
enum dfrt_outlook dfrt_stage_costs(const dfrt_pricing *pricing, const dfrt_model *model, const dfrt_limits *limits,
                                   double latency_goal, dfrt_grid grid, double *costs);

#endif
