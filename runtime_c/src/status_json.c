#include "status_json.h"

#include <inttypes.h>
#include <string.h>

#include "decision_log.h"
#include "json_out.h"

typedef struct named_number {
    const char *name;
    double value;
} named_number;

static void put_numbers(FILE *out, const named_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%s\"%s\":", i == 0 ? "" : ",", numbers[i].name);
        dfrt__json_put_number(out, numbers[i].value);
    }
}

#define PUT_NUMBERS(out, ...)                                                                                          \
    put_numbers(out, (const named_number[]){__VA_ARGS__},                                                              \
                sizeof((const named_number[]){__VA_ARGS__}) / sizeof(named_number))

static void put_name(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, ",\"%s\":", name);
    dfrt__json_put_string(out, text);
}

static void put_flag(FILE *out, const char *name, bool value)
{
    (void)fprintf(out, ",\"%s\":", name);
    dfrt__json_put_bool(out, value);
}

/* --- parts ----------------------------------------------------------------------------------------------- */

static void put_latency(FILE *out, const dfrt__latency_status *latency)
{
    (void)fprintf(out, ",\"latency\":{\"count\":%" PRIu64 ",", latency->count);
    PUT_NUMBERS(out, {"mean", latency->mean}, {"p50", latency->p50}, {"p90", latency->p90}, {"p95", latency->p95},
                {"p99", latency->p99}, {"p999", latency->p999}, {"max", latency->max});
    (void)fputc('}', out);
}

static void put_goals(FILE *out, const dfrt_goals *goals)
{
    static const char *const minimize[] = {NULL, "cores", "power", "cost"};
    (void)fputs(",\"goals\":{", out);
    PUT_NUMBERS(out, {"latency", goals->latency},
                {"quantile", goals->latency_of == DFRT_GOAL_QUANTILE ? goals->quantile : __builtin_nan("")},
                {"throughput", goals->throughput}, {"value", goals->value});
    put_name(out, "minimize", minimize[goals->minimize]);
    (void)fputc('}', out);
}

static void put_alternates(FILE *out, const dfrt__operator_status *it)
{
    put_name(out, "alternate", it->alternate);
    (void)fputs(",\"alternates\":[", out);
    for (unsigned i = 0; i < it->alternate_count; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        dfrt__json_put_string(out, it->alternates[i]);
    }
    (void)fputc(']', out);
}

static void put_operator(FILE *out, const dfrt__operator_status *it)
{
    (void)fputs("{\"name\":", out);
    dfrt__json_put_string(out, it->name);
    put_name(out, "policy", it->policy);
    (void)fprintf(out, ",\"workers\":%u,\"workers_least\":%u,\"workers_most\":%u,\"heavy_keys\":%u", it->workers,
                  it->workers_least, it->workers_most, it->heavy_keys);
    put_alternates(out, it);
    (void)fputc(',', out);
    PUT_NUMBERS(out, {"rate", it->rate}, {"results", it->results}, {"service", it->service},
                {"utilisation", it->utilisation}, {"imbalance", it->imbalance}, {"backlog", it->backlog},
                {"waiting", it->waiting}, {"blocked", it->blocked}, {"forecast", it->forecast}, {"error", it->error},
                {"shed", it->shed}, {"throughput", it->throughput});
    put_flag(out, "fell_back", it->fell_back);
    put_flag(out, "workers_held", it->workers_held);
    put_flag(out, "alternate_held", it->alternate_held);
    (void)fprintf(out, ",\"triggers\":%" PRIu64 ",\"total_results\":%" PRIu64 ",\"changes\":%" PRIu64, it->triggers,
                  it->total_results, it->changes);
    put_name(out, "reason", it->reason);
    (void)fputc('}', out);
}

static const dfrt__operator_status *find_operator(const dfrt__status *status, const char *name)
{
    for (unsigned i = 0; i < status->operator_count; i++) {
        if (strcmp(status->operators[i].name, name) == 0) {
            return &status->operators[i];
        }
    }
    return NULL;
}

static void put_setting(FILE *out, const char *name, const dfrt_setting *setting, const dfrt__operator_status *of,
                        int lowest_frequency)
{
    bool named = of != NULL && setting->alternate < of->alternate_count;
    (void)fprintf(out, ",\"%s\":{\"workers\":%u,\"frequency\":", name, setting->workers);
    dfrt__put_frequency(out, lowest_frequency, setting);
    put_name(out, "alternate", named ? of->alternates[setting->alternate] : NULL);
    (void)fputc(',', out);
    PUT_NUMBERS(out, {"shed", setting->shed});
    (void)fputc('}', out);
}

static void put_change(FILE *out, const dfrt__status *status, const dfrt__change_status *change)
{
    const dfrt__operator_status *of = find_operator(status, change->name);
    (void)fputc('{', out);
    PUT_NUMBERS(out, {"uptime", change->uptime});
    put_name(out, "operator", change->name);
    put_setting(out, "before", &change->before, of, status->lowest_frequency);
    put_setting(out, "after", &change->after, of, status->lowest_frequency);
    put_flag(out, "acted", change->acted);
    put_name(out, "reason", change->reason);
    (void)fputc('}', out);
}

void dfrt__changes_write(FILE *out, const dfrt__status *status, unsigned most)
{
    unsigned first = status->change_count > most ? status->change_count - most : 0;
    (void)fputc('[', out);
    for (unsigned i = first; i < status->change_count; i++) {
        (void)fputs(i == first ? "" : ",", out);
        put_change(out, status, &status->changes[i]);
    }
    (void)fputc(']', out);
}

static void put_steps(FILE *out, const dfrt__step_status *steps, unsigned count)
{
    (void)fputs(",\"steps\":[", out);
    for (unsigned i = 0; i < count; i++) {
        const dfrt__step_status *it = &steps[i];
        (void)fputs(i == 0 ? "{\"name\":" : ",{\"name\":", out);
        dfrt__json_put_string(out, it->name);
        put_name(out, "kind", it->kind);
        (void)fprintf(out, ",\"in\":%" PRIu64 ",\"out\":%" PRIu64 ",\"late\":%" PRIu64 ",\"malformed\":%" PRIu64
                      ",\"faults\":%" PRIu64 "}", it->in, it->out, it->late, it->malformed, it->faults);
    }
    (void)fputc(']', out);
}

/* --- the whole ------------------------------------------------------------------------------------------- */

void dfrt__status_write(FILE *out, const dfrt__status *status, const dfrt__step_status *steps, unsigned step_count)
{
    (void)fputs("{\"app\":", out);
    dfrt__json_put_string(out, status->app);
    put_name(out, "version", status->version);
    put_name(out, "layout", status->fused ? "fused" : "staged");
    put_name(out, "configuration", status->configuration);
    put_flag(out, "controlled", status->controlled);
    put_flag(out, "shadow", status->shadow);
    put_flag(out, "draining", status->draining);
    (void)fprintf(out, ",\"control_steps\":%" PRIu64 ",\"tuples\":%" PRIu64 ",\"results\":%" PRIu64 ",\"late\":%" PRIu64
                  ",\"malformed\":%" PRIu64 ",\"faults\":%" PRIu64 ",\"shed\":%" PRIu64 ",", status->steps,
                  status->tuples, status->results, status->late, status->malformed, status->faults, status->shed);
    PUT_NUMBERS(out, {"uptime", status->uptime}, {"step", status->step}, {"rate", status->rate},
                {"frequency", status->frequency}, {"power", status->power});
    put_flag(out, "power_is_measured", status->power_is_measured);
    put_latency(out, &status->latency);
    put_goals(out, &status->goals);
    (void)fputs(",\"operators\":[", out);
    for (unsigned i = 0; i < status->operator_count; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        put_operator(out, &status->operators[i]);
    }
    (void)fputs("],\"changes\":", out);
    dfrt__changes_write(out, status, DFRT__RECENT);
    put_steps(out, steps, step_count);
    (void)fputc('}', out);
}
