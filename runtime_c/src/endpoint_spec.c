/* The text form of an endpoint. */
#define _GNU_SOURCE
#include <dfrt/endpoint.h>

#include <stdlib.h>
#include <string.h>

bool dfrt_is_endpoint_spec(const char *text)
{
    return strncmp(text, "tcp:", 4) == 0 || strncmp(text, "unix:", 5) == 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %XX to bytes, in place. False for what is no hexadecimal number, and for a zero, which would end the text. */
static bool decode(char *text)
{
    char *out = text;
    for (; *text != '\0'; text++) {
        if (*text == '%') {
            int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);
            if (low < 0 || (high == 0 && low == 0)) return false;
            *out++ = (char)(high << 4 | low);
            text += 2;
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
    return true;
}

static bool read_bool(const char *value, bool *out)
{
    *out = strcmp(value, "true") == 0;
    return *out || strcmp(value, "false") == 0;
}

static bool read_size(const char *value, size_t *out)
{
    char *end;
    unsigned long long size = strtoull(value, &end, 10);
    *out = (size_t)size;
    return *value >= '0' && *value <= '9' && *end == '\0' && size > 0 && size <= (unsigned long long)1 << 40;
}

static bool read_format(const char *value, dfrt_format *out)
{
    static const char *const names[] = {"csv", "jsonl", "lines", "binary"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(value, names[i]) != 0) continue;
        *out = (dfrt_format)i;
        return true;
    }
    return false;
}

static bool read_setting(dfrt_endpoint_spec *spec, const char *key, const char *value)
{
    if (strcmp(key, "format") == 0) return read_format(value, &spec->format);
    if (strcmp(key, "listen") == 0) return read_bool(value, &spec->listen);
    if (strcmp(key, "public") == 0) return read_bool(value, &spec->exposed);
    if (strcmp(key, "retry") == 0) return read_bool(value, &spec->retry);
    return strcmp(key, "max_row") == 0 && read_size(value, &spec->max_row);
}

static dfrt_status read_settings(dfrt_endpoint_spec *spec, char *settings, dfrt_error *error)
{
    char *rest = settings, *word;
    while ((word = strsep(&rest, "&")) != NULL) {
        char *value = strchr(word, '=');
        if (value != NULL) *value++ = '\0';
        if (value == NULL || !read_setting(spec, word, value))
            return dfrt_fail(error, DFRT_USAGE,
                             "'%s%s%s' is no setting of a socket; there are format=csv|jsonl|lines|binary, "
                             "listen=true, public=true, retry=true and max_row=BYTES",
                             word, value == NULL ? "" : "=", value == NULL ? "" : value);
    }
    return DFRT_OK;
}

dfrt_status dfrt_endpoint_spec_read(dfrt_endpoint_spec *out, const char *text, dfrt_error *error)
{
    *out = (dfrt_endpoint_spec){.unix_socket = text[0] == 'u'};
    out->address = strdup(strchr(text, ':') + 1);
    if (out->address == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for '%s'", text);
    char *settings = strchr(out->address, '?');
    if (settings != NULL) *settings++ = '\0';
    dfrt_status status = settings == NULL ? DFRT_OK : read_settings(out, settings, error);
    if (status == DFRT_OK && (out->address[0] == '\0' || !decode(out->address)))
        status = dfrt_fail(error, DFRT_USAGE, "'%s': a socket needs %s; %% begins an escape such as %%3F", text,
                           out->unix_socket ? "a path" : "HOST:PORT");
    if (status != DFRT_OK) dfrt_endpoint_spec_free(out);
    return status;
}

void dfrt_endpoint_spec_free(dfrt_endpoint_spec *spec)
{
    free(spec->address);
    spec->address = NULL;
}
