#include "json_form.h"

#include <string.h>

void dfrt__json_refuse(dfrt__json_form *form, const dfrt__json_value *at, const char *format, ...)
{
    if (form->status != DFRT_OK) {
        return;
    }
    char why[320];
    va_list words;
    va_start(words, format);
    (void)vsnprintf(why, sizeof why, format, words);
    va_end(words);
    form->status = dfrt_fail(form->error, DFRT_USAGE, "%s:%u:%u: %s", form->name, at->line, at->column, why);
}

static const char *kind_name(dfrt__json_kind kind)
{
    static const char *const names[] = {"null", "true or false", "a number", "a text", "a list", "an object"};
    return names[kind];
}

bool dfrt__json_is(dfrt__json_form *form, const dfrt__json_value *value, dfrt__json_kind kind)
{
    if (value->kind != kind) {
        const char *what = value->name != NULL ? value->name : "this";
        dfrt__json_refuse(form, value, "\"%.40s\" is expected to be %s", what, kind_name(kind));
    }
    return value->kind == kind && form->status == DFRT_OK;
}

dfrt__json_value *dfrt__json_member(dfrt__json_form *form, dfrt__json_value *object, const char *name)
{
    if (form->status != DFRT_OK || object == NULL) {
        return NULL;
    }
    for (dfrt__json_value *member = object->first; member != NULL; member = member->next) {
        if (strcmp(member->name, name) == 0) {
            member->used = true;
            return member->kind == DFRT__JSON_NULL ? NULL : member;
        }
    }
    return NULL;
}

dfrt__json_value *dfrt__json_part(dfrt__json_form *form, dfrt__json_value *object, const char *name,
                                  dfrt__json_kind kind)
{
    dfrt__json_value *member = dfrt__json_member(form, object, name);
    return member != NULL && dfrt__json_is(form, member, kind) ? member : NULL;
}

double dfrt__json_real(dfrt__json_form *form, dfrt__json_value *object, const char *name, double least, double most,
                       double standard)
{
    const dfrt__json_value *member = dfrt__json_part(form, object, name, DFRT__JSON_NUMBER);
    if (member == NULL) {
        return standard;
    }
    if (!(member->number >= least && member->number <= most)) {
        dfrt__json_refuse(form, member, "\"%s\" is expected to be from %g to %g, not %g", name, least, most,
                          member->number);
        return standard;
    }
    return member->number;
}

unsigned dfrt__json_count(dfrt__json_form *form, dfrt__json_value *object, const char *name, unsigned least,
                          unsigned most, unsigned standard)
{
    double value = dfrt__json_real(form, object, name, least, most, standard);
    if (form->status == DFRT_OK && value != (double)(unsigned)value) {
        dfrt__json_refuse(form, dfrt__json_member(form, object, name), "\"%s\" is expected to be a whole number", name);
    }
    return form->status == DFRT_OK ? (unsigned)value : standard;
}

bool dfrt__json_truth(dfrt__json_form *form, dfrt__json_value *object, const char *name, bool standard)
{
    const dfrt__json_value *member = dfrt__json_part(form, object, name, DFRT__JSON_BOOL);
    return member != NULL ? member->truth : standard;
}

const char *dfrt__json_words(dfrt__json_form *form, dfrt__json_value *object, const char *name)
{
    const dfrt__json_value *member = dfrt__json_part(form, object, name, DFRT__JSON_TEXT);
    return member != NULL ? member->text : NULL;
}

unsigned dfrt__json_choice(dfrt__json_form *form, dfrt__json_value *object, const char *name, const char *const *words,
                           unsigned standard)
{
    const char *text = dfrt__json_words(form, object, name);
    if (text == NULL) {
        return standard;
    }
    char list[160] = "";
    for (unsigned i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            return i;
        }
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    dfrt__json_refuse(form, dfrt__json_member(form, object, name), "\"%s\" is expected to be one of %s, not \"%.40s\"",
                      name, list, text);
    return standard;
}

void dfrt__json_no_more(dfrt__json_form *form, const dfrt__json_value *object)
{
    for (const dfrt__json_value *member = object->first; member != NULL; member = member->next) {
        if (!member->used) {
            dfrt__json_refuse(form, member, "there is no \"%.60s\" here; is it misspelt?", member->name);
        }
    }
}
