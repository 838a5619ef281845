/* The limit on power as limits on workers and frequency, so that every policy and every rule keeps it.
 *
 * Threads:   none.
 * Ownership: the caller owns everything.
 * Progress:  O(frequencies). No allocation, no I/O, no clock.
 */
#ifndef DFRT_CONTROL_POWER_H
#define DFRT_CONTROL_POWER_H

#include "policy.h"

enum dfrt__power_room { DFRT__POWER_FREE, DFRT__POWER_NARROW, DFRT__POWER_NONE };

/* Narrows the limits to the workers and the frequency that can do most within `power_most`; everything below them draws less.
 * The model counts, scaled to what was measured with the present setting. DFRT__POWER_NARROW: they are narrower than before.
 * DFRT__POWER_NONE: even the least draws more, and is all that is left. */
enum dfrt__power_room dfrt__limit_power(dfrt_limits *limits, const dfrt_measured *measured, dfrt_setting now);

#endif
