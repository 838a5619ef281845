/* Dynamic programming backwards through the horizon. What the rest of the way costs from configuration u is
 *
 *     onward(u) = min over v of gamma · |u − v|² + stage(v) + onward of the step after(v)
 *
 * Every v contributes a parabola in u with the same opening, and |u − v|² is the sum of one square for each dimension:
 * the lower envelope of the parabolas along each row, then along each column, gives the minimum for all u in linear time
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

size_t dfrt_trajectory_doubles(unsigned workers, unsigned frequencies, unsigned horizon)
{
    return ((size_t)horizon + 2) * workers * frequencies;
}

void dfrt_trajectory_lay(dfrt_trajectory *trajectory, double *room)
{
    size_t count = configurations(trajectory);
    if (!(trajectory->gamma >= least_gamma))
        trajectory->gamma = 0;
    trajectory->stages = room;
    trajectory->totals = room + trajectory->horizon * count;
    trajectory->onward = trajectory->totals + count;
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

/* height + gamma · (x − place)². */
typedef struct parabola {
    double height;
    double lifted; /* height + gamma · place², what intersections are computed from */
    double begins; /* from where on it is the lowest */
    unsigned place;
} parabola;

/* For lines of one length. */
typedef struct ruler {
    unsigned count;
    double gamma;
    double inverse[DFRT_MOST_WORKERS]; /* 1 / (2 · gamma · distance): multiplying is faster than dividing */
} ruler;

_Static_assert((int)DFRT_MOST_FREQUENCIES <= (int)DFRT_MOST_WORKERS, "a ruler has room for either side");

static void make_ruler(ruler *lines, unsigned count, double gamma)
{
    lines->count = count;
    lines->gamma = gamma;
    for (unsigned distance = 1; distance < count; distance++)
        lines->inverse[distance] = 1 / (2 * gamma * distance);
}

/* The parabolas of costs that stand `stride` apart which are the lowest somewhere, from left to right; how many. */
static unsigned lowest_of(const ruler *lines, const double *costs, size_t stride, parabola *lowest)
{
    unsigned used = 0;
    for (unsigned place = 0; place < lines->count; place++, costs += stride) {
        parabola next = {*costs, *costs + lines->gamma * place * place, -INFINITY, place};
        if (!(next.height < INFINITY))
            continue;
        for (; used > 0; used--) {
            const parabola *top = &lowest[used - 1];
            next.begins = (next.lifted - top->lifted) * lines->inverse[place - top->place];
            if (next.begins > top->begins)
                break;
            next.begins = -INFINITY;
        }
        if (next.begins < lines->count - 1) /* otherwise nowhere in the grid */
            lowest[used++] = next;
    }
    return used;
}

/* Overwrites costs with the envelope of their parabolas. */
static void envelope_of_line(const ruler *lines, double *costs, size_t stride)
{
    parabola lowest[DFRT_MOST_WORKERS];
    unsigned used = lowest_of(lines, costs, stride, lowest);
    for (unsigned x = 0, at = 0; x < lines->count && used > 0; x++, costs += stride) {
        while (at + 1 < used && lowest[at + 1].begins < x)
            at++;
        double away = (double)x - lowest[at].place;
        *costs = lowest[at].height + lines->gamma * (away * away);
    }
}

static void envelope_of_grid(const dfrt_trajectory *trajectory, double *costs)
{
    unsigned workers = trajectory->workers, frequencies = trajectory->frequencies;
    ruler lines;
    make_ruler(&lines, workers, trajectory->gamma);
    for (unsigned frequency = 0; frequency < frequencies; frequency++)
        envelope_of_line(&lines, costs + (size_t)frequency * workers, 1);
    if (frequencies == 1)
        return;
    make_ruler(&lines, frequencies, trajectory->gamma);
    for (unsigned worker = 0; worker < workers; worker++)
        envelope_of_line(&lines, costs + worker, workers);
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
