#define _GNU_SOURCE
#include "dfrt/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"
#include "options.h"
#include "reader.h"
#include "run.h"
#include "same_file.h"
#include "summary.h"
#include "supervise.h"
#include "threads.h"
#include "trace.h"
#include "waits.h"

enum { EXIT_USAGE = 2, EXIT_RUN_FAILED = 4 };

/* The run that signals end; set before the handlers are. */
static dfrt_run_state *signalled;

/* A terminal and whoever forwards its signals both send one: only a later one is somebody who does not want to wait. */
enum { SAME_SIGNAL_SECONDS = 1 };

static void on_signal(int number)
{
    static atomic_llong first; /* relaxed: whichever thread gets the second has seen the first, or takes it for that */
    struct timespec clock;
    (void)clock_gettime(CLOCK_MONOTONIC, &clock); /* can't fail for this clock */
    long long now = clock.tv_sec + 1, none = 0;
    if (atomic_compare_exchange_strong_explicit(&first, &none, now, memory_order_relaxed, memory_order_relaxed)) {
        dfrt__run_stop(signalled);
    } else if (now - none > SAME_SIGNAL_SECONDS) {
        (void)signal(number, SIG_DFL); /* fails only for a number that is no signal's */
        (void)raise(number);
    }
}

static dfrt_status open_stop(dfrt_run_state *run, dfrt_error *error)
{
    dfrt_status status = dfrt__run_open_pipe(run, error);
    if (status != DFRT_OK) {
        return status;
    }
    signalled = run;
    struct sigaction stop = {.sa_handler = on_signal};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&stop.sa_mask);
    if (sigaction(SIGTERM, &stop, NULL) != 0 || sigaction(SIGINT, &stop, NULL) != 0 ||
        sigaction(SIGPIPE, &ignore, NULL) != 0) {
        return dfrt_fail(error, DFRT_IO, "no signal handlers: %s", strerror(errno));
    }
    return DFRT_OK;
}

/* --- sinks ------------------------------------------------------------------------------------------ */

static dfrt_status open_sinks(dfrt__layout_plan *layout, const dfrt__options *options, dfrt_error *error)
{
    for (unsigned i = 0; i < layout->program->sink_count; i++) {
        const dfrt_sink_entry *entry = &layout->program->sinks[i];
        dfrt_stage *stage = layout->stages[layout->first_stage[entry->segment]];
        dfrt_sink_options how = {.stop_fd = stage->run->stop_fd, .quiet = options->quiet};
        dfrt_status status = dfrt_sink_open_with(&stage->sinks[i], entry->name, options->sink_specs[i],
                                                 entry->record, &how, error);
        if (status != DFRT_OK) {
            return status;
        }
    }
    return DFRT_OK;
}

static void close_sinks(dfrt__layout_plan *layout)
{
    for (unsigned i = 0; i < layout->program->sink_count; i++) {
        dfrt_stage *stage = layout->stages[layout->first_stage[layout->program->sinks[i].segment]];
        dfrt_error error;
        if (stage->sinks[i] != NULL && dfrt_sink_close(stage->sinks[i], &error) != DFRT_OK) {
            dfrt_stage_fail(stage, &error);
        }
    }
}

/* --- running ---------------------------------------------------------------------------------------- */

static dfrt_status run_all(dfrt__layout_plan *layout, dfrt__reader *reader, bool fused, dfrt_error *error)
{
    if (fused) {
        dfrt__reader_run(reader);
        return DFRT_OK;
    }
    dfrt__threads threads;
    dfrt_status status = dfrt__threads_start(&threads, layout, error);
    if (status == DFRT_OK) {
        dfrt__thread_begin(layout->stages[0]);
        dfrt__reader_run(reader);
        dfrt__thread_end(layout->stages[0]);
        dfrt__threads_join(&threads);
        reader->ended_ns = dfrt_now_ns();
    }
    return status;
}

static bool is_csv_file(const char *spec)
{
    struct stat about;
    return strncmp(spec, "csv:", 4) == 0 && stat(spec + 4, &about) == 0 && S_ISREG(about.st_mode);
}

/* Two workers do most where one runs everything and the other one parses for it: no tuple goes from core to core twice.
 * The reader parses too while it would wait, so that both are busy whatever the rest costs. What the plan says of degrees
 * is not touched. */
static bool is_best_fused(const dfrt_program *program, const dfrt__options *options)
{
    bool files = !options->planned && options->replay.rate == 0 && options->replay.speed == 0;
    for (unsigned i = 0; i < program->source_count; i++) {
        files = files && is_csv_file(options->source_specs[i]);
    }
    bool elastic = options->degrees.most > 1 || options->script != NULL;
    bool alone = options->workers == 1 && !(options->planned && program->staged) && !elastic;
    return alone || (options->workers == 2 && program->light && files && !elastic);
}

/* A run and all that belongs to it. */
typedef struct whole_run {
    dfrt__layout_plan layout;
    dfrt__reader reader;
    dfrt__supervision supervision;
    bool fused;
} whole_run;

static dfrt_status open_run(whole_run *whole, const dfrt_program *program, const dfrt__options *options,
                            dfrt_run_state *run, dfrt_error *error)
{
    dfrt__layout_plan *layout = &whole->layout;
    dfrt_status status = dfrt__layout_open(layout, program, run, options->degrees, whole->fused, error);
    for (unsigned i = 0; status == DFRT_OK && i < layout->stage_count; i++) {
        layout->stages[i]->thread_timed = options->thread_times;
    }
    if (status == DFRT_OK && options->script != NULL) {
        status = whole->fused ? dfrt_fail(error, DFRT_USAGE, "--reconfigure needs threads; leave out --layout fused")
                              : dfrt__script_open(&whole->reader.script, options->script, layout->elastic, program, run,
                                                  options->migration, error);
    }
    if (status == DFRT_OK && options->trace_path != NULL) {
        dfrt__traces_open(layout);
    }
    if (status == DFRT_OK) { /* before sources that wait for their header and sinks that wait for their other side */
        status = dfrt__supervision_open(&whole->supervision, layout, &whole->reader, options, whole->fused, error);
    }
    if (status == DFRT_OK) {
        status = dfrt__reader_open(&whole->reader, layout, options, run, error);
    }
    return status == DFRT_OK ? open_sinks(layout, options, error) : status;
}

static dfrt_status run_planned(whole_run *whole, const dfrt_program *program, const dfrt__options *options,
                               dfrt_run_state *run, dfrt_error *error)
{
    dfrt_status status = open_run(whole, program, options, run, error);
    if (status == DFRT_OK) {
        status = run_all(&whole->layout, &whole->reader, whole->fused, error);
    } else if (status == DFRT_END) {
        status = DFRT_OK; /* told to stop while a sink waited for its other side: nothing has been read */
    }
    dfrt__supervision_stop(&whole->supervision);
    close_sinks(&whole->layout);
    dfrt__reader_end(&whole->reader);
    if (status == DFRT_OK && options->stats) {
        status = dfrt__summary_write(&whole->reader, options, whole->fused, error);
    }
    if (status == DFRT_OK && options->trace_path != NULL) {
        status = dfrt__traces_write(&whole->layout, options->trace_path, error);
    }
    return status;
}

static dfrt_status run_with(const dfrt_program *program, dfrt__options *options, dfrt_run_state *run,
                            dfrt_error *error)
{
    whole_run whole = {.reader = {.program = program}};
    dfrt_status status = dfrt__supervision_plan(&whole.supervision, program, options, error);
    if (status == DFRT_OK) {
        const char *log = whole.supervision.wanted ? whole.supervision.control.log : NULL;
        status = dfrt__check_files(program, options, log, error);
    }
    if (status == DFRT_OK) {
        status = open_stop(run, error);
    }
    if (status == DFRT_OK) {
        whole.fused = options->layout == DFRT__FUSED ||
                      (options->layout == DFRT__AUTO && is_best_fused(program, options));
        status = run_planned(&whole, program, options, run, error);
        dfrt__supervision_close(&whole.supervision);
        dfrt__traces_close(&whole.layout);
        dfrt__reader_close(&whole.reader);
        dfrt__layout_close(&whole.layout);
        return status;
    }
    dfrt__supervision_close(&whole.supervision);
    return status;
}

/* Who calls us may have closed some of 0, 1 and 2: a file that we open must not become standard output. */
static void occupy_standard_streams(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDONLY);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        (void)close(fd); /* only opened to look */
    }
}

/* One line, whatever the names in it are. */
static void say_error(const dfrt_program *program, dfrt_error *error)
{
    for (char *c = error->text; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    }
    (void)fprintf(stderr, "%s: error: %s\n", program->name, error->text);
}

int dfrt_main(const dfrt_program *program, int argc, char **argv)
{
    occupy_standard_streams();
    dfrt__options options = {0};
    dfrt_run_state run;
    dfrt_error error = {{0}};
    dfrt_status status = dfrt__run_open(&run, program, &error);
    if (status == DFRT_OK) {
        status = dfrt__options_read(&options, program, &run, argc, argv, &error);
    }
    if (status == DFRT_OK && !options.done) {
        status = run_with(program, &options, &run, &error);
    }
    dfrt__options_close(&options);
    if (status == DFRT_OK) {
        status = dfrt__run_status(&run, &error);
    }
    dfrt__run_close(&run);
    if (status != DFRT_OK) {
        say_error(program, &error);
    }
    return status == DFRT_OK ? 0 : status == DFRT_USAGE ? EXIT_USAGE : EXIT_RUN_FAILED;
}
