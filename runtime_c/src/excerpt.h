/* Bytes of unknown origin made fit for one line of a message: control characters and invalid UTF-8 escaped, long ones
 * shortened. What comes from a file must not be able to steer a terminal or fake another line.
 *
 * Threads:   pure function.
 * Ownership: the text goes to the caller's buffer.
 * Progress:  nothing waits.
 */
#ifndef DFRT_EXCERPT_H
#define DFRT_EXCERPT_H

#include <dfrt/record.h>

enum { DFRT__EXCERPT_ROOM = 64 };

/* Writes at most room - 1 bytes and a NUL; "…" stands for what was left out. Answers the bytes without the NUL.
 * room must be at least 8. */
size_t dfrt__excerpt(char *out, size_t room, dfrt_slice bytes);

#endif
