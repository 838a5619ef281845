#define _GNU_SOURCE
#include "pace.h"

#include <dfrt/arith.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { BUFFERED = 256 };

struct dfrt__pace {
    char *records;
    size_t count, at;
    dfrt_status next;  /* what the reading of `records` answered */
    bool introduced;   /* the replay knows our first record, or that there is none */
    uint64_t given;
    size_t step;       /* of the rates: the one that holds for the next record */
    uint64_t before;   /* records given before it began */
    int timer;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* can't fail for this clock */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* So many records a second, whatever their event time. */
static bool by_count(const dfrt_replay *replay)
{
    return replay->rate > 0 || replay->rates.count > 0;
}

dfrt_status dfrt__pace_open(dfrt_source *source, dfrt_error *error)
{
    dfrt_replay *replay = source->options.replay;
    bool wanted = replay != NULL && (by_count(replay) || (replay->speed > 0 && source->options.event_time >= 0));
    if (!wanted || source->kind == &dfrt__generate_source || dfrt_source_is_live(source)) return DFRT_OK;
    dfrt__pace *pace = calloc(1, sizeof *pace);
    if (pace == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    source->pace = pace;
    pace->records = malloc(BUFFERED * source->record->size + 1);
    pace->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (pace->timer < 0) return dfrt_fail(error, DFRT_IO, "no timer: %s", strerror(errno));
    if (pace->records == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for source '%s'", source->name);
    replay->awaited++;
    return DFRT_OK;
}

void dfrt__pace_close(dfrt_source *source)
{
    if (source->pace == NULL) return;
    if (source->pace->timer >= 0) (void)close(source->pace->timer);
    free(source->pace->records);
    free(source->pace);
}

int dfrt__pace_poll_fd(const dfrt_source *source)
{
    return source->pace->timer;
}

/* A double has a quarter of a microsecond to offer for times of our century, which is less than a timer's error. */
static bool event_ns(const dfrt_source *source, size_t record, double *ns)
{
    const dfrt_field *field = &source->record->fields[source->options.event_time];
    int64_t time;
    memcpy(&time, source->pace->records + record * source->record->size + field->offset, sizeof time);
    *ns = (double)time * (double)(field->unit_ns > 0 ? field->unit_ns : 1);
    return time == dfrt_on_axis(time); /* else it is late whatever comes: there is nothing to wait for */
}

static void begin_at(dfrt_replay *replay, double ns)
{
    if (!replay->known || ns < replay->origin_ns) replay->origin_ns = ns;
    replay->known = true;
}

static double due_by_time(const dfrt_source *source)
{
    dfrt_replay *replay = source->options.replay;
    double ns;
    if (!event_ns(source, source->pace->at, &ns)) return 0;
    if (!replay->known) begin_at(replay, ns);
    return (ns - replay->origin_ns) / replay->speed;
}

/* After the records of a step comes the next one; the last has no end, and is not 0. */
static double due_by_rates(dfrt__pace *pace, const dfrt_rates *rates)
{
    while (pace->step + 1 < rates->count && pace->given - pace->before == rates->steps[pace->step].tuples) {
        pace->before = pace->given;
        pace->step++;
    }
    const dfrt_rate_step *step = &rates->steps[pace->step];
    return (double)step->start_ns + (double)(pace->given - pace->before) * 1e9 / (double)step->rate;
}

/* When the next record is due, after the beginning. Far away is far enough. */
static uint64_t due_ns(const dfrt_source *source)
{
    const dfrt_replay *replay = source->options.replay;
    double after = replay->rate > 0 ? (double)source->pace->given * 1e9 / replay->rate
                   : replay->rates.count > 0 ? due_by_rates(source->pace, &replay->rates)
                                             : due_by_time(source);
    return after <= 0 ? 0 : after < 9e18 ? (uint64_t)after : (uint64_t)9e18;
}

uint64_t dfrt__pace_due_ns(const dfrt_source *source)
{
    const dfrt__pace *pace = source->pace;
    const dfrt_replay *replay = source->options.replay;
    return replay->began_ns == 0 || pace->at == pace->count ? 0 : replay->began_ns + due_ns(source);
}

static void introduce(dfrt_source *source)
{
    dfrt_replay *replay = source->options.replay;
    source->pace->introduced = true;
    replay->awaited--;
    if (source->pace->count == 0 || by_count(replay)) return;
    double first;
    if (event_ns(source, 0, &first)) begin_at(replay, first);
}

/* Fills the buffer; DFRT_OK when it holds a record. */
static dfrt_status refill(dfrt_source *source)
{
    dfrt__pace *pace = source->pace;
    while (pace->at == pace->count && pace->next == DFRT_OK) {
        pace->at = pace->count = 0;
        pace->next = dfrt__source_read_now(source, pace->records, BUFFERED, &pace->count);
    }
    if (!pace->introduced) introduce(source);
    return pace->at < pace->count ? DFRT_OK : pace->next;
}

static dfrt_status wake_at(dfrt_source *source, uint64_t ns)
{
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)}};
    if (timerfd_settime(source->pace->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0) return DFRT_AGAIN;
    return dfrt_fail(&source->error, DFRT_IO, "the timer failed: %s", strerror(errno));
}

/* Not at once again: records that are due within a moment are handed out together. */
static uint64_t next_look(uint64_t due, uint64_t now)
{
    return due > now + DFRT__PACE_PAUSE_NS ? due : now + DFRT__PACE_PAUSE_NS;
}

dfrt_status dfrt__pace_read(dfrt_source *source, char *records, size_t capacity, size_t *count)
{
    dfrt__pace *pace = source->pace;
    dfrt_replay *replay = source->options.replay;
    uint64_t now = now_ns();
    while (*count < capacity) {
        dfrt_status status = refill(source);
        if (status != DFRT_OK) return status;
        if (replay->awaited > 0) return wake_at(source, now); /* the others are asked before we are asked again */
        if (replay->began_ns == 0) replay->began_ns = now;
        uint64_t due = due_ns(source);
        if (due > now - replay->began_ns) return wake_at(source, next_look(replay->began_ns + due, now));
        memcpy(records + *count * source->record->size, pace->records + pace->at++ * source->record->size,
               source->record->size);
        ++*count;
        pace->given++;
    }
    return DFRT_OK;
}
