/* What is behind the names of cluster.h, and the functions of its table.
 *
 * Threads:   as cluster.h.
 * Ownership: as cluster.h.
 * Progress:  as cluster.h.
 */
#ifndef DFRT_CLUSTER_STATE_H
#define DFRT_CLUSTER_STATE_H

#include <dfrt/cluster.h>
#include <dfrt/program.h>

#include "travel.h"

/* Lines about malformed rows: text with a NUL behind it. */
typedef struct dfrt__reports {
    dfrt_bytes text;
    const char *name; /* stands before each line, or NULL */
} dfrt__reports;

/* As `report` of dfrt_source_options. */
void dfrt__reports_add(void *reports, uint64_t number, const char *text);
const char *dfrt__reports_text(const dfrt__reports *reports);

dfrt_status dfrt__range_open(dfrt_range **out, const dfrt_program *program, const dfrt_range_options *options,
                             dfrt_error *error);
dfrt_status dfrt__range_measure(dfrt_range *range, dfrt_range_measure *measure, dfrt_error *error);
dfrt_status dfrt__range_rows(dfrt_range *range, dfrt_row_columns *rows, dfrt_error *error);
const char *dfrt__range_reports(const dfrt_range *range);
void dfrt__range_close(dfrt_range *range);

dfrt_status dfrt__task_open(dfrt_task **out, const dfrt_program *program, dfrt_error *error);
dfrt_status dfrt__task_set_alternate(dfrt_task *task, const char *step, const char *alternate);
dfrt_status dfrt__task_push(dfrt_task *task, const dfrt_row_columns *rows, dfrt_error *error);
dfrt_status dfrt__task_add_file(dfrt_task *task, uint32_t source, const char *spec, uint64_t max_row,
                                uint64_t report_limit, dfrt_error *error);
dfrt_status dfrt__task_read(dfrt_task *task, dfrt_error *error);
const char *dfrt__task_reports(const dfrt_task *task);
uint64_t dfrt__task_malformed(const dfrt_task *task, uint32_t source);
dfrt_status dfrt__task_end(dfrt_task *task, dfrt_error *error);
dfrt_status dfrt__task_watermark(dfrt_task *task, uint32_t source, int64_t watermark, dfrt_error *error);
dfrt_status dfrt__task_save(dfrt_task *task, const uint8_t **bytes, uint64_t *size, dfrt_error *error);
dfrt_status dfrt__task_load(dfrt_task *task, const uint8_t *bytes, uint64_t size, dfrt_error *error);
dfrt_status dfrt__task_results(dfrt_task *task, uint32_t sink, dfrt_row_columns *rows, dfrt_error *error);
void dfrt__task_close(dfrt_task *task);

#endif
