#define _GNU_SOURCE
/* Another configuration for a running program. */
#include "agent_state.h"
#include "json_form.h"

#include <stdarg.h>
#include <string.h>

enum { REMARKS = 240 };

typedef struct remarks {
    char text[REMARKS];
    size_t used;
} remarks;

__attribute__((format(printf, 2, 3))) static void remark(remarks *made, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(made->text + made->used, sizeof made->text - made->used, format, arguments);
    va_end(arguments);
    made->used += size > 0 ? (size_t)size : 0;
    made->used = made->used < sizeof made->text ? made->used : sizeof made->text - 1;
}

/* --- what a new configuration does not bring --------------------------------------------------------------- */

/* The most replicas that an operator has whose degree can change; 0: there is none. */
static unsigned most_replicas(const dfrt__agent *agent)
{
    unsigned most = 0;
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        bool elastic = agent->program->segments[one->segment].elastic;
        most = elastic && one->most > most ? one->most : most;
    }
    return most;
}

static void remark_on_cores(const dfrt__agent *agent, remarks *made)
{
    unsigned least = agent->control.cores_least, most = agent->control.cores_most, can = most_replicas(agent);
    if (least > agent->cores) {
        remark(made, "; it asks for at least %u cores, and this run can have %u", least, agent->cores);
    } else if (agent->options.max_workers > 0 && most > 0 && most != agent->cores) {
        remark(made, "; --max-workers %u goes before its %u cores", agent->cores, most);
    } else if (can > 0 && can < agent->cores && !agent->options.workers_held) {
        remark(made, "; this run has %u of the %u workers that it allows, and more need a new start", can,
               agent->cores);
    }
}

static void remark_on_modes(const dfrt__agent *agent, remarks *made)
{
    if (agent->options.off && dfrt__control_decides(&agent->control)) {
        remark(made, "; nobody decides, as --control off has said, until a command names a policy");
    }
    if (agent->shadow != agent->control.shadow) {
        remark(made, agent->shadow ? "; shadow mode stays on until 'shadow off'"
                                   : "; shadow mode stays off until 'shadow on'");
    }
}

/* --- taking it over ------------------------------------------------------------------------------------------ */

static const char *policy_name(const dfrt_policy *policy)
{
    return policy == NULL ? "off" : policy->name;
}

/* The rules of the file hold again, also where a command had named another policy. */
static void adopt_rules(const dfrt__agent *agent, dfrt__controlled *one, bool by_command, remarks *made)
{
    const dfrt__rules *rules = dfrt__control_of(&agent->control, one->step);
    const dfrt_policy *before = one->rules.options.policy;
    if (rules != NULL) {
        one->rules = *rules;
    } else {
        one->rules.options.policy = NULL;
    }
    if (by_command && before != one->rules.options.policy) {
        remark(made, "; %s has %s again, not %s", one->name, policy_name(one->rules.options.policy),
               policy_name(before));
    }
}

/* What is held stays held. Each operator gets its new rules and a fresh controller. */
static void adopt(dfrt__agent *agent, dfrt__control *fresh, remarks *made)
{
    bool by_command[DFRT_MOST_OPERATORS];
    unsigned held[DFRT_MOST_OPERATORS];
    for (unsigned i = 0; i < agent->count; i++) {
        by_command[i] = dfrt__agent_overruled(agent, &agent->operators[i]);
        held[i] = agent->operators[i].held_workers;
    }
    dfrt__control_close(&agent->control);
    agent->control = *fresh;
    agent->shadow = agent->shadow_held ? agent->shadow : agent->control.shadow;
    agent->frequency_is_set = false; /* their values may be others */
    for (unsigned i = 0; i < agent->count; i++) {
        adopt_rules(agent, &agent->operators[i], by_command[i], made);
    }
    dfrt__agent_restart_all(agent);
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        if (one->learns_anew) {
            remark(made, "; what %s has learned does not fit, it begins anew", one->name);
        }
        if (one->held_workers != held[i]) {
            remark(made, "; %s is held at %u workers, not %u", one->name, one->held_workers, held[i]);
        }
    }
}

/* Replicas are made when a program starts: more of them than there are can't be promised any more. */
static dfrt_status check_replicas(const dfrt__agent *agent, const dfrt__control *fresh, const char *file,
                                  dfrt_error *error)
{
    dfrt__json_form form = {.name = file, .error = error};
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        const dfrt__rules *rules = dfrt__control_of(fresh, one->step);
        if (rules != NULL && rules->workers != NULL && rules->workers_least > one->most) {
            dfrt__json_refuse(&form, rules->workers,
                              "\"least\" is expected to be at most %u, the replicas of %s in this run; more need a new start",
                              one->most, one->name);
        }
    }
    return form.status;
}

dfrt_status dfrt__agent_reload(dfrt__agent *agent, const char *path, dfrt_error *reply)
{
    dfrt__control fresh;
    remarks made = {.used = 0};
    const char *file = path != NULL ? path : agent->control.file, *name = file == NULL ? "control.json" : file;
    dfrt_status status = dfrt__control_read(&fresh, agent->program, file, reply);
    if (status == DFRT_OK && fresh.machine.frequency_count != agent->control.machine.frequency_count) {
        status =
            dfrt_fail(reply, DFRT_USAGE, "%s: the number of frequencies cannot change while the program runs", name);
    }
    if (status == DFRT_OK) {
        status = check_replicas(agent, &fresh, name, reply);
    }
    if (status != DFRT_OK) {
        dfrt__control_close(&fresh);
        return status;
    }
    adopt(agent, &fresh, &made);
    remark_on_cores(agent, &made);
    remark_on_modes(agent, &made);
    return dfrt_fail(reply, DFRT_OK, "%.200s is in force%s",
                     agent->control.file == NULL ? "the program's own configuration" : agent->control.file, made.text);
}
