/* What a run did, as one line of JSON.
 *
 * Threads:   main, after all stages have ended.
 * Ownership: reads the layout and the reader.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_SUMMARY_H
#define DFRT_SRC_SUMMARY_H

#include "reader.h"

dfrt_status dfrt__summary_write(const dfrt__reader *reader, const dfrt__options *options, bool fused,
                                dfrt_error *error);

#endif
