/* Model-based reinforcement learning with full backup, one learner an operator (003 §6.2.2 and §7.2).
 *
 * The state is the number of workers with the load in levels: the rate that arrives (003 §7.2) or the utilisation
 * (003 §6.2). The actions are one worker more, one fewer, none. A step costs a share for the workers in use, a change and
 * a missed goal. The threshold policy decides until the learner has seen where the load moves; in a level that is new, it
 * does so later too. There is no model of latency, so the controller has no error to watch. */
#include "rl.h"
#include "policies.h"
#include "reading.h"

#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RL_DISCOUNT, RL_LEVELS, RL_EXPLORE, RL_ALPHA, RL_BETA, RL_GAMMA, RL_LEARNING, RL_STATE };
enum rl_form { RL_BY_RATE, RL_BY_UTILISATION };

static const char *const rl_forms[] = {"rate", "utilisation", NULL};
static const dfrt_parameter rl_parameters[] = {
    [RL_DISCOUNT] = {"discount", 0.99, 0, 0.9999, NULL},
    [RL_LEVELS] = {"levels", 20, 2, 64, NULL},
    [RL_EXPLORE] = {"explore", 0, 0, 1, NULL},
    [RL_ALPHA] = {"alpha", 1, 0, 1e6, NULL},
    [RL_BETA] = {"beta", 1, 0, 1e6, NULL},
    [RL_GAMMA] = {"gamma", 1, 0, 1e6, NULL},
    [RL_LEARNING] = {"learning", 0.1, 0, 1, NULL},
    [RL_STATE] = {"state", RL_BY_RATE, RL_BY_RATE, RL_BY_UTILISATION, rl_forms},
    {NULL, 0, 0, 0, NULL},
};

/* Backups a step are as many as fit into so many additions, within these. */
static const double backup_work = 200000;
static const unsigned fewest_backups = 1, most_backups = 50;
/* It takes over when so large a share of late steps was in states it had seen, and gives back below the other. */
static const double takes_over = 0.8, gives_back = 0.5, newest_step = 0.05;
static const double transitions_to_know = 3;

struct learner {
    dfrt__learned learned;
    enum rl_form form;
    double explore, quantum; /* of a level; NaN until a service time is known */
    double familiarity;
    bool taken_over, has_level;
    unsigned level;          /* of the step before */
    double backlog;
    uint64_t random;
    unsigned backups;
    size_t threshold_at;     /* where the state of the threshold policy lies, in bytes from `room` */
    alignas(max_align_t) double room[];
};

static double rl_value(const double *values, unsigned parameter)
{
    return dfrt_parameter_of(&rl_parameters[parameter], values[parameter]);
}

static size_t tables_size(const double *values, const dfrt_limits *limits)
{
    size_t unit = alignof(max_align_t);
    size_t size = dfrt__learned_doubles(limits->workers_most, (unsigned)rl_value(values, RL_LEVELS)) * sizeof(double);
    return (size + unit - 1) / unit * unit;
}

static void no_values(double *values)
{
    for (unsigned i = 0; i < DFRT_MOST_PARAMETERS; i++)
        values[i] = NAN;
}

static size_t size_of_rl(const double *values, const dfrt_limits *limits)
{
    double standard[DFRT_MOST_PARAMETERS];
    no_values(standard);
    return sizeof(struct learner) + tables_size(values, limits) + dfrt__policy_threshold.size(standard, limits);
}

static void *threshold_of(struct learner *learner)
{
    return (unsigned char *)learner->room + learner->threshold_at;
}

static void start_rl(void *state, const double *values, const dfrt_limits *limits, const dfrt_goals *goals)
{
    struct learner *learner = state;
    dfrt__learned *learned = &learner->learned;
    double sum = rl_value(values, RL_ALPHA) + rl_value(values, RL_BETA) + rl_value(values, RL_GAMMA);
    double share = sum > 0 ? 1 / sum : 0, standard[DFRT_MOST_PARAMETERS];
    *learned = (dfrt__learned){
        .workers = limits->workers_most, .levels = (unsigned)rl_value(values, RL_LEVELS),
        .discount = rl_value(values, RL_DISCOUNT), .rate = rl_value(values, RL_LEARNING),
        .missed_weight = share * rl_value(values, RL_ALPHA), .worker_weight = share * rl_value(values, RL_BETA),
        .change_weight = share * rl_value(values, RL_GAMMA),
    };
    learner->form = (enum rl_form)rl_value(values, RL_STATE);
    learner->explore = rl_value(values, RL_EXPLORE);
    learner->quantum = learner->form == RL_BY_UTILISATION ? 1.0 / learned->levels : NAN;
    learner->random = 0x9e3779b97f4a7c15u;
    learner->threshold_at = tables_size(values, limits);
    double backups = backup_work / ((double)learned->workers * learned->levels * learned->levels);
    learner->backups = backups > most_backups ? most_backups : backups < fewest_backups ? fewest_backups : (unsigned)backups;
    dfrt__learned_lay(learned, learner->room);
    no_values(standard);
    dfrt__policy_threshold.start(threshold_of(learner), standard, limits, goals);
}

/* --- states ------------------------------------------------------------------------------------------------------- */

/* Levels of the rate reach up to what all workers can do. States that so many workers can't carry miss their goal: that
 * much is known before it is seen. */
static void fix_levels(struct learner *learner, const dfrt_situation *situation)
{
    dfrt__learned *learned = &learner->learned;
    double quantum = learned->workers / (situation->measured->service * learned->levels);
    if (!isnan(learner->quantum) || !(quantum > 0) || !isfinite(quantum))
        return;
    learner->quantum = quantum;
    for (unsigned workers = 1; workers <= learned->workers; workers++)
        for (unsigned level = 0; level < learned->levels; level++)
            if (level * quantum * situation->measured->service >= workers)
                dfrt__learned_assume(learned, workers, level);
}

static bool level_of(const struct learner *learner, const dfrt_situation *situation, unsigned *level)
{
    double load = learner->form == RL_BY_RATE ? dfrt__rate(situation->measured, situation->now)
                                              : dfrt__utilisation(situation->measured, situation->now);
    double place = load / learner->quantum;
    if (!(place >= 0))
        return false;
    unsigned last = learner->learned.levels - 1;
    *level = place < last ? (unsigned)place : last;
    return true;
}

/* A missed goal; where there is none, work that is left undone. */
static bool pays_penalty(const struct learner *learner, const dfrt_situation *situation)
{
    const dfrt_goals *goals = situation->goals;
    if (!isnan(goals->latency) || !isnan(goals->throughput))
        return dfrt__goal_missed(situation->measured, goals, situation->now, NULL);
    return dfrt__utilisation(situation->measured, situation->now) >= 1
        || dfrt__falls_behind(situation->measured, situation->now, learner->backlog);
}

static void learn_step(struct learner *learner, const dfrt_situation *situation, unsigned level)
{
    dfrt__learned *learned = &learner->learned;
    unsigned workers = situation->now.workers;
    bool known = dfrt__learned_visits(learned, workers, level) > 0
              && dfrt__learned_seen(learned, level) >= transitions_to_know;
    learner->familiarity += newest_step * ((known ? 1 : 0) - learner->familiarity);
    if (learner->familiarity >= takes_over)
        learner->taken_over = true;
    else if (learner->familiarity < gives_back)
        learner->taken_over = false;
    if (learner->has_level)
        dfrt__learned_transition(learned, learner->level, level);
    dfrt__learned_cost(learned, workers, level, pays_penalty(learner, situation) ? learned->missed_weight : 0);
    for (unsigned i = 0; i < learner->backups; i++)
        dfrt__learned_backup(learned);
    learner->level = level;
    learner->has_level = true;
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

/* xorshift: the learner's own, so that a run can be repeated. */
static double random_share(struct learner *learner)
{
    learner->random ^= learner->random << 13;
    learner->random ^= learner->random >> 7;
    learner->random ^= learner->random << 17;
    return (double)(learner->random >> 11) / 9007199254740992.0;
}

/* The workers that each action leads to; answers how many actions the limits allow. */
static unsigned allowed_actions(const dfrt_situation *situation, unsigned *actions)
{
    unsigned now = situation->now.workers, count = 0;
    actions[count++] = now;
    if (now > situation->limits->workers_least)
        actions[count++] = now - 1;
    if (now < situation->limits->workers_most)
        actions[count++] = now + 1;
    return count;
}

static void decide_learned(struct learner *learner, const dfrt_situation *situation, unsigned level,
                           dfrt_decision *decision)
{
    unsigned actions[DFRT__ACTIONS], now = situation->now.workers, count = allowed_actions(situation, actions), taken = 0;
    double costs[DFRT__ACTIONS];
    for (unsigned i = 0; i < count; i++) {
        costs[i] = dfrt__learned_cost_of(&learner->learned, now, actions[i], level);
        taken = costs[i] < costs[taken] ? i : taken;
    }
    bool tries = learner->explore > 0 && random_share(learner) < learner->explore;
    if (tries)
        taken = (unsigned)(random_share(learner) * count);
    decision->setting.workers = actions[taken];
    decision->expected = dfrt__no_prediction(decision->setting);
    decision->expected.cost = costs[taken];
    for (unsigned i = 0; i < count; i++)
        if (i != taken) {
            dfrt_prediction *other = &decision->alternatives[decision->alternative_count++];
            *other = dfrt__no_prediction(decision->setting);
            other->setting.workers = actions[i];
            other->cost = costs[i];
        }
    dfrt__say(decision, "learned: %s%u workers for level %u of %u cost %.4g in the long run, staying with %u costs %.4g",
              tries ? "tried: " : "", actions[taken], level + 1, learner->learned.levels, costs[taken], now, costs[0]);
}

static void decide_by_threshold(struct learner *learner, const dfrt_situation *situation, const char *why,
                                dfrt_decision *decision)
{
    char reason[DFRT_REASON];
    dfrt__policy_threshold.decide(threshold_of(learner), situation, decision);
    (void)snprintf(reason, sizeof reason, "%s", decision->reason);
    decision->expected = dfrt__no_prediction(decision->setting);
    dfrt__say(decision, "%s, so the threshold policy: %s", why, reason);
}

static void decide_rl(void *state, const dfrt_situation *situation, dfrt_decision *decision)
{
    struct learner *learner = state;
    unsigned level = 0;
    dfrt__stay(decision, situation);
    fix_levels(learner, situation);
    bool placed = level_of(learner, situation, &level) && situation->now.workers >= 1
               && situation->now.workers <= learner->learned.workers;
    if (!placed) {
        learner->has_level = false;
        decide_by_threshold(learner, situation, "the load is not known", decision);
        return;
    }
    learn_step(learner, situation, level);
    learner->backlog = situation->measured->backlog;
    if (!learner->taken_over)
        decide_by_threshold(learner, situation, "still learning", decision);
    else if (!(dfrt__learned_seen(&learner->learned, level) > 0))
        decide_by_threshold(learner, situation, "this load is new", decision);
    else
        decide_learned(learner, situation, level, decision);
}

/* --- what was learned --------------------------------------------------------------------------------------------- */

static size_t save_rl(const void *state, char *text, size_t room)
{
    const struct learner *learner = state;
    const dfrt__learned *learned = &learner->learned;
    double quantum = isnan(learner->quantum) ? 0 : learner->quantum;
    int head = snprintf(text, room, "1 %s %u %u %.17g %.17g %d ", rl_forms[learner->form], learned->workers,
                        learned->levels, quantum, learner->familiarity, learner->taken_over);
    if (head < 0)
        return 0;
    size_t used = (size_t)head < room ? (size_t)head : room;
    return (size_t)head + dfrt__learned_save(learned, text + used, room - used);
}

/* The head must be that of this learner: another form, more workers or other levels mean other states. */
static bool load_rl(void *state, const char *text)
{
    struct learner *learner = state;
    char head[64];
    double quantum, familiarity;
    int length = snprintf(head, sizeof head, "1 %s %u %u ", rl_forms[learner->form], learner->learned.workers,
                          learner->learned.levels);
    if (length < 0 || strncmp(text, head, (size_t)length) != 0)
        return false;
    char *end, *behind;
    quantum = strtod(text + length, &end);
    familiarity = strtod(end, &behind);
    bool sound = end != text + length && behind != end && quantum >= 0 && isfinite(quantum) && familiarity >= 0
              && familiarity <= 1 && behind[0] == ' ' && (behind[1] == '0' || behind[1] == '1') && behind[2] == ' ';
    if (!sound || !dfrt__learned_load(&learner->learned, behind + 3))
        return false;
    learner->quantum = quantum > 0 ? quantum : NAN;
    learner->familiarity = familiarity;
    learner->taken_over = behind[1] == '1';
    learner->has_level = false;
    return true;
}

const dfrt_policy dfrt__policy_rl = {
    .name = "rl",
    .about = "learns what each degree costs at each load, and takes the action of the least long-run cost (003)",
    .parameters = rl_parameters,
    .size = size_of_rl,
    .start = start_rl,
    .decide = decide_rl,
    .save = save_rl,
    .load = load_rl,
};
