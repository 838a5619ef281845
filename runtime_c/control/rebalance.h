/* Which worker gets which slot or heavy key: Balanced and Flux (002 §6.4.3).
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  O(count · (log count + workers)).
 */
#ifndef DFRT_CONTROL_REBALANCE_H
#define DFRT_CONTROL_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>

enum dfrt_balancer { DFRT_BALANCED, DFRT_FLUX };

/* `weights[i]`: load of part i (arrivals times service time), zero or NaN: not seen. `owner[i]` is read and written. Parts
 * of workers that are no longer in use are always moved; parts that were not seen stay otherwise. `imbalance`: for Flux, how
 * far the least loaded worker may lie below the most loaded one, as a share of that one's load. `order`: room for `count`
 * numbers. Answers how many moved. */
unsigned dfrt_rebalance(enum dfrt_balancer balancer, const double *weights, uint16_t *owner, unsigned count,
                        unsigned workers, double imbalance, uint32_t *order);

/* How long the same worker has been the busiest of uneven ones. A zeroed struct is a new one. */
typedef struct dfrt_unevenness {
    unsigned steps, busiest;
} dfrt_unevenness;

/* Whether it is time, asked once a step: no change in this step and the one before, and max ρ above 1.1, or max/min above
 * 1.3 (while there is any load to speak of) with the same worker on top as in the step before; and more than chance
 * explains. `loads`: ρ of each worker; NaN: not known. `grain`: what one trigger adds to the load of its worker, NaN: next
 * to nothing. */
bool dfrt_rebalance_due(dfrt_unevenness *seen, const double *loads, unsigned workers, double grain, bool moved_lately);

/* Whether the busiest worker has noticeably less with the new owners, by these weights. */
bool dfrt_rebalance_pays(const double *weights, const uint16_t *before, const uint16_t *after, unsigned count,
                         unsigned workers);

#endif
