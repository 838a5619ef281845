/* Runs `orders` in parts, as an engine on several machines does: one thread cuts orders.csv into ranges and gives their
 * rows to a task, another has a task that reads the file by itself. Both write all sinks.
 *
 * usage: orders_cluster_main RANGES */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"

enum { SINKS = 3, SLACK = 40 };

static const struct dfrt_program *program;
static const dfrt_cluster *cluster;
static const char *const names[SINKS] = {"totals", "recent", "gone"};

static void require(bool good, const char *what, const dfrt_error *error)
{
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, error == NULL ? "" : error->text);
        exit(1);
    }
}

static void open_writers(dfrt_writer **writers, const char *ending)
{
    for (uint32_t i = 0; i < SINKS; i++) {
        char spec[64];
        dfrt_error error;
        snprintf(spec, sizeof spec, "csv:%s.%s", names[i], ending);
        require(cluster->writer_open(&writers[i], program, i, spec, &error) == DFRT_OK, "writer_open", &error);
    }
}

static void write_results(dfrt_task *task, dfrt_writer **writers)
{
    for (uint32_t i = 0; i < SINKS; i++) {
        dfrt_row_columns rows;
        dfrt_error error;
        require(cluster->task_results(task, i, &rows, &error) == DFRT_OK, "task_results", &error);
        for (uint64_t row = 1; row < rows.count; row++) {
            require(rows.index[row - 1] <= rows.index[row], "results come in the order of what released them", NULL);
        }
        require(cluster->writer_rows(writers[i], &rows, &error) == DFRT_OK, "writer_rows", &error);
    }
}

static void end_task(dfrt_task *task, dfrt_writer **writers)
{
    dfrt_error error;
    require(cluster->task_end(task, &error) == DFRT_OK, "task_end", &error);
    write_results(task, writers);
    cluster->task_close(task);
    for (uint32_t i = 0; i < SINKS; i++) {
        require(cluster->writer_close(writers[i], &error) == DFRT_OK, "writer_close", &error);
    }
}

/* --- rows of ranges ------------------------------------------------------------------------------------ */

typedef struct cut {
    uint64_t header, size;
    char *text;
} cut;

static cut read_all(void)
{
    FILE *file = fopen("orders.csv", "rb");
    require(file != NULL && fseek(file, 0, SEEK_END) == 0, "orders.csv", NULL);
    cut found = {.size = (uint64_t)ftell(file)};
    rewind(file);
    found.text = malloc(found.size + 1);
    require(found.text != NULL && fread(found.text, 1, found.size, file) == found.size, "orders.csv", NULL);
    fclose(file);
    found.text[found.size] = '\0';
    found.header = (uint64_t)(strchr(found.text, '\n') + 1 - found.text);
    return found;
}

static uint64_t behind_newline(const cut *file, uint64_t at)
{
    const char *end = at >= file->size ? NULL : strchr(file->text + at, '\n');
    return end == NULL ? file->size : (uint64_t)(end + 1 - file->text);
}

static void push_range(dfrt_task *task, dfrt_writer **writers, const dfrt_range_options *options)
{
    dfrt_range *range;
    dfrt_row_columns rows;
    dfrt_error error;
    require(cluster->range_open(&range, program, options, &error) == DFRT_OK, "range_open", &error);
    while (cluster->range_rows(range, &rows, &error) == DFRT_OK) {
        rows.order = rows.index;
        require(cluster->task_push(task, &rows, &error) == DFRT_OK, "task_push", &error);
        write_results(task, writers);
    }
    require(strlen(cluster->range_reports(range)) == 0, "malformed rows", NULL);
    cluster->range_close(range);
}

static void advance(dfrt_progress *progress, const dfrt_range_options *options)
{
    dfrt_range *range;
    dfrt_range_measure found;
    dfrt_error error;
    require(cluster->range_open(&range, program, options, &error) == DFRT_OK, "range_open", &error);
    require(cluster->range_measure(range, &found, &error) == DFRT_OK, "range_measure", &error);
    cluster->range_close(range);
    *progress = found.after;
}

static void *push_ranges(void *context)
{
    uint64_t count = *(const uint64_t *)context;
    cut file = read_all();
    dfrt_writer *writers[SINKS];
    dfrt_task *task;
    dfrt_error error;
    static const char *const keys[] = {"shop"};
    dfrt_progress progress = {.highest = INT64_MIN, .watermark = INT64_MIN};
    open_writers(writers, "pushed");
    require(cluster->task_open(&task, program, &error) == DFRT_OK, "task_open", &error);
    require(cluster->task_set_alternate(task, "lasts", "none") != DFRT_OK, "an alternate that is not there", NULL);
    require(cluster->task_set_alternate(task, "lasts", "exact") == DFRT_OK, "an alternate that is", NULL);
    for (uint64_t i = 0, begin = file.header; i < count; i++) {
        uint64_t end = behind_newline(&file, file.header + (file.size - file.header) * (i + 1) / count);
        dfrt_range_options options = {.spec = "csv:orders.csv", .header = file.header, .begin = begin, .end = end,
                                      .slack = SLACK, .progress = progress, .keys = keys, .key_count = 1,
                                      .report_limit = 5};
        push_range(task, writers, &options);
        advance(&progress, &options);
        begin = end;
    }
    end_task(task, writers);
    free(file.text);
    return NULL;
}

/* --- the whole file ------------------------------------------------------------------------------------ */

static void *read_file(void *context)
{
    (void)context;
    dfrt_writer *writers[SINKS];
    dfrt_task *task;
    dfrt_error error;
    open_writers(writers, "read");
    require(cluster->task_open(&task, program, &error) == DFRT_OK, "task_open", &error);
    require(cluster->task_add_file(task, 0, "csv:orders.csv", 0, 5, &error) == DFRT_OK, "task_add_file", &error);
    dfrt_status status = DFRT_OK;
    while (status == DFRT_OK) {
        status = cluster->task_read(task, &error);
        require(status == DFRT_OK || status == DFRT_END, "task_read", &error);
        write_results(task, writers);
    }
    require(strlen(cluster->task_reports(task)) == 0 && cluster->task_malformed(task, 0) == 0, "malformed rows", NULL);
    end_task(task, writers);
    return NULL;
}

static void refuse_what_is_none(void)
{
    dfrt_task *task;
    dfrt_error error;
    int32_t offsets[] = {0, 3}, source = 7;
    int64_t number = 0;
    dfrt_row_columns rows = {.count = 1, .offsets = offsets, .bytes = (const uint8_t *)"abc", .order = &number,
                             .source = &source, .index = &number, .watermark = &number, .key = &number};
    require(cluster->task_open(&task, program, &error) == DFRT_OK, "task_open", &error);
    require(cluster->task_push(task, &rows, &error) == DFRT_USAGE, "a source that is not there", &error);
    source = 0;
    require(cluster->task_push(task, &rows, &error) == DFRT_USAGE, "bytes that are no row", &error);
    cluster->task_close(task);
}

int main(int count, char **words)
{
    uint64_t ranges = count == 2 ? strtoull(words[1], NULL, 10) : 1;
    orders_cluster(&program, &cluster);
    refuse_what_is_none();
    pthread_t threads[2];
    require(pthread_create(&threads[0], NULL, push_ranges, &ranges) == 0, "thread", NULL);
    require(pthread_create(&threads[1], NULL, read_file, NULL) == 0, "thread", NULL);
    for (int i = 0; i < 2; i++) {
        require(pthread_join(threads[i], NULL) == 0, "thread", NULL);
    }
    return 0;
}
