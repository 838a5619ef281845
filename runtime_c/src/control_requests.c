#define _GNU_SOURCE
#include "control_requests.h"

#include <stdlib.h>
#include <string.h>

#include "json_out.h"
#include "metrics.h"
#include "run.h"
#include "status_json.h"

typedef struct request {
    const char *word, *arguments, *about;
    /* `rest`: what stands behind the word, without spaces at either end. NULL: it is for the agent. */
    void (*reply)(dfrt__requests *requests, const char *rest, FILE *out);
} request;

static void put_refusal(FILE *out, const char *text)
{
    (void)fputs("{\"ok\":false,\"error\":", out);
    dfrt__json_string(out, text);
    (void)fputs("}\n", out);
}

/* --- what is asked ---------------------------------------------------------------------------------------- */

static dfrt__step_status *copy_steps(dfrt__requests *requests)
{
    dfrt__step_status *steps = calloc(requests->program->step_count + 1u, sizeof *steps);
    if (steps == NULL) {
        dfrt_out_of_memory();
    }
    dfrt__agent_steps(requests->agent, steps);
    return steps;
}

static void write_metrics(void *context, FILE *out)
{
    dfrt__requests *requests = context;
    dfrt__status status;
    dfrt_histogram latency = {0};
    dfrt__step_status *steps = copy_steps(requests);
    dfrt__agent_status(requests->agent, &status);
    dfrt__agent_latency(requests->agent, &latency);
    dfrt__metrics_write(out, &status, steps, requests->program->step_count, &latency);
    free(steps);
}

static void reply_metrics(dfrt__requests *requests, const char *rest, FILE *out)
{
    (void)rest;
    write_metrics(requests, out);
    (void)fputs("# EOF\n", out);
}

static void reply_status(dfrt__requests *requests, const char *rest, FILE *out)
{
    (void)rest;
    dfrt__status status;
    dfrt__step_status *steps = copy_steps(requests);
    dfrt__agent_status(requests->agent, &status);
    (void)fputs("{\"ok\":true,\"status\":", out);
    dfrt__status_write(out, &status, steps, requests->program->step_count);
    (void)fputs("}\n", out);
    free(steps);
}

static void reply_decisions(dfrt__requests *requests, const char *rest, FILE *out)
{
    char *end;
    unsigned long most = *rest == '\0' ? DFRT__RECENT : strtoul(rest, &end, 10);
    if (*rest != '\0' && (*end != '\0' || *rest < '0' || *rest > '9' || most > DFRT__RECENT)) {
        put_refusal(out, "decisions takes a number from 0 to 16");
        return;
    }
    dfrt__status status;
    dfrt__agent_status(requests->agent, &status);
    (void)fputs("{\"ok\":true,\"decisions\":", out);
    dfrt__changes_write(out, &status, (unsigned)most);
    (void)fputs("}\n", out);
}

static void reply_plan(dfrt__requests *requests, const char *rest, FILE *out)
{
    (void)rest;
    (void)fputs("{\"ok\":true,\"plan\":[", out);
    for (const char *const *line = requests->program->plan; *line != NULL; line++) {
        (void)fputs(line == requests->program->plan ? "" : ",", out);
        dfrt__json_string(out, *line);
    }
    (void)fputs("]}\n", out);
}

/* On one line: strings of JSON have no newlines in them. */
static void reply_config(dfrt__requests *requests, const char *rest, FILE *out)
{
    (void)rest;
    char *text = dfrt__agent_configuration(requests->agent);
    (void)fputs("{\"ok\":true,\"config\":", out);
    for (const char *c = text == NULL ? "null" : text; *c != '\0'; c++) {
        (void)fputc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
    }
    (void)fputs("}\n", out);
    free(text);
}

static void reply_help(dfrt__requests *requests, const char *rest, FILE *out);

static const request known[] = {
    {"status", "", "what the program does, as JSON", reply_status},
    {"metrics", "", "the same in Prometheus' text format, up to a line `# EOF`", reply_metrics},
    {"decisions", "[N]", "the last changes with their reasons, at most 16", reply_decisions},
    {"plan", "", "the plan that the program was compiled with", reply_plan},
    {"config", "", "the controller's configuration in force", reply_config},
    {"workers", "OPERATOR N|auto", "hold an operator at N workers, or let its policy decide again", NULL},
    {"alternate", "OPERATOR NAME|auto", "hold an operator at an alternate, or let its policy decide again", NULL},
    {"policy", "OPERATOR NAME|off", "change who decides for an operator", NULL},
    {"reload", "[FILE]", "read the configuration again, or another one", NULL},
    {"shadow", "on|off", "decide and log without acting, or act again", NULL},
    {"drain", "", "read no more input, work on what has been read, and end", NULL},
    {"help", "", "this list", reply_help},
};

static void reply_help(dfrt__requests *requests, const char *rest, FILE *out)
{
    (void)requests;
    (void)rest;
    (void)fputs("{\"ok\":true,\"help\":[", out);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char line[160];
        (void)snprintf(line, sizeof line, "%s%s%s: %s", known[i].word, *known[i].arguments == '\0' ? "" : " ",
                       known[i].arguments, known[i].about);
        (void)fputs(i == 0 ? "" : ",", out);
        dfrt__json_string(out, line);
    }
    (void)fputs("]}\n", out);
}

/* --- what is told ----------------------------------------------------------------------------------------- */

static void pass_on(dfrt__requests *requests, const char *line, FILE *out)
{
    dfrt_error reply = {{0}};
    dfrt_status status = dfrt__agent_command(requests->agent, line, &reply);
    (void)fputs(status == DFRT_OK      ? "{\"ok\":true,\"message\":"
                : status == DFRT_AGAIN ? "{\"ok\":false,\"again\":true,\"error\":"
                                       : "{\"ok\":false,\"error\":", out);
    dfrt__json_string(out, reply.text);
    (void)fputs("}\n", out);
}

static const request *find_request(const char *word, size_t size)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].word) == size && memcmp(known[i].word, word, size) == 0) {
            return &known[i];
        }
    }
    return NULL;
}

static void refuse_word(const char *word, size_t size, FILE *out)
{
    char text[160];
    (void)snprintf(text, sizeof text, "there is no request '%.*s'; `help` lists them", size > 60 ? 60 : (int)size, word);
    put_refusal(out, text);
}

static void answer_line(void *context, const char *line, FILE *out)
{
    char *copy = strdup(line + strspn(line, " "));
    if (copy == NULL) {
        dfrt_out_of_memory();
    }
    for (size_t size = strlen(copy); size > 0 && copy[size - 1] == ' '; size--) {
        copy[size - 1] = '\0';
    }
    size_t size = strcspn(copy, " ");
    const char *rest = copy + size + strspn(copy + size, " ");
    const request *asked = find_request(copy, size);
    if (asked == NULL) {
        refuse_word(copy, size, out);
    } else if (asked->reply == NULL) {
        pass_on(context, copy, out);
    } else if (*asked->arguments == '\0' && *rest != '\0') {
        put_refusal(out, "that request takes no words behind it");
    } else {
        asked->reply(context, rest, out);
    }
    free(copy);
}

static bool is_running(void *context)
{
    return !dfrt__run_stopped(((dfrt__requests *)context)->run);
}

dfrt__responder dfrt__requests_responder(dfrt__requests *requests)
{
    return (dfrt__responder){requests, answer_line, write_metrics, is_running};
}
