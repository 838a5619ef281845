#define _GNU_SOURCE
#include <dfrt/utf8.h>

#include <stdint.h>

#include "check.h"

static size_t encode(uint32_t c, char *out)
{
    if (c < 0x80) return out[0] = (char)c, (size_t)1;
    if (c < 0x800) return out[0] = (char)(0xc0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), (size_t)2;
    size_t size = c < 0x10000 ? 3 : 4;
    out[0] = (char)(c < 0x10000 ? 0xe0 | c >> 12 : 0xf0 | c >> 18);
    for (size_t i = 1; i < size; i++) out[i] = (char)(0x80 | (c >> 6 * (size - 1 - i) & 63));
    return size;
}

int main(void)
{
    char text[64];
    for (uint32_t c = 0; c <= 0x11ffff; c++) {
        bool valid = c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
        memcpy(text, "abcdefghij", 10);
        size_t size = 10 + encode(c, text + 10);
        memcpy(text + size, "klm", 3);
        CHECK(dfrt_utf8_valid(text, size + 3) == valid);
        if (!valid) continue;
        CHECK(dfrt_utf8_length(text, size + 3) == 14);
        if (size > 11) CHECK(!dfrt_utf8_valid(text, size - 1));
    }
    static const char *const bad[] = {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf5\x80\x80\x80",
                                      "\xff", "\xfe", "\xc3(", "\xe2\x82(", "\xed\xa0\x80", "\xf4\x90\x80\x80", "abc\xc3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) CHECK(!dfrt_utf8_valid(bad[i], strlen(bad[i])));
    CHECK(dfrt_utf8_valid("", 0) && dfrt_utf8_length("", 0) == 0);
    CHECK(dfrt_utf8_cut("a\xc3\xa4z", 4, 2) == 1 && dfrt_utf8_cut("a\xc3\xa4z", 4, 3) == 3 && dfrt_utf8_cut("ab", 2, 9) == 2);
    puts("ok");
    return 0;
}
