#define _GNU_SOURCE
#include "summary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dfrt/store.h"

typedef struct totals {
    dfrt_count *counts; /* by step, over all replicas */
    dfrt_histogram latency;
} totals;

static void gather(const dfrt__layout_plan *layout, totals *sum)
{
    for (unsigned i = 0; i < layout->stage_count; i++) {
        const dfrt_segment_head *head = layout->stages[i]->segment;
        for (unsigned s = 0; s < layout->program->step_count; s++) {
            sum->counts[s].out += head->counts[s].out;
            sum->counts[s].faults += head->counts[s].faults;
            sum->counts[s].late += head->counts[s].late;
        }
        dfrt_histogram_merge(&sum->latency, &layout->stages[i]->latency);
    }
}

static uint64_t tuples_in(const dfrt_program *program, const totals *sum, unsigned step)
{
    uint64_t in = 0;
    for (unsigned i = 0; i < program->steps[step].input_count; i++) {
        in += sum->counts[program->steps[step].inputs[i]].out;
    }
    return in;
}

/* Steps that put out what they take in do not count; inputs stand before their users. */
static void fill_in(const dfrt_program *program, totals *sum)
{
    for (unsigned s = 0; s < program->step_count; s++) {
        if (program->steps[s].same) {
            sum->counts[s].out = tuples_in(program, sum, s);
        }
    }
}

static uint64_t malformed(const dfrt__reader *reader, unsigned step)
{
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        if (reader->program->sources[i].step == step) {
            return reader->inputs[i].malformed;
        }
    }
    return 0;
}

static void write_steps(FILE *out, const dfrt__reader *reader, const totals *sum)
{
    const dfrt_program *program = reader->program;
    for (unsigned s = 0; s < program->step_count; s++) {
        const dfrt_step_entry *step = &program->steps[s];
        bool source = step->input_count == 0;
        uint64_t in = source ? sum->counts[s].out + sum->counts[s].late : tuples_in(program, sum, s);
        (void)fprintf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"in\":%" PRIu64 ",\"out\":%" PRIu64,
                      s == 0 ? "" : ",", step->name, step->kind, in, sum->counts[s].out);
        (void)fprintf(out, ",\"late\":%" PRIu64 ",\"malformed\":%" PRIu64 ",\"faults\":%" PRIu64 "}",
                      sum->counts[s].late, malformed(reader, s), sum->counts[s].faults);
    }
}

static void write_latency(FILE *out, const dfrt_histogram *latency)
{
    (void)fprintf(out, "\"latency_us\":{\"count\":%" PRIu64 ",\"mean\":%.1f", dfrt_histogram_count(latency),
                  dfrt_histogram_mean(latency) / 1e3);
    static const struct { const char *name; double q; } points[] = {
        {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        (void)fprintf(out, ",\"%s\":%.1f", points[i].name,
                      (double)dfrt_histogram_quantile(latency, points[i].q) / 1e3);
    }
    (void)fprintf(out, ",\"max\":%.1f}", (double)dfrt_histogram_max(latency) / 1e3);
}

/* Threads that parse ahead, and what the first stage's thread, in whose time it is, parsed in their place. */
static void write_parsers(FILE *out, const dfrt__reader *reader)
{
    const char *between = "";
    (void)fprintf(out, ",\"parsers\":[");
    for (unsigned i = 0; i < reader->program->source_count; i++) {
        const dfrt__input *input = &reader->inputs[i];
        if (input->helpers > 0) {
            (void)fprintf(out, "%s{\"source\":\"%s\",\"threads\":%u,\"cpu_seconds\":%.9f,\"by_reader\":%.9f}", between,
                          reader->program->sources[i].name, input->helpers, (double)input->ahead_times.parsers / 1e9,
                          (double)input->ahead_times.reader / 1e9);
            between = ",";
        }
    }
    (void)fprintf(out, "]");
}

static void write_threads(FILE *out, const dfrt__layout_plan *layout)
{
    (void)fprintf(out, ",\"stages\":[");
    for (unsigned i = 0; i < layout->stage_count; i++) {
        const dfrt_stage *stage = layout->stages[i];
        (void)fprintf(out, "%s{\"segment\":%u,\"replica\":%u,\"cpu_seconds\":%.9f}", i == 0 ? "" : ",",
                      (unsigned)(stage->segment_type - layout->program->segments), stage->replica,
                      (double)stage->busy_cpu_ns / 1e9);
    }
    (void)fprintf(out, "]");
}

static void write_all(FILE *out, const dfrt__reader *reader, const dfrt__options *options, bool fused,
                      const totals *sum)
{
    const dfrt_program *program = reader->program;
    uint64_t late = 0, bad = 0, faults = 0, results = 0;
    for (unsigned s = 0; s < program->step_count; s++) {
        late += sum->counts[s].late;
        bad += malformed(reader, s);
        faults += sum->counts[s].faults;
    }
    for (unsigned i = 0; i < program->sink_count; i++) {
        results += sum->counts[program->sinks[i].step].out;
    }
    double seconds = (double)(reader->ended_ns - reader->started_ns) / 1e9;
    unsigned threads = (fused ? 1 : reader->layout->stage_count) + reader->helpers;
    (void)fprintf(out, "{\"app\":\"%s\",\"layout\":\"%s\",\"workers\":%u,\"threads\":%u,", program->name,
                  fused ? "fused" : "staged", options->workers, threads);
    (void)fprintf(out, "\"in\":%" PRIu64 ",\"out\":%" PRIu64 ",\"late\":%" PRIu64 ",\"malformed\":%" PRIu64
                  ",\"faults\":%" PRIu64 ",", reader->tuples, results, late, bad, faults);
    (void)fprintf(out, "\"shed\":%" PRIu64 ",",
                  atomic_load_explicit(&reader->layout->stages[0]->run->shed, memory_order_relaxed));
    (void)fprintf(out, "\"seconds\":%.6f,\"tuples_per_second\":%.1f,", seconds,
                  seconds > 0 ? (double)reader->tuples / seconds : 0.0);
    write_latency(out, &sum->latency);
    (void)fprintf(out, ",\"steps\":[");
    write_steps(out, reader, sum);
    (void)fprintf(out, "]");
    if (options->thread_times && !fused) {
        write_threads(out, reader->layout);
        write_parsers(out, reader);
    }
    (void)fprintf(out, "}\n");
}

/* --- into a file -------------------------------------------------------------------------------------- */

static dfrt_status write_to(int fd, const char *path, const char *text, size_t size, dfrt_error *error)
{
    ssize_t done = 0;
    while (size > 0 && (done = write(fd, text, size)) >= 0) {
        text += done;
        size -= (size_t)done;
    }
    int reason = errno;
    if (done < 0 || close(fd) != 0) {
        reason = done < 0 ? reason : errno;
        return dfrt_fail(error, DFRT_IO, "cannot write '%s': %s", path, strerror(reason));
    }
    return DFRT_OK;
}

static bool is_special(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

/* Whoever looks sees the old file or the whole new one; a device or a pipe is written as it is. */
static dfrt_status write_whole(const char *path, const char *text, size_t size, dfrt_error *error)
{
    char *beside = NULL;
    bool direct = is_special(path);
    int made = direct ? asprintf(&beside, "%s", path) : asprintf(&beside, "%s.%d.tmp", path, (int)getpid());
    if (made < 0) {
        dfrt_out_of_memory();
    }
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    dfrt_status status = fd < 0 ? dfrt_fail(error, DFRT_IO, "cannot create '%s': %s", path, strerror(errno))
                                : write_to(fd, path, text, size, error);
    if (status == DFRT_OK && !direct && rename(beside, path) != 0) {
        status = dfrt_fail(error, DFRT_IO, "cannot write '%s': %s", path, strerror(errno));
    }
    if (status != DFRT_OK && !direct && fd >= 0) {
        (void)unlink(beside); /* half a summary helps nobody */
    }
    free(beside);
    return status;
}

dfrt_status dfrt__summary_write(const dfrt__reader *reader, const dfrt__options *options, bool fused,
                                dfrt_error *error)
{
    totals sum = {.counts = dfrt_allocate(reader->program->step_count * sizeof *sum.counts)};
    gather(reader->layout, &sum);
    fill_in(reader->program, &sum);
    dfrt_status status = DFRT_OK;
    if (options->stats_path == NULL) {
        write_all(stderr, reader, options, fused, &sum);
    } else {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        if (out == NULL) {
            dfrt_out_of_memory();
        }
        write_all(out, reader, options, fused, &sum);
        status = fclose(out) == 0 ? write_whole(options->stats_path, text, size, error)
                                  : dfrt_fail(error, DFRT_MEMORY, "no memory for the summary");
        free(text);
    }
    free(sum.counts);
    return status;
}
