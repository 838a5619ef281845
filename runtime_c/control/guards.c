#include "guards.h"

#include "reading.h"

static const char *const dimension_names[DFRT__DIMENSIONS] = {"workers", "frequency", "alternate"};

/* Cheaper for the operator, or with what follows it: either is a relief. Without known costs the alternate of less value is
 * taken for the cheaper one. */
static int alternate_direction(const dfrt__costs *costs, const dfrt_situation *situation, unsigned from, unsigned to)
{
    double before = dfrt__cost_of(costs, situation, from), after = dfrt__cost_of(costs, situation, to);
    if (dfrt__whole_cost_of(costs, situation, from) > dfrt__whole_cost_of(costs, situation, to))
        return 1;
    if (before > after || before < after)
        return before > after ? 1 : -1;
    return situation->limits->value[to] < situation->limits->value[from] ? 1 : -1;
}

static int direction_of(const dfrt__costs *costs, const dfrt_situation *situation, dfrt_setting to, unsigned dimension)
{
    dfrt_setting now = situation->now;
    switch (dimension) {
    case 0: return (to.workers > now.workers) - (to.workers < now.workers);
    case 1: return (to.frequency > now.frequency) - (to.frequency < now.frequency);
    default: return to.alternate == now.alternate ? 0 : alternate_direction(costs, situation, now.alternate, to.alternate);
    }
}

void dfrt__guard_measured(const dfrt__costs *costs, const dfrt_situation *situation, const char *why,
                          dfrt_decision *decision)
{
    dfrt_setting now = situation->now, *setting = &decision->setting;
    const char *kept = NULL;
    if (direction_of(costs, situation, *setting, 2) < 0) {
        kept = "the alternate stays";
        setting->alternate = now.alternate;
    }
    if (setting->frequency < now.frequency) {
        kept = "no lower frequency";
        setting->frequency = now.frequency;
    }
    if (setting->workers < now.workers) {
        kept = "no fewer workers";
        setting->workers = now.workers;
    }
    if (kept != NULL)
        dfrt__say_more(decision, "%s, since %s", kept, why);
}

void dfrt__guard_waiting(dfrt__guards *guards, const dfrt__costs *costs, const dfrt_situation *situation, uint64_t step,
                         unsigned cooldown, dfrt_decision *decision)
{
    for (unsigned dimension = 0; dimension < DFRT__DIMENSIONS; dimension++) {
        int direction = direction_of(costs, situation, decision->setting, dimension);
        uint64_t since = step - guards->changed[dimension];
        if (direction == 0 || guards->direction[dimension] != -direction || since >= cooldown)
            continue;
        double shed = decision->setting.shed;
        decision->setting = situation->now;
        decision->setting.shed = shed;
        dfrt__say_more(decision, "waits: %s changed the other way %u of %u steps ago", dimension_names[dimension],
                       (unsigned)since, cooldown);
        return;
    }
}

void dfrt__guards_note(dfrt__guards *guards, const dfrt__costs *costs, const dfrt_situation *situation, uint64_t step,
                       dfrt_setting taken)
{
    for (unsigned dimension = 0; dimension < DFRT__DIMENSIONS; dimension++) {
        int direction = direction_of(costs, situation, taken, dimension);
        if (direction != 0) {
            guards->direction[dimension] = direction;
            guards->changed[dimension] = step;
        }
    }
}
