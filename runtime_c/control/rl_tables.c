#include "rl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The load of last month says little: beyond so many transitions of a level the old ones count half. */
static const double most_counts = 10000;

size_t dfrt__learned_doubles(unsigned workers, unsigned levels)
{
    return (size_t)levels * levels + 4 * (size_t)workers * levels;
}

void dfrt__learned_lay(dfrt__learned *learned, double *room)
{
    size_t states = (size_t)learned->workers * learned->levels;
    learned->counts = room;
    learned->unknown = learned->counts + (size_t)learned->levels * learned->levels;
    learned->visits = learned->unknown + states;
    learned->onward = learned->visits + states;
    learned->value = learned->onward + states;
}

static size_t state_at(const dfrt__learned *learned, unsigned workers, unsigned level)
{
    return (size_t)(workers - 1) * learned->levels + level;
}

/* --- what was seen ------------------------------------------------------------------------------------------------ */

double dfrt__learned_seen(const dfrt__learned *learned, unsigned level)
{
    double sum = 0;
    for (unsigned to = 0; to < learned->levels; to++)
        sum += learned->counts[(size_t)level * learned->levels + to];
    return sum;
}

double dfrt__learned_visits(const dfrt__learned *learned, unsigned workers, unsigned level)
{
    return learned->visits[state_at(learned, workers, level)];
}

void dfrt__learned_transition(dfrt__learned *learned, unsigned from, unsigned to)
{
    double *row = &learned->counts[(size_t)from * learned->levels];
    row[to] += 1;
    if (dfrt__learned_seen(learned, from) > most_counts)
        for (unsigned level = 0; level < learned->levels; level++)
            row[level] /= 2;
}

/* Fewer workers and a higher level cost at least as much, more workers and a lower level at most. */
static void keep_monotone(dfrt__learned *learned, unsigned workers, unsigned level)
{
    double cost = learned->unknown[state_at(learned, workers, level)];
    for (unsigned k = 1; k <= workers; k++)
        for (unsigned j = level; j < learned->levels; j++)
            learned->unknown[state_at(learned, k, j)] = fmax(learned->unknown[state_at(learned, k, j)], cost);
    for (unsigned k = workers; k <= learned->workers; k++)
        for (unsigned j = 0; j <= level; j++)
            learned->unknown[state_at(learned, k, j)] = fmin(learned->unknown[state_at(learned, k, j)], cost);
}

void dfrt__learned_assume(dfrt__learned *learned, unsigned workers, unsigned level)
{
    learned->unknown[state_at(learned, workers, level)] = learned->missed_weight;
    keep_monotone(learned, workers, level);
}

void dfrt__learned_cost(dfrt__learned *learned, unsigned workers, unsigned level, double cost)
{
    size_t state = state_at(learned, workers, level);
    learned->visits[state] += 1;
    double rate = fmax(learned->rate, 1 / learned->visits[state]); /* a mean at first, then the newest counts more */
    learned->unknown[state] += rate * (cost - learned->unknown[state]);
    keep_monotone(learned, workers, level);
}

/* --- what follows ------------------------------------------------------------------------------------------------- */

double dfrt__learned_cost_of(const dfrt__learned *learned, unsigned workers, unsigned then, unsigned level)
{
    double known = learned->worker_weight * then / learned->workers + (then != workers ? learned->change_weight : 0);
    return known + learned->onward[state_at(learned, then, level)];
}

static double best_cost(const dfrt__learned *learned, unsigned workers, unsigned level)
{
    double best = dfrt__learned_cost_of(learned, workers, workers, level);
    if (workers > 1)
        best = fmin(best, dfrt__learned_cost_of(learned, workers, workers - 1, level));
    if (workers < learned->workers)
        best = fmin(best, dfrt__learned_cost_of(learned, workers, workers + 1, level));
    return best;
}

/* A level that was never left is taken to stay. */
static double expected_onward(const dfrt__learned *learned, unsigned workers, unsigned level, double seen)
{
    const double *row = &learned->counts[(size_t)level * learned->levels];
    const double *value = &learned->value[state_at(learned, workers, 0)];
    const double *unknown = &learned->unknown[state_at(learned, workers, 0)];
    if (!(seen > 0))
        return unknown[level] + learned->discount * value[level];
    double sum = 0;
    for (unsigned to = 0; to < learned->levels; to++)
        sum += row[to] * (unknown[to] + learned->discount * value[to]);
    return sum / seen;
}

void dfrt__learned_backup(dfrt__learned *learned)
{
    for (unsigned workers = 1; workers <= learned->workers; workers++)
        for (unsigned level = 0; level < learned->levels; level++)
            learned->value[state_at(learned, workers, level)] = best_cost(learned, workers, level);
    for (unsigned level = 0; level < learned->levels; level++) {
        double seen = dfrt__learned_seen(learned, level);
        for (unsigned workers = 1; workers <= learned->workers; workers++)
            learned->onward[state_at(learned, workers, level)] = expected_onward(learned, workers, level, seen);
    }
}

/* --- text --------------------------------------------------------------------------------------------------------- */

/* The tables to keep stand one after the other: counts, unknown, visits, onward. */
static size_t kept_doubles(const dfrt__learned *learned)
{
    return dfrt__learned_doubles(learned->workers, learned->levels) - (size_t)learned->workers * learned->levels;
}

size_t dfrt__learned_save(const dfrt__learned *learned, char *text, size_t room)
{
    size_t used = 0, count = kept_doubles(learned);
    for (size_t i = 0; i < count; i++) {
        int wrote = snprintf(used < room ? text + used : NULL, used < room ? room - used : 0, i > 0 ? " %.17g" : "%.17g",
                             learned->counts[i]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return used + 1;
}

/* The next number: finite, not negative, followed by a space or the end. */
static bool next_number(const char **text, double *number)
{
    char *end;
    if (**text == ' ')
        (*text)++;
    if (!((**text >= '0' && **text <= '9') || **text == '.'))
        return false;
    *number = strtod(*text, &end);
    bool whole = end != *text && (*end == ' ' || *end == '\0');
    *text = end;
    return whole && isfinite(*number) && *number >= 0;
}

static bool holds_numbers(const char *text, size_t count)
{
    double number;
    for (size_t i = 0; i < count; i++)
        if (!next_number(&text, &number))
            return false;
    return *text == '\0';
}

bool dfrt__learned_load(dfrt__learned *learned, const char *text)
{
    size_t count = kept_doubles(learned);
    if (!holds_numbers(text, count))
        return false;
    for (size_t i = 0; i < count; i++)
        (void)next_number(&text, &learned->counts[i]);
    return true;
}
