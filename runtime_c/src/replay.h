/* The words of --rate and --speed.
 *
 * Threads:   pure functions.
 * Ownership: everything is borrowed.
 * Progress:  nothing waits.
 */
#ifndef DFRT_REPLAY_H
#define DFRT_REPLAY_H

#include <dfrt/source.h>

/* 200k/s, 1.5M/s, 300/s. DFRT_USAGE for anything else, and when a speed was set before. */
dfrt_status dfrt__read_rate(dfrt_replay *replay, const char *word, dfrt_error *error);
/* 10x, 0.5x. Likewise. */
dfrt_status dfrt__read_speed(dfrt_replay *replay, const char *word, dfrt_error *error);

#endif
