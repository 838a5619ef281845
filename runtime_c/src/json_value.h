/* A whole JSON text as a tree, for configurations: small, bounded, every value with its place.
 *
 * Threads:   one thread at a time uses a tree.
 * Ownership: the tree owns its values and texts; `name` and the text that is read are borrowed for the call.
 * Progress:  linear in the text; nesting, size and the number of values are bounded.
 */
#ifndef DFRT_SRC_JSON_VALUE_H
#define DFRT_SRC_JSON_VALUE_H

#include "dfrt/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { DFRT__JSON_LEVELS = 16, DFRT__JSON_VALUES = 1 << 15, DFRT__JSON_BYTES = 1 << 20 };

typedef enum dfrt__json_kind {
    DFRT__JSON_NULL,
    DFRT__JSON_BOOL,
    DFRT__JSON_NUMBER,
    DFRT__JSON_TEXT,
    DFRT__JSON_LIST,
    DFRT__JSON_OBJECT,
} dfrt__json_kind;

typedef struct dfrt__json_value {
    dfrt__json_kind kind;
    unsigned line, column; /* of its first character, from 1; the column in bytes */
    const char *name;      /* of a member of an object */
    bool truth;
    double number;
    const char *text;
    struct dfrt__json_value *first, *next; /* elements and members; the one behind this one */
    bool used; /* for whoever reads the tree: what is left over is not known to him */
} dfrt__json_value;

typedef struct dfrt__json_tree {
    dfrt__json_value *values;
    size_t count, room;
    char *texts, *texts_at;
} dfrt__json_tree;

/* DFRT_USAGE with NAME:LINE:COLUMN and what was expected there. The tree is to be closed either way. */
dfrt_status dfrt__json_read(dfrt__json_tree *tree, const char *name, const char *text, size_t size,
                            dfrt__json_value **root, dfrt_error *error);
void dfrt__json_close(dfrt__json_tree *tree);

#endif
