/* Takes what is expected out of a JSON object, and says where and what when it is not there.
 *
 * Threads:   one thread at a time uses a form.
 * Ownership: everything is borrowed.
 * Progress:  nothing waits. After the first mistake every call answers its standard; `status` remembers the mistake.
 */
#ifndef DFRT_SRC_JSON_FORM_H
#define DFRT_SRC_JSON_FORM_H

#include "json_value.h"

typedef struct dfrt__json_form {
    const char *name; /* of the text, for messages */
    dfrt_error *error;
    dfrt_status status;
} dfrt__json_form;

/* DFRT_USAGE at the place of a value; the first mistake stays. */
__attribute__((format(printf, 3, 4))) void dfrt__json_refuse(dfrt__json_form *form, const dfrt__json_value *at,
                                                             const char *format, ...);

/* A member, which counts as known from then on; NULL when it is not there, or null. */
dfrt__json_value *dfrt__json_member(dfrt__json_form *form, dfrt__json_value *object, const char *name);
/* Each answers `standard` where there is no such member. */
double dfrt__json_real(dfrt__json_form *form, dfrt__json_value *object, const char *name, double least, double most,
                       double standard);
unsigned dfrt__json_count(dfrt__json_form *form, dfrt__json_value *object, const char *name, unsigned least,
                          unsigned most, unsigned standard);
bool dfrt__json_truth(dfrt__json_form *form, dfrt__json_value *object, const char *name, bool standard);
const char *dfrt__json_words(dfrt__json_form *form, dfrt__json_value *object, const char *name);
/* The number of a word in `words`, which ends with NULL. */
unsigned dfrt__json_choice(dfrt__json_form *form, dfrt__json_value *object, const char *name, const char *const *words,
                           unsigned standard);
/* A member that is an object or a list; NULL when it is not there. */
dfrt__json_value *dfrt__json_part(dfrt__json_form *form, dfrt__json_value *object, const char *name,
                                  dfrt__json_kind kind);
/* The value of a list or of a member, which must be of this kind. */
bool dfrt__json_is(dfrt__json_form *form, const dfrt__json_value *value, dfrt__json_kind kind);
/* Every member must have been asked for. */
void dfrt__json_no_more(dfrt__json_form *form, const dfrt__json_value *object);

#endif
