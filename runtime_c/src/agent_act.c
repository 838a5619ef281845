#define _GNU_SOURCE
/* What the agent does with what was decided. */
#include "agent_state.h"

#include <math.h>
#include <string.h>

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

/* Load of each slot in the last step; where nothing was seen, every slot counts the same. */
static void weigh_slots(const dfrt__controlled *one, double *weights)
{
    double sum = 0;
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        weights[slot] = fmax(one->slots_now[slot] - one->slots_before[slot], 0);
        sum += weights[slot];
    }
    for (unsigned slot = 0; slot < DFRT_SLOTS && sum <= 0; slot++) {
        weights[slot] = 1;
    }
}

/* Fills `owners`; NULL: whoever moves as few slots as possible decides. */
static const uint16_t *balance(const dfrt__agent *agent, const dfrt__controlled *one, unsigned workers,
                               uint16_t *owners)
{
    double weights[DFRT_SLOTS];
    uint32_t order[DFRT_SLOTS];
    if (one->slots_now == NULL || !one->rules.rebalances) {
        return NULL;
    }
    weigh_slots(one, weights);
    dfrt_elastic_owners(agent->layout->elastic, (unsigned)one->elastic, owners);
    (void)dfrt_rebalance(one->rules.balancer, weights, owners, DFRT_SLOTS, workers, one->rules.imbalance, order);
    return owners;
}

static dfrt_status request(dfrt__agent *agent, dfrt__controlled *one, unsigned workers, const uint16_t *owners,
                           dfrt_error *error)
{
    dfrt_status status = dfrt_elastic_request(agent->layout->elastic, (unsigned)one->elastic, workers, owners, NULL, 0,
                                              one->rules.migration, error);
    if (status == DFRT_OK) {
        one->setting.workers = workers;
        one->quiet_steps = 0;
    }
    return status;
}

dfrt_status dfrt__agent_set_workers(dfrt__agent *agent, dfrt__controlled *one, unsigned workers, dfrt_error *error)
{
    uint16_t owners[DFRT_SLOTS];
    if (dfrt_elastic_busy(agent->layout->elastic)) {
        return dfrt_fail(error, DFRT_AGAIN, "the last change is still on its way");
    }
    return request(agent, one, workers, balance(agent, one, workers, owners), error);
}

/* Keys whose load has shifted are divided anew, when that is worth a move. */
static bool rebalance(dfrt__agent *agent, dfrt__controlled *one)
{
    double loads[DFRT_MOST_WORKERS];
    uint16_t owners[DFRT_SLOTS], before[DFRT_SLOTS];
    dfrt_error error;
    if (one->slots_now == NULL || !one->rules.rebalances || one->measured.step <= 0) {
        return false;
    }
    for (unsigned w = 0; w < one->setting.workers && w < DFRT_MOST_WORKERS; w++) {
        loads[w] = (one->now.busy_ns[w] - one->before.busy_ns[w]) / 1e9 / one->measured.step;
    }
    if (!dfrt_rebalance_due(loads, one->setting.workers, one->measured.moved) ||
        dfrt_elastic_busy(agent->layout->elastic)) {
        return false;
    }
    dfrt_elastic_owners(agent->layout->elastic, (unsigned)one->elastic, before);
    const uint16_t *after = balance(agent, one, one->setting.workers, owners);
    return after != NULL && memcmp(before, after, sizeof before) != 0 &&
           request(agent, one, one->setting.workers, after, &error) == DFRT_OK;
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
    dfrt_error error;
    if (!any || wanted == now || agent->frequency.domain_count == 0) {
        return;
    }
    dfrt_status status = dfrt__frequency_set(&agent->frequency, agent->control.machine.frequencies[wanted], &error);
    if (status != DFRT_OK && !agent->told_frequency) {
        agent->told_frequency = true;
        (void)fprintf(stderr, "%s: %s\n", agent->program->name, error.text);
    }
    for (unsigned i = 0; status == DFRT_OK && i < agent->count; i++) {
        agent->operators[i].setting.frequency = wanted;
        agent->operators[i].quiet_steps = 0;
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
        dfrt__agent_note(agent, one, one->setting, one->setting, true, "the keys are divided anew between the workers");
    }
}

void dfrt__agent_act(dfrt__agent *agent)
{
    dfrt_setting before[DFRT_MOST_OPERATORS];
    for (unsigned i = 0; i < agent->count; i++) {
        before[i] = agent->operators[i].setting;
        if (agent->operators[i].controller != NULL && !agent->shadow) {
            act_on(agent, &agent->operators[i]);
        }
    }
    if (!agent->shadow) {
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
