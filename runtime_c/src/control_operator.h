/* The part of the controller configuration that is about one operator.
 *
 * Threads:   as control_file.h.
 * Ownership: as control_file.h.
 * Progress:  nothing waits.
 */
#ifndef DFRT_SRC_CONTROL_OPERATOR_H
#define DFRT_SRC_CONTROL_OPERATOR_H

#include "control_file.h"
#include "json_form.h"

/* An entry of "operators", which becomes the next of control->operators. */
void dfrt__read_operator(dfrt__json_form *form, dfrt__json_value *entry, const dfrt_program *program,
                         dfrt__control *control);
/* {"least": 1, "most": 12}; what is missing stays as it is. */
void dfrt__read_range(dfrt__json_form *form, dfrt__json_value *object, const char *name, unsigned *least,
                      unsigned *most);

#endif
