/* Branch and bound over the tree of ways (000 §3.3.2, 002 §6.3.2): the search of the papers, kept as a reference. A node
 * is followed only if what was spent to reach it, and what the steps behind it cost at least, is less than the best way found so far. The first such way takes the next step that is cheapest, again and again. */
#include "trajectory.h"

#include <math.h>

typedef struct search {
    dfrt_trajectory *trajectory;
    unsigned count;                          /* configurations */
    double at_least[DFRT_MOST_HORIZON + 1];  /* stage costs from this step to the end, each the least of its step */
    double best;
    unsigned best_first;
    unsigned long tried;
} search;

typedef struct place {
    double worker, frequency;
} place;

static place place_of(const search *tree, unsigned number)
{
    unsigned workers = tree->trajectory->workers;
    return (place){number % workers, number / workers};
}

static double step_cost(const search *tree, unsigned step, place from, unsigned to)
{
    place there = place_of(tree, to);
    double more = there.worker - from.worker, up = there.frequency - from.frequency;
    double stage = tree->trajectory->stages[(size_t)step * tree->count + to];
    return stage + tree->trajectory->gamma * (more * more + up * up);
}

static void bound_steps(search *tree)
{
    unsigned horizon = tree->trajectory->horizon;
    tree->at_least[horizon] = 0;
    for (unsigned step = horizon; step-- > 0;) {
        double least = INFINITY;
        for (unsigned n = 0; n < tree->count; n++)
            least = fmin(least, tree->trajectory->stages[(size_t)step * tree->count + n]);
        tree->at_least[step] = least + tree->at_least[step + 1];
    }
}

/* The way that takes the cheapest next configuration at each step. */
static void begin_with_greedy(search *tree, place now)
{
    double spent = 0;
    for (unsigned step = 0; step < tree->trajectory->horizon; step++) {
        unsigned next = 0;
        for (unsigned n = 1; n < tree->count; n++)
            next = step_cost(tree, step, now, n) < step_cost(tree, step, now, next) ? n : next;
        spent += step_cost(tree, step, now, next);
        now = place_of(tree, next);
        tree->best_first = step == 0 ? next : tree->best_first;
    }
    tree->best = spent;
}

/* Answers what the rest of the way costs from here, or the least that it can cost where it is not worth following. */
static double follow_branches(search *tree, unsigned step, place from, double spent, unsigned first)
{
    const dfrt_trajectory *trajectory = tree->trajectory;
    double least = INFINITY;
    tree->tried += tree->count;
    for (unsigned n = 0; n < tree->count; n++) {
        double cost = step_cost(tree, step, from, n), rest = tree->at_least[step + 1];
        unsigned begun_with = step == 0 ? n : first;
        if (spent + cost + rest < tree->best && tree->tried < DFRT_MOST_BRANCHES) {
            if (step + 1 < trajectory->horizon)
                rest = follow_branches(tree, step + 1, place_of(tree, n), spent + cost, begun_with);
            if (step + 1 == trajectory->horizon && spent + cost < tree->best) {
                tree->best = spent + cost;
                tree->best_first = begun_with;
            }
        }
        if (step == 0)
            trajectory->totals[n] = cost + rest;
        least = fmin(least, cost + rest);
    }
    return least;
}

unsigned dfrt_trajectory_branch_and_bound(dfrt_trajectory *trajectory, bool *complete)
{
    search tree = {.trajectory = trajectory, .count = trajectory->workers * trajectory->frequencies};
    place now = {trajectory->now_workers, trajectory->now_frequency};
    bound_steps(&tree);
    begin_with_greedy(&tree, now);
    (void)follow_branches(&tree, 0, now, 0, 0);
    trajectory->totals[tree.best_first] = tree.best;
    *complete = tree.tried < DFRT_MOST_BRANCHES;
    return tree.best_first;
}
