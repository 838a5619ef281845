#define _GNU_SOURCE
/* Which operators the agent has, what may be done with each, and what was measured of them. */
#include "agent_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dfrt/store.h"
#include "division.h"
#include "experience.h"

/* --- limits ----------------------------------------------------------------------------------------------- */

static void limit_machine(const dfrt__agent *agent, dfrt_limits *limits)
{
    *limits = agent->control.machine;
    unsigned top = limits->frequency_count == 0 ? 0 : limits->frequency_count - 1;
    if (limits->frequency_count == 0) { /* one that nobody names */
        limits->frequencies[0] = 1e9;
    }
    if (agent->frequency.domain_count == 0) { /* nobody can change it: what is not known is taken to be the highest */
        limits->frequencies[0] = limits->frequencies[top];
        limits->voltages[0] = limits->voltages[top];
        limits->frequency_count = 1;
    }
    limits->frequency_count = limits->frequency_count == 0 ? 1 : limits->frequency_count;
    for (unsigned i = 0; i < limits->frequency_count; i++) {
        if (limits->voltages[i] == 0) {
            limits->voltages[i] = NAN;
        }
    }
    if (isnan(limits->service_threads)) {
        limits->service_threads = agent->fused ? 0 : 1;
        for (unsigned s = 1; !agent->fused && s < agent->program->segment_count; s++) {
            limits->service_threads += agent->program->segments[s].degree == 0 ? 1 : 0;
        }
    }
}

/* Somebody is to decide on its degree. */
static bool shares_cores(const dfrt__agent *agent, const dfrt__controlled *one)
{
    const dfrt__rules *rules = dfrt__control_of(&agent->control, one->step);
    return one->elastic >= 0 && rules != NULL && rules->options.policy != NULL;
}

/* The least of the cores is theirs together: divided evenly, what is left over to the first ones. */
static unsigned least_share(const dfrt__agent *agent, const dfrt__controlled *one)
{
    unsigned least = agent->control.cores_least < agent->cores ? agent->control.cores_least : agent->cores;
    unsigned sharers = 0, before = 0;
    for (unsigned i = 0; i < agent->count; i++) {
        if (shares_cores(agent, &agent->operators[i])) {
            before += &agent->operators[i] < one ? 1 : 0;
            sharers++;
        }
    }
    unsigned share = shares_cores(agent, one) ? least / sharers + (before < least % sharers ? 1 : 0) : 1;
    return share < one->rules.workers_least ? one->rules.workers_least : share;
}

static void limit_operator(const dfrt__agent *agent, dfrt__controlled *one)
{
    dfrt_limits *limits = &one->limits;
    limit_machine(agent, limits);
    unsigned wished = agent->options.workers_held  ? one->most
                      : one->rules.workers_most > 0 ? one->rules.workers_most
                                                    : agent->cores;
    unsigned least = least_share(agent, one);
    bool fixed = one->elastic < 0;
    limits->workers_most = fixed ? one->setting.workers : wished < one->most ? wished : one->most;
    limits->workers_least = fixed                          ? one->setting.workers
                            : least < limits->workers_most ? least
                                                           : limits->workers_most;
    unsigned alternates = one->alternates < 0 ? 1 : agent->program->alternates[one->alternates].count;
    limits->alternate_count = alternates < DFRT_MOST_ALTERNATES ? alternates : DFRT_MOST_ALTERNATES;
    memcpy(limits->value, one->rules.value, sizeof limits->value);
    memcpy(limits->cost, one->rules.cost, sizeof limits->cost);
}

/* --- who there is ------------------------------------------------------------------------------------------ */

static int elastic_of(const dfrt__agent *agent, unsigned step)
{
    if (agent->fused) {
        return -1;
    }
    for (unsigned n = 0; n < dfrt_elastic_count(agent->layout->elastic); n++) {
        dfrt_elastic_info info = dfrt_elastic_at(agent->layout->elastic, n);
        if (strcmp(info.name, agent->program->steps[step].name) == 0) {
            return (int)n;
        }
    }
    return -1;
}

static bool moves_slots(const dfrt__agent *agent, const dfrt__controlled *one)
{
    return one->elastic >= 0 && dfrt_elastic_at(agent->layout->elastic, (unsigned)one->elastic).keyed;
}

static void place(const dfrt__agent *agent, dfrt__controlled *one, const dfrt__rules *rules)
{
    *one = (dfrt__controlled){.name = agent->program->steps[rules->step].name,
                              .step = rules->step,
                              .segment = agent->program->steps[rules->step].segment,
                              .alternates = dfrt__alternates_of(agent->program, rules->step),
                              .elastic = elastic_of(agent, rules->step),
                              .rules = *rules,
                              .held_alternate = -1};
    one->most = agent->layout->degree[one->segment];
    one->setting.workers = one->elastic < 0
                               ? one->most
                               : dfrt_elastic_at(agent->layout->elastic, (unsigned)one->elastic).workers;
    if (one->alternates >= 0) {
        one->setting.alternate =
            atomic_load_explicit(&agent->run->alternates[one->alternates], memory_order_relaxed);
    }
    one->held_workers = agent->options.workers_held ? one->setting.workers : 0;
    if (one->alternates >= 0 && agent->options.alternates_held != NULL &&
        agent->options.alternates_held[one->alternates]) {
        one->held_alternate = (int)one->setting.alternate;
    }
    if (moves_slots(agent, one)) {
        one->slots_before = dfrt_allocate(DFRT_SLOTS * sizeof *one->slots_before);
        one->slots_now = dfrt_allocate(DFRT_SLOTS * sizeof *one->slots_now);
        one->slots = dfrt_allocate(DFRT_SLOTS * sizeof *one->slots);
        dfrt__key_loads_open(&one->keys, one->most);
    }
}

/* Something about it can change: its degree, its alternate, or the frequency and the tuples it gets. */
static bool can_change(const dfrt__controlled *one)
{
    return one->elastic >= 0 || one->alternates >= 0 || one->limits.frequency_count > 1 || one->limits.shed_most > 0;
}

void dfrt__agent_restart(dfrt__agent *agent, dfrt__controlled *one)
{
    dfrt__experience_keep(one);
    free(one->room);
    one->room = NULL;
    one->controller = NULL;
    one->decided = one->learns_anew = false;
    limit_operator(agent, one);
    if (one->held_workers > one->limits.workers_most) {
        one->held_workers = one->limits.workers_most;
    } else if (one->held_workers > 0 && one->held_workers < one->limits.workers_least) {
        one->held_workers = one->limits.workers_least;
    }
    if (one->rules.options.policy != NULL && !agent->options.off && can_change(one)) {
        one->room = dfrt_allocate(dfrt_controller_size(&one->rules.options, &one->limits));
        one->controller = dfrt_controller_start(one->room, &one->rules.options, &one->limits, &agent->control.goals,
                                                one->setting);
        one->learns_anew = !dfrt__experience_give(one);
    }
}

/* The cores are divided between those whose degree can change; the others keep their threads. */
void dfrt__agent_share(dfrt__agent *agent)
{
    unsigned cores = agent->cores;
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *one = &agent->operators[i];
        cores += one->controller != NULL && one->elastic < 0 ? one->setting.workers : 0;
    }
    dfrt_manager_start(&agent->manager, cores, agent->control.changes_a_step, agent->control.most_changes);
}

void dfrt__agent_restart_all(dfrt__agent *agent)
{
    agent->cores = dfrt__control_cores(&agent->control, agent->options.cores, agent->options.max_workers);
    for (unsigned i = 0; i < agent->count; i++) {
        dfrt__agent_restart(agent, &agent->operators[i]);
    }
    dfrt__agent_share(agent);
}

void dfrt__agent_begin(dfrt__agent *agent)
{
    dfrt__readings_take(&agent->readings);
    for (unsigned i = 0; i < agent->control.count; i++) {
        dfrt__controlled *one = &agent->operators[agent->count++];
        place(agent, one, &agent->control.operators[i]);
        dfrt__readings_tally(&agent->readings, one->step, &one->now);
    }
    dfrt__agent_restart_all(agent);
    agent->clock_hertz = dfrt__frequency_now(&agent->frequency);
    dfrt__agent_begin_frequency(agent);
}

/* --- measuring --------------------------------------------------------------------------------------------- */

static void read_latency(dfrt__agent *agent)
{
    agent->latency_before = agent->latency_now;
    dfrt_histogram_clear(&agent->latency_now);
    dfrt__readings_latency(&agent->readings, &agent->latency_now);
    dfrt_histogram_subtract(&agent->latency_step, &agent->latency_now, &agent->latency_before);
}

static void read_machine(dfrt__agent *agent, double seconds)
{
    double joules = dfrt__frequency_joules(&agent->frequency);
    agent->power = seconds > 0 ? (joules - agent->joules) / seconds : NAN;
    agent->joules = joules;
    agent->clock_hertz = dfrt__frequency_now(&agent->frequency);
    dfrt__agent_look_at_frequency(agent);
}

static void read_operator(dfrt__agent *agent, dfrt__controlled *one, double seconds)
{
    one->before = one->now;
    dfrt__readings_tally(&agent->readings, one->step, &one->now);
    dfrt__measure(&one->measured, &one->before, &one->now, seconds, one->setting.workers, one->setting.alternate,
                  &one->late);
    bool results = dfrt_histogram_count(&agent->latency_step) > 0;
    double q = agent->control.goals.latency_of == DFRT_GOAL_QUANTILE ? agent->control.goals.quantile : 0.95;
    one->measured.latency = results ? dfrt_histogram_mean(&agent->latency_step) / 1e9 : NAN;
    one->measured.latency_quantile =
        results ? (double)dfrt_histogram_quantile(&agent->latency_step, q) / 1e9 : NAN;
    one->measured.power = agent->power;
    one->measured.moved = one->quiet_steps < 2;
    if (one->quiet_steps < UINT32_MAX) {
        one->quiet_steps++;
    }
    if (one->slots_now != NULL) {
        memcpy(one->slots_before, one->slots_now, DFRT_SLOTS * sizeof *one->slots_now);
        dfrt__readings_slots(&agent->readings, one->step, one->slots_now);
        one->slots_in_step = dfrt__slots_note(one->slots, one->slots_before, one->slots_now);
        dfrt__readings_keys(&agent->readings, one->step, &one->keys);
    }
}

/* Steps that get all they get from `first`, straight or over others; inputs stand before their users. */
static void mark_followers(const dfrt_program *program, unsigned first, bool *follows)
{
    for (unsigned s = 0; s < program->step_count; s++) {
        const dfrt_step_entry *entry = &program->steps[s];
        follows[s] = entry->input_count > 0;
        for (unsigned i = 0; i < entry->input_count; i++) {
            follows[s] = follows[s] && (entry->inputs[i] == first || follows[entry->inputs[i]]);
        }
    }
}

/* What a result of an operator costs those behind it: the time for which they computed. Those of its own thread are in its
 * service time already. */
static void read_downstream(dfrt__agent *agent, dfrt__controlled *one, bool *follows)
{
    double seconds = 0;
    mark_followers(agent->program, one->step, follows);
    for (unsigned i = 0; i < agent->count; i++) {
        const dfrt__controlled *other = &agent->operators[i];
        bool first = true; /* of its segment, whose time all of its operators have */
        for (unsigned k = 0; k < i; k++) {
            first = first && !(follows[agent->operators[k].step] && agent->operators[k].segment == other->segment);
        }
        double busy = other->measured.busy * other->setting.workers * other->measured.step;
        seconds += follows[other->step] && first && other->segment != one->segment && busy > 0 ? busy : 0;
    }
    one->measured.downstream = seconds > 0 && one->measured.results > 0 ? seconds / one->measured.results : NAN;
}

static void read_downstream_of_all(dfrt__agent *agent)
{
    bool *follows = dfrt_allocate(agent->program->step_count * sizeof *follows);
    for (unsigned i = 0; i < agent->count; i++) {
        read_downstream(agent, &agent->operators[i], follows);
    }
    free(follows);
}

void dfrt__agent_read(dfrt__agent *agent, uint64_t now_ns)
{
    double seconds = now_ns > agent->stepped_ns ? (double)(now_ns - agent->stepped_ns) / 1e9 : 0;
    agent->stepped_ns = now_ns > agent->stepped_ns ? now_ns : agent->stepped_ns;
    dfrt__readings_take(&agent->readings);
    read_latency(agent);
    read_machine(agent, seconds);
    uint64_t tuples = dfrt__readings_tuples(&agent->readings);
    agent->rate = seconds > 0 ? (double)(tuples - agent->tuples_before) / seconds : NAN;
    agent->tuples_before = tuples;
    for (unsigned i = 0; i < agent->count; i++) {
        read_operator(agent, &agent->operators[i], seconds);
    }
    if (!agent->fused) { /* in one thread everything is in the service time of everybody */
        read_downstream_of_all(agent);
    }
}
