/* The decision log: one JSON object a line (docs/CONTROL.md has their form).
 *
 * Threads:   the agent, under its lock.
 * Ownership: the log owns its file.
 * Progress:  each line is written out at once, so that a program that is killed has said all it decided. A file that
 *            can't be written is said once; the program goes on.
 */
#ifndef DFRT_SRC_DECISION_LOG_H
#define DFRT_SRC_DECISION_LOG_H

#include <stdio.h>

#include "agent.h"

enum { DFRT__LOG_SCHEMA = 1 };

typedef struct dfrt__decision_log {
    FILE *file; /* NULL: nobody wants to know */
    char *path;
    bool failed;
} dfrt__decision_log;

/* What one operator's line says. */
typedef struct dfrt__logged_step {
    const char *name, *policy;
    const char *const *alternates; /* their names, NULL without any */
    unsigned alternate_count;
    const dfrt_measured *measured;
    const dfrt_decision *decision;
    dfrt_setting before, after; /* in force in the step, and from now on */
    int lowest_frequency; /* as dfrt__status */
    bool acted, rebalanced; /* rebalanced: the keys were divided anew between the same workers */
    unsigned heavy_keys; /* with routes of their own, from now on */
    const char *held; /* why `after` is not what was decided; empty otherwise */
    bool fell_back;
    /* What was expected of the step that was measured; `error` NaN: nothing was. */
    const dfrt_prediction *expected;
    double error;
    double goal_latency; /* the statistic that the goal names, as measured */
    double throughput;   /* as the goal counts it */
} dfrt__logged_step;

dfrt_status dfrt__log_open(dfrt__decision_log *log, const char *path, dfrt_error *error);
void dfrt__log_close(dfrt__decision_log *log);

void dfrt__log_start(dfrt__decision_log *log, const dfrt__status *status, const char *configuration, double unix_time);
void dfrt__log_program(dfrt__decision_log *log, const dfrt__status *status, double unix_time);
void dfrt__log_step(dfrt__decision_log *log, uint64_t step, double uptime, const dfrt__logged_step *logged);
/* Its place in the list of the configuration, which begins below the `lowest` that can be chosen; null without a list. */
void dfrt__put_frequency(FILE *out, int lowest, const dfrt_setting *setting);
/* Something that happened beside the steps: a command, a reload, the end. */
void dfrt__log_event(dfrt__decision_log *log, double uptime, const char *event, const char *detail);

#endif
