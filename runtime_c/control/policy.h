/* What a policy sees, what it may choose from, and what it answers: one interface for every policy, in the program and
 * in the simulator alike.
 *
 * Threads:   none. A policy belongs to whoever calls it, one call at a time.
 * Ownership: the caller owns all structs; a policy keeps nothing but the state behind its dfrt_policy_state.
 * Progress:  every call ends after a number of operations that the limits bound. No allocation, no I/O, no clock.
 *
 * Times are seconds, rates are per second, frequencies are hertz, power is watts (or, without a measurement, the unit of
 * the model). A value that is not known is NaN, never a made-up number; a policy must stand NaN, zero and infinity
 * everywhere. "Trigger" is a tuple that makes the operator compute: one that completes a window, or every tuple where
 * there is none.
 */
#ifndef DFRT_CONTROL_POLICY_H
#define DFRT_CONTROL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DFRT_MOST_WORKERS = 256,
    DFRT_MOST_FREQUENCIES = 64,
    DFRT_MOST_ALTERNATES = 16,
    DFRT_MOST_HORIZON = 16,
    DFRT_REASON = 320,
};

/* One operator during one control step (000 Tab. 1 and 2). */
typedef struct dfrt_measured {
    double step;               /* how long the step was */
    double arrivals;           /* triggers that came; what was shed before is not among them */
    double interarrival;       /* mean time between triggers, and its deviation */
    double interarrival_sd;
    double service;            /* mean time one worker takes for a trigger, with the present setting */
    double service_sd;
    double result_spacing_cv;  /* coefficient of variation of the time between results, over all workers */
    double waiting;            /* mean time a trigger waited before its service began */
    double latency;            /* mean, and the quantile that the goal names, of the results of the step */
    double latency_quantile;
    double results;            /* results that came out */
    double backlog;            /* triggers that wait at the end of the step */
    double blocked;            /* share of the step during which the sender was held up by full queues */
    double imbalance;          /* load of the busiest worker over the mean load, 1 when balanced */
    double busy;               /* mean share of the step for which the workers in use computed */
    double power;              /* measured; NaN where the machine does not tell */
    double downstream;         /* work that a result makes in the operators that follow; NaN: none, or not known */
    double alternate_service[DFRT_MOST_ALTERNATES];     /* as `service`, of each alternate; NaN: never seen */
    double alternate_selectivity[DFRT_MOST_ALTERNATES]; /* results a trigger */
    bool moved;                /* something changed in this step or in the one before: measurements are mixed */
} dfrt_measured;

typedef struct dfrt_setting {
    unsigned workers;
    unsigned frequency; /* index into dfrt_limits.frequencies */
    unsigned alternate; /* index into dfrt_limits.value */
    double shed;        /* share of tuples that are dropped, 0 unless allowed */
} dfrt_setting;

/* Fixed when the program is compiled, or narrowed by the configuration; `workers_most` may be lowered by the manager from
 * step to step. */
typedef struct dfrt_limits {
    unsigned workers_least, workers_most;
    unsigned frequency_count;               /* at least 1 */
    double frequencies[DFRT_MOST_FREQUENCIES]; /* ascending */
    double voltages[DFRT_MOST_FREQUENCIES];
    double power_most;                      /* 0: no limit. A controller narrows workers and frequencies to it (power.h) */
    double service_threads;                 /* threads beside the workers that draw power (000: 3) */
    unsigned alternate_count;               /* at least 1 */
    unsigned alternate_held;                /* n + 1: alternate n, whatever it is worth, by command; 0: the controller's */
    double value[DFRT_MOST_ALTERNATES];
    double cost[DFRT_MOST_ALTERNATES];      /* declared service time at the highest frequency; NaN: measured only */
    double shed_most;                       /* 0: the program does not allow shedding */
} dfrt_limits;

enum dfrt_statistic { DFRT_GOAL_MEAN, DFRT_GOAL_QUANTILE };

/* NaN: no such goal. */
typedef struct dfrt_goals {
    double latency;
    enum dfrt_statistic latency_of;
    double quantile;   /* 0.95, if latency_of says so */
    double throughput; /* dfrt_throughput at least, 0…1 */
    double value;      /* at least this much value, 0…1 */
    enum { DFRT_MINIMIZE_NOTHING, DFRT_MINIMIZE_CORES, DFRT_MINIMIZE_POWER, DFRT_MINIMIZE_COST } minimize;
} dfrt_goals;

/* What the goal of throughput is about: results of the step over those that were due for what came in it, by the
 * selectivity of the alternate `now`. What was shed came, too, and its results are missing. NaN: nothing was due. */
double dfrt_throughput(const dfrt_measured *measured, dfrt_setting now);

/* What a policy expects of a setting in the step to come: latency in the statistic of the goal, throughput as a share of
 * what comes in. */
typedef struct dfrt_prediction {
    dfrt_setting setting;
    double utilisation, latency, throughput, power, cost; /* NaN: the policy has no model of it */
    double waiting; /* mean waiting time before the correction, which is learned from it */
} dfrt_prediction;

enum { DFRT_MOST_ALTERNATIVES = 8 };

typedef struct dfrt_decision {
    dfrt_setting setting;
    dfrt_prediction expected;    /* of `setting` */
    double forecast;             /* triggers a second in the step to come; NaN without a forecaster */
    unsigned alternative_count;  /* the best settings that were not taken, and the present one */
    dfrt_prediction alternatives[DFRT_MOST_ALTERNATIVES];
    char reason[DFRT_REASON];    /* one line, complete without context */
} dfrt_decision;

/* All a policy may look at. `forecast[k]`: triggers a second k + 1 steps ahead, the backlog not included. */
typedef struct dfrt_situation {
    const dfrt_measured *measured;
    const dfrt_limits *limits;
    const dfrt_goals *goals;
    dfrt_setting now;
    double forecast[DFRT_MOST_HORIZON];
    double correction; /* what to multiply Kingman's waiting time with (models.h) */
    double overhead;   /* of the latency: what no setting changes (overhead.h) */
} dfrt_situation;

/* Parameters of all policies by name, so that configuration, simulator and search set them alike. NaN: the default of the
 * policy, which `dfrt_policy.parameters` tells. */
typedef struct dfrt_parameter {
    const char *name; /* as in the program's text: alpha, horizon, sensitivity, … */
    double standard, least, most;
    const char *const *choices; /* names of 0, 1, 2, … where the parameter is a word; NULL otherwise */
} dfrt_parameter;

enum { DFRT_MOST_PARAMETERS = 24 };

/* A parameter as it holds: the standard where `value` is NaN, otherwise inside of what is allowed. */
double dfrt_parameter_of(const dfrt_parameter *parameter, double value);

/* A policy (constant). Its state is `size` bytes, aligned for anything, zeroed by the caller before `start`. `values` are
 * those of the parameters in their order, NaN for the standard; `size` gets the same as `start`, and the limits of later
 * calls lie inside of those. */
typedef struct dfrt_policy {
    const char *name;
    const char *about; /* one line */
    const dfrt_parameter *parameters; /* ends with a NULL name */
    size_t (*size)(const double *values, const dfrt_limits *limits);
    void (*start)(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals);
    void (*decide)(void *state, const dfrt_situation *situation, dfrt_decision *decision);
    /* What the policy has learned, as text without newlines, to `room` bytes; answers the bytes needed, the zero at the
     * end included. NULL where there is nothing to keep. `load` answers false for what it did not write itself. */
    size_t (*save)(const void *state, char *text, size_t room);
    bool (*load)(void *state, const char *text);
} dfrt_policy;

/* By name: mpc, rule, threshold, spl, rl, static, alternates, auto. NULL: no such policy. */
const dfrt_policy *dfrt_policy_named(const char *name);
/* The n-th, NULL behind the last. */
const dfrt_policy *dfrt_policy_at(unsigned n);

#endif
