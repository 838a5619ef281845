/* Changes at given rounds (--reconfigure): a tool for tests and benchmarks, which asks for what a controller would.
 *
 * Threads:   of the reader.
 * Ownership: the script owns its changes; it borrows the run's elastic state.
 * Progress:  nothing waits: what can't be asked for yet is asked for at the end of the next round.
 */
#ifndef DFRT_SRC_RECONFIGURE_H
#define DFRT_SRC_RECONFIGURE_H

#include "dfrt/elastic.h"
#include "dfrt/program.h"

typedef struct dfrt__script {
    struct dfrt__scripted *changes; /* in their order */
    unsigned count, next;
    uint64_t round; /* that has ended */
    uint64_t began_ns;
    dfrt_elastic *elastic;
    const dfrt_program *program;
    dfrt_run_state *run;
} dfrt__script;

/* `spec`: a file, or its lines with semicolons between them. A line is a round, or a time
 * since the start (1500ms), and
 *     workers=N [operator=NAME] [protocol=fluent|r-blk|s-blk] [seed=N] [heavy=HASH:WORKER,...]
 * or  alternate=OPERATOR=NAME
 * With a seed the slots are dealt out at random. `how` is the protocol of lines that name none. */
dfrt_status dfrt__script_open(dfrt__script *script, const char *spec, dfrt_elastic *elastic, const dfrt_program *program,
                              dfrt_run_state *run, enum dfrt_migration how, dfrt_error *error);
void dfrt__script_close(dfrt__script *script);
/* A round has ended: asks for what its line says. A script without changes has nothing to say. */
void dfrt__script_round(dfrt__script *script);

dfrt_status dfrt__read_protocol(const char *word, enum dfrt_migration *how, dfrt_error *error);

#endif
