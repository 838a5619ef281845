#include "controller.h"

#include "forecast.h"
#include "guards.h"
#include "models.h"
#include "overhead.h"
#include "policies.h"
#include "power.h"
#include "reading.h"
#include "relief.h"
#include "trust.h"

#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

/* The rule that decides when the policy is not believed looks at utilisation too, so that it does not take away what a
 * short latency only seems to make superfluous. */
static const double fallback_utilisation_low = 0.7, fallback_utilisation_high = 0.9;

struct dfrt_controller {
    const dfrt_policy *policy, *behind;
    dfrt_goals goals;
    dfrt_limits widest; /* those of the start: what the policy has room for */
    unsigned cooldown, warmup;
    uint64_t steps;
    double backlog;
    bool burdened; /* the last step had more than the workers can do, or just that */
    dfrt__known_latency learned[DFRT_MOST_ALTERNATES];
    dfrt_prediction predicted; /* of the step to come, by the model of the policy */
    dfrt__trust trust;
    dfrt__guards guards;
    dfrt__relief relief;
    void *forecaster, *state, *fallback;
    alignas(max_align_t) unsigned char room[];
};

/* --- memory ------------------------------------------------------------------------------------------------------- */

static size_t aligned_size(size_t size)
{
    size_t unit = alignof(max_align_t);
    return (size + unit - 1) / unit * unit;
}

static const dfrt_policy *policy_of(const dfrt_controller_options *options)
{
    return options->policy != NULL ? options->policy : &dfrt__policy_rule;
}

static dfrt_forecast_options forecast_of(const dfrt_controller_options *options)
{
    dfrt_forecast_options forecast = {.kind = DFRT_HOLT_WINTERS, .level = options->level, .trend = options->trend,
                                      .seasonal = options->seasonal, .smoothing = options->smoothing,
                                      .season = options->season};
    if (options->forecaster == NULL || !dfrt_forecast_named(options->forecaster, &forecast.kind))
        forecast.kind = DFRT_HOLT_WINTERS;
    return forecast;
}

static void fallback_values(double *values)
{
    for (unsigned i = 0; i < DFRT_MOST_PARAMETERS; i++)
        values[i] = NAN;
    for (unsigned i = 0; dfrt__policy_rule.parameters[i].name != NULL; i++) {
        if (strcmp(dfrt__policy_rule.parameters[i].name, "utilisation_low") == 0)
            values[i] = fallback_utilisation_low;
        if (strcmp(dfrt__policy_rule.parameters[i].name, "utilisation_high") == 0)
            values[i] = fallback_utilisation_high;
    }
}

/* Where each of the three parts lies behind the controller; the last number is where they end. */
static void lay_out(const dfrt_controller_options *options, const dfrt_limits *limits, size_t offsets[4])
{
    dfrt_forecast_options forecast = forecast_of(options);
    double values[DFRT_MOST_PARAMETERS];
    fallback_values(values);
    offsets[0] = 0;
    offsets[1] = offsets[0] + aligned_size(dfrt_forecaster_size(&forecast));
    offsets[2] = offsets[1] + aligned_size(policy_of(options)->size(options->parameters, limits));
    offsets[3] = offsets[2] + aligned_size(dfrt__policy_rule.size(values, limits));
}

size_t dfrt_controller_size(const dfrt_controller_options *options, const dfrt_limits *limits)
{
    dfrt_limits usable;
    size_t offsets[4];
    dfrt__usable_limits(limits, &usable);
    lay_out(options, &usable, offsets);
    return sizeof(dfrt_controller) + offsets[3];
}

/* Limits that can be used, within which a goal of throughput can be kept: what is shed gives no results. */
static void limits_for(const dfrt_limits *given, const dfrt_goals *goals, dfrt_limits *usable)
{
    dfrt__usable_limits(given, usable);
    if (!isnan(goals->throughput))
        usable->shed_most = fmax(0, fmin(usable->shed_most, 1 - goals->throughput));
}

dfrt_controller *dfrt_controller_start(void *room, const dfrt_controller_options *options, const dfrt_limits *limits,
                                       const dfrt_goals *goals, dfrt_setting now)
{
    dfrt_controller *controller = room;
    size_t offsets[4];
    memset(room, 0, dfrt_controller_size(options, limits));
    limits_for(limits, goals, &controller->widest);
    lay_out(options, &controller->widest, offsets);
    controller->policy = policy_of(options);
    controller->goals = *goals;
    controller->cooldown = options->cooldown;
    controller->warmup = options->warmup;
    controller->predicted = dfrt__no_prediction(now);
    controller->forecaster = controller->room + offsets[0];
    controller->state = controller->room + offsets[1];
    controller->fallback = controller->room + offsets[2];
    dfrt__trust_start(&controller->trust, options->trust);
    dfrt__relief_start(&controller->relief);
    dfrt_forecast_options forecast = forecast_of(options);
    dfrt_forecaster_start(controller->forecaster, &forecast);
    controller->policy->start(controller->state, options->parameters, &controller->widest, goals);
    controller->behind = dfrt__policy_behind(controller->policy, controller->state);
    double values[DFRT_MOST_PARAMETERS];
    fallback_values(values);
    dfrt__policy_rule.start(controller->fallback, values, &controller->widest, goals);
    return controller;
}

/* --- one step ----------------------------------------------------------------------------------------------------- */

/* Why a step can't be used; NULL: it can. */
static const char *unusable(const dfrt_measured *measured)
{
    if (!isfinite(measured->step) || measured->step <= 0)
        return "the clock stood still";
    if (!isfinite(measured->arrivals) || measured->arrivals < 0)
        return "what arrived is not known";
    if (measured->arrivals <= 0 && !(measured->results > 0) && !(measured->backlog > 0))
        return "nothing arrived and nothing waits";
    return NULL;
}

/* Limits of a step lie inside those of the start, whatever they say. */
static void limits_of_step(const dfrt_controller *controller, const dfrt_limits *given, dfrt_limits *limits)
{
    const dfrt_limits *widest = &controller->widest;
    dfrt_limits narrowed = *given;
    narrowed.workers_most = given->workers_most < widest->workers_most ? given->workers_most : widest->workers_most;
    if (given->frequency_count > widest->frequency_count)
        narrowed.frequency_count = widest->frequency_count;
    if (given->alternate_count > widest->alternate_count)
        narrowed.alternate_count = widest->alternate_count;
    limits_for(&narrowed, &controller->goals, limits);
}

static void look_forward(dfrt_controller *controller, dfrt_situation *situation)
{
    dfrt_forecaster_note(controller->forecaster, dfrt__rate(situation->measured, situation->now));
    for (unsigned step = 0; step < DFRT_MOST_HORIZON; step++)
        situation->forecast[step] = dfrt_forecaster_ahead(controller->forecaster, step + 1);
}

/* Compares the step with what was predicted for it and with the model. */
static void learn_from(dfrt_controller *controller, dfrt_situation *situation)
{
    const dfrt_measured *measured = situation->measured;
    dfrt__known_latency *learned = &controller->learned[situation->now.alternate];
    bool burdened = dfrt__is_burdened(measured, situation->now);
    bool foretold = dfrt__same_setting(controller->predicted.setting, situation->now);
    dfrt__latency_learn(learned, situation, burdened || controller->burdened, foretold ? controller->predicted.waiting : NAN);
    controller->burdened = burdened;
    situation->correction = dfrt_correction_factor(&learned->correction);
    situation->overhead = dfrt__overhead_of(&learned->overhead);
    dfrt__trust_note(&controller->trust, &controller->predicted, measured, &controller->goals, situation->now);
    dfrt__costs_note(&controller->relief.costs, situation);
}

static bool predicts(const dfrt_controller *controller)
{
    return controller->behind != &dfrt__policy_rule && controller->behind != &dfrt__policy_threshold;
}

/* What the policy says, or the threshold rule while the policy is not believed. The policy decides in any case, so that
 * it goes on learning. */
static void ask_policy(dfrt_controller *controller, const dfrt_situation *situation, dfrt_decision *decision)
{
    controller->policy->decide(controller->state, situation, decision);
    if (!controller->trust.fell_back || !predicts(controller))
        return;
    char reason[DFRT_REASON];
    dfrt__policy_rule.decide(controller->fallback, situation, decision);
    (void)snprintf(reason, sizeof reason, "%s", decision->reason);
    dfrt__say(decision, "threshold rule, since %s was wrong by %.0f %% of late, more than %.0f %%: %s",
              controller->behind->name, 100 * dfrt__trust_mean(&controller->trust), 100 * controller->trust.most, reason);
}

/* A prediction for what is done in the end, which a rule may have changed. */
static void predict_outcome(dfrt_controller *controller, const dfrt_situation *situation, dfrt_decision *decision)
{
    bool modelled = !isnan(decision->expected.latency) || (controller->trust.fell_back && predicts(controller));
    bool changed = !dfrt__same_setting(decision->expected.setting, decision->setting);
    double rate = dfrt_load_of(situation, 0) * (1 - decision->setting.shed);
    dfrt_prediction model = dfrt__no_prediction(decision->setting);
    if (changed || controller->trust.fell_back) {
        if (modelled)
            (void)dfrt__feasible(&controller->relief.costs, situation, decision->setting, rate, 1, &model);
        decision->expected = model;
    }
    controller->predicted = decision->expected;
}

static void decide_safely(dfrt_controller *controller, const dfrt_situation *situation, dfrt_decision *decision)
{
    const char *why = "the backlog grows";
    bool behind = dfrt__falls_behind(situation->measured, situation->now, controller->backlog);
    dfrt_goals kept = controller->goals;
    kept.latency = dfrt__latency_bound(situation);
    bool missed = dfrt__goal_missed(situation->measured, &kept, situation->now, &why) || behind;
    dfrt_setting let_in = situation->now; /* shedding more would not help against what is missed by shedding */
    let_in.shed = 0;
    bool overloaded = dfrt__goal_missed(situation->measured, &kept, let_in, NULL) || behind;
    bool fixed = controller->behind == &dfrt__policy_static;
    ask_policy(controller, situation, decision);
    decision->setting = dfrt__within(decision->setting, situation->limits);
    if (fixed)
        return;
    if (controller->behind != &dfrt__policy_alternates || controller->trust.fell_back)
        dfrt__relieve(&controller->relief, situation, overloaded, decision);
    if (!missed && situation->now.shed > 0) {
        why = "tuples are shed";
        missed = true;
    }
    if (missed)
        dfrt__guard_measured(&controller->relief.costs, situation, why, decision);
    else
        dfrt__guard_waiting(&controller->guards, &controller->relief.costs, situation, controller->steps,
                            controller->cooldown, decision);
    decision->setting = dfrt__within(decision->setting, situation->limits);
}

/* The setting stays, inside the limits. */
static void only_watch(dfrt_controller *controller, const dfrt_situation *situation, dfrt_setting asked, const char *why,
                       dfrt_decision *decision)
{
    dfrt__stay(decision, situation);
    dfrt__say(decision, "%s: the setting stays", why);
    if (!dfrt__same_setting(asked, decision->setting))
        dfrt__say_more(decision, "moved into the limits");
    controller->predicted = dfrt__no_prediction(decision->setting);
}

static void tell_power(enum dfrt__power_room room, const dfrt_limits *limits, dfrt_decision *decision)
{
    dfrt_setting setting = decision->setting;
    if (room == DFRT__POWER_NONE)
        dfrt__say_more(decision, "even that may draw more than the %.4g of power that resources allow", limits->power_most);
    else if (room == DFRT__POWER_NARROW && setting.workers == limits->workers_most
             && setting.frequency + 1 == limits->frequency_count)
        dfrt__say_more(decision, "a power of %.4g allows no more", limits->power_most);
}

void dfrt_controller_step(dfrt_controller *controller, const dfrt_measured *measured, const dfrt_limits *limits,
                          dfrt_setting now, dfrt_decision *decision)
{
    dfrt_limits usable;
    limits_of_step(controller, limits, &usable);
    enum dfrt__power_room room = dfrt__limit_power(&usable, measured, now);
    dfrt_situation situation = {.measured = measured, .limits = &usable, .goals = &controller->goals,
                                .now = dfrt__within(now, &usable)};
    for (unsigned step = 0; step < DFRT_MOST_HORIZON; step++)
        situation.forecast[step] = NAN;
    controller->steps++;
    const char *why = unusable(measured);
    if (why != NULL) {
        controller->trust.last = NAN;
        only_watch(controller, &situation, now, why, decision);
        return;
    }
    learn_from(controller, &situation);
    look_forward(controller, &situation);
    if (controller->steps <= controller->warmup) {
        only_watch(controller, &situation, now, "warming up", decision);
    } else {
        decide_safely(controller, &situation, decision);
        predict_outcome(controller, &situation, decision);
        dfrt__guards_note(&controller->guards, &controller->relief.costs, &situation, controller->steps,
                          decision->setting);
        tell_power(room, &usable, decision);
    }
    decision->forecast = situation.forecast[0];
    controller->backlog = measured->backlog;
}

double dfrt_controller_error(const dfrt_controller *controller)
{
    return controller->trust.last;
}

bool dfrt_controller_fell_back(const dfrt_controller *controller)
{
    return controller->trust.fell_back && predicts(controller);
}

/* --- what was learned, behind the name of the policy -------------------------------------------------------------- */

size_t dfrt_controller_save(const dfrt_controller *controller, char *text, size_t room)
{
    if (controller->policy->save == NULL)
        return 0;
    int name = snprintf(text, room, "%s ", controller->policy->name);
    if (name < 0)
        return 0;
    size_t used = (size_t)name < room ? (size_t)name : room;
    return (size_t)name + controller->policy->save(controller->state, text + used, room - used);
}

bool dfrt_controller_load(dfrt_controller *controller, const char *text)
{
    size_t name = strlen(controller->policy->name);
    if (controller->policy->load == NULL || strncmp(text, controller->policy->name, name) != 0 || text[name] != ' ')
        return false;
    return controller->policy->load(controller->state, text + name + 1);
}
