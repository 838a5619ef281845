/* The words of --rate, --rates and --speed.
 *
 * Threads:   one that owns the replay.
 * Ownership: everything is borrowed; the rates that were read are the replay's.
 * Progress:  reading rates waits for the file.
 */
#ifndef DFRT_REPLAY_H
#define DFRT_REPLAY_H

#include <dfrt/source.h>

/* 200k/s, 1.5M/s, 300/s. DFRT_USAGE for anything else, and when another way was set before. */
dfrt_status dfrt__read_rate(dfrt_replay *replay, const char *word, dfrt_error *error);
/* 10x, 0.5x. Likewise. */
dfrt_status dfrt__read_speed(dfrt_replay *replay, const char *word, dfrt_error *error);
/* A file of rates that change, see dfrt/rates.h. Likewise. */
dfrt_status dfrt__read_rates(dfrt_replay *replay, const char *path, dfrt_error *error);

#endif
