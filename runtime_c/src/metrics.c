#include "metrics.h"

#include <math.h>
#include <string.h>

#include "dfrt/number.h"

/* --- the format ------------------------------------------------------------------------------------------ */

/* A family's name begins with dfc_ and is followed by its type and one sentence. */
static void put_family(FILE *out, const char *name, const char *type, const char *help)
{
    (void)fprintf(out, "# HELP dfc_%s %s\n# TYPE dfc_%s %s\n", name, help, name, type);
}

static void put_number(FILE *out, double value)
{
    char text[DFRT_NUMBER_ROOM];
    if (isinf(value)) {
        (void)fputs(value > 0 ? "+Inf" : "-Inf", out);
    } else {
        (void)fwrite(text, 1, dfrt_format_f64(value, text), out);
    }
    (void)fputc('\n', out);
}

static void put_label(FILE *out, const char *name, const char *value, char before)
{
    (void)fprintf(out, "%c%s=\"", before, name);
    for (; *value != '\0'; value++) {
        switch (*value) {
        case '\\': (void)fputs("\\\\", out); break;
        case '"': (void)fputs("\\\"", out); break;
        case '\n': (void)fputs("\\n", out); break;
        default: (void)fputc(*value, out);
        }
    }
    (void)fputc('"', out);
}

/* One number of the program as a whole. */
static void put_single(FILE *out, const char *name, const char *type, const char *help, double value)
{
    if (isnan(value)) {
        return;
    }
    put_family(out, name, type, help);
    (void)fprintf(out, "dfc_%s ", name);
    put_number(out, value);
}

static void put_labelled(FILE *out, const char *name, const char *label, const char *text, double value)
{
    if (isnan(value)) {
        return;
    }
    (void)fprintf(out, "dfc_%s", name);
    put_label(out, label, text, '{');
    (void)fputs("} ", out);
    put_number(out, value);
}

/* --- the program ----------------------------------------------------------------------------------------- */

static void put_about(FILE *out, const dfrt__status *status)
{
    put_family(out, "info", "gauge", "The program: its name, the version of its compiler, its layout.");
    (void)fputs("dfc_info", out);
    put_label(out, "app", status->app, '{');
    put_label(out, "version", status->version, ',');
    put_label(out, "layout", status->fused ? "fused" : "staged", ',');
    (void)fputs("} 1\n", out);
}

static void put_totals(FILE *out, const dfrt__status *status)
{
    put_single(out, "uptime_seconds", "gauge", "Time since the start.", status->uptime);
    put_single(out, "tuples_total", "counter", "Tuples read from the sources.", (double)status->tuples);
    put_single(out, "results_total", "counter", "Results handed to the sinks.", (double)status->results);
    put_single(out, "late_total", "counter", "Tuples that came too late for their windows.", (double)status->late);
    put_single(out, "malformed_total", "counter", "Input records that were no tuples.", (double)status->malformed);
    put_single(out, "faults_total", "counter", "Tuples dropped because an expression had no value.",
               (double)status->faults);
    put_single(out, "shed_total", "counter", "Tuples dropped to keep the goal.", (double)status->shed);
    put_single(out, "input_rate", "gauge", "Tuples read a second, in the last control step.", status->rate);
}

static void put_control(FILE *out, const dfrt__status *status)
{
    put_single(out, "control_steps_total", "counter", "Control steps since the start.", (double)status->steps);
    put_single(out, "control_step_seconds", "gauge", "How long a control step is.", status->step);
    put_single(out, "controlled", "gauge", "1 when a policy decides.", status->controlled);
    put_single(out, "shadow", "gauge", "1 when decisions are logged but not acted on.", status->shadow);
    put_single(out, "draining", "gauge", "1 when no more input is read.", status->draining);
    put_single(out, "frequency_hertz", "gauge", "Frequency of the processor.", status->frequency);
    put_single(out, status->power_is_measured ? "power_watts" : "power_modelled", "gauge",
               status->power_is_measured ? "Power of the processor, measured."
                                         : "Power by the model, in units of frequency times voltage squared.",
               status->power);
    put_single(out, "goal_latency_seconds", "gauge", "The latency that the program promises.", status->goals.latency);
    put_single(out, "goal_throughput_ratio", "gauge", "The share of its input that the program promises to keep up with.",
               status->goals.throughput);
}

/* --- latency --------------------------------------------------------------------------------------------- */

/* Bounds of the buckets that are told, in nanoseconds: 1, 2, 5, 10 … from 10 µs to 10 s. */
static const uint64_t bounds_ns[] = {
    10000,    20000,    50000,     100000,    200000,    500000,     1000000,    2000000,    5000000,    10000000,
    20000000, 50000000, 100000000, 200000000, 500000000, 1000000000, 2000000000, 5000000000, 10000000000,
};

static void put_latency(FILE *out, const dfrt_histogram *latency)
{
    uint64_t below = 0;
    size_t bucket = 0;
    put_family(out, "latency_seconds", "histogram", "From reading a tuple to handing its result to the sink.");
    for (size_t i = 0; i < sizeof bounds_ns / sizeof *bounds_ns; i++) {
        for (size_t last = dfrt__histogram_bucket(bounds_ns[i]); bucket <= last; bucket++) {
            below += atomic_load_explicit(&latency->counts[bucket], memory_order_relaxed);
        }
        (void)fprintf(out, "dfc_latency_seconds_bucket{le=\"%g\"} %llu\n", (double)bounds_ns[i] / 1e9,
                      (unsigned long long)below);
    }
    unsigned long long count = dfrt_histogram_count(latency);
    (void)fprintf(out, "dfc_latency_seconds_bucket{le=\"+Inf\"} %llu\ndfc_latency_seconds_sum ", count);
    put_number(out, dfrt_histogram_mean(latency) * (double)count / 1e9);
    (void)fprintf(out, "dfc_latency_seconds_count %llu\n", count);
}

static void put_recent_latency(FILE *out, const dfrt__latency_status *latency)
{
    const struct { const char *name; double value; } values[] = {
        {"mean", latency->mean}, {"p50", latency->p50},   {"p90", latency->p90}, {"p95", latency->p95},
        {"p99", latency->p99},   {"p999", latency->p999}, {"max", latency->max},
    };
    if (latency->count == 0) {
        return;
    }
    put_family(out, "recent_latency_seconds", "gauge", "Latency of the results of the last control step.");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        put_labelled(out, "recent_latency_seconds", "statistic", values[i].name, values[i].value);
    }
}

/* --- operators ------------------------------------------------------------------------------------------- */

typedef struct operator_family {
    const char *name, *type, *help;
    double (*of)(const dfrt__operator_status *it);
} operator_family;

#define OF(field)                                                                                                      \
    static double of_##field(const dfrt__operator_status *it)                                                          \
    {                                                                                                                  \
        return (double)it->field;                                                                                      \
    }
OF(workers) OF(workers_least) OF(workers_most) OF(rate) OF(results) OF(service) OF(utilisation) OF(imbalance)
OF(backlog) OF(waiting) OF(blocked) OF(forecast) OF(error) OF(fell_back) OF(triggers) OF(total_results) OF(changes)
OF(shed) OF(heavy_keys)

static const operator_family operator_families[] = {
    {"operator_workers", "gauge", "Workers in use.", of_workers},
    {"operator_workers_least", "gauge", "The fewest workers allowed.", of_workers_least},
    {"operator_workers_most", "gauge", "The most workers allowed.", of_workers_most},
    {"operator_rate", "gauge", "Triggers that came, a second.", of_rate},
    {"operator_results_rate", "gauge", "Results, a second.", of_results},
    {"operator_service_seconds", "gauge", "Time that a trigger takes one worker.", of_service},
    {"operator_utilisation_ratio", "gauge", "Share of the time for which the workers in use computed.", of_utilisation},
    {"operator_heavy_keys", "gauge", "Keys with a route of their own.", of_heavy_keys},
    {"operator_imbalance_ratio", "gauge", "Load of the busiest worker over the mean.", of_imbalance},
    {"operator_backlog", "gauge", "Triggers that wait.", of_backlog},
    {"operator_waiting_seconds", "gauge", "Time before the service of a trigger begins.", of_waiting},
    {"operator_blocked_ratio", "gauge", "Share of the time for which its senders were held up.", of_blocked},
    {"operator_forecast_rate", "gauge", "Triggers a second that are expected.", of_forecast},
    {"operator_prediction_error_ratio", "gauge", "Relative error of the last prediction.", of_error},
    {"operator_fell_back", "gauge", "1 when the threshold rule decides because the model is off.", of_fell_back},
    {"operator_triggers_total", "counter", "Triggers since the start.", of_triggers},
    {"operator_results_total", "counter", "Results since the start.", of_total_results},
    {"operator_changes_total", "counter", "Changes of the setting since the start.", of_changes},
    {"operator_shed_ratio", "gauge", "Share of the tuples that are dropped.", of_shed},
};

static void put_operator_family(FILE *out, const operator_family *family, const dfrt__status *status)
{
    bool opened = false;
    for (unsigned i = 0; i < status->operator_count; i++) {
        double value = family->of(&status->operators[i]);
        if (!opened && !isnan(value)) {
            put_family(out, family->name, family->type, family->help);
            opened = true;
        }
        put_labelled(out, family->name, "operator", status->operators[i].name, value);
    }
}

static void put_alternates(FILE *out, const dfrt__status *status)
{
    bool opened = false;
    for (unsigned i = 0; i < status->operator_count; i++) {
        const dfrt__operator_status *it = &status->operators[i];
        for (unsigned a = 0; a < it->alternate_count; a++) {
            if (!opened) {
                put_family(out, "operator_alternate", "gauge", "1 for the alternate that is active.");
                opened = true;
            }
            (void)fputs("dfc_operator_alternate", out);
            put_label(out, "operator", it->name, '{');
            put_label(out, "alternate", it->alternates[a], ',');
            (void)fprintf(out, "} %d\n", it->alternate != NULL && strcmp(it->alternate, it->alternates[a]) == 0);
        }
    }
}

static void put_operators(FILE *out, const dfrt__status *status)
{
    for (size_t i = 0; i < sizeof operator_families / sizeof *operator_families; i++) {
        put_operator_family(out, &operator_families[i], status);
    }
    put_alternates(out, status);
}

/* --- steps ----------------------------------------------------------------------------------------------- */

typedef struct step_family {
    const char *name, *help;
    uint64_t (*of)(const dfrt__step_status *it);
} step_family;

#define COUNT_OF(field)                                                                                                \
    static uint64_t count_##field(const dfrt__step_status *it)                                                         \
    {                                                                                                                  \
        return it->field;                                                                                              \
    }
COUNT_OF(in) COUNT_OF(out) COUNT_OF(late) COUNT_OF(malformed) COUNT_OF(faults)

static const step_family step_families[] = {
    {"step_in_total", "Tuples that a step took.", count_in},
    {"step_out_total", "Tuples that a step put out.", count_out},
    {"step_late_total", "Tuples that came too late for a step.", count_late},
    {"step_malformed_total", "Records of a source that were no tuples.", count_malformed},
    {"step_faults_total", "Tuples that a step dropped because an expression had no value.", count_faults},
};

static void put_steps(FILE *out, const dfrt__step_status *steps, unsigned count)
{
    for (size_t f = 0; f < sizeof step_families / sizeof *step_families; f++) {
        const step_family *family = &step_families[f];
        put_family(out, family->name, "counter", family->help);
        for (unsigned i = 0; i < count; i++) {
            (void)fprintf(out, "dfc_%s", family->name);
            put_label(out, "step", steps[i].name, '{');
            put_label(out, "kind", steps[i].kind, ',');
            (void)fprintf(out, "} %llu\n", (unsigned long long)family->of(&steps[i]));
        }
    }
}

void dfrt__metrics_write(FILE *out, const dfrt__status *status, const dfrt__step_status *steps, unsigned step_count,
                         const dfrt_histogram *latency)
{
    put_about(out, status);
    put_totals(out, status);
    put_control(out, status);
    put_latency(out, latency);
    put_recent_latency(out, &status->latency);
    put_operators(out, status);
    put_steps(out, steps, step_count);
}
