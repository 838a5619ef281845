#define _GNU_SOURCE
/* What the agent does with what was decided. */
#include "agent_state.h"

#include <math.h>

#include "division.h"

bool dfrt__same_setting_of(const dfrt_setting *a, const dfrt_setting *b)
{
    return a->workers == b->workers && a->frequency == b->frequency && a->alternate == b->alternate &&
           a->shed == b->shed;
}

void dfrt__agent_note(dfrt__agent *agent, const dfrt__controlled *one, dfrt_setting before, dfrt_setting after,
                      bool acted, const char *reason)
{
    dfrt__change_status *change = &agent->recent[agent->recent_count++ % DFRT__RECENT];
    *change = (dfrt__change_status){.uptime = dfrt__agent_uptime(agent), .name = one->name, .before = before,
                                    .after = after, .acted = acted};
    (void)snprintf(change->reason, sizeof change->reason, "%s", reason);
}

/* --- workers and slots -------------------------------------------------------------------------------------- */

/* `division` NULL: as few slots as possible move. */
static dfrt_status request(dfrt__agent *agent, dfrt__controlled *one, unsigned workers, const dfrt__division *division,
                           dfrt_error *error)
{
    unsigned heavy = division == NULL ? 0 : division->heavy_count;
    dfrt_status status = dfrt_elastic_request(agent->layout->elastic, (unsigned)one->elastic, workers,
                                              division == NULL ? NULL : division->owners,
                                              division == NULL ? NULL : division->heavy, heavy,
                                              one->rules.migration, error);
    if (status == DFRT_OK) {
        one->setting.workers = workers;
        one->heavy_keys = heavy;
        one->quiet_steps = 0;
    }
    return status;
}

static bool divides(const dfrt__controlled *one)
{
    return one->slots_now != NULL && one->rules.rebalances;
}

/* From the division in force to one between `workers`, by what the parts brought of late. Answers as dfrt__divide does. */
static bool divide(const dfrt__agent *agent, dfrt__controlled *one, unsigned workers, dfrt__division *before,
                   dfrt__division *after)
{
    dfrt_elastic_owners(agent->layout->elastic, (unsigned)one->elastic, before->owners);
    before->heavy_count = dfrt_elastic_heavy(agent->layout->elastic, (unsigned)one->elastic, before->heavy);
    *after = *before;
    dfrt__key_loads_sort(&one->keys);
    dfrt__part_loads loads = {one->slots, one->slots_in_step, &one->keys};
    return dfrt__divide(after, &loads, workers, one->rules.balancer, one->rules.imbalance);
}

dfrt_status dfrt__agent_set_workers(dfrt__agent *agent, dfrt__controlled *one, unsigned workers, dfrt_error *error)
{
    dfrt__division before, after;
    if (dfrt_elastic_busy(agent->layout->elastic)) {
        return dfrt_fail(error, DFRT_AGAIN, "the last change is still on its way");
    }
    if (!divides(one)) {
        return request(agent, one, workers, NULL, error);
    }
    (void)divide(agent, one, workers, &before, &after);
    return request(agent, one, workers, &after, error);
}

/* Keys whose load has shifted are divided anew, when that is worth a move. */
static bool rebalance(dfrt__agent *agent, dfrt__controlled *one)
{
    double loads[DFRT_MOST_WORKERS];
    dfrt__division before, after;
    dfrt_error error;
    if (!divides(one) || one->measured.step <= 0) {
        return false;
    }
    for (unsigned w = 0; w < one->setting.workers && w < DFRT_MOST_WORKERS; w++) {
        loads[w] = (one->now.busy_ns[w] - one->before.busy_ns[w]) / 1e9 / one->measured.step;
    }
    double grain = one->measured.service / one->measured.step;
    return dfrt_rebalance_due(&one->unevenness, loads, one->setting.workers, grain, one->measured.moved) &&
           !dfrt_elastic_busy(agent->layout->elastic) &&
           divide(agent, one, one->setting.workers, &before, &after) && !dfrt__same_division(&before, &after) &&
           request(agent, one, one->setting.workers, &after, &error) == DFRT_OK;
}

static void note_rebalanced(dfrt__agent *agent, const dfrt__controlled *one)
{
    char reason[DFRT_REASON];
    (void)snprintf(reason, sizeof reason, "the keys are divided anew between the workers, %u of them on their own",
                   one->heavy_keys);
    dfrt__agent_note(agent, one, one->setting, one->setting, true, reason);
}

/* --- alternates ----------------------------------------------------------------------------------------------- */

void dfrt__agent_set_alternate(dfrt__agent *agent, dfrt__controlled *one, unsigned alternate)
{
    const dfrt_alternates *entry = &agent->program->alternates[one->alternates];
    if (alternate < entry->count && dfrt_set_alternate(agent->run, agent->program, entry->step, entry->names[alternate])) {
        one->setting.alternate = alternate;
        one->quiet_steps = 0;
    }
}

/* --- the machine ---------------------------------------------------------------------------------------------- */

static bool has_frequencies(const dfrt__agent *agent)
{
    return agent->frequency.domain_count > 0 && agent->control.machine.frequency_count > 0;
}

int dfrt__agent_lowest_frequency(const dfrt__agent *agent)
{
    return has_frequencies(agent) ? 0 : (int)agent->control.machine.frequency_count - 1;
}

static void set_frequency(dfrt__agent *agent, unsigned wanted)
{
    dfrt_error error;
    dfrt_status status = dfrt__frequency_set(&agent->frequency, agent->control.machine.frequencies[wanted], &error);
    agent->frequency_is_set = status == DFRT_OK;
    if (status != DFRT_OK && !agent->told_frequency && !agent->options.quiet) {
        agent->told_frequency = true;
        (void)fprintf(stderr, "%s: %s\n", agent->program->name, error.text);
    }
    for (unsigned i = 0; status == DFRT_OK && i < agent->count; i++) {
        agent->operators[i].setting.frequency = wanted;
        agent->operators[i].quiet_steps = 0;
    }
}

void dfrt__agent_look_at_frequency(dfrt__agent *agent)
{
    const dfrt_limits *machine = &agent->control.machine;
    if (!has_frequencies(agent) || agent->frequency_is_set) {
        return;
    }
    unsigned nearest = machine->frequency_count - 1; /* also where nobody tells */
    for (unsigned f = 0; f < machine->frequency_count; f++) {
        bool nearer = fabs(machine->frequencies[f] - agent->clock_hertz) <
                      fabs(machine->frequencies[nearest] - agent->clock_hertz);
        nearest = nearer ? f : nearest;
    }
    for (unsigned i = 0; i < agent->count; i++) {
        agent->operators[i].setting.frequency = nearest;
    }
}

void dfrt__agent_begin_frequency(dfrt__agent *agent)
{
    bool decides = false;
    for (unsigned i = 0; i < agent->count; i++) {
        decides = decides || agent->operators[i].controller != NULL;
    }
    if (decides && !agent->shadow && has_frequencies(agent)) {
        set_frequency(agent, agent->control.machine.frequency_count - 1);
    }
    dfrt__agent_look_at_frequency(agent);
}

/* One machine for all: whoever needs the highest frequency gets it. */
static void act_on_frequency(dfrt__agent *agent)
{
    unsigned wanted = 0, now = 0;
    bool any = false;
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        if (one->controller != NULL) {
            wanted = one->wish.wanted.frequency > wanted ? one->wish.wanted.frequency : wanted;
            now = one->setting.frequency;
            any = true;
        }
    }
    if (any && has_frequencies(agent) && (wanted != now || !agent->frequency_is_set)) {
        set_frequency(agent, wanted);
    }
}

/* Tuples are dropped at the source: the largest share that any operator asks for. */
static void act_on_shedding(dfrt__agent *agent)
{
    double share = 0;
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        share = one->controller != NULL ? fmax(share, one->wish.wanted.shed) : share;
    }
    share = fmin(share, agent->control.machine.shed_most);
    dfrt_set_shedding(agent->run, share);
    for (unsigned i = 0; i < agent->count; i++) {
        agent->operators[i].setting.shed = share;
    }
}

/* --- a step --------------------------------------------------------------------------------------------------- */

static void act_on(dfrt__agent *agent, dfrt__controlled *one)
{
    dfrt_error error;
    dfrt_setting wanted = one->wish.wanted;
    one->rebalanced = false;
    if (one->alternates >= 0 && wanted.alternate != one->setting.alternate) {
        dfrt__agent_set_alternate(agent, one, wanted.alternate);
    }
    if (one->elastic >= 0 && wanted.workers != one->setting.workers) {
        (void)dfrt__agent_set_workers(agent, one, wanted.workers, &error); /* if not now, the next step asks again */
    } else if (one->elastic >= 0 && rebalance(agent, one)) {
        one->rebalanced = true;
        one->changes++;
        note_rebalanced(agent, one);
    }
}

/* Those that give up workers, or the others. */
static void act_on_operators(dfrt__agent *agent, bool fewer)
{
    for (unsigned i = 0; i < agent->count; i++) {
        dfrt__controlled *one = &agent->operators[i];
        if (one->controller != NULL && (one->wish.wanted.workers < one->wish.now.workers) == fewer) {
            act_on(agent, one);
        }
    }
}

void dfrt__agent_act(dfrt__agent *agent)
{
    dfrt_setting before[DFRT_MOST_OPERATORS];
    for (unsigned i = 0; i < agent->count; i++) {
        before[i] = agent->operators[i].setting;
    }
    if (!agent->shadow) {
        act_on_operators(agent, true); /* one change of workers at a time: whoever gets cores takes them when they are free */
        act_on_operators(agent, false);
        act_on_frequency(agent);
        act_on_shedding(agent);
    }
    for (unsigned i = 0; i < agent->count; i++) {
        dfrt__controlled *one = &agent->operators[i];
        bool acted = !dfrt__same_setting_of(&one->setting, &before[i]);
        bool would = agent->shadow && one->controller != NULL && !dfrt__same_setting_of(&one->wish.wanted, &before[i]);
        if (acted || would) {
            one->changes += acted ? 1 : 0;
            dfrt__agent_note(agent, one, before[i], acted ? one->setting : one->wish.wanted, acted,
                             one->decision.reason);
        }
    }
}
