#include "control_operator.h"

#include <math.h>
#include <string.h>

static const char *const FORECASTERS[] = {"holt_winters", "ewma", "last", NULL};
static const char *const MIGRATIONS[] = {"fluent", "r_blk", "s_blk", NULL};
/* Parameters that count something. */
static const char *const WHOLE[] = {"alternate_every", "degree", "horizon", "levels", "patience", "remember",
                                    "resources_every", NULL};
static const char *const BALANCERS[] = {"balanced", "flux", "off", NULL};

void dfrt__read_range(dfrt__json_form *form, dfrt__json_value *object, const char *name, unsigned *least,
                      unsigned *most)
{
    dfrt__json_value *range = dfrt__json_part(form, object, name, DFRT__JSON_OBJECT);
    if (range == NULL) {
        return;
    }
    *least = dfrt__json_count(form, range, "least", 1, DFRT_MOST_WORKERS, *least);
    *most = dfrt__json_count(form, range, "most", 1, DFRT_MOST_WORKERS, *most);
    if (*most != 0 && *most < *least) {
        dfrt__json_refuse(form, range, "\"most\" is expected to be at least \"least\"");
    }
    dfrt__json_no_more(form, range);
}

/* --- the program's part -------------------------------------------------------------------------------- */

int dfrt__alternates_of(const dfrt_program *program, unsigned step)
{
    for (unsigned i = 0; i < program->alternates_count; i++) {
        if (strcmp(program->alternates[i].step, program->steps[step].name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int step_named(const dfrt_program *program, const char *name)
{
    for (unsigned s = 0; s < program->step_count && name != NULL; s++) {
        if (strcmp(program->steps[s].name, name) == 0) {
            return (int)s;
        }
    }
    return -1;
}

static int alternate_named(const dfrt_program *program, unsigned step, const char *name)
{
    int entry = dfrt__alternates_of(program, step);
    for (unsigned a = 0; entry >= 0 && name != NULL && a < program->alternates[entry].count; a++) {
        if (strcmp(program->alternates[entry].names[a], name) == 0) {
            return (int)a;
        }
    }
    return -1;
}

/* --- policies ------------------------------------------------------------------------------------------ */

static void no_options(dfrt_controller_options *options)
{
    *options = (dfrt_controller_options){.forecaster = FORECASTERS[0], .level = NAN, .trend = NAN, .seasonal = NAN,
                                         .smoothing = NAN, .cooldown = 2, .warmup = 1, .trust = NAN};
    for (unsigned i = 0; i < DFRT_MOST_PARAMETERS; i++) {
        options->parameters[i] = NAN;
    }
}

bool dfrt__control_policy(dfrt_controller_options *options, const char *name)
{
    const dfrt_policy *policy = dfrt_policy_named(name);
    if (policy == NULL) {
        return false;
    }
    options->policy = policy;
    for (unsigned i = 0; i < DFRT_MOST_PARAMETERS; i++) {
        options->parameters[i] = NAN;
    }
    return true;
}

void dfrt__control_policies(char *list, size_t room)
{
    size_t used = (size_t)snprintf(list, room, "off");
    for (unsigned n = 0; dfrt_policy_at(n) != NULL && used < room; n++) {
        used += (size_t)snprintf(list + used, room - used, ", %s", dfrt_policy_at(n)->name);
    }
}

static void read_policy(dfrt__json_form *form, dfrt__json_value *entry, dfrt_controller_options *options)
{
    const char *name = dfrt__json_words(form, entry, "policy");
    if (name != NULL && strcmp(name, "off") != 0 && !dfrt__control_policy(options, name)) {
        char list[200];
        dfrt__control_policies(list, sizeof list);
        dfrt__json_refuse(form, dfrt__json_member(form, entry, "policy"),
                          "\"policy\" is expected to be one of %s, not \"%.40s\"", list, name);
    }
}

static const char *find_choice(const dfrt_parameter *parameter, const char *word, double *number)
{
    for (unsigned i = 0; parameter->choices != NULL && parameter->choices[i] != NULL; i++) {
        if (strcmp(parameter->choices[i], word) == 0) {
            *number = i;
            return parameter->choices[i];
        }
    }
    return NULL;
}

static void list_choices(const dfrt_parameter *parameter, const dfrt_program *program, int entry, char *list,
                         size_t room)
{
    size_t used = 0;
    const char *const *names = parameter->choices;
    unsigned count = 0;
    if (names == NULL && entry >= 0) {
        names = program->alternates[entry].names;
        count = program->alternates[entry].count;
    }
    *list = '\0';
    for (unsigned i = 0; names != NULL && used < room && (count == 0 ? names[i] != NULL : i < count); i++) {
        used += (size_t)snprintf(list + used, room - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
}

/* Words are the names of choices; an alternate is named, too. */
static double read_word(dfrt__json_form *form, dfrt__json_value *value, const dfrt_parameter *parameter,
                        const dfrt_program *program, unsigned step)
{
    double number = 0;
    bool named = strcmp(parameter->name, "alternate") == 0, text = value->kind == DFRT__JSON_TEXT;
    int alternate = named && text ? alternate_named(program, step, value->text) : -1;
    if (alternate >= 0) {
        return alternate;
    }
    if (!text || find_choice(parameter, value->text, &number) == NULL) {
        char list[200];
        list_choices(parameter, program, named ? dfrt__alternates_of(program, step) : -1, list, sizeof list);
        if (*list == '\0') {
            (void)dfrt__json_is(form, value, DFRT__JSON_NUMBER);
        } else {
            dfrt__json_refuse(form, value, "\"%s\" is expected to be one of %s", parameter->name, list);
        }
    }
    return number;
}

static bool counts_something(const char *name)
{
    for (unsigned i = 0; WHOLE[i] != NULL; i++) {
        if (strcmp(WHOLE[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static double read_parameter(dfrt__json_form *form, dfrt__json_value *value, const dfrt_parameter *parameter,
                             const dfrt_program *program, unsigned step)
{
    double number = value->number;
    if (value->kind == DFRT__JSON_TEXT || parameter->choices != NULL) {
        return read_word(form, value, parameter, program, step);
    }
    if (!dfrt__json_is(form, value, DFRT__JSON_NUMBER)) {
        return NAN;
    }
    if (!(number >= parameter->least && number <= parameter->most)) {
        dfrt__json_refuse(form, value, "\"%s\" is expected to be from %g to %g, not %g", parameter->name,
                          parameter->least, parameter->most, number);
    } else if (counts_something(parameter->name) && number != floor(number)) {
        dfrt__json_refuse(form, value, "\"%s\" is expected to be a whole number, not %g", parameter->name, number);
    }
    return number;
}

static int parameter_of(const dfrt_policy *policy, const char *name)
{
    for (int i = 0; policy->parameters[i].name != NULL; i++) {
        if (strcmp(policy->parameters[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Two thresholds, the second one at least the first. One that is left out never stands in the way of the other. */
static void check_pair(dfrt__json_form *form, dfrt__json_value *parameters, dfrt_controller_options *options,
                       const char *low, const char *high)
{
    int a = parameter_of(options->policy, low), b = parameter_of(options->policy, high);
    if (a < 0 || b < 0) {
        return;
    }
    double *values = options->parameters;
    const dfrt_parameter *known = options->policy->parameters;
    if (values[a] > values[b]) {
        dfrt__json_refuse(form, dfrt__json_member(form, parameters, low),
                          "\"%s\" is expected to be at most \"%s\", which is %g", low, high, values[b]);
    } else if (isnan(values[a]) && known[a].standard > values[b]) {
        values[a] = values[b];
    } else if (isnan(values[b]) && known[b].standard < values[a]) {
        values[b] = values[a];
    }
}

/* The low of `threshold` is a share of its high, and may be anything. */
static void check_pairs(dfrt__json_form *form, dfrt__json_value *parameters, dfrt_controller_options *options)
{
    check_pair(form, parameters, options, "utilisation_low", "utilisation_high");
    if (strcmp(options->policy->name, "rule") == 0) {
        check_pair(form, parameters, options, "low", "high");
    }
}

static void read_parameters(dfrt__json_form *form, dfrt__json_value *entry, const dfrt_program *program,
                            dfrt__rules *rules)
{
    dfrt__json_value *parameters = dfrt__json_part(form, entry, "parameters", DFRT__JSON_OBJECT);
    const dfrt_policy *policy = rules->options.policy;
    if (parameters == NULL) {
        return;
    }
    for (unsigned i = 0; policy != NULL && policy->parameters[i].name != NULL && i < DFRT_MOST_PARAMETERS; i++) {
        dfrt__json_value *value = dfrt__json_member(form, parameters, policy->parameters[i].name);
        if (value != NULL) {
            rules->options.parameters[i] = read_parameter(form, value, &policy->parameters[i], program, rules->step);
        }
    }
    if (policy != NULL && form->status == DFRT_OK) {
        check_pairs(form, parameters, &rules->options);
    }
    dfrt__json_no_more(form, parameters);
}

static void read_safety(dfrt__json_form *form, dfrt__json_value *entry, dfrt_controller_options *options)
{
    dfrt__json_value *safety = dfrt__json_part(form, entry, "safety", DFRT__JSON_OBJECT);
    if (safety != NULL) {
        options->cooldown = dfrt__json_count(form, safety, "cooldown", 0, 1u << 30, options->cooldown);
        options->warmup = dfrt__json_count(form, safety, "warmup", 0, 1u << 30, options->warmup);
        options->trust = dfrt__json_real(form, safety, "trust", 0, 1e9, NAN);
        dfrt__json_no_more(form, safety);
    }
}

static void read_forecast(dfrt__json_form *form, dfrt__json_value *entry, dfrt_controller_options *options)
{
    dfrt__json_value *forecast = dfrt__json_part(form, entry, "forecast", DFRT__JSON_OBJECT);
    if (forecast != NULL) {
        options->forecaster = FORECASTERS[dfrt__json_choice(form, forecast, "method", FORECASTERS, 0)];
        options->level = dfrt__json_real(form, forecast, "level", 0, 1, NAN);
        options->trend = dfrt__json_real(form, forecast, "trend", 0, 1, NAN);
        options->seasonal = dfrt__json_real(form, forecast, "seasonal", 0, 1, NAN);
        options->smoothing = dfrt__json_real(form, forecast, "smoothing", 0, 1, NAN);
        options->season = dfrt__json_count(form, forecast, "season", 0, 1u << 20, 0);
        dfrt__json_no_more(form, forecast);
    }
}

/* --- alternates ---------------------------------------------------------------------------------------- */

static void read_alternate(dfrt__json_form *form, dfrt__json_value *value, const dfrt_program *program,
                           dfrt__rules *rules)
{
    if (!dfrt__json_is(form, value, DFRT__JSON_OBJECT)) {
        return;
    }
    const char *name = dfrt__json_words(form, value, "name");
    int which = alternate_named(program, rules->step, name);
    if (which < 0 || which >= DFRT_MOST_ALTERNATES) {
        dfrt__json_refuse(form, value, "\"name\" is expected to be an alternate of %s",
                          program->steps[rules->step].name);
        return;
    }
    rules->value[which] = dfrt__json_real(form, value, "value", 0, 1e9, 1);
    rules->cost[which] = dfrt__json_real(form, value, "cost", 0, 1e9, NAN);
    (void)dfrt__json_real(form, value, "selectivity", 0, 1e9, NAN); /* is measured */
    dfrt__json_no_more(form, value);
}

static void read_alternates(dfrt__json_form *form, dfrt__json_value *entry, const dfrt_program *program,
                            dfrt__rules *rules)
{
    for (unsigned i = 0; i < DFRT_MOST_ALTERNATES; i++) {
        rules->value[i] = 1;
        rules->cost[i] = NAN;
    }
    dfrt__json_value *list = dfrt__json_part(form, entry, "alternates", DFRT__JSON_LIST);
    for (dfrt__json_value *value = list == NULL ? NULL : list->first; value != NULL; value = value->next) {
        read_alternate(form, value, program, rules);
    }
}

/* --- the entry ----------------------------------------------------------------------------------------- */

static void read_rebalance(dfrt__json_form *form, dfrt__json_value *entry, dfrt__rules *rules)
{
    dfrt__json_value *rebalance = dfrt__json_part(form, entry, "rebalance", DFRT__JSON_OBJECT);
    unsigned method = dfrt__json_choice(form, rebalance, "method", BALANCERS, 0);
    rules->rebalances = method != 2;
    rules->balancer = method == 1 ? DFRT_FLUX : DFRT_BALANCED;
    rules->imbalance = dfrt__json_real(form, rebalance, "imbalance", 0, 1e9, 0.1);
    if (rebalance != NULL) {
        dfrt__json_no_more(form, rebalance);
    }
}

void dfrt__read_operator(dfrt__json_form *form, dfrt__json_value *entry, const dfrt_program *program,
                         dfrt__control *control)
{
    if (!dfrt__json_is(form, entry, DFRT__JSON_OBJECT)) {
        return;
    }
    const char *name = dfrt__json_words(form, entry, "name");
    int step = step_named(program, name);
    if (form->status == DFRT_OK && step < 0) {
        dfrt__json_refuse(form, entry, "\"name\" is expected to be a step of the program");
    }
    if (form->status == DFRT_OK && dfrt__control_of(control, (unsigned)step) != NULL) {
        dfrt__json_refuse(form, entry, "\"%.60s\" is there twice", name);
    }
    if (form->status == DFRT_OK && control->count == DFRT_MOST_OPERATORS) {
        dfrt__json_refuse(form, entry, "at most %d operators can be controlled", DFRT_MOST_OPERATORS);
    }
    if (form->status != DFRT_OK) {
        return;
    }
    dfrt__rules *rules = &control->operators[control->count++];
    *rules = (dfrt__rules){.step = (unsigned)step, .workers_least = 1};
    no_options(&rules->options);
    read_policy(form, entry, &rules->options);
    read_parameters(form, entry, program, rules);
    read_safety(form, entry, &rules->options);
    read_forecast(form, entry, &rules->options);
    dfrt__read_range(form, entry, "workers", &rules->workers_least, &rules->workers_most);
    rules->workers = dfrt__json_member(form, entry, "workers");
    read_alternates(form, entry, program, rules);
    read_rebalance(form, entry, rules);
    rules->migration = (enum dfrt_migration)dfrt__json_choice(form, entry, "migration", MIGRATIONS, DFRT_FLUENT);
    dfrt__json_no_more(form, entry);
}
