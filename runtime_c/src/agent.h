/* The part of a running program that watches it and changes it: measures each control step, asks the controllers,
 * acts, writes the decision log. What a status page shows comes from here, and every command goes through here.
 *
 * Threads:   opened and closed by the thread that builds the layout. One thread of its own runs the control steps.
 *            dfrt__agent_status, dfrt__agent_steps and dfrt__agent_command may be called by any thread between start and
 *            stop; they take the agent's lock, never a stage's time.
 * Ownership: the agent owns its counters, controllers and log. Texts in a status are constants of the program, or live as
 *            long as the agent.
 * Progress:  a call waits for at most one control step's work, which is bounded by the limits of the policies; a command
 *            never waits for the change that it asked for.
 */
#ifndef DFRT_SRC_AGENT_H
#define DFRT_SRC_AGENT_H

#include "../control/manager.h"
#include "../control/policy.h"
#include "layout.h"

typedef struct dfrt__agent dfrt__agent;

/* --- what a status page shows -------------------------------------------------------------------------- */

/* Seconds; NaN where there is no result to tell from. */
typedef struct dfrt__latency_status {
    uint64_t count;
    double mean, p50, p90, p95, p99, p999, max;
} dfrt__latency_status;

/* An operator that can be controlled: its degree can change, or it has alternates. Values are those of the last control
 * step; NaN where nothing was measured. */
typedef struct dfrt__operator_status {
    const char *name;
    const char *policy; /* in force; "off" where nobody decides */
    unsigned workers, workers_least, workers_most;
    const char *alternate; /* active one, NULL where there are none */
    const char *const *alternates;
    unsigned alternate_count;
    unsigned heavy_keys; /* with routes of their own */
    double rate;        /* triggers that came, a second */
    double results;     /* results, a second */
    double service;     /* seconds a trigger takes one worker */
    double utilisation; /* mean share of the step for which the workers in use computed */
    double imbalance;   /* busiest worker over the mean */
    double backlog;     /* triggers that wait */
    double waiting;     /* seconds before the service of a trigger begins */
    double blocked;     /* share of the step for which whoever sends to it was held up */
    double forecast;    /* triggers a second that are expected */
    double error;       /* relative error of the last prediction */
    bool fell_back;     /* the threshold rule decides: the policy's model is off */
    bool workers_held, alternate_held; /* by a command, or by --workers and --alternate */
    uint64_t triggers, total_results; /* since the start */
    uint64_t changes;   /* of the setting, since the start */
    double shed;        /* share of tuples that are dropped for it */
    double throughput;  /* results of what came, as a share of what the alternate makes of it */
    char reason[DFRT_REASON]; /* of the last decision; empty before the first */
} dfrt__operator_status;

enum { DFRT__RECENT = 16 };

/* A decision that changed something (or, in shadow mode, would have). */
typedef struct dfrt__change_status {
    double uptime; /* seconds after the start */
    const char *name;
    dfrt_setting before, after;
    bool acted; /* false: shadow */
    char reason[DFRT_REASON];
} dfrt__change_status;

typedef struct dfrt__status {
    const char *app, *version;
    bool fused;
    const char *configuration; /* file it was read from; NULL: the program's own */
    bool controlled;           /* somebody decides */
    bool shadow, draining;
    double uptime; /* seconds */
    double step;   /* how long a control step is */
    uint64_t steps;
    uint64_t tuples, results, late, malformed, faults, shed; /* since the start */
    double rate;                  /* tuples read, a second, in the last step */
    dfrt__latency_status latency; /* of the results of the last step */
    dfrt_goals goals;
    double frequency;  /* hertz; NaN where the machine does not tell */
    int lowest_frequency; /* that settings can have, by its place in the configuration's list; -1: there is no list */
    double power;      /* watts if measured, else the model's unit; NaN: neither */
    bool power_is_measured;
    unsigned operator_count;
    dfrt__operator_status operators[DFRT_MOST_OPERATORS];
    unsigned change_count; /* the newest last */
    dfrt__change_status changes[DFRT__RECENT];
} dfrt__status;

/* A step of the program, since the start. */
typedef struct dfrt__step_status {
    const char *name, *kind;
    uint64_t in, out, late, malformed, faults;
} dfrt__step_status;

void dfrt__agent_status(dfrt__agent *agent, dfrt__status *status);
/* All steps of the program (program->step_count of them). */
void dfrt__agent_steps(dfrt__agent *agent, dfrt__step_status *steps);
/* Latencies of all results since the start, into an empty histogram of the caller's. */
void dfrt__agent_latency(dfrt__agent *agent, dfrt_histogram *latency);
/* The configuration in force as text, with what commands have changed of it; NULL: no memory. The caller frees it. */
char *dfrt__agent_configuration(dfrt__agent *agent);

/* --- commands ------------------------------------------------------------------------------------------ */

/* One command in words:
 *
 *     workers OPERATOR N|auto       alternate OPERATOR NAME|auto      policy OPERATOR NAME|off
 *     shadow on|off                 reload [FILE]                     drain
 *
 * `reply` gets one line either way. DFRT_USAGE: refused, nothing has changed; DFRT_AGAIN: another change is on its way. */
dfrt_status dfrt__agent_command(dfrt__agent *agent, const char *request, dfrt_error *reply);

#endif
