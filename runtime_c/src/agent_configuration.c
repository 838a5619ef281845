#define _GNU_SOURCE
/* The configuration in force as text: the file's, with what commands have changed since. */
#include "agent_state.h"

#include <stdlib.h>
#include <string.h>

#include "json_out.h"

bool dfrt__agent_overruled(const dfrt__agent *agent, const dfrt__controlled *one)
{
    const dfrt__rules *rules = dfrt__control_of(&agent->control, one->step);
    return one->rules.options.policy != (rules == NULL ? NULL : rules->options.policy);
}

static void put_name(FILE *out, const dfrt__json_value *member, const dfrt__json_value *object)
{
    (void)fputs(member == object->first ? "" : ", ", out);
    dfrt__json_put_string(out, member->name);
    (void)fputs(": ", out);
}

/* As deep as the reader allows. */
static void put_value(FILE *out, const dfrt__json_value *value)
{
    bool object = value->kind == DFRT__JSON_OBJECT;
    switch (value->kind) {
    case DFRT__JSON_NULL: (void)fputs("null", out); return;
    case DFRT__JSON_BOOL: dfrt__json_put_bool(out, value->truth); return;
    case DFRT__JSON_NUMBER: dfrt__json_put_number(out, value->number); return;
    case DFRT__JSON_TEXT: dfrt__json_put_string(out, value->text); return;
    default: break;
    }
    (void)fputc(object ? '{' : '[', out);
    for (const dfrt__json_value *part = value->first; part != NULL; part = part->next) {
        if (object) {
            put_name(out, part, value);
        } else {
            (void)fputs(part == value->first ? "" : ", ", out);
        }
        put_value(out, part);
    }
    (void)fputc(object ? '}' : ']', out);
}

/* The operator that an entry of the file is about, if a command has given it another policy. */
static const dfrt__controlled *overruled_by(const dfrt__agent *agent, const dfrt__json_value *entry)
{
    for (const dfrt__json_value *member = entry->first; member != NULL; member = member->next) {
        for (unsigned i = 0; strcmp(member->name, "name") == 0 && i < agent->count; i++) {
            if (strcmp(agent->operators[i].name, member->text) == 0) {
                return dfrt__agent_overruled(agent, &agent->operators[i]) ? &agent->operators[i] : NULL;
            }
        }
    }
    return NULL;
}

/* A policy that a command has named has its standard parameters. */
static void put_operator(FILE *out, const dfrt__agent *agent, const dfrt__json_value *entry)
{
    const dfrt__controlled *one = overruled_by(agent, entry);
    if (one == NULL) {
        put_value(out, entry);
        return;
    }
    (void)fputs("{\"policy\": ", out);
    dfrt__json_put_string(out, one->rules.options.policy == NULL ? "off" : one->rules.options.policy->name);
    for (const dfrt__json_value *member = entry->first; member != NULL; member = member->next) {
        if (strcmp(member->name, "policy") != 0 && strcmp(member->name, "parameters") != 0) {
            (void)fputs(", ", out);
            dfrt__json_put_string(out, member->name);
            (void)fputs(": ", out);
            put_value(out, member);
        }
    }
    (void)fputc('}', out);
}

static void put_operators(FILE *out, const dfrt__agent *agent, const dfrt__json_value *list)
{
    (void)fputc('[', out);
    for (const dfrt__json_value *entry = list->first; entry != NULL; entry = entry->next) {
        (void)fputs(entry == list->first ? "" : ", ", out);
        put_operator(out, agent, entry);
    }
    (void)fputc(']', out);
}

static void put_configuration(FILE *out, const dfrt__agent *agent)
{
    const dfrt__json_value *root = agent->control.root;
    bool shadow_is_there = false;
    (void)fputc('{', out);
    for (const dfrt__json_value *member = root->first; member != NULL; member = member->next) {
        put_name(out, member, root);
        if (strcmp(member->name, "shadow") == 0) {
            shadow_is_there = true;
            dfrt__json_put_bool(out, agent->shadow);
        } else if (strcmp(member->name, "operators") == 0 && member->kind == DFRT__JSON_LIST) {
            put_operators(out, agent, member);
        } else {
            put_value(out, member);
        }
    }
    if (!shadow_is_there && agent->shadow) {
        (void)fputs(", \"shadow\": true", out);
    }
    (void)fputc('}', out);
}

char *dfrt__agent_configuration(dfrt__agent *agent)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&agent->lock);
    put_configuration(out, agent);
    (void)pthread_mutex_unlock(&agent->lock);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
