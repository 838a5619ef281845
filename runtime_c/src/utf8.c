#include <dfrt/utf8.h>

#include <dfrt/short_bytes.h>

#include <stdint.h>
#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t load_word(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Bytes of the sequence at `at`, or 0 if it is none. The second byte's range is what excludes overlong forms (after
 * e0 and f0), surrogates (after ed) and what is above U+10FFFF (after f4). */
static size_t sequence(const unsigned char *at, size_t left)
{
    unsigned char lead = at[0];
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    if (lead < 0xe0) return left >= 2 && is_tail(at[1]) ? 2 : 0;
    if (lead < 0xf0) {
        if (left < 3 || !is_tail(at[1]) || !is_tail(at[2])) return 0;
        if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] > 0x9f)) return 0;
        return 3;
    }
    if (left < 4 || !is_tail(at[1]) || !is_tail(at[2]) || !is_tail(at[3])) return 0;
    if ((lead == 0xf0 && at[1] < 0x90) || (lead == 0xf4 && at[1] > 0x8f)) return 0;
    return 4;
}

bool dfrt_utf8_valid(const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    while (size > 0) {
        if (size >= 8 && (load_word(at) & HIGH_BITS) == 0) {
            at += 8;
            size -= 8;
            continue;
        }
        if (size < 8 && (dfrt__load_short((const char *)at, size) & HIGH_BITS) == 0) return true;
        size_t step = sequence(at, size);
        if (step == 0) return false;
        at += step;
        size -= step;
    }
    return true;
}

size_t dfrt_utf8_length(const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t tails = 0, i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t word = load_word(at + i);
        /* A tail byte has its top bit set and the next one clear. */
        tails += (size_t)__builtin_popcountll(word & ~(word << 1) & HIGH_BITS);
    }
    for (; i < size; i++) tails += is_tail(at[i]);
    return size - tails;
}
