#define _GNU_SOURCE
#include "options.h"

#include "reconfigure.h"
#include "replay.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORKERS = 256 };

static void print_help(const dfrt_program *program)
{
    printf("usage: %s [options]\n\n", program->name);
    printf("  --workers N            replicas of each operator that can be replicated (default: as planned)\n"
           "  --max-workers N        replicas that exist where their number can change; those not in use sleep\n"
           "  --layout L             fused: one thread; staged: a thread a stage; auto: fused for one worker,\n"
           "                         and for two where one of them is busy parsing files\n"
           "  --source NAME=SPEC     replace a source: csv:PATH, jsonl:PATH, binary:PATH, lines:PATH,\n"
           "                         tcp:HOST:PORT?KEY=VALUE&..., unix:PATH?KEY=VALUE&..., generate:KEY=VALUE,...\n"
           "  --sink NAME=SPEC       replace a sink: csv:PATH, jsonl:PATH, binary:PATH, tcp:..., unix:..., discard:\n"
           "  --rate N/s             replay files at so many tuples a second: 200k/s, 1.5M/s\n"
           "  --rates FILE           replay files at rates that change: lines SECOND TUPLES_A_SECOND\n"
           "  --speed Nx             replay files by their event time, so many times as fast: 1x, 10x, 0.5x\n"
           "  --alternate OP=NAME    the alternate of an operator to run\n"
           "  --control FILE|off     the controller's configuration (default: the program's own), or no controller\n"
           "  --log FILE             what was measured, expected and decided, as JSON lines\n"
           "  --learned FILE         what a policy that learns has learned: loaded if it is there, saved at the end\n"
           "  --sysfs DIR            where cpufreq and powercap are (default /sys)\n"
           "  --step-rounds N        control steps of so many rounds instead of a time, for tests\n"
           "  --malformed FILE       keep malformed input there; with several sources in FILE.NAME of each\n"
           "  --report N             malformed records to report one by one (default 10)\n"
           "  --max-row BYTES        longest input row (default 16777216)\n"
           "  --stats[=FILE]         a JSON summary at the end, on stderr or in FILE\n"
           "  --thread-times         with --stats and threads: the CPU time of each, without what it spends waiting\n"
           "  --socket PATH          where it answers dfc top and dfc ctl while it runs (default with a controller:\n"
           "                         NAME.sock beside the program); --no-socket: nowhere\n"
           "  --http HOST:PORT       answer GET /metrics and /healthz there; --http-public: also beyond this machine\n"
           "  --latency-trace FILE   results and their latency every 10 ms, as CSV\n"
           "  --clock START+STEP     processing time for tests: nanoseconds of the first tuple, and to the next\n"
           "  --migration P          how state moves to other workers: fluent (default), r-blk, s-blk\n"
           "  --reconfigure SPEC     changes for tests and benchmarks: a file, or lines with ; between them, of a round, or of\n"
           "                         a time as in 1500ms, and workers=N [operator=NAME] [protocol=P] [seed=N] [heavy=HASH:WORKER,...]\n"
           "                         or alternate=OPERATOR=NAME\n"
           "  --quiet                no progress line, no notices\n"
           "  --help, --version\n\nA PATH of - is standard input or output.\n\n"
           "Sockets take format=csv|jsonl|lines|binary (default csv), listen=true to wait for the other side,\n"
           "retry=true to try again after a loss, max_row=BYTES, and public=true to listen beyond this machine.\n"
           "In their addresses %%3F stands for a question mark, %%25 for a percent sign.\n\nsources:\n");
    for (unsigned i = 0; i < program->source_count; i++) {
        printf("  %-22s %s\n", program->sources[i].name, program->sources[i].spec);
    }
    printf("sinks:\n");
    for (unsigned i = 0; i < program->sink_count; i++) {
        printf("  %-22s %s\n", program->sinks[i].name, program->sinks[i].spec);
    }
    printf("\nIt ends with 0 when the input has ended or on SIGTERM or SIGINT, 2 for a wrong command line,\n"
           "4 when the run failed.\n");
}

static dfrt_status read_number(const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *out,
                               dfrt_error *error)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value < low || value > high) {
        return dfrt_fail(error, DFRT_USAGE, "%s takes a whole number from %llu to %llu, not '%s'", option,
                         (unsigned long long)low, (unsigned long long)high, text);
    }
    *out = value;
    return DFRT_OK;
}

/* The text behind NAME= if the word begins with it. */
static const char *after_name(const char *word, const char *name)
{
    size_t size = strlen(name);
    return strncmp(word, name, size) == 0 && word[size] == '=' ? word + size + 1 : NULL;
}

static dfrt_status replace_source(dfrt__options *options, const dfrt_program *program, const char *word,
                                  dfrt_error *error)
{
    for (unsigned i = 0; i < program->source_count; i++) {
        const char *spec = after_name(word, program->sources[i].name);
        if (spec != NULL) {
            options->source_specs[i] = spec;
            return DFRT_OK;
        }
    }
    return dfrt_fail(error, DFRT_USAGE, "--source %s: no such source; see --help for the sources", word);
}

static dfrt_status replace_sink(dfrt__options *options, const dfrt_program *program, const char *word,
                                dfrt_error *error)
{
    for (unsigned i = 0; i < program->sink_count; i++) {
        const char *spec = after_name(word, program->sinks[i].name);
        if (spec != NULL) {
            options->sink_specs[i] = spec;
            return DFRT_OK;
        }
    }
    return dfrt_fail(error, DFRT_USAGE, "--sink %s: no such sink; see --help for the sinks", word);
}

static dfrt_status choose_alternate(dfrt__options *options, const dfrt_program *program, const char *word,
                                    dfrt_error *error)
{
    for (unsigned i = 0; i < program->alternates_count; i++) {
        const char *step = program->alternates[i].step;
        const char *name = after_name(word, step);
        if (name != NULL && dfrt_set_alternate(options->run, program, step, name)) {
            options->alternates_held[i] = true;
            return DFRT_OK;
        }
    }
    return dfrt_fail(error, DFRT_USAGE, "--alternate %s: expected OPERATOR=ALTERNATE of this program", word);
}

static dfrt_status read_layout(dfrt__options *options, const char *word, dfrt_error *error)
{
    static const char *const names[] = {"auto", "fused", "staged"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(word, names[i]) == 0) {
            options->layout = (dfrt__layout)i;
            return DFRT_OK;
        }
    }
    return dfrt_fail(error, DFRT_USAGE, "--layout takes auto, fused or staged, not '%s'", word);
}

static dfrt_status read_clock(dfrt_clock *clock, const char *word, dfrt_error *error)
{
    char *middle, *end = NULL;
    errno = 0;
    long long start = strtoll(word, &middle, 10), step = *middle == '+' ? strtoll(middle + 1, &end, 10) : -1;
    if (errno != 0 || middle == word || end == NULL || end == middle + 1 || *end != '\0' || step < 0) {
        return dfrt_fail(error, DFRT_USAGE, "--clock takes START+STEP in nanoseconds, not '%s'", word);
    }
    *clock = dfrt_clock_of(start, step);
    return DFRT_OK;
}

enum { WORKERS = 1, CLOCK, LAYOUT, SOURCE, SINK, ALTERNATE, MALFORMED, REPORT, MAX_ROW, STATS, QUIET, HELP, VERSION, RATE, RATES, SPEED,
       MAX_WORKERS, MIGRATION, RECONFIGURE, LATENCY_TRACE, SOCKET, NO_SOCKET, HTTP, HTTP_PUBLIC, CONTROL, LOG, SYSFS,
       LEARNED, STEP_ROUNDS, THREAD_TIMES };

static dfrt_status take_option(dfrt__options *options, const dfrt_program *program, int option, const char *word,
                               dfrt_error *error)
{
    uint64_t number = 0;
    dfrt_status status = DFRT_OK;
    switch (option) {
    case WORKERS:
        status = read_number("--workers", word, 1, MOST_WORKERS, &number, error);
        options->workers = (unsigned)number;
        return status;
    case MAX_WORKERS:
        status = read_number("--max-workers", word, 1, MOST_WORKERS, &number, error);
        options->degrees.most = (unsigned)number;
        return status;
    case MIGRATION: return dfrt__read_protocol(word, &options->migration, error);
    case LATENCY_TRACE: options->trace_path = word; return DFRT_OK;
    case RECONFIGURE: options->script = word; return DFRT_OK;
    case CONTROL: options->control = word; return DFRT_OK;
    case LOG: options->log = word; return DFRT_OK;
    case LEARNED: options->learned = word; return DFRT_OK;
    case SYSFS: options->sysfs = word; return DFRT_OK;
    case STEP_ROUNDS:
        status = read_number("--step-rounds", word, 1, 1u << 30, &number, error);
        options->step_rounds = (unsigned)number;
        return status;
    case LAYOUT: return read_layout(options, word, error);
    case SOURCE: return replace_source(options, program, word, error);
    case SINK: return replace_sink(options, program, word, error);
    case ALTERNATE: return choose_alternate(options, program, word, error);
    case MALFORMED: options->malformed_path = word; return DFRT_OK;
    case REPORT: return read_number("--report", word, 0, UINT64_MAX, &options->report_limit, error);
    case MAX_ROW:
        status = read_number("--max-row", word, 1, (uint64_t)1 << 40, &number, error);
        options->max_row = (size_t)number;
        return status;
    case STATS: options->stats = true; options->stats_path = word; return DFRT_OK;
    case THREAD_TIMES: options->thread_times = true; return DFRT_OK;
    case CLOCK: return read_clock(&options->run->clock, word, error);
    case SOCKET: options->socket_path = word; options->watched = true; return DFRT_OK;
    case NO_SOCKET: options->no_socket = true; return DFRT_OK;
    case HTTP: options->http = word; options->watched = true; return DFRT_OK;
    case HTTP_PUBLIC: options->http_public = true; return DFRT_OK;
    case QUIET: options->quiet = true; return DFRT_OK;
    case RATE: return dfrt__read_rate(&options->replay, word, error);
    case RATES: options->rates_path = word; return dfrt__read_rates(&options->replay, word, error);
    case SPEED: return dfrt__read_speed(&options->replay, word, error);
    case HELP: print_help(program); options->done = true; return DFRT_OK;
    case VERSION: printf("%s %s\n", program->name, program->version); options->done = true; return DFRT_OK;
    default: return DFRT_OK;
    }
}

static dfrt_status refuse_word(int answer, const char *word, dfrt_error *error)
{
    if (answer == ':') {
        return dfrt_fail(error, DFRT_USAGE, "%s needs a value; see --help", word);
    }
    return dfrt_fail(error, DFRT_USAGE, "there is no option '%s', or it takes no value; see --help", word);
}

static dfrt_status open_specs(dfrt__options *options, const dfrt_program *program, dfrt_error *error)
{
    options->source_specs = calloc(program->source_count + 1u, sizeof *options->source_specs);
    options->sink_specs = calloc(program->sink_count + 1u, sizeof *options->sink_specs);
    options->alternates_held = calloc(program->alternates_count + 1u, sizeof *options->alternates_held);
    if (options->source_specs == NULL || options->sink_specs == NULL || options->alternates_held == NULL) {
        return dfrt_fail(error, DFRT_MEMORY, "no memory for the options");
    }
    for (unsigned i = 0; i < program->source_count; i++) {
        options->source_specs[i] = program->sources[i].spec;
    }
    for (unsigned i = 0; i < program->sink_count; i++) {
        options->sink_specs[i] = program->sinks[i].spec;
    }
    return DFRT_OK;
}

static unsigned most_planned(const dfrt_program *program)
{
    unsigned most = 1;
    for (unsigned i = 0; i < program->segment_count; i++) {
        most = program->segments[i].degree > most ? program->segments[i].degree : most;
    }
    return most;
}

dfrt_status dfrt__options_read(dfrt__options *options, const dfrt_program *program, dfrt_run_state *run, int argc,
                               char **argv, dfrt_error *error)
{
    static const struct option words[] = {
        {"workers", required_argument, NULL, WORKERS},     {"layout", required_argument, NULL, LAYOUT},
        {"source", required_argument, NULL, SOURCE},       {"sink", required_argument, NULL, SINK},
        {"alternate", required_argument, NULL, ALTERNATE}, {"malformed", required_argument, NULL, MALFORMED},
        {"report", required_argument, NULL, REPORT},       {"max-row", required_argument, NULL, MAX_ROW},
        {"stats", optional_argument, NULL, STATS},         {"quiet", no_argument, NULL, QUIET},
        {"clock", required_argument, NULL, CLOCK},
        {"help", no_argument, NULL, HELP},                 {"version", no_argument, NULL, VERSION},
        {"max-workers", required_argument, NULL, MAX_WORKERS}, {"migration", required_argument, NULL, MIGRATION},
        {"latency-trace", required_argument, NULL, LATENCY_TRACE},
        {"reconfigure", required_argument, NULL, RECONFIGURE}, {"control", required_argument, NULL, CONTROL},
        {"log", required_argument, NULL, LOG},             {"sysfs", required_argument, NULL, SYSFS},
        {"step-rounds", required_argument, NULL, STEP_ROUNDS}, {"learned", required_argument, NULL, LEARNED},
        {"rate", required_argument, NULL, RATE},           {"speed", required_argument, NULL, SPEED},
        {"socket", required_argument, NULL, SOCKET},       {"no-socket", no_argument, NULL, NO_SOCKET},
        {"http", required_argument, NULL, HTTP},           {"http-public", no_argument, NULL, HTTP_PUBLIC},
        {"rates", required_argument, NULL, RATES},         {"thread-times", no_argument, NULL, THREAD_TIMES},
        {NULL, 0, NULL, 0},
    };
    *options = (dfrt__options){.run = run, .report_limit = 10};
    dfrt_status status = open_specs(options, program, error);
    int option;
    opterr = 0; /* one line for each failure, and that is ours */
    while (status == DFRT_OK && !options->done && (option = getopt_long(argc, argv, ":", words, NULL)) != -1) {
        status = option == '?' || option == ':' ? refuse_word(option, argv[optind - 1], error)
                                                : take_option(options, program, option, optarg, error);
    }
    if (status == DFRT_OK && !options->done && optind < argc) {
        status = dfrt_fail(error, DFRT_USAGE, "unexpected word '%s'; see --help", argv[optind]);
    }
    options->planned = options->workers == 0;
    options->degrees.workers = options->workers;
    options->workers = options->planned ? most_planned(program) : options->workers;
    return status;
}

char *dfrt__malformed_path(const dfrt__options *options, const dfrt_program *program, const char *name)
{
    char *path = NULL;
    bool alone = program->source_count == 1;
    if (options->malformed_path != NULL &&
        asprintf(&path, "%s%s%s", options->malformed_path, alone ? "" : ".", alone ? "" : name) < 0) {
        dfrt_out_of_memory();
    }
    return path;
}

void dfrt__options_close(dfrt__options *options)
{
    free(options->source_specs);
    free(options->sink_specs);
    free(options->alternates_held);
    dfrt_rates_free(&options->replay.rates);
}
