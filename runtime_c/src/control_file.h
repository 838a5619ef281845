/* The controller configuration: the JSON that dfc compile writes (docs/CONTROL.md has its form), checked against the
 * program that runs it.
 *
 * Threads:   read by one thread, constant from then on.
 * Ownership: a dfrt__control owns its texts; policies and names of steps are constants.
 * Progress:  linear in the text. Reading changes nothing but the struct: a broken file leaves the running one alone.
 */
#ifndef DFRT_SRC_CONTROL_FILE_H
#define DFRT_SRC_CONTROL_FILE_H

#include "../control/controller.h"
#include "../control/manager.h"
#include "../control/rebalance.h"
#include "dfrt/elastic.h"
#include "dfrt/program.h"
#include "json_value.h"

#include <stdio.h>

enum { DFRT__CONTROL_SCHEMA = 2 };

/* One operator. */
typedef struct dfrt__rules {
    unsigned step; /* of the program */
    dfrt_controller_options options; /* policy NULL: nobody decides */
    unsigned workers_least, workers_most; /* most 0: as many as there are */
    const dfrt__json_value *workers;      /* where they stand; NULL: nowhere */
    double value[DFRT_MOST_ALTERNATES], cost[DFRT_MOST_ALTERNATES];
    bool rebalances;
    enum dfrt_balancer balancer;
    double imbalance;
    enum dfrt_migration migration;
} dfrt__rules;

typedef struct dfrt__control {
    char *file; /* NULL: the program's own */
    char *text;
    dfrt__json_tree tree;
    dfrt__json_value *root; /* in the tree */
    double step; /* seconds */
    bool shadow;
    const char *log; /* NULL: none */
    dfrt_goals goals;
    unsigned cores_least, cores_most; /* most 0: those of the machine */
    dfrt_limits machine; /* frequencies, voltages, service threads and shedding; the rest is of the operators */
    double changes_a_step, most_changes;
    dfrt__rules operators[DFRT_MOST_OPERATORS];
    unsigned count;
} dfrt__control;

/* DFRT_USAGE with FILE:LINE:COLUMN and what was expected, DFRT_MISSING, DFRT_IO, DFRT_MEMORY. `path` NULL: the program's
 * own configuration. To be closed either way. */
dfrt_status dfrt__control_read(dfrt__control *control, const dfrt_program *program, const char *path, dfrt_error *error);
void dfrt__control_close(dfrt__control *control);

/* A file for reading; NULL with errno, EINVAL for what is no regular file. Never waits, as opening a pipe would. */
FILE *dfrt__open_regular(const char *path);
/* Whether anybody is to decide anything. */
bool dfrt__control_decides(const dfrt__control *control);
/* Of a step of the program; NULL: it has no entry. */
const dfrt__rules *dfrt__control_of(const dfrt__control *control, unsigned step);
/* Workers of all operators together: those that the configuration allows, of those that there are. --max-workers
 * (0: not given) goes before both: a test or a benchmark may want more workers than cores. */
unsigned dfrt__control_cores(const dfrt__control *control, unsigned machine, unsigned max_workers);
/* A policy by name with its standard parameters, for a command; false: there is none, and `off` is no policy. */
bool dfrt__control_policy(dfrt_controller_options *options, const char *name);
/* The names of all of them, and `off`. */
void dfrt__control_policies(char *list, size_t room);
/* Which entry of program->alternates belongs to a step; -1: none. */
int dfrt__alternates_of(const dfrt_program *program, unsigned step);

#endif
