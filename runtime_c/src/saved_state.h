/* The state of a whole instance as bytes that another instance of the same program goes on from.
 *
 * Threads:   as embed.h; the instance runs in its owner's thread alone (one worker).
 * Ownership: saving appends to the caller's bytes; loading borrows them.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SAVED_STATE_H
#define DFRT_SAVED_STATE_H

#include "dfrt/bytes.h"
#include "embed_state.h"

/* Between two events. DFRT_USAGE: the program was built without this, or runs in several threads. */
dfrt_status dfrt__state_save(dfrt_embed *embed, dfrt_bytes *bytes, dfrt_error *error);

/* Into an instance that has got nothing yet. DFRT_USAGE: state of another program or version; DFRT_MALFORMED: damaged.
 * After a failure the instance is good for nothing but destroying. */
dfrt_status dfrt__state_load(dfrt_embed *embed, const uint8_t *bytes, size_t size, dfrt_error *error);

#endif
