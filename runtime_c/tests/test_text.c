#define _GNU_SOURCE
#include <dfrt/text.h>

#include "check.h"

static dfrt_slice slice(const char *text)
{
    return (dfrt_slice){text, strlen(text)};
}

static void check_split(const char *text, const char *separator, const char *wanted)
{
    char got[200] = "";
    dfrt_slice piece;
    for (dfrt_split s = dfrt_split_begin(slice(text), slice(separator)); dfrt_split_next(&s, &piece);) {
        strncat(got, piece.data, piece.size);
        strcat(got, "|");
    }
    CHECK_TEXT(got, wanted);
}

int main(void)
{
    struct {
        uint32_t size;
        char data[5];
    } field;
    CHECK(dfrt_text_length(slice("a\xc3\xa4\xe2\x82\xac")) == 3);
    CHECK(dfrt_text_compare(slice("a"), slice("b")) < 0 && dfrt_text_compare(slice("ab"), slice("a")) > 0);
    CHECK(dfrt_text_compare(slice(""), slice("")) == 0 && dfrt_text_compare(slice("\xff"), slice("a")) > 0);
    CHECK(dfrt_text_equal(slice("xy"), slice("xy")) && !dfrt_text_equal(slice("xy"), slice("xz")));
    memset(&field, 7, sizeof field);
    CHECK(dfrt_text_assign(&field, 5, slice("ab")) && field.size == 2 && memcmp(field.data, "ab\0\0\0", 5) == 0);
    CHECK(dfrt_text_equal(dfrt_text_of(&field), slice("ab")));
    CHECK(!dfrt_text_assign(&field, 5, slice("abcd\xc3\xa4")) && field.size == 4 && field.data[4] == 0);
    CHECK(dfrt_text_assign(&field, 5, slice("abcde")) && field.size == 5);
    CHECK(!dfrt_parse_text("abcdef", 6, &field, 5) && !dfrt_parse_text("\xff", 1, &field, 5));
    CHECK(dfrt_parse_text("", 0, &field, 5) && field.size == 0);
    CHECK(dfrt_text_decode((const unsigned char *)"ab\0\0\0", &field, 5) && field.size == 2);
    CHECK(dfrt_text_decode((const unsigned char *)"ab\0c\0", &field, 5) && field.size == 4);
    CHECK(dfrt_text_decode((const unsigned char *)"\0\0\0\0", &field, 4) && field.size == 0);
    CHECK(!dfrt_text_decode((const unsigned char *)"ab\0\xff", &field, 4));
    check_split("a,b,,c", ",", "a|b||c|");
    check_split("", ",", "|");
    check_split(",", ",", "||");
    check_split("abc", "", "abc|");
    check_split("a--b-c--", "--", "a|b-c||");
    check_split("aaa", "aa", "|a|");
    check_split("ab", "abc", "ab|");
    puts("ok");
    return 0;
}
