#define _GNU_SOURCE
#include "control_http.h"

#include <stdlib.h>
#include <string.h>

#include "dfrt/stage.h"

#define TEXT_TYPE "text/plain; charset=utf-8"
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

size_t dfrt__http_header_size(const char *bytes, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (bytes[i] == '\n' && bytes[i + 1] == '\n') {
            return i + 2;
        }
        if (bytes[i] == '\n' && bytes[i + 1] == '\r' && i + 2 < size && bytes[i + 2] == '\n') {
            return i + 3;
        }
    }
    return 0;
}

static void put_answer(FILE *out, const char *status, const char *type, const char *body, size_t size, bool head)
{
    (void)fprintf(out,
                  "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
                  "X-Content-Type-Options: nosniff\r\nAllow: GET, HEAD\r\nConnection: close\r\n\r\n",
                  status, type, size);
    if (!head) {
        (void)fwrite(body, 1, size, out);
    }
}

static void put_text(FILE *out, const char *status, const char *body, bool head)
{
    put_answer(out, status, TEXT_TYPE, body, strlen(body), head);
}

static void put_metrics(const dfrt__responder *responder, FILE *out, bool head)
{
    char *text = NULL;
    size_t size = 0;
    FILE *body = open_memstream(&text, &size);
    if (body == NULL) {
        dfrt_out_of_memory();
    }
    responder->metrics(responder->context, body);
    if (fclose(body) != 0) {
        dfrt_out_of_memory();
    }
    put_answer(out, "200 OK", METRICS_TYPE, text, size, head);
    free(text);
}

static bool is_path(const char *target, size_t size, const char *path)
{
    return size == strlen(path) && memcmp(target, path, size) == 0;
}

/* The target without its query, if the line is METHOD TARGET HTTP/1.x. */
static const char *find_target(const char *line, size_t method, size_t *size)
{
    const char *target = line + method + 1;
    size_t length = strcspn(target, " ");
    const char *version = target + length;
    *size = strcspn(target, " ?");
    return strncmp(version, " HTTP/1.", 8) == 0 && *size > 0 ? target : NULL;
}

static void answer_get(const dfrt__responder *responder, const char *target, size_t size, bool head, FILE *out)
{
    if (is_path(target, size, "/metrics")) {
        put_metrics(responder, out, head);
    } else if (is_path(target, size, "/healthz")) {
        bool good = responder->healthy(responder->context);
        put_text(out, good ? "200 OK" : "503 Service Unavailable", good ? "ok\n" : "ending\n", head);
    } else {
        put_text(out, "404 Not Found", "there are /metrics and /healthz\n", head);
    }
}

void dfrt__http_answer(const dfrt__responder *responder, const char *line, FILE *out)
{
    if (line == NULL) {
        put_text(out, "431 Request Header Fields Too Large", "the header is too long\n", false);
        return;
    }
    size_t method = strcspn(line, " "), size = 0;
    const char *target = line[method] == ' ' ? find_target(line, method, &size) : NULL;
    bool head = method == 4 && memcmp(line, "HEAD", 4) == 0;
    if (target == NULL) {
        put_text(out, "400 Bad Request", "that is no request of HTTP/1.1\n", false);
    } else if (!head && !(method == 3 && memcmp(line, "GET", 3) == 0)) {
        put_text(out, "405 Method Not Allowed", "only GET and HEAD\n", false);
    } else {
        answer_get(responder, target, size, head, out);
    }
}
