#define _GNU_SOURCE
#include "decision_log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dfrt/number.h"

/* --- pieces ---------------------------------------------------------------------------------------------- */

/* What can't be told is null. */
static void put_real(FILE *out, const char *name, double value)
{
    char text[DFRT_NUMBER_ROOM];
    if (!isfinite(value)) {
        (void)fprintf(out, "\"%s\":null", name);
        return;
    }
    size_t size = dfrt_format_f64(value, text);
    (void)fprintf(out, "\"%s\":%.*s", name, (int)size, text);
}

static void put_words(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, "\"%s\":", name);
    if (text == NULL) {
        (void)fputs("null", out);
        return;
    }
    (void)fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            (void)fprintf(out, "\\%c", *c);
        } else if (*c < ' ' || *c == 127) {
            (void)fprintf(out, "\\u%04x", *c);
        } else {
            (void)fputc(*c, out);
        }
    }
    (void)fputc('"', out);
}

static void put_reals(FILE *out, const char *name, const double *values, unsigned count)
{
    (void)fprintf(out, "\"%s\":[", name);
    for (unsigned i = 0; i < count; i++) {
        char text[DFRT_NUMBER_ROOM];
        size_t size = isfinite(values[i]) ? dfrt_format_f64(values[i], text) : 0;
        (void)fprintf(out, "%s%.*s", i == 0 ? "" : ",", size == 0 ? 4 : (int)size, size == 0 ? "null" : text);
    }
    (void)fputc(']', out);
}

static void begin(dfrt__decision_log *log, const char *kind, double uptime)
{
    (void)fprintf(log->file, "{\"schema\":%d,\"kind\":\"%s\",", DFRT__LOG_SCHEMA, kind);
    put_real(log->file, "uptime", uptime);
}

static void end(dfrt__decision_log *log)
{
    (void)fputs("}\n", log->file);
    if ((fflush(log->file) != 0 || ferror(log->file) != 0) && !log->failed) {
        log->failed = true;
        (void)fprintf(stderr, "cannot write the decision log '%s': %s\n", log->path, strerror(errno));
    }
}

/* --- opening --------------------------------------------------------------------------------------------- */

dfrt_status dfrt__log_open(dfrt__decision_log *log, const char *path, dfrt_error *error)
{
    *log = (dfrt__decision_log){0};
    if (path == NULL) {
        return DFRT_OK;
    }
    log->path = strdup(path); /* a configuration that named it may be replaced */
    log->file = log->path == NULL ? NULL : fopen(path, "we");
    return log->file != NULL ? DFRT_OK
                             : dfrt_fail(error, DFRT_IO, "cannot create the decision log '%s': %s", path,
                                         strerror(errno));
}

void dfrt__log_close(dfrt__decision_log *log)
{
    if (log->file != NULL && fclose(log->file) != 0 && !log->failed) {
        (void)fprintf(stderr, "cannot write the decision log '%s': %s\n", log->path, strerror(errno));
    }
    free(log->path);
    *log = (dfrt__decision_log){0};
}

/* --- lines ----------------------------------------------------------------------------------------------- */

static void put_goals(FILE *out, const dfrt_goals *goals)
{
    static const char *const quantities[] = {NULL, "cores", "power", "cost"};
    (void)fputs("\"goals\":{", out);
    put_real(out, "latency", goals->latency);
    (void)fputc(',', out);
    put_real(out, "quantile", goals->latency_of == DFRT_GOAL_QUANTILE ? goals->quantile : NAN);
    (void)fputc(',', out);
    put_real(out, "throughput", goals->throughput);
    (void)fputc(',', out);
    put_real(out, "value", goals->value);
    (void)fputc(',', out);
    put_words(out, "minimize", quantities[goals->minimize]);
    (void)fputc('}', out);
}

/* The configuration is JSON already, and becomes one line. */
static void put_configuration(FILE *out, const char *text)
{
    (void)fputs(",\"configuration\":", out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c != '\n' && *c != '\r') {
            (void)fputc(*c, out);
        }
    }
}

void dfrt__log_start(dfrt__decision_log *log, const dfrt__status *status, const char *configuration, double unix_time)
{
    if (log->file == NULL) {
        return;
    }
    begin(log, "start", status->uptime);
    (void)fputc(',', log->file);
    put_real(log->file, "time", unix_time);
    (void)fputc(',', log->file);
    put_words(log->file, "app", status->app);
    (void)fputc(',', log->file);
    put_words(log->file, "version", status->version);
    (void)fprintf(log->file, ",\"fused\":%s,\"shadow\":%s,", status->fused ? "true" : "false",
                  status->shadow ? "true" : "false");
    put_real(log->file, "step_seconds", status->step);
    (void)fputc(',', log->file);
    put_goals(log->file, &status->goals);
    put_configuration(log->file, configuration);
    end(log);
}

static void put_latency(FILE *out, const dfrt__latency_status *latency)
{
    (void)fprintf(out, ",\"latency\":{\"count\":%llu,", (unsigned long long)latency->count);
    const struct { const char *name; double value; } parts[] = {
        {"mean", latency->mean}, {"p50", latency->p50}, {"p90", latency->p90},  {"p95", latency->p95},
        {"p99", latency->p99},   {"p999", latency->p999}, {"max", latency->max}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        put_real(out, parts[i].name, parts[i].value);
    }
    (void)fputc('}', out);
}

void dfrt__log_program(dfrt__decision_log *log, const dfrt__status *status, double unix_time)
{
    if (log->file == NULL) {
        return;
    }
    begin(log, "program", status->uptime);
    (void)fprintf(log->file, ",\"step\":%llu,", (unsigned long long)status->steps);
    put_real(log->file, "time", unix_time);
    (void)fputc(',', log->file);
    put_real(log->file, "rate", status->rate);
    (void)fprintf(log->file,
                  ",\"tuples\":%llu,\"results\":%llu,\"late\":%llu,\"malformed\":%llu,\"faults\":%llu,\"shed\":%llu,",
                  (unsigned long long)status->tuples, (unsigned long long)status->results,
                  (unsigned long long)status->late, (unsigned long long)status->malformed,
                  (unsigned long long)status->faults, (unsigned long long)status->shed);
    put_real(log->file, "frequency", status->frequency);
    (void)fputc(',', log->file);
    put_real(log->file, "power", status->power);
    (void)fprintf(log->file, ",\"power_is_measured\":%s", status->power_is_measured ? "true" : "false");
    put_latency(log->file, &status->latency);
    end(log);
}

void dfrt__put_frequency(FILE *out, int lowest, const dfrt_setting *setting)
{
    if (lowest < 0) {
        (void)fputs("null", out);
    } else {
        (void)fprintf(out, "%u", (unsigned)lowest + setting->frequency);
    }
}

static void put_setting(FILE *out, const char *name, const dfrt_setting *setting, const dfrt__logged_step *logged)
{
    (void)fprintf(out, "\"%s\":{\"workers\":%u,\"frequency\":", name, setting->workers);
    dfrt__put_frequency(out, logged->lowest_frequency, setting);
    (void)fputc(',', out);
    put_words(out, "alternate", logged->alternates == NULL ? NULL : logged->alternates[setting->alternate]);
    (void)fputc(',', out);
    put_real(out, "shed", setting->shed);
    (void)fputc('}', out);
}

static void put_prediction(FILE *out, const dfrt_prediction *expected, const dfrt__logged_step *logged)
{
    (void)fputc('{', out);
    put_setting(out, "setting", &expected->setting, logged);
    const struct { const char *name; double value; } parts[] = {{"utilisation", expected->utilisation},
                                                                {"latency", expected->latency},
                                                                {"throughput", expected->throughput},
                                                                {"power", expected->power},
                                                                {"cost", expected->cost}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        (void)fputc(',', out);
        put_real(out, parts[i].name, parts[i].value);
    }
    (void)fputc('}', out);
}

static void put_measured(FILE *out, const dfrt_measured *m, unsigned alternates)
{
    const struct { const char *name; double value; } parts[] = {
        {"step", m->step}, {"arrivals", m->arrivals}, {"interarrival", m->interarrival},
        {"interarrival_sd", m->interarrival_sd}, {"service", m->service}, {"service_sd", m->service_sd},
        {"result_spacing_cv", m->result_spacing_cv}, {"waiting", m->waiting}, {"latency", m->latency},
        {"latency_quantile", m->latency_quantile}, {"results", m->results}, {"backlog", m->backlog},
        {"blocked", m->blocked}, {"imbalance", m->imbalance}, {"busy", m->busy}, {"power", m->power},
        {"downstream", m->downstream}};
    (void)fputs("\"measured\":{", out);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        put_real(out, parts[i].name, parts[i].value);
        (void)fputc(',', out);
    }
    put_reals(out, "alternate_service", m->alternate_service, alternates);
    (void)fputc(',', out);
    put_reals(out, "alternate_selectivity", m->alternate_selectivity, alternates);
    (void)fprintf(out, ",\"moved\":%s}", m->moved ? "true" : "false");
}

static void put_alternatives(FILE *out, const dfrt__logged_step *logged)
{
    const dfrt_decision *decision = logged->decision;
    (void)fputs(",\"alternatives\":[", out);
    for (unsigned i = 0; i < decision->alternative_count && i < DFRT_MOST_ALTERNATIVES; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        put_prediction(out, &decision->alternatives[i], logged);
    }
    (void)fputc(']', out);
}

/* How well the step before was foretold. */
static void put_outcome(FILE *out, const dfrt__logged_step *logged)
{
    (void)fputs(",\"outcome\":{\"expected\":", out);
    if (logged->expected != NULL) {
        put_prediction(out, logged->expected, logged);
    } else {
        (void)fputs("null", out);
    }
    (void)fputc(',', out);
    put_real(out, "utilisation", logged->measured->busy);
    (void)fputc(',', out);
    put_real(out, "latency", logged->goal_latency);
    (void)fputc(',', out);
    put_real(out, "throughput", logged->throughput);
    (void)fputc(',', out);
    put_real(out, "error", logged->error);
    (void)fputc('}', out);
}

void dfrt__log_step(dfrt__decision_log *log, uint64_t step, double uptime, const dfrt__logged_step *logged)
{
    FILE *out = log->file;
    if (out == NULL) {
        return;
    }
    begin(log, "step", uptime);
    (void)fprintf(out, ",\"step\":%llu,", (unsigned long long)step);
    put_words(out, "operator", logged->name);
    (void)fputc(',', out);
    put_words(out, "policy", logged->policy);
    (void)fputc(',', out);
    put_measured(out, logged->measured, logged->alternates == NULL ? 0 : logged->alternate_count);
    put_outcome(out, logged);
    (void)fputc(',', out);
    put_setting(out, "before", &logged->before, logged);
    (void)fputc(',', out);
    put_real(out, "forecast", logged->decision->forecast);
    (void)fputs(",\"expected\":", out);
    put_prediction(out, &logged->decision->expected, logged);
    put_alternatives(out, logged);
    (void)fputc(',', out);
    put_setting(out, "decision", &logged->decision->setting, logged);
    (void)fputc(',', out);
    put_setting(out, "after", &logged->after, logged);
    (void)fprintf(out, ",\"acted\":%s,\"rebalanced\":%s,\"heavy_keys\":%u,\"fell_back\":%s,",
                  logged->acted ? "true" : "false", logged->rebalanced ? "true" : "false", logged->heavy_keys,
                  logged->fell_back ? "true" : "false");
    put_words(out, "reason", logged->decision->reason);
    (void)fputc(',', out);
    put_words(out, "held", logged->held);
    end(log);
}

void dfrt__log_event(dfrt__decision_log *log, double uptime, const char *event, const char *detail)
{
    if (log->file == NULL) {
        return;
    }
    begin(log, "event", uptime);
    (void)fputc(',', log->file);
    put_words(log->file, "event", event);
    (void)fputc(',', log->file);
    put_words(log->file, "detail", detail);
    end(log);
}
