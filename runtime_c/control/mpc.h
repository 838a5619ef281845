/* Policy `mpc`: model predictive control of workers and frequency (000 §3.3, 002 §6.3).
 *
 * Threads:   none.
 * Ownership: a constant; its state as policy.h says. `size` grows with horizon · workers · frequencies.
 * Progress:  as the chosen solver (trajectory.h).
 *
 * In each step of the horizon a configuration costs
 *     alpha · quality + beta · resources + gamma · |change of (workers, frequency steps)|²
 * quality   th_*: effective service time in ms   lat_*: exp(latency / goal)   rho_*: exp(utilisation)
 * resources *_node: workers (at the highest frequency)   *_power: voltage² · GHz · (workers + service threads)
 * Configurations that can't keep up are not allowed; where none can, only the largest is. Where there is a latency goal,
 * those are not allowed either that go more than `bound` of the way from the lowest latency to it.
 */
#ifndef DFRT_CONTROL_MPC_H
#define DFRT_CONTROL_MPC_H

#include "policy.h"

extern const dfrt_policy dfrt__policy_mpc;

#endif
