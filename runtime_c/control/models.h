/* What a setting is expected to give: service time, utilisation, waiting time, latency and power of one operator.
 *
 * Threads:   none.
 * Ownership: the caller owns everything; nothing is kept.
 * Progress:  O(1) a call. No allocation, no I/O, no clock.
 *
 * Sources: 000 §3.2 and 002 §6.2.2. Every function answers a number or infinity, whatever was measured; only
 * dfrt_model_of can say that too little is known.
 */
#ifndef DFRT_CONTROL_MODELS_H
#define DFRT_CONTROL_MODELS_H

#include "policy.h"

/* The model counts on this much of the time between triggers; the rest is margin. */
#define DFRT_MARGIN 0.95

typedef struct dfrt_model {
    double interarrival;           /* between the triggers of the step; INFINITY: none come */
    double service;                /* one worker, one trigger, with the present frequency */
    unsigned frequency;            /* the present one */
    double arrival_cv2, service_cv2; /* squared coefficients of variation */
    double imbalance;              /* at least 1 */
    double correction;             /* of the waiting time */
    double overhead;               /* of the latency, the same with every setting */
    double tail;                   /* what the goal's latency is a multiple of the mean by; 1 for a goal on the mean */
    double watts;                  /* a unit of the power model, where the machine measures power; otherwise 1 */
} dfrt_model;

/* The model of the first step to come; false: neither a service time nor a declared cost, or no rate, is known. */
bool dfrt_model_of(const dfrt_situation *situation, dfrt_model *model);
/* Triggers a second in a step of the horizon (0 is the one to come, and has the backlog on top); NaN: not known. */
double dfrt_load_of(const dfrt_situation *situation, unsigned step);
void dfrt_model_load(dfrt_model *model, double rate);

/* One worker's service time with another frequency: it computes, so half the frequency takes twice as long. */
double dfrt_model_service(const dfrt_model *model, const dfrt_limits *limits, unsigned frequency);
/* Between two results of all workers if there always is a next trigger. */
double dfrt_model_ideal(const dfrt_model *model, double service, unsigned workers);
/* Of the busiest worker, with the margin; 1 and more: it can't keep up. */
double dfrt_model_utilisation(const dfrt_model *model, double ideal);
/* Kingman's mean waiting time, before the correction; infinite where `utilisation` is 1 or more. */
double dfrt_model_waiting(const dfrt_model *model, double utilisation, double ideal);
/* In the statistic of the goal. The overhead adds to a quantile as to the mean, and `tail` is that of the rest. */
double dfrt_model_latency(const dfrt_model *model, double service, double waiting);
/* Voltage² · gigahertz · (workers + service threads). */
double dfrt_model_power(const dfrt_limits *limits, unsigned workers, unsigned frequency);
/* All of it; `cost` is NaN. */
void dfrt_model_predict(const dfrt_model *model, const dfrt_limits *limits, dfrt_setting setting,
                        dfrt_prediction *prediction);

/* What Kingman's waiting time has to be multiplied by: the mean of the last three ratios of measured to predicted, each
 * inside 1/20…20; 1 until three are known. A zeroed struct is a new one. */
typedef struct dfrt_correction {
    double ratios[3];
    unsigned noted;
} dfrt_correction;

/* What can't be compared (NaN, nothing predicted, an infinite prediction) is passed over. */
void dfrt_correction_note(dfrt_correction *correction, double measured, double predicted);
double dfrt_correction_factor(const dfrt_correction *correction);

#endif
