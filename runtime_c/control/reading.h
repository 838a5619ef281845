/* What a step's measurements mean: rate, utilisation, whether a goal is missed; and the sentences of decisions. What
 * several policies and the controller ask is answered here once.
 *
 * Threads:   none.
 * Ownership: nothing is kept.
 * Progress:  every call is bounded by the limits. No allocation, no I/O, no clock.
 *
 * An answer that the measurements do not give is NaN.
 */
#ifndef DFRT_CONTROL_READING_H
#define DFRT_CONTROL_READING_H

#include "policy.h"

/* Triggers a second that would have come, had nothing been shed. */
double dfrt__rate(const dfrt_measured *measured, dfrt_setting now);
/* Work that came over work that could be done, above 1 when the operator falls behind. */
double dfrt__utilisation(const dfrt_measured *measured, dfrt_setting now);
/* The latency that the goal is about. */
double dfrt__goal_latency(const dfrt_measured *measured, const dfrt_goals *goals);
/* Whether a goal was missed; if so and `why` is given, it points to a few words that say which. With `now.shed` 0 it is
 * asked of what was let in. */
bool dfrt__goal_missed(const dfrt_measured *measured, const dfrt_goals *goals, dfrt_setting now, const char **why);

/* Whether enough waits to matter: a twentieth of a step's work. And whether that is more than `before`. */
bool dfrt__much_waits(const dfrt_measured *measured, dfrt_setting now);
bool dfrt__falls_behind(const dfrt_measured *measured, dfrt_setting now, double before);
/* Whether much waits, or the workers computed without a pause: what it gave is no measure of a load that can be kept up with.
 * Where one thread reads and computes, what it can't do is not read and so does not wait. */
bool dfrt__is_burdened(const dfrt_measured *measured, dfrt_setting now);

/* `setting` moved into the limits. */
dfrt_setting dfrt__within(dfrt_setting setting, const dfrt_limits *limits);
/* Limits that can be used, whatever they were. */
void dfrt__usable_limits(const dfrt_limits *limits, dfrt_limits *usable);
bool dfrt__same_setting(dfrt_setting one, dfrt_setting other);

dfrt_prediction dfrt__no_prediction(dfrt_setting setting);
/* A decision that keeps `now` and expects nothing: what every policy begins with. */
void dfrt__stay(dfrt_decision *decision, const dfrt_situation *situation);
/* One worker more; without room for one, the highest frequency. False when neither is possible. */
bool dfrt__more(dfrt_setting *setting, const dfrt_limits *limits);
bool dfrt__fewer(dfrt_setting *setting, const dfrt_limits *limits);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void dfrt__say(dfrt_decision *decision, const char *format, ...);
/* Adds to the reason what a rule changed, after a semicolon. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void dfrt__say_more(dfrt_decision *decision, const char *format, ...);

#endif
