#define _GNU_SOURCE
#include "dfrt/program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "options.h"
#include "reader.h"
#include "summary.h"

enum { EXIT_USAGE = 2, EXIT_RUN_FAILED = 4 };

static int stop_pipe[2] = {-1, -1};

_Noreturn void dfrt_out_of_memory(void)
{
    static const char line[] = "error: no memory left\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written; /* there is nobody else to tell */
    _Exit(EXIT_RUN_FAILED);
}

bool dfrt_set_alternate(const dfrt_program *program, const char *step, unsigned alternate)
{
    for (unsigned i = 0; i < program->alternates_count; i++) {
        if (strcmp(program->alternates[i].step, step) == 0 && alternate < program->alternates[i].count) {
            atomic_store_explicit(program->alternates[i].active, alternate, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

/* --- stopping --------------------------------------------------------------------------------------- */

static void ask_to_stop(void)
{
    int saved = errno;
    atomic_store_explicit(&dfrt__stop, 1, memory_order_relaxed);
    ssize_t written = write(stop_pipe[1], "x", 1);
    (void)written; /* a full pipe is readable already */
    errno = saved;
}

static void on_signal(int number)
{
    (void)number;
    ask_to_stop();
}

void dfrt_stage_fail(dfrt_stage *stage, const dfrt_error *error)
{
    int good = 0;
    if (atomic_compare_exchange_strong_explicit(&stage->run->failed, &good, 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
        stage->run->error = *error;
        /* Partner: the acquire in dfrt_main. */
        atomic_store_explicit(&stage->run->failed, 2, memory_order_release);
    }
    ask_to_stop();
}

static dfrt_status open_stop(dfrt_run_state *run, dfrt_error *error)
{
    if (pipe(stop_pipe) != 0 || fcntl(stop_pipe[1], F_SETFL, O_NONBLOCK) == -1) {
        return dfrt_fail(error, DFRT_IO, "no pipe for signals: %s", strerror(errno));
    }
    run->stop_fd = stop_pipe[0];
    run->stop_write_fd = stop_pipe[1];
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
        dfrt_status status =
            dfrt_sink_open(&stage->sinks[i], entry->name, options->sink_specs[i], entry->record, error);
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

static void *run_stage(void *stage)
{
    dfrt_stage_run(stage);
    return NULL;
}

/* Stages that were started before one could not be wait for input that never comes: the process ends here. */
static void start_stages(dfrt__layout_plan *layout, pthread_t *threads)
{
    for (unsigned i = 1; i < layout->stage_count; i++) {
        int code = pthread_create(&threads[i], NULL, run_stage, layout->stages[i]);
        if (code != 0) {
            (void)fprintf(stderr, "error: no thread for stage %u: %s\n", i, strerror(code));
            _Exit(EXIT_RUN_FAILED);
        }
    }
}

static dfrt_status run_all(dfrt__layout_plan *layout, dfrt__reader *reader, bool fused, dfrt_error *error)
{
    if (fused) {
        dfrt__reader_run(reader);
        return DFRT_OK;
    }
    pthread_t *threads = calloc(layout->stage_count, sizeof *threads);
    if (threads == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for %u threads", layout->stage_count);
    }
    start_stages(layout, threads);
    dfrt__reader_run(reader);
    for (unsigned i = 1; i < layout->stage_count; i++) {
        (void)pthread_join(threads[i], NULL); /* fails only for a thread that is not ours */
    }
    reader->ended_ns = dfrt_now_ns();
    free(threads);
    return DFRT_OK;
}

static dfrt_status run_with(const dfrt_program *program, const dfrt__options *options, dfrt_run_state *run,
                            dfrt_error *error)
{
    bool fused = options->layout == DFRT__FUSED || (options->layout == DFRT__AUTO && options->workers == 1);
    dfrt__layout_plan layout = {0};
    dfrt__reader reader = {.program = program};
    dfrt_status status = open_stop(run, error);
    if (status != DFRT_OK) {
        return status;
    }
    status = dfrt__layout_open(&layout, program, run, fused ? 1 : options->workers, fused, error);
    if (status == DFRT_OK) {
        status = dfrt__reader_open(&reader, &layout, options, run, error);
    }
    if (status == DFRT_OK) {
        status = open_sinks(&layout, options, error);
    }
    if (status == DFRT_OK) {
        status = run_all(&layout, &reader, fused, error);
    }
    close_sinks(&layout);
    if (status == DFRT_OK && options->stats) {
        status = dfrt__summary_write(&reader, options, fused, error);
    }
    dfrt__reader_close(&reader);
    dfrt__layout_close(&layout);
    return status;
}

int dfrt_main(const dfrt_program *program, int argc, char **argv)
{
    dfrt__options options;
    dfrt_run_state run = {.stop_fd = -1};
    dfrt_error error = {{0}};
    dfrt_status status = dfrt__options_read(&options, program, argc, argv, &error);
    if (status == DFRT_OK && !options.done) {
        if (program->notice != NULL && !options.quiet) {
            (void)fprintf(stderr, "%s: %s\n", program->name, program->notice);
        }
        status = run_with(program, &options, &run, &error);
    }
    dfrt__options_close(&options);
    /* Partner: the release in dfrt_stage_fail. */
    if (status == DFRT_OK && atomic_load_explicit(&run.failed, memory_order_acquire) == 2) {
        status = DFRT_IO;
        error = run.error;
    }
    if (status != DFRT_OK) {
        (void)fprintf(stderr, "%s: error: %s\n", program->name, error.text);
    }
    return status == DFRT_OK ? 0 : status == DFRT_USAGE ? EXIT_USAGE : EXIT_RUN_FAILED;
}
