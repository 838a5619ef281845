/* Whether and where a run answers: what the command line says, and what holds without it.
 *
 * Threads:   opened and closed by main, while the agent runs.
 * Ownership: owns the control socket; borrows the agent, the program and the run.
 * Progress:  as control_socket.h.
 */
#ifndef DFRT_SRC_CONTROL_SERVER_H
#define DFRT_SRC_CONTROL_SERVER_H

#include "control_requests.h"
#include "control_socket.h"
#include "options.h"

typedef struct dfrt__server {
    dfrt__requests requests;
    dfrt__socket *endpoint; /* NULL: nobody is to be answered */
} dfrt__server;

/* Somebody wants to ask the program things: it is to be watched even if nothing controls it. */
bool dfrt__server_asked(const dfrt__options *options);
/* What was asked for must be had. A controlled program that was told nothing answers on NAME.sock beside its own file; if
 * that can't be, it says so and runs without. */
dfrt_status dfrt__server_open(dfrt__server *server, const dfrt__options *options, const dfrt__requests *requests,
                              bool controlled, dfrt_error *error);
void dfrt__server_close(dfrt__server *server);

#endif
