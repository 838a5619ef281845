/* Files that a program would read and write, or write twice: who writes a file empties it first.
 *
 * Threads:   called before there are any.
 * Ownership: specs and paths are borrowed for the call.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_SAME_FILE_H
#define DFRT_SRC_SAME_FILE_H

#include "options.h"

/* DFRT_USAGE when something that the run would write is also read or written elsewhere, or two sources would share a
 * pipe or standard input. Nothing has been opened for writing yet. `log` is that of the controller's configuration, or
 * NULL; it gives way to --log. */
dfrt_status dfrt__check_files(const dfrt_program *program, const dfrt__options *options, const char *log,
                              dfrt_error *error);

#endif
