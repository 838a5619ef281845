#define _GNU_SOURCE
#include "reconfigure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dfrt/hash.h"
#include "dfrt/store.h"

typedef struct dfrt__scripted {
    uint64_t round; /* or UINT64_MAX */
    uint64_t after_ns; /* the time since the start, of a line without a round */
    char *operator, *alternate; /* the last one: switch to it, and nothing else */
    unsigned at; /* of the elastic operators */
    unsigned workers;
    bool random;
    uint64_t seed;
    enum dfrt_migration how;
    dfrt_heavy_key heavy[DFRT_HEAVY_KEYS];
    unsigned heavy_count;
} dfrt__scripted;

/* --- reading ---------------------------------------------------------------------------------------- */

dfrt_status dfrt__read_protocol(const char *word, enum dfrt_migration *how, dfrt_error *error)
{
    static const char *const names[] = {"fluent", "r-blk", "s-blk"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(word, names[i]) == 0) {
            *how = (enum dfrt_migration)i;
            return DFRT_OK;
        }
    }
    return dfrt_fail(error, DFRT_USAGE, "a migration protocol is fluent, r-blk or s-blk, not '%s'", word);
}

static dfrt_status read_whole(const char *word, int base, uint64_t *out, char end, const char **rest, dfrt_error *error)
{
    char *behind;
    errno = 0;
    *out = strtoull(word, &behind, base);
    if (errno != 0 || behind == word || *word == '-' || (*behind != '\0' && *behind != end)) {
        return dfrt_fail(error, DFRT_USAGE, "--reconfigure: '%s' is no whole number", word);
    }
    *rest = *behind == '\0' ? behind : behind + 1;
    return DFRT_OK;
}

static dfrt_status read_heavy(dfrt__scripted *one, const char *word, dfrt_error *error)
{
    dfrt_status status = DFRT_OK;
    while (*word != '\0' && status == DFRT_OK) {
        uint64_t hash = 0, replica = 0;
        if (one->heavy_count == DFRT_HEAVY_KEYS) {
            return dfrt_fail(error, DFRT_USAGE, "--reconfigure: at most %d heavy keys", (int)DFRT_HEAVY_KEYS);
        }
        status = read_whole(word, 0, &hash, ':', &word, error);
        if (status == DFRT_OK) {
            status = read_whole(word, 10, &replica, ',', &word, error);
        }
        one->heavy[one->heavy_count++] = (dfrt_heavy_key){hash, (uint16_t)replica};
    }
    return status;
}

static char *copy_text(const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL) {
        dfrt_out_of_memory();
    }
    return copy;
}

static dfrt_status read_word(dfrt__scripted *one, const char *name, const char *value, dfrt_error *error)
{
    uint64_t number = 0;
    const char *rest;
    dfrt_status status = DFRT_OK;
    if (strcmp(name, "workers") == 0) {
        status = read_whole(value, 10, &number, '\0', &rest, error);
        one->workers = number > UINT16_MAX ? UINT16_MAX : (unsigned)number;
    } else if (strcmp(name, "seed") == 0) {
        status = read_whole(value, 10, &one->seed, '\0', &rest, error);
        one->random = true;
    } else if (strcmp(name, "protocol") == 0) {
        status = dfrt__read_protocol(value, &one->how, error);
    } else if (strcmp(name, "heavy") == 0) {
        status = read_heavy(one, value, error);
    } else if (strcmp(name, "operator") == 0 && one->operator == NULL) {
        one->operator = copy_text(value);
    } else if (strcmp(name, "alternate") == 0 && one->alternate == NULL) {
        one->alternate = copy_text(value);
    } else {
        status = dfrt_fail(error, DFRT_USAGE, "--reconfigure: there is no '%s', or it stands there twice", name);
    }
    return status;
}

static dfrt_status read_line(dfrt__scripted *one, char *line, dfrt_error *error)
{
    char *save = NULL, *word = strtok_r(line, " \t", &save);
    const char *rest;
    dfrt_status status = read_whole(word, 10, &one->round, 'm', &rest, error);
    if (status == DFRT_OK && strchr(word, 'm') != NULL) {
        one->after_ns = one->round * 1000000;
        one->round = UINT64_MAX;
        if (strcmp(rest, "s") != 0) {
            status = dfrt_fail(error, DFRT_USAGE, "--reconfigure: '%s' is neither a round nor a time like 1500ms", word);
        }
    }
    while (status == DFRT_OK && (word = strtok_r(NULL, " \t", &save)) != NULL) {
        char *value = strchr(word, '=');
        if (value == NULL) {
            return dfrt_fail(error, DFRT_USAGE, "--reconfigure: '%s' is no NAME=VALUE", word);
        }
        *value = '\0';
        status = read_word(one, word, value + 1, error);
    }
    return status;
}

/* --- checking --------------------------------------------------------------------------------------- */

static dfrt_status find_operator(const dfrt__script *script, dfrt__scripted *one, dfrt_error *error)
{
    unsigned count = dfrt_elastic_count(script->elastic);
    for (one->at = 0; one->at < count; one->at++) {
        const char *name = dfrt_elastic_at(script->elastic, one->at).name;
        if (one->operator != NULL ? strcmp(one->operator, name) == 0 : count == 1) {
            return DFRT_OK;
        }
    }
    if (one->operator == NULL) {
        return dfrt_fail(error, DFRT_USAGE, "--reconfigure: %u operators can change, say which one: operator=NAME", count);
    }
    return dfrt_fail(error, DFRT_USAGE, "--reconfigure: there is no operator '%s' whose degree can change", one->operator);
}

static dfrt_status check_change(const dfrt__script *script, dfrt__scripted *one, dfrt_error *error)
{
    if (one->alternate != NULL) {
        return DFRT_OK; /* the switch itself looks whether there is such a one */
    }
    dfrt_status status = find_operator(script, one, error);
    if (status == DFRT_OK && (one->workers < 1 || one->workers > dfrt_elastic_at(script->elastic, one->at).most)) {
        dfrt_elastic_info info = dfrt_elastic_at(script->elastic, one->at);
        status = dfrt_fail(error, DFRT_USAGE, "--reconfigure: %s can have workers=1 to %u; see --max-workers", info.name,
                           info.most);
    }
    for (unsigned i = 0; status == DFRT_OK && i < one->heavy_count; i++) {
        if (one->heavy[i].replica >= one->workers) {
            status = dfrt_fail(error, DFRT_USAGE, "--reconfigure: there is no worker %u of %u",
                               (unsigned)one->heavy[i].replica, one->workers);
        }
    }
    return status;
}

/* --- the whole -------------------------------------------------------------------------------------- */

static char *text_of(const char *spec)
{
    FILE *file = fopen(spec, "re");
    if (file == NULL) {
        return copy_text(spec);
    }
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = copy_text("");
    }
    (void)fclose(file); /* only read */
    return text;
}

dfrt_status dfrt__script_open(dfrt__script *script, const char *spec, dfrt_elastic *elastic, const dfrt_program *program,
                              dfrt_run_state *run, enum dfrt_migration how, dfrt_error *error)
{
    *script = (dfrt__script){.elastic = elastic, .program = program, .run = run, .began_ns = dfrt_now_ns()};
    char *text = text_of(spec), *save = NULL;
    dfrt_status status = DFRT_OK;
    for (char *line = strtok_r(text, ";\n", &save); line != NULL && status == DFRT_OK; line = strtok_r(NULL, ";\n", &save)) {
        if (line[strspn(line, " \t")] == '\0' || line[strspn(line, " \t")] == '#') {
            continue;
        }
        script->changes = dfrt_resize(script->changes, (script->count + 1u) * sizeof *script->changes);
        dfrt__scripted *one = &script->changes[script->count++];
        *one = (dfrt__scripted){.how = how};
        status = read_line(one, line, error);
        if (status == DFRT_OK) {
            status = check_change(script, one, error);
        }
    }
    free(text);
    return status;
}

void dfrt__script_close(dfrt__script *script)
{
    for (unsigned i = 0; i < script->count; i++) {
        free(script->changes[i].operator);
        free(script->changes[i].alternate);
    }
    free(script->changes);
    *script = (dfrt__script){0};
}

static bool switch_alternate(const dfrt__script *script, const dfrt__scripted *one)
{
    char *name = strchr(one->alternate, '=');
    if (name == NULL) {
        return false;
    }
    *name = '\0';
    bool done = dfrt_set_alternate(script->run, script->program, one->alternate, name + 1);
    *name = '=';
    return done;
}

/* False: not yet. */
static bool ask_for(const dfrt__script *script, const dfrt__scripted *one)
{
    dfrt_error error;
    if (one->alternate != NULL) {
        if (!switch_alternate(script, one)) {
            (void)fprintf(stderr, "%s: --reconfigure: there is no alternate '%s'\n", script->program->name,
                          one->alternate);
        }
        return true;
    }
    uint16_t owners[DFRT_SLOTS];
    for (unsigned slot = 0; slot < DFRT_SLOTS; slot++) {
        owners[slot] = (uint16_t)(dfrt_hash_u64(one->seed * DFRT_SLOTS + slot) % one->workers);
    }
    return dfrt_elastic_request(script->elastic, one->at, one->workers, one->random ? owners : NULL, one->heavy,
                                one->heavy_count, one->how, &error) != DFRT_AGAIN;
}

static bool is_due(const dfrt__script *script, const dfrt__scripted *one)
{
    return one->round != UINT64_MAX ? one->round <= script->round : dfrt_now_ns() - script->began_ns >= one->after_ns;
}

void dfrt__script_round(dfrt__script *script)
{
    for (; script->next < script->count && is_due(script, &script->changes[script->next]); script->next++) {
        if (!ask_for(script, &script->changes[script->next])) {
            break;
        }
    }
    script->round++;
}
