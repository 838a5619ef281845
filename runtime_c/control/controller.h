/* The controller of one operator: forecaster, policy, and the rules that keep a policy from doing harm. Program and
 * simulator call it once a control step; everything a policy decides goes through it.
 *
 * Threads:   none; a controller belongs to whoever calls it.
 * Ownership: the caller gives the memory (dfrt_controller_size) and owns it.
 * Progress:  as policy.h. No allocation, no I/O, no clock.
 *
 * The rules (each can be seen in the reason of a decision that it changed):
 *   limits      every setting lies inside dfrt_limits, whatever the policy says
 *   measured    never fewer workers, a lower frequency or a dearer alternate while the backlog grows or the goal is missed
 *   backlog     what waits counts as load of the first step (dfrt_load_of adds it to forecast[0])
 *   relief      with all workers and the highest frequency and still short of the goals: a cheaper alternate, then
 *               shedding if allowed; and back with room to spare (not for `static` and `alternates`)
 *   waiting     `cooldown` steps between opposite actions; help that is needed now does not wait
 *   error       when the prediction error (mean relative error of latency or utilisation over the last steps) stays above
 *               `trust`, the threshold rule decides until the policy predicts well again
 *   nothing     an empty step, a clock that stands still, NaN: the setting stays, and the reason says why
 */
#ifndef DFRT_CONTROL_CONTROLLER_H
#define DFRT_CONTROL_CONTROLLER_H

#include "policy.h"

typedef struct dfrt_controller_options {
    const dfrt_policy *policy;
    double parameters[DFRT_MOST_PARAMETERS]; /* by the order of policy->parameters; NaN: standard */
    const char *forecaster;                  /* as dfrt_forecast_named; any other: holt_winters */
    double level, trend, seasonal, smoothing; /* of the forecaster; NaN: standard */
    unsigned season;                         /* steps; 0: none */
    unsigned cooldown;                       /* steps between opposite actions */
    unsigned warmup;                         /* steps that are only watched */
    double trust;                            /* relative error above which the model is not believed; NaN: 0.5 */
} dfrt_controller_options;

typedef struct dfrt_controller dfrt_controller;

size_t dfrt_controller_size(const dfrt_controller_options *options, const dfrt_limits *limits);
/* `room`: dfrt_controller_size bytes, aligned for anything. */
dfrt_controller *dfrt_controller_start(void *room, const dfrt_controller_options *options, const dfrt_limits *limits,
                                       const dfrt_goals *goals, dfrt_setting now);
/* One step: what was measured in the last one, with `now` in force; answers what to do from now on. */
void dfrt_controller_step(dfrt_controller *controller, const dfrt_measured *measured, const dfrt_limits *limits,
                          dfrt_setting now, dfrt_decision *decision);
/* Relative error of what was predicted for the step that was measured last, of latency (against the goal, where it was
 * shorter than that) or of utilisation; NaN when there is none. */
double dfrt_controller_error(const dfrt_controller *controller);
bool dfrt_controller_fell_back(const dfrt_controller *controller);
/* As dfrt_policy.save and load, with the policy's name in front; 0 for a policy that learns nothing. */
size_t dfrt_controller_save(const dfrt_controller *controller, char *text, size_t room);
bool dfrt_controller_load(dfrt_controller *controller, const char *text);

#endif
