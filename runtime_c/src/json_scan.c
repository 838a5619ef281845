#include "json_scan.h"

#include <dfrt/jsonl.h>

/* 0: stands for itself in a string; 1: ends the plain run. */
static bool is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

static bool hex4(dfrt__json *json, uint32_t *out)
{
    uint32_t value = 0;
    if (json->end - json->at < 4) return dfrt__json_fail(json, "a \\u escape is cut off");
    for (unsigned i = 0; i < 4; i++) {
        char c = *json->at++;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        if (digit == 16) return dfrt__json_fail(json, "a \\u escape needs four hexadecimal digits");
        value = value << 4 | digit;
    }
    *out = value;
    return true;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) return *out++ = (char)c, out;
    if (c < 0x800) return *out++ = (char)(0xc0 | c >> 6), *out++ = (char)(0x80 | (c & 0x3f)), out;
    if (c < 0x10000) *out++ = (char)(0xe0 | c >> 12);
    else *out++ = (char)(0xf0 | c >> 18), *out++ = (char)(0x80 | (c >> 12 & 0x3f));
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
    return out;
}

/* Behind \u. Half of a surrogate pair is no character, and could not be written as UTF-8. */
static bool unicode_escape(dfrt__json *json, char **out)
{
    uint32_t c, low;
    if (!hex4(json, &c)) return false;
    if (c >= 0xd800 && c < 0xe000) {
        bool pair = c < 0xdc00 && dfrt__json_take(json, '\\') && dfrt__json_take(json, 'u');
        if (pair && !hex4(json, &low)) return false;
        if (!pair || low < 0xdc00 || low > 0xdfff)
            return dfrt__json_fail(json, "half of a surrogate pair in a \\u escape");
        c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
    }
    *out = put_utf8(*out, c);
    return true;
}

static bool escape(dfrt__json *json, char **out)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (json->at == json->end) return dfrt__json_fail(json, "a string is not closed");
    char c = *json->at++;
    if (c == 'u') return unicode_escape(json, out);
    const char *name = memchr(names, c, sizeof names - 1);
    if (name == NULL) return dfrt__json_fail(json, "an unknown escape in a string");
    *(*out)++ = meanings[name - names];
    return true;
}

/* The rest of a string from its first backslash on. */
static bool decode_string(dfrt__json *json, const char *start, dfrt_slice *text, char **scratch)
{
    char *begin = *scratch, *out = begin;
    size_t run = (size_t)(json->at - start);
    memcpy(out, start, run);
    out += run;
    while (json->at < json->end) {
        char c = *json->at++;
        if (c == '"') {
            *text = (dfrt_slice){begin, (size_t)(out - begin)};
            *scratch = out;
            return true;
        }
        if ((unsigned char)c < 0x20) return dfrt__json_fail(json, "a control character in a string");
        if (c != '\\') *out++ = c;
        else if (!escape(json, &out)) return false;
    }
    return dfrt__json_fail(json, "a string is not closed");
}

bool dfrt__json_string(dfrt__json *json, dfrt_slice *text, char **scratch)
{
    if (!dfrt__json_take(json, '"')) return dfrt__json_fail(json, "a string is expected");
    const char *start = json->at;
    while (json->at < json->end && !is_special(*json->at)) json->at++;
    if (json->at < json->end && *json->at == '"') {
        *text = (dfrt_slice){start, (size_t)(json->at++ - start)};
        return true;
    }
    return decode_string(json, start, text, scratch);
}

static bool digits(dfrt__json *json)
{
    const char *start = json->at;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
    return json->at > start;
}

bool dfrt__json_number(dfrt__json *json, dfrt_slice *text)
{
    const char *start = json->at;
    (void)dfrt__json_take(json, '-');
    bool zero = json->at < json->end && *json->at == '0';
    const char *whole = json->at;
    if (!digits(json)) return dfrt__json_fail(json, "a value is expected");
    if (zero && json->at - whole > 1) return dfrt__json_fail(json, "a number begins with a needless zero");
    if (dfrt__json_take(json, '.') && !digits(json)) return dfrt__json_fail(json, "a number ends after its point");
    if (json->at < json->end && (*json->at == 'e' || *json->at == 'E')) {
        json->at++;
        if (!dfrt__json_take(json, '+')) (void)dfrt__json_take(json, '-');
        if (!digits(json)) return dfrt__json_fail(json, "a number ends within its exponent");
    }
    *text = (dfrt_slice){start, (size_t)(json->at - start)};
    return true;
}

bool dfrt__json_word(dfrt__json *json, dfrt_slice *text)
{
    static const dfrt_slice words[] = {{"true", 4}, {"false", 5}, {"null", 4}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if ((size_t)(json->end - json->at) < words[i].size || memcmp(json->at, words[i].data, words[i].size) != 0)
            continue;
        *text = (dfrt_slice){json->at, words[i].size};
        json->at += words[i].size;
        return true;
    }
    return dfrt__json_fail(json, "a value is expected");
}

static bool skip_scalar(dfrt__json *json, char *scratch)
{
    dfrt_slice text;
    if (json->at == json->end) return dfrt__json_fail(json, "a value is expected");
    char c = *json->at;
    if (c == '"') return dfrt__json_string(json, &text, &scratch);
    return c == 't' || c == 'f' || c == 'n' ? dfrt__json_word(json, &text) : dfrt__json_number(json, &text);
}

/* The key of a member and its colon. */
static bool skip_key(dfrt__json *json, char *scratch)
{
    dfrt_slice key;
    dfrt__json_blanks(json);
    if (!dfrt__json_string(json, &key, &scratch)) return false;
    dfrt__json_blanks(json);
    return dfrt__json_take(json, ':') || dfrt__json_fail(json, "a colon is expected");
}

/* `closers` holds what closes each open object or array. */
bool dfrt__json_skip(dfrt__json *json, unsigned depth, char *scratch)
{
    char closers[DFRT_JSONL_DEPTH];
    unsigned open = 0;
    for (;;) {
        dfrt__json_blanks(json);
        char c = json->at < json->end ? *json->at : '\0';
        bool empty = false;
        if (c == '{' || c == '[') {
            if (open == depth) return dfrt__json_fail(json, "values nest too deeply");
            closers[open++] = c == '{' ? '}' : ']';
            json->at++;
            dfrt__json_blanks(json);
            empty = dfrt__json_take(json, closers[open - 1]);
            if (!empty && c == '{' && !skip_key(json, scratch)) return false;
            if (!empty) continue;
            open--;
        } else if (!skip_scalar(json, scratch)) {
            return false;
        }
        /* Behind a value: closes what ends here, then the next member or element. */
        for (;; open--) {
            if (open == 0) return true;
            dfrt__json_blanks(json);
            if (!dfrt__json_take(json, closers[open - 1])) break;
        }
        if (!dfrt__json_take(json, ',')) return dfrt__json_fail(json, "a comma or the end of an object is expected");
        if (closers[open - 1] == '}' && !skip_key(json, scratch)) return false;
    }
}
