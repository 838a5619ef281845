/* The command line of a generated program.
 *
 * Threads:   main only.
 * Ownership: texts point into argv or the program's table; the arrays are freed by dfrt__options_close.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_OPTIONS_H
#define DFRT_SRC_OPTIONS_H

#include "dfrt/elastic.h"
#include "layout.h"

typedef enum dfrt__layout { DFRT__AUTO, DFRT__FUSED, DFRT__STAGED } dfrt__layout;

typedef struct dfrt__options {
    dfrt_run_state *run; /* where chosen alternates go */
    unsigned workers; /* of the operator with the most */
    bool planned;     /* each operator has as many as its plan says: nobody asked for others */
    dfrt__degrees degrees;
    enum dfrt_migration migration;
    const char *trace_path; /* latency over time goes there, or NULL */
    const char *script; /* changes at given rounds, or NULL */
    const char *control; /* configuration of the controller: a file, off, or NULL for the program's own */
    const char *log;     /* of decisions; NULL: as the configuration says */
    const char *learned; /* what policies have learned, from run to run; NULL: forgotten */
    const char *sysfs;   /* NULL: /sys */
    unsigned step_rounds; /* rounds of a control step; 0: it goes by time */
    bool watched;        /* somebody wants to look at the run */
    bool *alternates_held; /* by entry of program->alternates: chosen on the command line */
    dfrt__layout layout;
    const char **source_specs; /* by source */
    const char **sink_specs;   /* by sink */
    const char *malformed_path;
    const char *rates_path; /* where the rates of `replay` come from, or NULL */
    dfrt_replay replay; /* the pace of files: rate or speed, or neither */
    uint64_t report_limit;
    size_t max_row;
    bool stats;
    const char *stats_path; /* NULL: stderr */
    bool thread_times;      /* with the CPU time of each thread */
    const char *socket_path; /* where the running program answers; NULL: not said */
    bool no_socket;
    const char *http; /* HOST:PORT for metrics; NULL: nowhere */
    bool http_public; /* also where other machines can reach it */
    bool quiet;
    bool done; /* --help or --version has answered */
} dfrt__options;

dfrt_status dfrt__options_read(dfrt__options *options, const dfrt_program *program, dfrt_run_state *run, int argc,
                               char **argv, dfrt_error *error);
/* Where malformed rows of a source go, to be freed; NULL: none was asked for. With several sources each has a file of
 * its own: one file has one header. */
char *dfrt__malformed_path(const dfrt__options *options, const dfrt_program *program, const char *name);
void dfrt__options_close(dfrt__options *options);

#endif
