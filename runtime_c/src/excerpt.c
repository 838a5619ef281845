#include "excerpt.h"

#include <dfrt/utf8.h>

#include <stdio.h>
#include <string.h>

/* Bytes of the printable character at `at`, or 0 when it has to be escaped. */
static size_t printable(const char *at, size_t left)
{
    unsigned char c = (unsigned char)at[0];
    if (c < 0x20 || c == 0x7f || c == '"' || c == '\\') return 0;
    if (c < 0x80) return 1;
    /* U+0080 … U+009F are control characters too. */
    if (c == 0xc2 && left > 1 && (unsigned char)at[1] < 0xa0) return 0;
    for (size_t size = 2; size <= 4 && size <= left; size++)
        if (dfrt_utf8_valid(at, size)) return size;
    return 0;
}

static size_t escape(char out[8], unsigned char c)
{
    static const char letters[][2] = {{'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}, {'"', '"'}, {'\\', '\\'}};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (letters[i][0] == (char)c) return out[0] = '\\', out[1] = letters[i][1], (size_t)2;
    (void)snprintf(out, 8, "\\x%02x", c);
    return 4;
}

size_t dfrt__excerpt(char *out, size_t room, dfrt_slice bytes)
{
    static const char dots[] = "…";
    size_t used = 0, limit = room - sizeof dots;
    for (size_t i = 0; i < bytes.size;) {
        char escaped[8];
        size_t take = printable(bytes.data + i, bytes.size - i), size = take;
        const char *from = bytes.data + i;
        if (take == 0) {
            size = escape(escaped, (unsigned char)bytes.data[i]);
            from = escaped;
            take = 1;
        }
        if (used + size > limit) {
            memcpy(out + used, dots, sizeof dots - 1);
            used += sizeof dots - 1;
            break;
        }
        memcpy(out + used, from, size);
        used += size;
        i += take;
    }
    out[used] = '\0';
    return used;
}
