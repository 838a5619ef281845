/* Files that a program would read and write, or write twice: a sink empties its file when it opens it.
 *
 * Threads:   called before there are any.
 * Ownership: specs are borrowed for the call.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_SAME_FILE_H
#define DFRT_SRC_SAME_FILE_H

#include "options.h"

/* DFRT_USAGE when a sink's file is also that of a source, or of another sink. Nothing has been opened yet. */
dfrt_status dfrt__check_files(const dfrt_program *program, const dfrt__options *options, dfrt_error *error);

#endif
