#include "json_value.h"

#include <stdlib.h>
#include <string.h>

#include "dfrt/number.h"
#include "dfrt/utf8.h"
#include "json_scan.h"

typedef struct reading {
    dfrt__json_tree *tree;
    dfrt__json json;
    const char *begin;
    const char *name;
    dfrt_error *error;
    unsigned levels;
    const char *counted, *line_start; /* lines up to `counted` have been counted */
    unsigned line;
} reading;

/* --- places ------------------------------------------------------------------------------------------- */

/* Places are asked for from the beginning to the end, so that all of them together cost one pass; a mistake may lie a
 * little before. */
static void find_place(reading *r, const char *at, unsigned *line, unsigned *column)
{
    if (r->counted == NULL || at < r->counted) {
        r->counted = r->line_start = r->begin;
        r->line = 1;
    }
    for (; r->counted < at; r->counted++) {
        if (*r->counted == '\n') {
            r->line++;
            r->line_start = r->counted + 1;
        }
    }
    *line = r->line;
    *column = (unsigned)(at - r->line_start) + 1;
}

static dfrt_status refuse(reading *r, const char *at, const char *why)
{
    unsigned line, column;
    find_place(r, at, &line, &column);
    return dfrt_fail(r->error, DFRT_USAGE, "%s:%u:%u: %s", r->name, line, column, why);
}

/* --- values ------------------------------------------------------------------------------------------- */

/* Values stand one behind the other in room that never moves: a text of n bytes has at most n of them. */
static dfrt__json_value *new_value(reading *r, dfrt__json_kind kind)
{
    dfrt__json_value *value = &r->tree->values[r->tree->count++];
    *value = (dfrt__json_value){.kind = kind};
    find_place(r, r->json.at, &value->line, &value->column);
    return value;
}

static dfrt_status read_text(reading *r, const char **out)
{
    dfrt_slice slice;
    const char *at = r->json.at;
    char *to = r->tree->texts_at, *scratch = to;
    if (!dfrt__json_string(&r->json, &slice, &scratch)) {
        return refuse(r, at, r->json.wrong);
    }
    if (memchr(slice.data, '\0', slice.size) != NULL || !dfrt_utf8_valid(slice.data, slice.size)) {
        return refuse(r, at, "a text that is not UTF-8, or has a zero byte");
    }
    memmove(to, slice.data, slice.size); /* decoded texts lie there already */
    to[slice.size] = '\0';
    r->tree->texts_at = to + slice.size + 1;
    *out = to;
    return DFRT_OK;
}

static dfrt_status read_number(reading *r, dfrt__json_value *value)
{
    dfrt_slice slice;
    const char *at = r->json.at;
    if (!dfrt__json_number(&r->json, &slice)) {
        return refuse(r, at, r->json.wrong);
    }
    bool good = dfrt_parse_f64(slice.data, slice.size, &value->number);
    return good && value->number - value->number == 0 ? DFRT_OK : refuse(r, at, "a number that is too large");
}

static dfrt_status read_word(reading *r, dfrt__json_value *value)
{
    dfrt_slice slice;
    const char *at = r->json.at;
    if (!dfrt__json_word(&r->json, &slice)) {
        return refuse(r, at, r->json.wrong);
    }
    value->kind = slice.data[0] == 'n' ? DFRT__JSON_NULL : DFRT__JSON_BOOL;
    value->truth = slice.data[0] == 't';
    return DFRT_OK;
}

static dfrt_status read_value(reading *r, dfrt__json_value **out);

static bool has_member(const dfrt__json_value *object, const char *name)
{
    for (const dfrt__json_value *member = object->first; member != NULL; member = member->next) {
        if (strcmp(member->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static dfrt_status read_name(reading *r, const dfrt__json_value *object, const char **name)
{
    dfrt__json_blanks(&r->json);
    const char *at = r->json.at;
    dfrt_status status = read_text(r, name);
    if (status != DFRT_OK) {
        return status;
    }
    if (has_member(object, *name)) {
        return refuse(r, at, "this member is there twice");
    }
    dfrt__json_blanks(&r->json);
    return dfrt__json_take(&r->json, ':') ? DFRT_OK : refuse(r, r->json.at, "a colon is expected");
}

/* The elements of a list or the members of an object, up to what closes it. */
static dfrt_status read_parts(reading *r, dfrt__json_value *whole, char closer)
{
    dfrt__json_value **end = &whole->first;
    dfrt__json_blanks(&r->json);
    if (dfrt__json_take(&r->json, closer)) {
        return DFRT_OK;
    }
    do {
        const char *name = NULL;
        dfrt_status status = whole->kind == DFRT__JSON_OBJECT ? read_name(r, whole, &name) : DFRT_OK;
        if (status == DFRT_OK) {
            status = read_value(r, end);
        }
        if (status != DFRT_OK) {
            return status;
        }
        (*end)->name = name;
        end = &(*end)->next;
        dfrt__json_blanks(&r->json);
    } while (dfrt__json_take(&r->json, ','));
    if (dfrt__json_take(&r->json, closer)) {
        return DFRT_OK;
    }
    return refuse(r, r->json.at, closer == '}' ? "a comma or } is expected" : "a comma or ] is expected");
}

/* Recursion is bounded by DFRT__JSON_LEVELS. */
static dfrt_status read_whole(reading *r, dfrt__json_value *whole)
{
    if (r->levels == DFRT__JSON_LEVELS) {
        return refuse(r, r->json.at, "values nest too deeply");
    }
    r->levels++;
    r->json.at++;
    dfrt_status status = read_parts(r, whole, whole->kind == DFRT__JSON_OBJECT ? '}' : ']');
    r->levels--;
    return status;
}

static dfrt_status read_value(reading *r, dfrt__json_value **out)
{
    dfrt__json_blanks(&r->json);
    if (r->json.at == r->json.end) {
        return refuse(r, r->json.at, "a value is expected, not the end");
    }
    if (r->tree->count == r->tree->room) {
        return refuse(r, r->json.at, "too many values");
    }
    char c = *r->json.at;
    dfrt__json_value *value = *out = new_value(r, DFRT__JSON_NUMBER);
    switch (c) {
    case '{': value->kind = DFRT__JSON_OBJECT; return read_whole(r, value);
    case '[': value->kind = DFRT__JSON_LIST; return read_whole(r, value);
    case '"': value->kind = DFRT__JSON_TEXT; return read_text(r, &value->text);
    case 't':
    case 'f':
    case 'n': return read_word(r, value);
    default: return read_number(r, value);
    }
}

/* --- the whole ---------------------------------------------------------------------------------------- */

static dfrt_status read_all(reading *r, dfrt__json_value **root)
{
    dfrt_status status = read_value(r, root);
    dfrt__json_blanks(&r->json);
    if (status == DFRT_OK && r->json.at < r->json.end) {
        return refuse(r, r->json.at, "nothing is expected behind the value");
    }
    return status;
}

dfrt_status dfrt__json_read(dfrt__json_tree *tree, const char *name, const char *text, size_t size,
                            dfrt__json_value **root, dfrt_error *error)
{
    *tree = (dfrt__json_tree){0};
    *root = NULL;
    reading r = {.tree = tree, .json = {text, text + size, NULL}, .begin = text, .name = name, .error = error};
    if (size > DFRT__JSON_BYTES) {
        return dfrt_fail(error, DFRT_USAGE, "%s: larger than %d bytes", name, DFRT__JSON_BYTES);
    }
    tree->room = size + 1 < DFRT__JSON_VALUES ? size + 1 : DFRT__JSON_VALUES;
    tree->values = malloc(tree->room * sizeof *tree->values);
    tree->texts = tree->texts_at = malloc(size + 1); /* the zero behind a text needs less than its quotes did */
    if (tree->values == NULL || tree->texts == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", name);
    }
    return read_all(&r, root);
}

void dfrt__json_close(dfrt__json_tree *tree)
{
    free(tree->values);
    free(tree->texts);
    *tree = (dfrt__json_tree){0};
}
