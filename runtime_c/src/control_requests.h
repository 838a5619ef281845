/* The requests of the control socket: each line is one, each answer is one line of JSON with `ok`; `metrics` alone answers
 * with many lines, of which `# EOF` is the last.
 *
 * Threads:   called by the server's thread (control_socket.h).
 * Ownership: borrows the agent, the program and the run.
 * Progress:  as the agent's calls: none waits for a change.
 */
#ifndef DFRT_SRC_CONTROL_REQUESTS_H
#define DFRT_SRC_CONTROL_REQUESTS_H

#include "agent.h"
#include "control_connection.h"
#include "dfrt/program.h"

typedef struct dfrt__requests {
    dfrt__agent *agent;
    const dfrt_program *program;
    dfrt_run_state *run;
} dfrt__requests;

/* `requests` is the responder's context. */
dfrt__responder dfrt__requests_responder(dfrt__requests *requests);

#endif
