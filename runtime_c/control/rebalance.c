#include "rebalance.h"

#include "policy.h"

#include <math.h>
#include <stddef.h>

/* A part is moved once at most: this bit marks it in `order`. */
#define PART_MOVED 0x80000000u
#define PART_NUMBER 0x7fffffffu

/* What 000 found worth a change, and a use below which a ratio between workers says nothing. */
static const double overloaded = 1.1, uneven = 1.3, idle_below = 0.05;
/* Deviations of chance that are none any more, and the share of the busiest worker's load from which on less is not
 * worth moving anything. */
static const double deviations = 3, worth_moving = 0.95;

struct balance {
    const double *weights;
    uint16_t *owner;
    uint32_t *order;
    unsigned count, workers, moved;
    double loads[DFRT_MOST_WORKERS];
    unsigned parts[DFRT_MOST_WORKERS]; /* of a worker; decides where loads are equal, so that unseen parts spread too */
};

static double weight_of(const double *weights, uint32_t part)
{
    double weight = weights[part & PART_NUMBER];
    return weight > 0 && weight < INFINITY ? weight : 0;
}

/* --- order: heap sort, since qsort takes no context and may allocate --------------------------------------------- */

typedef bool dfrt__part_order(const struct balance *balance, uint32_t one, uint32_t other);

static bool heavier_first(const struct balance *balance, uint32_t one, uint32_t other)
{
    double mine = weight_of(balance->weights, one), others = weight_of(balance->weights, other);
    return mine != others ? mine > others : (one & PART_NUMBER) < (other & PART_NUMBER);
}

static bool by_owner_then_heavier(const struct balance *balance, uint32_t one, uint32_t other)
{
    unsigned mine = balance->owner[one & PART_NUMBER], others = balance->owner[other & PART_NUMBER];
    return mine != others ? mine < others : heavier_first(balance, one, other);
}

static void sift_part(const struct balance *balance, dfrt__part_order *before, unsigned at, unsigned end)
{
    uint32_t *order = balance->order, sunk = order[at];
    for (unsigned child; (child = 2 * at + 1) < end; at = child) {
        if (child + 1 < end && before(balance, order[child], order[child + 1]))
            child++;
        if (!before(balance, sunk, order[child]))
            break;
        order[at] = order[child];
    }
    order[at] = sunk;
}

static void sort_parts(const struct balance *balance, dfrt__part_order *before)
{
    for (unsigned at = balance->count / 2; at-- > 0;)
        sift_part(balance, before, at, balance->count);
    for (unsigned end = balance->count; end-- > 1;) {
        uint32_t last = balance->order[0];
        balance->order[0] = balance->order[end];
        balance->order[end] = last;
        sift_part(balance, before, 0, end);
    }
}

/* --- workers ----------------------------------------------------------------------------------------------------- */

static unsigned least_loaded(const struct balance *balance)
{
    unsigned least = 0;
    for (unsigned worker = 1; worker < balance->workers; worker++)
        if (balance->loads[worker] < balance->loads[least]
            || (balance->loads[worker] == balance->loads[least] && balance->parts[worker] < balance->parts[least]))
            least = worker;
    return least;
}

static void count_load(struct balance *balance, unsigned worker, uint32_t part)
{
    balance->loads[worker] += weight_of(balance->weights, part);
    balance->parts[worker]++;
}

/* Where loads are equal the present owner keeps its part. */
static void give_part(struct balance *balance, uint32_t part)
{
    unsigned to = least_loaded(balance), now = balance->owner[part];
    if (now < balance->workers && balance->loads[now] <= balance->loads[to])
        to = now;
    count_load(balance, to, part);
    balance->moved += to != now;
    balance->owner[part] = (uint16_t)to;
}

/* --- Balanced: the heaviest first, each to the least loaded worker (002, algorithm 1) ----------------------------- */

static void share_all(struct balance *balance)
{
    for (unsigned i = 0; i < balance->count; i++) {
        uint32_t part = balance->order[i];
        if (weight_of(balance->weights, part) > 0)
            give_part(balance, part);
        else if (balance->owner[part] < balance->workers) /* nothing is known that would justify moving it */
            count_load(balance, balance->owner[part], part);
    }
    for (unsigned i = 0; i < balance->count; i++)
        if (balance->owner[balance->order[i]] >= balance->workers)
            give_part(balance, balance->order[i]);
}

/* --- Flux: as few moves as bring the workers within a share of each other ----------------------------------------- */

static void settle_homeless(struct balance *balance)
{
    for (unsigned i = 0; i < balance->count; i++)
        if (balance->owner[balance->order[i]] < balance->workers)
            count_load(balance, balance->owner[balance->order[i]], balance->order[i]);
    for (unsigned i = 0; i < balance->count; i++)
        if (balance->owner[balance->order[i]] >= balance->workers) {
            give_part(balance, balance->order[i]);
            balance->order[i] |= PART_MOVED;
        }
}

/* The parts of one worker in `order`, those not looked at yet; and whether it has none left that could go. */
struct donor {
    unsigned next, end;
    bool spent;
};

/* The heaviest part of the donor that makes the pair more even. The gap never grows, so what was too heavy once stays too
 * heavy, and each part is looked at once. */
static bool next_to_move(const struct balance *balance, struct donor *donor, double gap, unsigned *found)
{
    while (donor->next < donor->end) {
        unsigned at = donor->next++;
        double weight = weight_of(balance->weights, balance->order[at]);
        if (!(balance->order[at] & PART_MOVED) && weight > 0 && weight < gap) {
            *found = at;
            return true;
        }
    }
    donor->spent = true;
    return false;
}

static unsigned most_loaded(const struct balance *balance, const struct donor *donors)
{
    unsigned most = balance->workers;
    for (unsigned worker = 0; worker < balance->workers; worker++)
        if (!donors[worker].spent && (most == balance->workers || balance->loads[worker] > balance->loads[most]))
            most = worker;
    return most;
}

static void hand_over(struct balance *balance, unsigned at, unsigned from, unsigned to)
{
    uint32_t part = balance->order[at];
    double weight = weight_of(balance->weights, part);
    balance->order[at] |= PART_MOVED;
    balance->owner[part] = (uint16_t)to;
    balance->loads[from] -= weight;
    balance->loads[to] += weight;
    balance->parts[from]--;
    balance->parts[to]++;
    balance->moved++;
}

static void even_out(struct balance *balance, double imbalance)
{
    struct donor donors[DFRT_MOST_WORKERS] = {{0, 0, false}};
    for (unsigned i = 0; i < balance->count; i++) {
        struct donor *donor = &donors[balance->owner[balance->order[i] & PART_NUMBER]];
        donor->next = donor->end == 0 ? i : donor->next;
        donor->end = i + 1;
    }
    for (;;) {
        unsigned from = most_loaded(balance, donors), to = least_loaded(balance), at = 0;
        if (from == balance->workers)
            return;
        double gap = balance->loads[from] - balance->loads[to];
        if (!(gap > imbalance * balance->loads[from]))
            return;
        if (next_to_move(balance, &donors[from], gap, &at))
            hand_over(balance, at, from, to);
    }
}

unsigned dfrt_rebalance(enum dfrt_balancer balancer, const double *weights, uint16_t *owner, unsigned count,
                        unsigned workers, double imbalance, uint32_t *order)
{
    if (workers < 1 || workers > DFRT_MOST_WORKERS || count > PART_NUMBER)
        return 0;
    struct balance balance = {.weights = weights, .owner = owner, .order = order, .count = count, .workers = workers};
    for (unsigned part = 0; part < count; part++)
        order[part] = part;
    sort_parts(&balance, heavier_first);
    if (balancer == DFRT_BALANCED) {
        share_all(&balance);
        return balance.moved;
    }
    settle_homeless(&balance);
    sort_parts(&balance, by_owner_then_heavier);
    even_out(&balance, imbalance >= 0 ? imbalance : 0);
    return balance.moved;
}

/* --- when --------------------------------------------------------------------------------------------------------- */

/* Of workers whose loads are known. */
typedef struct load_range {
    double most, least;
    unsigned busiest;
} load_range;

static load_range range_of(const double *loads, unsigned workers)
{
    load_range range = {0, INFINITY, 0};
    for (unsigned worker = 0; worker < workers; worker++)
        if (loads[worker] >= 0 && loads[worker] < INFINITY) {
            range.busiest = loads[worker] > range.most ? worker : range.busiest;
            range.most = fmax(range.most, loads[worker]);
            range.least = fmin(range.least, loads[worker]);
        }
    return range;
}

/* Triggers come by chance, so a worker's number of them has about the variance of its mean. */
static bool beyond_chance(load_range range, double grain)
{
    double variance = grain > 0 ? grain * (range.most + range.least) : 0;
    return range.most - range.least > deviations * sqrt(variance);
}

bool dfrt_rebalance_due(dfrt_unevenness *seen, const double *loads, unsigned workers, double grain, bool moved_lately)
{
    load_range range = range_of(loads, workers);
    bool differs = !moved_lately && workers > 1 && range.most > range.least && beyond_chance(range, grain);
    bool lopsided = differs && range.most > idle_below && range.most > uneven * range.least;
    seen->steps = !lopsided ? 0 : seen->steps > 0 && seen->busiest == range.busiest ? 2 : 1;
    seen->busiest = range.busiest;
    return (differs && range.most > overloaded) || seen->steps == 2;
}

static double busiest_load(const double *weights, const uint16_t *owner, unsigned count, unsigned workers)
{
    double loads[DFRT_MOST_WORKERS] = {0}, most = 0;
    for (unsigned part = 0; part < count; part++)
        if (owner[part] < workers && workers <= DFRT_MOST_WORKERS)
            loads[owner[part]] += weight_of(weights, part);
    for (unsigned worker = 0; worker < workers && worker < DFRT_MOST_WORKERS; worker++)
        most = fmax(most, loads[worker]);
    return most;
}

bool dfrt_rebalance_pays(const double *weights, const uint16_t *before, const uint16_t *after, unsigned count,
                         unsigned workers)
{
    return busiest_load(weights, after, count, workers) < worth_moving * busiest_load(weights, before, count, workers);
}
