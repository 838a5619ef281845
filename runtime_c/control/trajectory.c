/* Dynamic programming backwards through the horizon. What the rest of the way costs from configuration u is
 *
 *     onward(u) = min over v of gamma · |u − v|² + stage(v) + onward of the step after(v)
 *
 * Every v contributes a parabola in u with the same opening, and |u − v|² is the sum of one square for each dimension: the
 * lower envelope of the parabolas along each row, then along each column, gives the minimum for all u in linear time
 * (P. F. Felzenszwalb, D. P. Huttenlocher, Distance Transforms of Sampled Functions, 2012).
 */
#include "trajectory.h"

#include <math.h>

/* Below this the switching cost is lost in rounding, and 1 / gamma is not a number to count with. */
static const double least_gamma = 1e-9;

static size_t configurations(const dfrt_trajectory *trajectory)
{
    return (size_t)trajectory->workers * trajectory->frequencies;
}

static unsigned longer_side(unsigned workers, unsigned frequencies)
{
    return workers > frequencies ? workers : frequencies;
}

size_t dfrt_trajectory_doubles(unsigned workers, unsigned frequencies, unsigned horizon)
{
    return ((size_t)horizon + 2) * workers * frequencies + 5 * (size_t)longer_side(workers, frequencies);
}

void dfrt_trajectory_lay(dfrt_trajectory *trajectory, double *room)
{
    size_t count = configurations(trajectory);
    if (!(trajectory->gamma >= least_gamma))
        trajectory->gamma = 0;
    trajectory->stages = room;
    trajectory->totals = room + trajectory->horizon * count;
    trajectory->onward = trajectory->totals + count;
    trajectory->line = trajectory->onward + count;
}

/* totals = stage of the step + onward. */
static void add_stage(dfrt_trajectory *trajectory, unsigned step, bool last)
{
    size_t count = configurations(trajectory);
    const double *stage = trajectory->stages + step * count;
    for (size_t n = 0; n < count; n++)
        trajectory->totals[n] = last ? stage[n] : stage[n] + trajectory->onward[n];
}

/* The first step: its way begins at the present configuration, for every one the same. */
static unsigned leave_now(dfrt_trajectory *trajectory)
{
    unsigned best = 0;
    for (unsigned frequency = 0; frequency < trajectory->frequencies; frequency++) {
        double up = frequency - trajectory->now_frequency;
        for (unsigned worker = 0; worker < trajectory->workers; worker++) {
            unsigned number = frequency * trajectory->workers + worker;
            double more = worker - trajectory->now_workers;
            trajectory->totals[number] += trajectory->gamma * (more * more + up * up);
            if (trajectory->totals[number] < trajectory->totals[best])
                best = number;
        }
    }
    return best;
}

/* --- lower envelope ------------------------------------------------------------------------------- */

/* Parabolas that are the lowest somewhere, from left to right: height + gamma · (x − place)². */
typedef struct envelope {
    double *heights, *places;
    double *lifted; /* height + gamma · place², what intersections are computed from */
    double *begins; /* from where on it is the lowest */
    unsigned used;
} envelope;

static void push_parabola(envelope *lowest, double height, double place, double gamma, const double *inverse, double end)
{
    double lift = height + gamma * place * place, meets = -INFINITY;
    while (lowest->used > 0) {
        unsigned top = lowest->used - 1;
        meets = (lift - lowest->lifted[top]) * inverse[(unsigned)(place - lowest->places[top])];
        if (meets > lowest->begins[top])
            break;
        lowest->used = top;
        meets = -INFINITY;
    }
    if (meets >= end) /* nowhere in the grid */
        return;
    lowest->heights[lowest->used] = height;
    lowest->places[lowest->used] = place;
    lowest->lifted[lowest->used] = lift;
    lowest->begins[lowest->used] = meets;
    lowest->used++;
}

/* Overwrites `count` costs that stand `stride` apart with the envelope of their parabolas. */
static void envelope_of_line(double *costs, size_t stride, unsigned count, double gamma, double *room)
{
    const double *inverse = room;
    envelope lowest = {room + count, room + 2 * count, room + 3 * count, room + 4 * count, 0};
    for (unsigned place = 0; place < count; place++)
        if (costs[place * stride] < INFINITY)
            push_parabola(&lowest, costs[place * stride], place, gamma, inverse, count - 1.0);
    for (unsigned x = 0, at = 0; x < count && lowest.used > 0; x++) {
        while (at + 1 < lowest.used && lowest.begins[at + 1] < x)
            at++;
        double away = x - lowest.places[at];
        costs[x * stride] = lowest.heights[at] + gamma * away * away;
    }
}

/* 1 / (2 · gamma · distance): multiplying is faster than dividing, and there are few distances. */
static void prepare_line(double *room, unsigned count, double gamma)
{
    for (unsigned distance = 1; distance < count; distance++)
        room[distance] = 1 / (2 * gamma * distance);
}

static void envelope_of_grid(dfrt_trajectory *trajectory, double *costs)
{
    unsigned workers = trajectory->workers, frequencies = trajectory->frequencies;
    prepare_line(trajectory->line, workers, trajectory->gamma);
    for (unsigned frequency = 0; frequency < frequencies; frequency++)
        envelope_of_line(costs + (size_t)frequency * workers, 1, workers, trajectory->gamma, trajectory->line);
    prepare_line(trajectory->line, frequencies, trajectory->gamma);
    for (unsigned worker = 0; worker < workers && frequencies > 1; worker++)
        envelope_of_line(costs + worker, workers, frequencies, trajectory->gamma, trajectory->line);
}

static double least_of(const double *costs, size_t count)
{
    double least = INFINITY;
    for (size_t n = 0; n < count; n++)
        least = costs[n] < least ? costs[n] : least;
    return least;
}

/* Without switching cost every configuration is as near as any other. */
static void cheapest_everywhere(dfrt_trajectory *trajectory)
{
    double least = least_of(trajectory->totals, configurations(trajectory));
    for (size_t n = 0; n < configurations(trajectory); n++)
        trajectory->onward[n] = least;
}

unsigned dfrt_trajectory_envelope(dfrt_trajectory *trajectory)
{
    add_stage(trajectory, trajectory->horizon - 1, true);
    for (unsigned step = trajectory->horizon - 1; step-- > 0;) {
        if (trajectory->gamma > 0) {
            double *swapped = trajectory->onward;
            trajectory->onward = trajectory->totals;
            trajectory->totals = swapped;
            envelope_of_grid(trajectory, trajectory->onward);
        } else {
            cheapest_everywhere(trajectory);
        }
        add_stage(trajectory, step, false);
    }
    return leave_now(trajectory);
}

/* --- the references ------------------------------------------------------------------------------- */

static double distance_cost(const dfrt_trajectory *trajectory, unsigned from, unsigned to)
{
    double more = (double)(from % trajectory->workers) - to % trajectory->workers;
    double up = (double)(from / trajectory->workers) - to / trajectory->workers;
    return trajectory->gamma * (more * more + up * up);
}

unsigned dfrt_trajectory_dynamic(dfrt_trajectory *trajectory)
{
    unsigned count = (unsigned)configurations(trajectory);
    add_stage(trajectory, trajectory->horizon - 1, true);
    for (unsigned step = trajectory->horizon - 1; step-- > 0;) {
        for (unsigned from = 0; from < count; from++) {
            double least = INFINITY;
            for (unsigned to = 0; to < count; to++)
                least = fmin(least, trajectory->totals[to] + distance_cost(trajectory, from, to));
            trajectory->onward[from] = least;
        }
        add_stage(trajectory, step, false);
    }
    return leave_now(trajectory);
}
