#include "manager.h"

#include <math.h>
#include <stdio.h>

/* Everything about one settlement that is no part of a wish. */
struct settlement {
    dfrt_wish *wishes;
    unsigned count, cores;
    unsigned shares[DFRT_MOST_OPERATORS]; /* workers that each may have */
    unsigned order[DFRT_MOST_OPERATORS];  /* the most urgent first */
};

static double urgency(const dfrt_wish *wish)
{
    return wish->need > 0 ? fmin(wish->need, 1e9) : 0;
}

static unsigned least_share(const dfrt_wish *wish)
{
    return wish->workers_least > 0 ? wish->workers_least : 1;
}

static unsigned asked_share(const dfrt_wish *wish)
{
    return wish->wanted.workers > least_share(wish) ? wish->wanted.workers : least_share(wish);
}

static unsigned taken(const unsigned *shares, unsigned count)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += shares[i];
    return sum;
}

/* Who gets the next core: the one that is furthest from what it asked for, weighed by its need; the first of equals. */
static unsigned next_in_line(const struct settlement *settlement)
{
    unsigned best = settlement->count;
    double best_claim = -1;
    for (unsigned i = 0; i < settlement->count; i++) {
        const dfrt_wish *wish = &settlement->wishes[settlement->order[i]];
        unsigned share = settlement->shares[settlement->order[i]], asked = asked_share(wish);
        double claim = urgency(wish) * asked / (share > 0 ? share : 1);
        if (share < asked && claim > best_claim) {
            best = settlement->order[i];
            best_claim = claim;
        }
    }
    return best;
}

/* Everybody has its least; what is left goes core by core to the greatest claim. */
static void divide_cores(struct settlement *settlement)
{
    for (unsigned i = 0; i < settlement->count; i++)
        settlement->shares[i] = least_share(&settlement->wishes[i]);
    for (unsigned used = taken(settlement->shares, settlement->count); used < settlement->cores; used++) {
        unsigned next = next_in_line(settlement);
        if (next == settlement->count)
            return;
        settlement->shares[next]++;
    }
}

static void sort_by_need(struct settlement *settlement)
{
    for (unsigned i = 0; i < settlement->count; i++) {
        unsigned at = i;
        for (; at > 0 && urgency(&settlement->wishes[settlement->order[at - 1]]) < urgency(&settlement->wishes[i]); at--)
            settlement->order[at] = settlement->order[at - 1];
        settlement->order[at] = i;
    }
}

/* One machine has one frequency: the highest that anybody needs. */
static void agree_on_frequency(struct settlement *settlement)
{
    unsigned highest = 0;
    for (unsigned i = 0; i < settlement->count; i++)
        if (settlement->wishes[i].wanted.frequency > highest)
            highest = settlement->wishes[i].wanted.frequency;
    for (unsigned i = 0; i < settlement->count; i++) {
        dfrt_wish *wish = &settlement->wishes[i];
        if (wish->wanted.frequency < highest)
            (void)snprintf(wish->reason, sizeof wish->reason, "another operator needs frequency %u, %u was asked for",
                           highest, wish->wanted.frequency);
        wish->wanted.frequency = highest;
    }
}

static bool same_wish(dfrt_setting one, dfrt_setting other)
{
    return one.workers == other.workers && one.frequency == other.frequency && one.alternate == other.alternate
        && one.shed == other.shed;
}

/* Its degree stays as it is, but the common frequency holds for all. */
static void refuse(dfrt_wish *wish)
{
    unsigned frequency = wish->wanted.frequency;
    wish->wanted = wish->now;
    wish->wanted.frequency = frequency;
    wish->granted = false;
}

static void cut_to_shares(struct settlement *settlement)
{
    for (unsigned i = 0; i < settlement->count; i++) {
        dfrt_wish *wish = &settlement->wishes[i];
        unsigned asked = asked_share(wish), share = settlement->shares[i];
        if (share < asked)
            (void)snprintf(wish->reason, sizeof wish->reason, "%u of %u workers: the operators share %u cores", share, asked,
                           settlement->cores);
        wish->wanted.workers = share;
    }
}

/* What a wish would change, the common frequency apart: that is one change for all, and costs nothing. */
static bool changes_nothing(const dfrt_wish *wish)
{
    dfrt_setting then = wish->wanted;
    then.frequency = wish->now.frequency;
    return same_wish(then, wish->now);
}

static bool gives_up_workers(const dfrt_wish *wish)
{
    return wish->wanted.workers < wish->now.workers;
}

/* Nobody is in a hurry to have fewer workers, unless it is part of something else. */
static bool only_gives_up(const dfrt_wish *wish)
{
    dfrt_wish fewer = *wish;
    fewer.now.workers = wish->wanted.workers;
    return gives_up_workers(wish) && changes_nothing(&fewer);
}

/* By need; `last` is the turn of those that only give up workers. */
static void pay_for_changes(dfrt_manager *manager, struct settlement *settlement, bool last)
{
    for (unsigned i = 0; i < settlement->count; i++) {
        dfrt_wish *wish = &settlement->wishes[settlement->order[i]];
        if (wish->granted || only_gives_up(wish) != last || manager->tokens < 1)
            continue;
        manager->tokens -= 1;
        wish->granted = true;
    }
}

/* Workers go without a token where more are in use than there are cores: by those who have paid for more, or since there are
 * fewer cores now. Otherwise the one would wait for the other, whose turn never comes. The least urgent give up first. */
static void release_cores(struct settlement *settlement)
{
    unsigned used = 0;
    for (unsigned i = 0; i < settlement->count; i++) {
        const dfrt_wish *wish = &settlement->wishes[i];
        used += wish->granted ? wish->wanted.workers : wish->now.workers;
    }
    for (unsigned i = settlement->count; i-- > 0 && used > settlement->cores;) {
        dfrt_wish *wish = &settlement->wishes[settlement->order[i]];
        if (wish->granted || !gives_up_workers(wish))
            continue;
        wish->granted = true;
        used -= wish->now.workers - wish->wanted.workers;
    }
}

static void spend_tokens(dfrt_manager *manager, struct settlement *settlement)
{
    for (unsigned i = 0; i < settlement->count; i++)
        settlement->wishes[i].granted = changes_nothing(&settlement->wishes[i]);
    pay_for_changes(manager, settlement, false);
    release_cores(settlement);
    pay_for_changes(manager, settlement, true);
    for (unsigned i = 0; i < settlement->count; i++) {
        dfrt_wish *wish = &settlement->wishes[i];
        if (wish->granted)
            continue;
        refuse(wish);
        (void)snprintf(wish->reason, sizeof wish->reason, "put off: no more than %.3g changes a step, and others need theirs more",
                       manager->changes_a_step);
    }
}

/* The least that everybody has may be more than there are cores: then nobody gets more, the least urgent first. */
static void wait_for_cores(dfrt_manager *manager, struct settlement *settlement)
{
    unsigned used = 0;
    for (unsigned i = 0; i < settlement->count; i++)
        used += settlement->wishes[i].wanted.workers;
    for (unsigned i = settlement->count; i-- > 0 && used > settlement->cores;) {
        dfrt_wish *wish = &settlement->wishes[settlement->order[i]];
        if (wish->wanted.workers <= wish->now.workers)
            continue;
        unsigned more = wish->wanted.workers - wish->now.workers, over = used - settlement->cores;
        unsigned less = over < more ? over : more;
        wish->wanted.workers -= less;
        used -= less;
        (void)snprintf(wish->reason, sizeof wish->reason, "%u workers for now: the cores for %u more are not free yet",
                       wish->wanted.workers, less);
        dfrt_setting then = wish->wanted;
        then.frequency = wish->now.frequency;
        if (same_wish(then, wish->now)) {
            wish->granted = false;
            manager->tokens = fmin(manager->tokens + 1, manager->most_changes);
        }
    }
}

void dfrt_manager_start(dfrt_manager *manager, unsigned cores, double changes_a_step, double most_changes)
{
    double most = most_changes >= 1 ? fmin(most_changes, 1e9) : 1;
    double filled = changes_a_step >= 0 ? fmin(changes_a_step, most) : most;
    *manager = (dfrt_manager){cores > 0 ? cores : 1, filled, most, most};
}

void dfrt_manager_settle(dfrt_manager *manager, dfrt_wish *wishes, unsigned count)
{
    struct settlement settlement = {.wishes = wishes, .cores = manager->cores};
    settlement.count = count < DFRT_MOST_OPERATORS ? count : DFRT_MOST_OPERATORS;
    manager->tokens = fmin(manager->tokens + manager->changes_a_step, manager->most_changes);
    for (unsigned i = 0; i < count; i++)
        wishes[i].reason[0] = '\0';
    for (unsigned i = settlement.count; i < count; i++) {
        refuse(&wishes[i]);
        (void)snprintf(wishes[i].reason, sizeof wishes[i].reason, "the manager settles for %d operators at most",
                       (int)DFRT_MOST_OPERATORS);
    }
    sort_by_need(&settlement);
    agree_on_frequency(&settlement);
    divide_cores(&settlement);
    cut_to_shares(&settlement);
    spend_tokens(manager, &settlement);
    wait_for_cores(manager, &settlement);
}
