/* What each step of a program costs, measured while it runs: only in the build that `dfc calibrate` makes. There every
 * call of a step's push or watermark function goes through dfrt_calibrate_enter and dfrt_calibrate_leave.
 *
 * Threads:   the one thread of the fused layout; nothing here is shared.
 * Ownership: all state is static.
 * Progress:  nothing waits. About one tuple in 64 and one watermark in 2 are timed, chosen by chance; of the others the
 *            keys are counted.
 */
#ifndef DFRT_CALIBRATE_H
#define DFRT_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

enum { DFRT_CALIBRATE_STEPS = 1024 };

/* A call of a step's function begins; `pushes` tells a tuple from a watermark. */
void dfrt_calibrate_enter(unsigned step, bool pushes);
void dfrt_calibrate_leave(void);
/* Counts the key of a tuple on its way into a keyed step. */
void dfrt_calibrate_key(unsigned step, uint64_t hash);
/* Writes everything as JSON to the file that DFC_CALIBRATE names. Nonzero: it could not. */
int dfrt_calibrate_write(unsigned step_count);

#endif
