#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dfrt/store.h"

static const uint64_t INTERVAL_NS = 10000000;

typedef struct dfrt__interval {
    uint64_t results, highest_ns;
    double sum_ns;
} dfrt__interval;

void dfrt__traces_open(const dfrt__layout_plan *layout)
{
    uint64_t now = dfrt_now_ns();
    for (unsigned i = 0; i < layout->program->sink_count; i++) {
        dfrt_stage *stage = layout->stages[layout->first_stage[layout->program->sinks[i].segment]];
        if (stage->trace == NULL) {
            stage->trace = dfrt_allocate(sizeof *stage->trace);
            stage->trace->began_ns = now;
        }
    }
}

static dfrt__interval *interval_at(dfrt__trace *trace, size_t at)
{
    if (at >= trace->count) {
        size_t count = 2 * at + 64;
        trace->intervals = dfrt_resize(trace->intervals, count * sizeof *trace->intervals);
        memset(trace->intervals + trace->count, 0, (count - trace->count) * sizeof *trace->intervals);
        trace->count = count;
    }
    return &trace->intervals[at];
}

void dfrt__trace_add(dfrt__trace *trace, uint64_t now_ns, uint64_t read_ns, uint64_t results)
{
    dfrt__interval *interval = interval_at(trace, (now_ns - trace->began_ns) / INTERVAL_NS);
    interval->results += results;
    interval->sum_ns += (double)(now_ns - read_ns) * (double)results;
    interval->highest_ns = now_ns - read_ns > interval->highest_ns ? now_ns - read_ns : interval->highest_ns;
}

static void add_intervals(dfrt__trace *sum, const dfrt__trace *trace)
{
    for (size_t i = 0; trace != NULL && i < trace->count; i++) {
        const dfrt__interval *one = &trace->intervals[i];
        if (one->results > 0) {
            dfrt__interval *all = interval_at(sum, i);
            all->results += one->results;
            all->sum_ns += one->sum_ns;
            all->highest_ns = one->highest_ns > all->highest_ns ? one->highest_ns : all->highest_ns;
        }
    }
}

static void write_intervals(FILE *file, const dfrt__trace *trace)
{
    (void)fputs("ms,results,mean_us,highest_us\n", file);
    for (size_t i = 0; i < trace->count; i++) {
        const dfrt__interval *one = &trace->intervals[i];
        if (one->results > 0) {
            (void)fprintf(file, "%zu,%" PRIu64 ",%.1f,%.1f\n", i * (size_t)(INTERVAL_NS / 1000000), one->results,
                          one->sum_ns / (double)one->results / 1e3, (double)one->highest_ns / 1e3);
        }
    }
}

dfrt_status dfrt__traces_write(const dfrt__layout_plan *layout, const char *path, dfrt_error *error)
{
    dfrt__trace sum = {0};
    for (unsigned i = 0; i < layout->stage_count; i++) {
        add_intervals(&sum, layout->stages[i]->trace);
    }
    FILE *file = fopen(path, "we");
    if (file != NULL) {
        write_intervals(file, &sum);
    }
    free(sum.intervals);
    bool good = file != NULL && ferror(file) == 0;
    if (file != NULL && fclose(file) != 0) {
        good = false;
    }
    return good ? DFRT_OK : dfrt_fail(error, DFRT_IO, "can't write %s: %s", path, strerror(errno));
}

void dfrt__traces_close(const dfrt__layout_plan *layout)
{
    for (unsigned i = 0; layout->stages != NULL && i < layout->stage_count; i++) {
        if (layout->stages[i] != NULL && layout->stages[i]->trace != NULL) {
            free(layout->stages[i]->trace->intervals);
            free(layout->stages[i]->trace);
            layout->stages[i]->trace = NULL;
        }
    }
}
