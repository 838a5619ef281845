#include "json_out.h"

#include <math.h>
#include <string.h>

#include "dfrt/number.h"
#include "dfrt/utf8.h"

/* Bytes of the code point that begins here; 0 when none does. */
static size_t code_point_size(const char *text)
{
    for (size_t size = 1; size <= 4; size++) {
        if (dfrt_utf8_valid(text, size)) {
            return size;
        }
        if (text[size] == '\0') {
            return 0;
        }
    }
    return 0;
}

static void put_code_point(FILE *out, const char *text, size_t size)
{
    unsigned char c = (unsigned char)text[0];
    if (c == '"' || c == '\\') {
        (void)fprintf(out, "\\%c", c);
    } else if (c == '\n') {
        (void)fputs("\\n", out);
    } else if (c < ' ' || c == 127) {
        (void)fprintf(out, "\\u%04x", c);
    } else {
        (void)fwrite(text, 1, size, out);
    }
}

void dfrt__json_string(FILE *out, const char *text)
{
    if (text == NULL) {
        (void)fputs("null", out);
        return;
    }
    (void)fputc('"', out);
    while (*text != '\0') {
        size_t size = code_point_size(text);
        if (size == 0) {
            (void)fputs("\\ufffd", out);
        } else {
            put_code_point(out, text, size);
        }
        text += size == 0 ? 1 : size;
    }
    (void)fputc('"', out);
}

void dfrt__json_number(FILE *out, double value)
{
    char text[DFRT_NUMBER_ROOM];
    if (!isfinite(value)) {
        (void)fputs("null", out);
        return;
    }
    (void)fwrite(text, 1, dfrt_format_f64(value, text), out);
}
