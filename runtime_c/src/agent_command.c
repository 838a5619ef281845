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
                                   name, agent->count == 0 ? "is none" : agent->count == 1 ? "is" : "are");
    for (unsigned i = 0; i < agent->count && used < sizeof reply->text; i++) {
        used += (size_t)snprintf(reply->text + used, sizeof reply->text - used, "%s%s", i == 0 ? " " : ", ",
                                 agent->operators[i].name);
    }
    return NULL;
}

/* --- degree and alternate --------------------------------------------------------------------------------------- */

/* Why there are not more. Of this run, or of the configuration in force. */
static void tell_most(const dfrt__agent *agent, const dfrt__controlled *one, dfrt_error *reply)
{
    unsigned machine = agent->options.cores, most = one->limits.workers_most;
    size_t used = strlen(reply->text), room = sizeof reply->text - used;
    char *end = reply->text + used;
    if (most < one->most) {
        (void)snprintf(end, room, ": the configuration allows no more");
    } else if (agent->options.max_workers > 0) {
        (void)snprintf(end, room, ": this run was started with --max-workers %u", agent->options.max_workers);
    } else if (agent->options.workers_held) {
        (void)snprintf(end, room, ": this run was started with --workers %u and no --max-workers", one->most);
    } else {
        (void)snprintf(end, room, ": this run has %u, as %s %u core%s; --max-workers at its start allows more", one->most,
                       one->most < machine ? "`resources` of the configuration have" : "the machine has", one->most,
                       one->most == 1 ? "" : "s");
    }
}

static dfrt_status hold_workers(dfrt__agent *agent, dfrt__controlled *one, const char *word, dfrt_error *reply)
{
    char *end;
    if (strcmp(word, "auto") == 0) {
        one->held_workers = 0;
        return dfrt_fail(reply, DFRT_OK, "%s: the degree is the controller's again", one->name);
    }
    unsigned long workers = strtoul(word, &end, 10);
    unsigned least = one->limits.workers_least, most = one->limits.workers_most;
    if (one->elastic < 0) {
        return dfrt_fail(reply, DFRT_USAGE, "%s: its degree cannot change in this run (%u)", one->name,
                         one->setting.workers);
    }
    if (*word < '0' || *word > '9' || *end != '\0' || workers < least || workers > most) {
        (void)dfrt_fail(reply, DFRT_USAGE, "%s: from %u to %u workers are allowed, or auto, not '%.40s'", one->name, least,
                        most, word);
        if (*word >= '0' && *word <= '9' && *end == '\0' && workers > most) {
            tell_most(agent, one, reply);
        }
        return DFRT_USAGE;
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
    size_t used = (size_t)snprintf(reply->text, sizeof reply->text, "%s: there is no alternate '%.60s'; there are",
                                   one->name, word);
    for (unsigned a = 0; a < entry->count && used < sizeof reply->text; a++) {
        used += (size_t)snprintf(reply->text + used, sizeof reply->text - used, "%s%s", a == 0 ? " " : ", ",
                                 entry->names[a]);
    }
    return DFRT_USAGE;
}

/* The configuration's own policy has the parameters that stand there, any other one its standard ones. */
static bool name_policy(const dfrt__agent *agent, dfrt__controlled *one, const char *word)
{
    const dfrt__rules *rules = dfrt__control_of(&agent->control, one->step);
    const dfrt_policy *own = rules == NULL ? NULL : rules->options.policy;
    if (strcmp(word, "off") == 0) {
        one->rules.options.policy = NULL;
        return true;
    }
    if (own != NULL && strcmp(own->name, word) == 0) {
        one->rules.options = rules->options;
        return true;
    }
    return dfrt__control_policy(&one->rules.options, word);
}

static dfrt_status choose_policy(dfrt__agent *agent, dfrt__controlled *one, const char *word, dfrt_error *reply)
{
    if (!name_policy(agent, one, word)) {
        char list[200];
        dfrt__control_policies(list, sizeof list);
        return dfrt_fail(reply, DFRT_USAGE, "there is no policy '%.60s'; there are %s", word, list);
    }
    agent->options.off = agent->options.off && one->rules.options.policy == NULL;
    dfrt__agent_restart(agent, one);
    dfrt__agent_share(agent);
    bool idle = one->controller == NULL && one->rules.options.policy != NULL;
    return dfrt_fail(reply, DFRT_OK, "%s: policy %s%s%s", one->name, word,
                     idle ? ", which has nothing to change in this run" : "",
                     one->learns_anew ? "; what it has learned does not fit, it begins anew" : "");
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
    agent->shadow_held = true; /* a reload does not undo what was told */
    return dfrt_fail(reply, DFRT_OK, on ? "decisions are logged and not carried out" : "decisions are carried out");
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
        case 4: return dfrt__agent_reload(agent, asked->count == 2 ? asked->words[1] : NULL, reply);
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
