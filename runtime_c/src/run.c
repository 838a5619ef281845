#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EXIT_NO_MEMORY = 4 };

_Noreturn void dfrt_out_of_memory(void)
{
    static const char line[] = "error: no memory left\n";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written; /* there is nobody else to tell */
    _Exit(EXIT_NO_MEMORY);
}

dfrt_status dfrt__run_open(dfrt_run_state *run, const dfrt_program *program, dfrt_error *error)
{
    *run = (dfrt_run_state){.stop_fd = -1, .stop_write_fd = -1, .wake_fd = -1};
    run->alternates = calloc(program->alternates_count + 1u, sizeof *run->alternates);
    if (run->alternates == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for a run");
    }
    for (unsigned i = 0; i < program->alternates_count; i++) {
        atomic_init(&run->alternates[i], program->alternates[i].active);
    }
    return DFRT_OK;
}

dfrt_status dfrt__run_open_pipe(dfrt_run_state *run, dfrt_error *error)
{
    int both[2];
    if (pipe2(both, O_CLOEXEC) != 0) {
        return dfrt_fail(error, DFRT_IO, "no pipe for signals: %s", strerror(errno));
    }
    run->stop_fd = both[0];
    run->stop_write_fd = both[1];
    if (fcntl(both[1], F_SETFL, O_NONBLOCK) == -1) {
        return dfrt_fail(error, DFRT_IO, "no pipe for signals: %s", strerror(errno));
    }
    run->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return run->wake_fd >= 0 ? DFRT_OK : dfrt_fail(error, DFRT_IO, "no event for changes: %s", strerror(errno));
}

void dfrt__run_close(dfrt_run_state *run)
{
    if (run->stop_fd >= 0) {
        (void)close(run->stop_fd); /* a pipe: nothing can be lost */
        (void)close(run->stop_write_fd);
    }
    if (run->wake_fd >= 0) {
        (void)close(run->wake_fd);
    }
    free(run->alternates);
    run->alternates = NULL;
}

void dfrt__run_stop(dfrt_run_state *run)
{
    int saved = errno;
    atomic_store_explicit(&run->stop, 1, memory_order_relaxed);
    if (run->stop_write_fd >= 0) {
        ssize_t written = write(run->stop_write_fd, "x", 1);
        (void)written; /* a full pipe is readable already */
    }
    errno = saved;
}

void dfrt__run_wake(const dfrt_run_state *run)
{
    if (run->wake_fd >= 0) {
        ssize_t written = write(run->wake_fd, &(uint64_t){1}, sizeof(uint64_t));
        (void)written; /* one that is full is readable already */
    }
}

void dfrt__run_woken(const dfrt_run_state *run)
{
    uint64_t times;
    ssize_t count = read(run->wake_fd, &times, sizeof times);
    (void)count; /* nothing there: somebody else has taken it */
}

void dfrt_stage_fail(dfrt_stage *stage, const dfrt_error *error)
{
    int good = 0;
    if (atomic_compare_exchange_strong_explicit(&stage->run->failed, &good, 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
        stage->run->error = *error;
        /* Partner: the acquire in dfrt__run_status. */
        atomic_store_explicit(&stage->run->failed, 2, memory_order_release);
    }
    dfrt__run_stop(stage->run);
}

dfrt_status dfrt__run_status(dfrt_run_state *run, dfrt_error *error)
{
    /* Partner: the release in dfrt_stage_fail. */
    if (atomic_load_explicit(&run->failed, memory_order_acquire) != 2) {
        return DFRT_OK;
    }
    *error = run->error;
    return DFRT_IO;
}

bool dfrt_set_alternate(dfrt_run_state *run, const dfrt_program *program, const char *step, const char *alternate)
{
    for (unsigned i = 0; i < program->alternates_count; i++) {
        const dfrt_alternates *entry = &program->alternates[i];
        for (unsigned a = 0; strcmp(entry->step, step) == 0 && a < entry->count; a++) {
            if (strcmp(entry->names[a], alternate) == 0) {
                atomic_store_explicit(&run->alternates[i], a, memory_order_relaxed);
                return true;
            }
        }
    }
    return false;
}

void dfrt_set_shedding(dfrt_run_state *run, double share)
{
    unsigned parts = share > 0 ? share < 1 ? (unsigned)(share * 65536) : 65536 : 0; /* NaN: nothing is dropped */
    atomic_store_explicit(&run->shedding, parts, memory_order_relaxed);
}
