/* The agent from inside: its state, and the calls of whoever runs the program (agent.h has what others may call).
 *
 * Threads:   as agent.h; everything below `lock` is under it while the agent's thread runs.
 * Ownership: as agent.h. Layout, run and sources are borrowed until the agent is closed.
 * Progress:  as agent.h.
 */
#ifndef DFRT_SRC_AGENT_STATE_H
#define DFRT_SRC_AGENT_STATE_H

#include <pthread.h>

#include "agent.h"
#include "control_file.h"
#include "decision_log.h"
#include "frequency.h"
#include "reader.h"
#include "readings.h"

typedef struct dfrt__agent_options {
    bool off;           /* nobody decides: the agent only watches and takes commands */
    unsigned cores;     /* of the machine */
    unsigned max_workers; /* --max-workers, which goes before the cores of machine and configuration; 0: not given */
    bool workers_held;  /* --workers: the degree is not the controller's */
    const bool *alternates_held; /* by entry of program->alternates: --alternate */
    const char *log;    /* of the command line; NULL: the configuration's */
    const char *learned; /* file of what policies have learned, loaded and saved; NULL: none */
    const char *sysfs;  /* NULL: /sys */
    bool quiet;
} dfrt__agent_options;

/* One operator. */
typedef struct dfrt__controlled {
    const char *name;
    unsigned step, segment;
    int alternates; /* entry of program->alternates; -1: none */
    int elastic;    /* number for dfrt_elastic_*; -1: its degree is fixed */
    unsigned most;  /* replicas that exist */
    dfrt__rules rules;
    dfrt_limits limits; /* the widest: those of the controller's start */
    void *room;
    dfrt_controller *controller; /* in `room`; NULL: nobody decides */
    char *learned;    /* by a controller that was here before this one, as its text; NULL: nothing */
    bool learns_anew; /* what was learned did not fit the controller */
    unsigned held_workers;       /* 0: the controller's */
    int held_alternate;          /* -1: the controller's */
    dfrt__tally before, now;
    dfrt__late_samples late;
    dfrt_measured measured;
    dfrt_decision decision; /* of the last step; its `expected` is compared with the next */
    dfrt_wish wish;
    bool decided;
    dfrt_setting setting; /* in force */
    unsigned quiet_steps; /* since something changed */
    bool rebalanced;      /* keys were divided anew in this step */
    uint64_t changes;
    double *slots_before, *slots_now; /* load of each slot since the start; NULL: has none to move */
    double *slots;                    /* of late (division.h), and of all of them in the last step */
    double slots_in_step;
    dfrt_unevenness unevenness;
    dfrt__key_loads keys;             /* the heaviest ones of the step, where there are slots */
    unsigned heavy_keys;              /* with a route of their own */
} dfrt__controlled;

struct dfrt__agent {
    dfrt__agent_options options;
    const dfrt_program *program;
    dfrt__layout_plan *layout;
    dfrt__reader *reader;
    dfrt_run_state *run;
    bool fused;

    pthread_mutex_t lock;
    pthread_cond_t ended; /* `ending` has become true */
    bool ending, running, opened; /* opened: all that it needs is there */
    pthread_t thread;

    dfrt__control control;
    dfrt_manager manager;
    dfrt__readings readings;
    dfrt__frequency frequency;
    dfrt__decision_log log;
    unsigned cores; /* workers of all operators together, as the configuration in force allows */
    bool shadow, shadow_held, draining; /* held: by a command */
    bool frequency_is_set, told_frequency; /* by the agent; that it could not be */
    uint64_t started_ns, stepped_ns, steps;
    uint64_t tuples_before;
    double rate, joules, power, clock_hertz;
    dfrt_histogram latency_before, latency_now, latency_step;
    dfrt__controlled operators[DFRT_MOST_OPERATORS];
    unsigned count;
    dfrt__change_status recent[DFRT__RECENT];
    uint64_t recent_count;
};

/* Takes over the configuration, and watches all stages. Nothing runs yet. To be closed either way. */
dfrt_status dfrt__agent_open(dfrt__agent **out, const dfrt__agent_options *options, dfrt__control *control,
                             dfrt__layout_plan *layout, dfrt__reader *reader, bool fused, dfrt_error *error);
/* A thread that makes a step whenever one is due; without it the caller makes them. */
dfrt_status dfrt__agent_start(dfrt__agent *agent, dfrt_error *error);
/* One control step: measures what happened since the last one, decides, acts, logs. Tests bring their own time. */
void dfrt__agent_step(dfrt__agent *agent, uint64_t now_ns);
/* Ends the thread, after a last look at the counters. The stages must still be there. */
void dfrt__agent_stop(dfrt__agent *agent);
void dfrt__agent_close(dfrt__agent *agent);

/* --- between the files of the agent, under its lock ----------------------------------------------------- */

/* Finds the operators that the configuration controls; on failure nothing has changed. */
void dfrt__agent_begin(dfrt__agent *agent);
/* New limits and a fresh controller for an operator, as its rules and what is held say. */
void dfrt__agent_restart(dfrt__agent *agent, dfrt__controlled *one);
/* Begins anew to divide the cores. */
void dfrt__agent_share(dfrt__agent *agent);
/* The cores of a new configuration, with new limits and a fresh controller for everybody. */
void dfrt__agent_restart_all(dfrt__agent *agent);
/* The highest frequency, where the agent may choose one: what is set is known from the first step on. */
void dfrt__agent_begin_frequency(dfrt__agent *agent);
/* While it is not the agent's: the one of the list that is nearest to what the cores have now. */
void dfrt__agent_look_at_frequency(dfrt__agent *agent);
/* As in dfrt__status: where nobody can change it, the one that there is counts as the highest. */
int dfrt__agent_lowest_frequency(const dfrt__agent *agent);
void dfrt__agent_read(dfrt__agent *agent, uint64_t now_ns);
void dfrt__agent_act(dfrt__agent *agent);
void dfrt__agent_fill(dfrt__agent *agent, dfrt__status *status);
/* Another configuration, as the command says; `path` NULL: the same file again. */
dfrt_status dfrt__agent_reload(dfrt__agent *agent, const char *path, dfrt_error *reply);
/* A command has given it another policy than the configuration says. */
bool dfrt__agent_overruled(const dfrt__agent *agent, const dfrt__controlled *one);
double dfrt__agent_uptime(const dfrt__agent *agent);
/* Changes one thing of one operator. DFRT_AGAIN: the last change is on its way. */
dfrt_status dfrt__agent_set_workers(dfrt__agent *agent, dfrt__controlled *one, unsigned workers, dfrt_error *error);
void dfrt__agent_set_alternate(dfrt__agent *agent, dfrt__controlled *one, unsigned alternate);
bool dfrt__same_setting_of(const dfrt_setting *a, const dfrt_setting *b);
/* Remembers a change for whoever looks at the status. */
void dfrt__agent_note(dfrt__agent *agent, const dfrt__controlled *one, dfrt_setting before, dfrt_setting after,
                      bool acted, const char *reason);

#endif
