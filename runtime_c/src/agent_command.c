#define _GNU_SOURCE
/* Commands to the agent: what an operator of the program may ask for while it runs. */
#include "agent_state.h"

#include <stdlib.h>
#include <string.h>

#include "run.h"

enum { WORDS = 4, REQUEST_ROOM = 4096 };

typedef struct command {
    const char *words[WORDS];
    unsigned count;
} command;

static dfrt__controlled *operator_named(dfrt__agent *agent, const char *name, dfrt_error *reply)
{
    for (unsigned i = 0; i < agent->count; i++) {
        if (strcmp(agent->operators[i].name, name) == 0) {
            return &agent->operators[i];
        }
    }
    size_t used = (size_t)snprintf(reply->text, sizeof reply->text, "no operator '%.60s' can be controlled; there %s",
                                   name, agent->count == 0 ? "is none" : "are");
    for (unsigned i = 0; i < agent->count && used < sizeof reply->text; i++) {
        used += (size_t)snprintf(reply->text + used, sizeof reply->text - used, "%s%s", i == 0 ? " " : ", ",
                                 agent->operators[i].name);
    }
    return NULL;
}

/* --- degree and alternate --------------------------------------------------------------------------------------- */

static dfrt_status hold_workers(dfrt__agent *agent, dfrt__controlled *one, const char *word, dfrt_error *reply)
{
    char *end;
    if (strcmp(word, "auto") == 0) {
        one->held_workers = 0;
        return dfrt_fail(reply, DFRT_OK, "%s: the degree is the controller's again", one->name);
    }
    unsigned long workers = strtoul(word, &end, 10);
    if (*word < '0' || *word > '9' || *end != '\0' || workers < 1 || workers > one->most || one->elastic < 0) {
        return one->elastic < 0
                   ? dfrt_fail(reply, DFRT_USAGE, "%s: its degree cannot change in this run (%u)", one->name,
                               one->setting.workers)
                   : dfrt_fail(reply, DFRT_USAGE, "%s: from 1 to %u workers, or auto, not '%.40s'", one->name, one->most,
                               word);
    }
    dfrt_setting before = one->setting;
    dfrt_status status = (unsigned)workers == one->setting.workers
                             ? DFRT_OK
                             : dfrt__agent_set_workers(agent, one, (unsigned)workers, reply);
    if (status != DFRT_OK) {
        return status;
    }
    one->held_workers = (unsigned)workers;
    one->changes += before.workers != workers ? 1 : 0;
    dfrt__agent_note(agent, one, before, one->setting, true, "by command");
    return dfrt_fail(reply, DFRT_OK, "%s: %lu workers, held until 'workers %s auto'", one->name, workers, one->name);
}

static dfrt_status hold_alternate(dfrt__agent *agent, dfrt__controlled *one, const char *word, dfrt_error *reply)
{
    if (one->alternates < 0) {
        return dfrt_fail(reply, DFRT_USAGE, "%s: it has no alternates", one->name);
    }
    if (strcmp(word, "auto") == 0) {
        one->held_alternate = -1;
        return dfrt_fail(reply, DFRT_OK, "%s: the alternate is the controller's again", one->name);
    }
    const dfrt_alternates *entry = &agent->program->alternates[one->alternates];
    for (unsigned a = 0; a < entry->count; a++) {
        if (strcmp(entry->names[a], word) == 0) {
            dfrt_setting before = one->setting;
            dfrt__agent_set_alternate(agent, one, a);
            one->held_alternate = (int)a;
            one->changes += before.alternate != a ? 1 : 0;
            dfrt__agent_note(agent, one, before, one->setting, true, "by command");
            return dfrt_fail(reply, DFRT_OK, "%s: alternate %s, held until 'alternate %s auto'", one->name, word,
                             one->name);
        }
    }
    return dfrt_fail(reply, DFRT_USAGE, "%s: there is no alternate '%.60s'", one->name, word);
}

static dfrt_status choose_policy(dfrt__agent *agent, dfrt__controlled *one, const char *word, dfrt_error *reply)
{
    if (strcmp(word, "off") == 0) {
        one->rules.options.policy = NULL;
    } else if (!dfrt__control_policy(&one->rules.options, word)) {
        return dfrt_fail(reply, DFRT_USAGE, "there is no policy '%.60s'", word);
    }
    agent->options.off = agent->options.off && one->rules.options.policy == NULL;
    dfrt__agent_restart(agent, one);
    bool decides = one->controller != NULL || one->rules.options.policy == NULL;
    return decides ? dfrt_fail(reply, DFRT_OK, "%s: policy %s", one->name, word)
                   : dfrt_fail(reply, DFRT_OK, "%s: policy %s, which has nothing to change in this run", one->name, word);
}

static dfrt_status ask_operator(dfrt__agent *agent, const command *asked, dfrt_error *reply)
{
    dfrt__controlled *one = operator_named(agent, asked->words[1], reply);
    if (one == NULL) {
        return DFRT_USAGE;
    }
    switch (asked->words[0][0]) {
    case 'w': return hold_workers(agent, one, asked->words[2], reply);
    case 'a': return hold_alternate(agent, one, asked->words[2], reply);
    default: return choose_policy(agent, one, asked->words[2], reply);
    }
}

/* --- the whole program ------------------------------------------------------------------------------------------ */

static dfrt_status set_shadow(dfrt__agent *agent, const char *word, dfrt_error *reply)
{
    bool on = strcmp(word, "on") == 0;
    if (!on && strcmp(word, "off") != 0) {
        return dfrt_fail(reply, DFRT_USAGE, "shadow is on or off, not '%.40s'", word);
    }
    agent->shadow = on;
    return dfrt_fail(reply, DFRT_OK, on ? "decisions are logged and not carried out" : "decisions are carried out");
}

/* What is held stays held. Each operator gets its new rules and a fresh controller. */
static void adopt(dfrt__agent *agent, dfrt__control *fresh)
{
    dfrt__control_close(&agent->control);
    agent->control = *fresh;
    agent->shadow = agent->control.shadow;
    for (unsigned i = 0; i < agent->count; i++) {
        dfrt__controlled *one = &agent->operators[i];
        const dfrt__rules *rules = dfrt__control_of(&agent->control, one->step);
        if (rules != NULL) {
            one->rules = *rules;
        } else {
            one->rules.options.policy = NULL;
        }
        dfrt__agent_restart(agent, one);
    }
    dfrt__agent_share(agent);
}

static dfrt_status reload(dfrt__agent *agent, const char *path, dfrt_error *reply)
{
    dfrt__control fresh;
    const char *file = path != NULL ? path : agent->control.file;
    dfrt_status status = dfrt__control_read(&fresh, agent->program, file, reply);
    if (status == DFRT_OK && fresh.machine.frequency_count != agent->control.machine.frequency_count) {
        status = dfrt_fail(reply, DFRT_USAGE, "%s: the number of frequencies cannot change while the program runs",
                           file == NULL ? "control.json" : file);
    }
    if (status != DFRT_OK) {
        dfrt__control_close(&fresh);
        return status;
    }
    adopt(agent, &fresh);
    return dfrt_fail(reply, DFRT_OK, "%s is in force", file == NULL ? "the program's own configuration" : agent->control.file);
}

static dfrt_status drain(dfrt__agent *agent, dfrt_error *reply)
{
    agent->draining = true;
    dfrt__run_stop(agent->run);
    return dfrt_fail(reply, DFRT_OK, "no more input is read; the program ends when all of it is done");
}

/* --- words -------------------------------------------------------------------------------------------------------- */

static dfrt_status obey(dfrt__agent *agent, const command *asked, dfrt_error *reply)
{
    static const struct { const char *name; unsigned least, most; } known[] = {
        {"workers", 3, 3}, {"alternate", 3, 3}, {"policy", 3, 3}, {"shadow", 2, 2}, {"reload", 1, 2}, {"drain", 1, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (asked->count < 1 || strcmp(asked->words[0], known[i].name) != 0 || asked->count < known[i].least ||
            asked->count > known[i].most) {
            continue;
        }
        switch (i) {
        case 3: return set_shadow(agent, asked->words[1], reply);
        case 4: return reload(agent, asked->count == 2 ? asked->words[1] : NULL, reply);
        case 5: return drain(agent, reply);
        default: return ask_operator(agent, asked, reply);
        }
    }
    return dfrt_fail(reply, DFRT_USAGE, "expected workers OPERATOR N|auto, alternate OPERATOR NAME|auto, policy OPERATOR "
                                        "NAME|off, shadow on|off, reload [FILE] or drain");
}

/* The file of `reload` is the rest of the line, spaces and all. */
static void cut_words(char *line, command *asked)
{
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t", &rest); word != NULL && asked->count < WORDS;
         word = strtok_r(NULL, " \t", &rest)) {
        asked->words[asked->count++] = word;
        if (asked->count == 1 && strcmp(word, "reload") == 0 && rest != NULL && rest[strspn(rest, " \t")] != '\0') {
            asked->words[asked->count++] = rest + strspn(rest, " \t");
            return;
        }
    }
}

dfrt_status dfrt__agent_command(dfrt__agent *agent, const char *request, dfrt_error *reply)
{
    char line[REQUEST_ROOM];
    command asked = {.count = 0};
    if (strlen(request) >= sizeof line) {
        return dfrt_fail(reply, DFRT_USAGE, "a request has at most %d bytes", REQUEST_ROOM - 1);
    }
    (void)strcpy(line, request);
    cut_words(line, &asked);
    (void)pthread_mutex_lock(&agent->lock);
    dfrt_status status = obey(agent, &asked, reply);
    char detail[sizeof reply->text + 80];
    (void)snprintf(detail, sizeof detail, "%.60s: %s", request, reply->text);
    dfrt__log_event(&agent->log, (double)(dfrt_now_ns() - agent->started_ns) / 1e9,
                    status == DFRT_OK ? "command" : "refused", detail);
    (void)pthread_mutex_unlock(&agent->lock);
    return status;
}
