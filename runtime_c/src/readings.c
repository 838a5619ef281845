#include "readings.h"

#include <stdlib.h>

#include "dfrt/store.h"
#include "monitor.h"

static uint64_t count_of(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static double real_of(const _Atomic double *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* --- who is watched ------------------------------------------------------------------------------------- */

/* Whose triggers the generated code counts. */
static bool is_operator(const dfrt_program *program, unsigned step)
{
    for (unsigned i = 0; i < program->alternates_count; i++) {
        if (strcmp(program->alternates[i].step, program->steps[step].name) == 0) {
            return true;
        }
    }
    return strcmp(program->steps[step].kind, "operator") == 0;
}

/* In the fused layout the thread of the first stage does everything. */
static dfrt_stage_monitor *working_monitor(const dfrt__readings *readings, unsigned stage)
{
    return readings->layout->stages[readings->fused ? 0 : stage]->monitor;
}

static void watch_stage(dfrt__readings *readings, unsigned segment, unsigned i)
{
    const dfrt_program *program = readings->layout->program;
    dfrt_segment_head *head = readings->layout->stages[i]->segment;
    bool timed = false; /* the step whose degree can change */
    head->watches = dfrt_allocate((program->step_count + 1u) * sizeof(dfrt_watch *));
    for (unsigned s = 0; s < program->step_count; s++) {
        if (program->steps[s].segment == segment && is_operator(program, s)) {
            head->watches[s] = dfrt_watch_open(working_monitor(readings, i));
            timed |= strcmp(program->steps[s].name, program->segments[segment].step) == 0;
        }
    }
    if (!timed && program->segments[segment].elastic) {
        dfrt_stage_monitor_keys(readings->layout->stages[i]->monitor);
    }
}

void dfrt__readings_open(dfrt__readings *readings, const dfrt__layout_plan *layout, bool fused)
{
    *readings = (dfrt__readings){.layout = layout, .fused = fused};
    readings->totals = dfrt_allocate((layout->program->step_count + 1u) * sizeof *readings->totals);
    for (unsigned i = 0; i < layout->stage_count; i++) {
        layout->stages[i]->monitor = dfrt_stage_monitor_open(layout->program->step_count);
    }
    for (unsigned segment = 0; segment < layout->program->segment_count; segment++) {
        for (unsigned r = 0; r < layout->degree[segment]; r++) {
            watch_stage(readings, segment, layout->first_stage[segment] + r);
        }
    }
}

void dfrt__readings_close(dfrt__readings *readings)
{
    const dfrt__layout_plan *layout = readings->layout;
    for (unsigned i = 0; layout != NULL && i < layout->stage_count; i++) {
        dfrt_segment_head *head = layout->stages[i]->segment;
        for (unsigned s = 0; s < layout->program->step_count; s++) {
            dfrt_watch_close(head->watches[s]);
        }
        free(head->watches);
        head->watches = NULL;
        dfrt_stage_monitor_close(layout->stages[i]->monitor);
        layout->stages[i]->monitor = NULL;
    }
    free(readings->totals);
    *readings = (dfrt__readings){0};
}

/* --- steps ----------------------------------------------------------------------------------------------- */

uint64_t dfrt__readings_in(const dfrt__readings *readings, unsigned step)
{
    const dfrt_step_entry *entry = &readings->layout->program->steps[step];
    uint64_t in = 0;
    for (unsigned i = 0; i < entry->input_count; i++) {
        in += readings->totals[entry->inputs[i]].out;
    }
    return in;
}

void dfrt__readings_take(dfrt__readings *readings)
{
    const dfrt__layout_plan *layout = readings->layout;
    for (unsigned s = 0; s < layout->program->step_count; s++) {
        dfrt_count *total = &readings->totals[s];
        *total = (dfrt_count){0};
        for (unsigned i = 0; i < layout->stage_count; i++) {
            const dfrt_counted *counted = &layout->stages[i]->monitor->counts[s];
            total->out += count_of(&counted->out);
            total->faults += count_of(&counted->faults);
            total->late += count_of(&counted->late);
        }
        if (layout->program->steps[s].same) { /* not counted on its own; inputs stand before their users */
            total->out = dfrt__readings_in(readings, s);
        }
    }
}

/* --- operators ------------------------------------------------------------------------------------------- */

static void add_watch(dfrt__tally *tally, const dfrt_watch *watch)
{
    tally->watched = true;
    tally->triggers += (double)count_of(&watch->triggers);
    for (unsigned a = 0; a < DFRT_WATCHED_ALTERNATES && a < DFRT_MOST_ALTERNATES; a++) {
        const dfrt_watched_alternate *seen = &watch->alternates[a];
        tally->samples[a].count += (double)count_of(&seen->samples);
        tally->samples[a].ns += real_of(&seen->ns);
        tally->samples[a].squares += real_of(&seen->squares);
        tally->sample_results[a] += (double)count_of(&seen->results);
    }
}

static void add_spacing(dfrt__sum *sum, const dfrt_spacing *spacing)
{
    sum->count += (double)count_of(&spacing->count);
    sum->ns += real_of(&spacing->ns);
    sum->squares += real_of(&spacing->squares);
}

/* Threads of the segments from which an edge leads to this one. */
static double blocked_senders(const dfrt__layout_plan *layout, unsigned segment)
{
    double ns = 0;
    unsigned senders = 0;
    for (unsigned e = 0; e < layout->program->edge_count; e++) {
        const dfrt_edge *edge = &layout->program->edges[e];
        for (unsigned r = 0; edge->to == segment && r < layout->degree[edge->from]; r++, senders++) {
            ns += (double)count_of(&layout->stages[layout->first_stage[edge->from] + r]->monitor->blocked_ns);
        }
    }
    return senders == 0 ? 0 : ns / senders;
}

static void add_stage(const dfrt__readings *readings, dfrt__tally *tally, unsigned step, unsigned i, unsigned replica)
{
    const dfrt_stage_monitor *monitor = working_monitor(readings, i);
    const dfrt_segment_head *head = readings->layout->stages[i]->segment;
    if (replica < DFRT_MOST_WORKERS) {
        tally->busy_ns[replica] = (double)count_of(&monitor->busy_ns);
    }
    tally->waited += (double)count_of(&monitor->elements);
    tally->waited_ns += real_of(&monitor->waited_ns);
    if (head->watches[step] != NULL) {
        add_watch(tally, head->watches[step]);
    }
}

/* Whether the tuples that its segment takes in are those of the step. */
static bool leads(const dfrt_program *program, unsigned step)
{
    const dfrt_step_entry *entry = &program->steps[step];
    bool first = entry->input_count > 0;
    for (unsigned i = 0; i < entry->input_count; i++) {
        first = first && program->steps[entry->inputs[i]].segment != entry->segment;
    }
    return first;
}

void dfrt__readings_tally(const dfrt__readings *readings, unsigned step, dfrt__tally *tally)
{
    const dfrt__layout_plan *layout = readings->layout;
    unsigned segment = layout->program->steps[step].segment;
    *tally = (dfrt__tally){0};
    for (unsigned r = 0; r < layout->degree[segment]; r++) {
        add_stage(readings, tally, step, layout->first_stage[segment] + r, r);
    }
    for (unsigned i = 0; i < layout->stage_count; i++) {
        add_spacing(&tally->arrivals, &layout->stages[i]->monitor->arrivals);
        add_spacing(&tally->spacing, &layout->stages[i]->monitor->results);
    }
    tally->results = (double)readings->totals[step].out;
    tally->in = (double)dfrt__readings_in(readings, step);
    tally->taken = readings->fused || !leads(layout->program, step) ? tally->in : tally->waited;
    tally->blocked_ns = readings->fused ? 0 : blocked_senders(layout, segment);
}

void dfrt__readings_slots(const dfrt__readings *readings, unsigned step, double *load)
{
    const dfrt__layout_plan *layout = readings->layout;
    unsigned segment = layout->program->steps[step].segment;
    memset(load, 0, DFRT_SLOTS * sizeof *load);
    for (unsigned r = 0; r < layout->degree[segment]; r++) {
        const dfrt_stage *stage = layout->stages[layout->first_stage[segment] + r];
        const dfrt_watch *watch = ((const dfrt_segment_head *)stage->segment)->watches[step];
        bool unused = count_of(&stage->monitor->elements) == 0 && watch == NULL; /* it has slept since the start */
        for (unsigned slot = 0; slot < DFRT_SLOTS && !unused; slot++) {
            load[slot] += watch != NULL ? real_of(&watch->slot_ns[slot]) : real_of(&stage->monitor->slot_tuples[slot]);
        }
    }
}

void dfrt__readings_keys(const dfrt__readings *readings, unsigned step, dfrt__key_loads *loads)
{
    const dfrt__layout_plan *layout = readings->layout;
    unsigned segment = layout->program->steps[step].segment;
    dfrt__key_loads_begin(loads);
    for (unsigned r = 0; r < loads->replicas; r++) {
        const dfrt_stage *stage = layout->stages[layout->first_stage[segment] + r];
        const dfrt_watch *watch = ((const dfrt_segment_head *)stage->segment)->watches[step];
        dfrt__key_loads_look(loads, r, watch != NULL ? watch->keys : stage->monitor->keys);
    }
}

uint64_t dfrt__readings_tuples(const dfrt__readings *readings)
{
    const dfrt_program *program = readings->layout->program;
    uint64_t tuples = 0;
    for (unsigned i = 0; i < program->source_count; i++) {
        const dfrt_count *total = &readings->totals[program->sources[i].step];
        tuples += total->out + total->late;
    }
    return tuples;
}

void dfrt__readings_latency(const dfrt__readings *readings, dfrt_histogram *latency)
{
    for (unsigned i = 0; i < readings->layout->stage_count; i++) {
        dfrt_histogram_merge(latency, &readings->layout->stages[i]->latency);
    }
}
