#define _GNU_SOURCE
#include "layout.h"

#include <stdlib.h>

#include "dfrt/store.h"
#include "elastic_state.h"
#include "later.h"
#include "outlet.h"

/* --- stages ----------------------------------------------------------------------------------------- */

static dfrt_status open_stage(dfrt__layout_plan *layout, dfrt_stage *stage, unsigned segment, dfrt_error *error)
{
    const dfrt_program *program = layout->program;
    stage->segment_type = &program->segments[segment];
    stage->segment = dfrt_allocate(stage->segment_type->size);
    dfrt_segment_head *head = stage->segment;
    head->stage = stage;
    head->counts = dfrt_allocate(program->step_count * sizeof *head->counts);
    head->peers = layout->peers;
    head->alternates = stage->run->alternates;
    stage->outlets = dfrt_allocate((program->edge_count + 1u) * sizeof *stage->outlets);
    stage->inlets = dfrt_allocate((program->edge_count + 1u) * sizeof *stage->inlets);
    stage->sinks = dfrt_allocate((program->sink_count + 1u) * sizeof(dfrt_sink *));
    if (dfrt_waiter_open(&stage->waiter) != 0) {
        return dfrt_fail(error, DFRT_IO, "no semaphore to wait on");
    }
    return stage->segment_type->open(stage->segment, error);
}

dfrt_stage *dfrt__stage_new(void)
{
    void *room = NULL;
    if (posix_memalign(&room, _Alignof(dfrt_stage), sizeof(dfrt_stage)) != 0) {
        dfrt_out_of_memory();
    }
    dfrt_stage *stage = room;
    *stage = (dfrt_stage){0};
    return stage;
}

static dfrt_status open_stages(dfrt__layout_plan *layout, dfrt_run_state *run, bool fused, dfrt_error *error)
{
    for (unsigned s = 0; s < layout->program->segment_count; s++) {
        for (unsigned r = 0; r < layout->degree[s]; r++) {
            dfrt_stage *stage = dfrt__stage_new();
            layout->stages[layout->first_stage[s] + r] = stage;
            stage->program = layout->program;
            stage->run = run;
            stage->fused = fused;
            stage->working = true;
            stage->replica = r;
            stage->replicas = layout->degree[s];
            dfrt_status status = open_stage(layout, stage, s, error);
            if (status != DFRT_OK) {
                return status;
            }
            layout->peers[s] = stage->segment;
        }
    }
    return DFRT_OK;
}

static void close_stage(dfrt_stage *stage, unsigned edge_count)
{
    for (unsigned e = 0; e < edge_count; e++) {
        dfrt__outlet_close(&stage->outlets[e]);
    }
    for (unsigned n = 0; n < stage->inlet_count; n++) {
        free(stage->inlets[n].receivers);
        free(stage->inlets[n].watermarks);
    }
    stage->segment_type->close(stage->segment);
    free(((dfrt_segment_head *)stage->segment)->counts);
    free(stage->segment);
    free(stage->outlets);
    free(stage->inlets);
    free(stage->sinks);
    dfrt__later_free(stage);
    dfrt_waiter_close(&stage->waiter);
    free(stage);
}

/* --- links ------------------------------------------------------------------------------------------ */

static dfrt_status open_outlet(dfrt__layout_plan *layout, unsigned e, dfrt_stage *stage, dfrt_error *error)
{
    dfrt_outlet *outlet = &stage->outlets[e];
    const dfrt_edge *edge = &layout->program->edges[e];
    outlet->marked = outlet->pending = DFRT_TIME_NONE;
    outlet->routing = &layout->elastic->taken->routings[edge->to];
    outlet->degree = outlet->routing->active;
    return dfrt__outlet_open(outlet, edge, layout->degree[edge->to], error);
}

static dfrt_inlet *open_inlet(dfrt__layout_plan *layout, unsigned e, dfrt_stage *stage)
{
    dfrt_inlet *inlet = &stage->inlets[stage->inlet_count++];
    inlet->edge = &layout->program->edges[e];
    unsigned from = inlet->edge->from, most = layout->degree[from];
    inlet->receivers = dfrt_allocate(most * sizeof *inlet->receivers);
    inlet->watermarks = dfrt_allocate(most * sizeof *inlet->watermarks);
    inlet->watermark = DFRT_TIME_NONE;
    inlet->degree = layout->elastic->taken->routings[from].active;
    for (unsigned i = 0; i < most; i++) {
        inlet->watermarks[i] = DFRT_TIME_NONE;
    }
    return inlet;
}

static dfrt_status open_edge(dfrt__layout_plan *layout, unsigned e, dfrt_link *links, dfrt_error *error)
{
    const dfrt_edge *edge = &layout->program->edges[e];
    dfrt_stage **from = layout->stages + layout->first_stage[edge->from];
    dfrt_stage **to = layout->stages + layout->first_stage[edge->to];
    for (unsigned a = 0; a < layout->degree[edge->from]; a++) {
        dfrt_status status = open_outlet(layout, e, from[a], error);
        if (status != DFRT_OK) {
            return status;
        }
    }
    for (unsigned b = 0; b < layout->degree[edge->to]; b++) {
        dfrt_inlet *inlet = open_inlet(layout, e, to[b]);
        for (unsigned a = 0; a < layout->degree[edge->from]; a++, links++) {
            links->producer = &from[a]->waiter;
            links->consumer = &to[b]->waiter;
            inlet->receivers[a].link = links;
            dfrt_sender *sender = &from[a]->outlets[e].senders[b];
            dfrt_status status = dfrt_sender_open(sender, links, edge->element_size, edge->to_all, error);
            if (status != DFRT_OK) {
                return status;
            }
        }
    }
    return DFRT_OK;
}

static void begin_configuration(dfrt__layout_plan *layout, const unsigned *active)
{
    layout->elastic = dfrt__elastic_open(layout, active);
    for (unsigned s = 0; s < layout->program->segment_count; s++) {
        for (unsigned r = 0; r < layout->degree[s]; r++) {
            dfrt_stage *stage = layout->stages[layout->first_stage[s] + r];
            stage->configuration = layout->elastic->taken;
            stage->working = r < active[s];
        }
    }
}

static dfrt_status open_links(dfrt__layout_plan *layout, dfrt_error *error)
{
    const dfrt_program *program = layout->program;
    size_t count = 0;
    for (unsigned e = 0; e < program->edge_count; e++) {
        count += (size_t)layout->degree[program->edges[e].from] * layout->degree[program->edges[e].to];
    }
    void *room = NULL;
    size_t size = (count + 1) * sizeof(dfrt_link);
    if (posix_memalign(&room, _Alignof(dfrt_link), size) != 0) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for %zu links", count);
    }
    layout->links = memset(room, 0, size);
    layout->link_count = count;
    dfrt_link *links = layout->links;
    for (unsigned e = 0; e < program->edge_count; e++) {
        dfrt_status status = open_edge(layout, e, links, error);
        if (status != DFRT_OK) {
            return status;
        }
        links += (size_t)layout->degree[program->edges[e].from] * layout->degree[program->edges[e].to];
    }
    return DFRT_OK;
}

/* --- the whole -------------------------------------------------------------------------------------- */

dfrt_status dfrt__layout_open(dfrt__layout_plan *layout, const dfrt_program *program, dfrt_run_state *run,
                              dfrt__degrees degrees, bool fused, dfrt_error *error)
{
    *layout = (dfrt__layout_plan){.program = program};
    layout->degree = dfrt_allocate(program->segment_count * sizeof *layout->degree);
    layout->first_stage = dfrt_allocate(program->segment_count * sizeof *layout->first_stage);
    layout->peers = dfrt_allocate(program->segment_count * sizeof *layout->peers);
    unsigned *active = dfrt_allocate(program->segment_count * sizeof *active);
    for (unsigned s = 0; s < program->segment_count; s++) {
        unsigned planned = program->segments[s].degree;
        active[s] = planned == 0 || fused ? 1 : degrees.workers > 0 ? degrees.workers : planned;
        bool more = program->segments[s].elastic && !fused && degrees.most > active[s];
        layout->degree[s] = more ? degrees.most : active[s];
        layout->first_stage[s] = layout->stage_count;
        layout->stage_count += layout->degree[s];
    }
    layout->stages = dfrt_allocate(layout->stage_count * sizeof(dfrt_stage *));
    dfrt_status status = open_stages(layout, run, fused, error);
    if (status == DFRT_OK && !fused) {
        begin_configuration(layout, active);
        status = open_links(layout, error);
    }
    free(active);
    return status;
}

static void drain_link(dfrt_link *link)
{
    dfrt_batch *batch;
    while ((batch = dfrt_ring_pop(&link->full)) != NULL) {
        free(batch);
    }
}

void dfrt__layout_close(dfrt__layout_plan *layout)
{
    for (size_t i = 0; i < layout->link_count; i++) {
        drain_link(&layout->links[i]);
    }
    for (unsigned i = 0; i < layout->stage_count && layout->stages != NULL; i++) {
        if (layout->stages[i] != NULL) {
            close_stage(layout->stages[i], layout->program->edge_count);
        }
    }
    dfrt__elastic_close(layout->elastic);
    free(layout->links);
    free(layout->stages);
    free(layout->peers);
    free(layout->first_stage);
    free(layout->degree);
}
