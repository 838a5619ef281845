#include "csv_scan.h"

#include <string.h>

#if defined __AVX2__
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 32 };

/* One bit a byte of a block. */
typedef struct marks {
    uint32_t commas, newlines, quotes;
} marks;

#if defined __AVX2__
static uint32_t equal_to(const char *at, char c)
{
    __m256i block = _mm256_loadu_si256((const __m256i *)(const void *)at);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_set1_epi8(c)));
}
#elif defined __SSE2__
static uint32_t equal_to(const char *at, char c)
{
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)at), wanted = _mm_set1_epi8(c);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(at + 16));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)) |
           (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, wanted)) << 16;
}
#else
static uint32_t equal_to(const char *at, char c)
{
    uint32_t hits = 0;
    for (unsigned i = 0; i < BLOCK; i++) hits |= (uint32_t)(at[i] == c) << i;
    return hits;
}
#endif

/* Of the first `size` bytes of the block at `at`; the rest may be loaded, but means nothing. */
static marks marks_of(const char *at, size_t size)
{
    uint32_t there = size >= BLOCK ? UINT32_MAX : (UINT32_C(1) << size) - 1;
    return (marks){equal_to(at, ',') & there, equal_to(at, '\n') & there, equal_to(at, '"') & there};
}

static size_t without_return(const char *start, const char *end)
{
    return (size_t)(end - start) - (end > start && end[-1] == '\r');
}

dfrt__csv_found dfrt__csv_split_plain(const char *data, size_t size, dfrt_slice *fields, size_t room, size_t *count,
                                      size_t *length)
{
    const char *start = data;
    size_t found = 0;
    for (size_t base = 0; base < size; base += BLOCK) {
        marks here = marks_of(data + base, size - base);
        uint32_t row = here.newlines ^ (here.newlines - 1); /* up to the first newline, or everything */
        if ((here.quotes & row) != 0) return DFRT__CSV_QUOTE;
        for (uint32_t commas = here.commas & row; commas != 0; commas &= commas - 1) {
            const char *comma = data + base + (unsigned)__builtin_ctz(commas);
            if (found < room) fields[found] = (dfrt_slice){start, (size_t)(comma - start)};
            found++;
            start = comma + 1;
        }
        if (here.newlines != 0) {
            const char *end = data + base + (unsigned)__builtin_ctz(here.newlines);
            if (found < room) fields[found] = (dfrt_slice){start, without_return(start, end)};
            *count = found + 1;
            *length = (size_t)(end - data);
            return DFRT__CSV_ROW;
        }
    }
    return DFRT__CSV_CUT;
}

/* One bit for each of sixty-four bytes. */
static uint64_t wide_equal_to(const char *at, char c)
{
#if defined __AVX512BW__
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(c));
#else
    return equal_to(at, c) | (uint64_t)equal_to(at + BLOCK, c) << BLOCK;
#endif
}

#if defined __AVX512VBMI2__
/* The numbers of the bits that are set come to the front, sixteen of them at a time become bounds. */
static size_t put_bounds(uint64_t marks, uint32_t base, uint32_t *bounds)
{
    static const unsigned char numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
        28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55,
        56, 57, 58, 59, 60, 61, 62, 63};
    size_t count = (size_t)__builtin_popcountll(marks);
    __m512i found = _mm512_maskz_compress_epi8(marks, _mm512_loadu_si512(numbers));
    unsigned char rest[64];
    __m512i first = _mm512_set1_epi32((int)(base + 1));
    _mm512_storeu_si512(bounds, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(found)), first));
    if (count <= 16) return count;
    _mm512_storeu_si512(rest, found);
    for (size_t i = 16; i < count; i++) bounds[i] = base + 1 + rest[i];
    return count;
}
#else
static uint32_t lowest(uint64_t bits)
{
    return bits == 0 ? DFRT__CSV_BLOCK : (uint32_t)__builtin_ctzll(bits);
}

/* Always writes a few at once, since their number can't be predicted: what is too much is overwritten later. */
static size_t put_bounds(uint64_t marks, uint32_t base, uint32_t *bounds)
{
    size_t count = (size_t)__builtin_popcountll(marks), at = 0;
    do {
        for (int i = 0; i < 12; i++, marks &= marks - 1) bounds[at + (size_t)i] = base + 1 + lowest(marks);
        at += 12;
    } while (at < count);
    return count;
}
#endif

size_t dfrt__csv_bounds(const char *data, size_t size, uint32_t *bounds, size_t enough)
{
    size_t found = 0;
    uint64_t quotes = 0;
    for (size_t base = 0; base < size && found < enough && quotes == 0; base += DFRT__CSV_BLOCK) {
        const char *at = data + base;
        uint64_t marks = wide_equal_to(at, ',') | wide_equal_to(at, '\n');
        quotes = wide_equal_to(at, '"');
        if (size - base < DFRT__CSV_BLOCK) marks &= (UINT64_C(1) << (size - base)) - 1;
        if (quotes != 0) marks &= (quotes & (0 - quotes)) - 1;
        found += put_bounds(marks, (uint32_t)base, bounds + found);
    }
    return found;
}

static dfrt__csv_state after_unquoted(char c, dfrt__csv_state state)
{
    if (c == ',') return DFRT__CSV_FIELD_START;
    if (c == '"' && state != DFRT__CSV_PLAIN) return DFRT__CSV_QUOTED; /* opens a field, or doubles a quote */
    return DFRT__CSV_PLAIN;
}

size_t dfrt__csv_find_end(const char *data, size_t from, size_t size, dfrt__csv_state *state, uint64_t *newlines)
{
    size_t at = from;
    while (at < size) {
        if (*state == DFRT__CSV_QUOTED) {
            const char *quote = memchr(data + at, '"', size - at);
            size_t stop = quote == NULL ? size : (size_t)(quote - data);
            for (; at < stop; at++) *newlines += data[at] == '\n';
            if (quote == NULL) return size;
            at++;
            *state = DFRT__CSV_CLOSED;
        } else if (data[at] == '\n') {
            return at;
        } else {
            *state = after_unquoted(data[at++], *state);
        }
    }
    return size;
}

/* A quoted field at `at`, behind its opening quote, into `out`; at the end *at is behind the closing quote. */
static bool unescape(const char **at, const char *end, char *out, size_t *size)
{
    size_t used = 0;
    while (*at < end) {
        const char *quote = memchr(*at, '"', (size_t)(end - *at));
        if (quote == NULL) return false;
        size_t run = (size_t)(quote - *at);
        memcpy(out + used, *at, run);
        used += run;
        *at = quote + 1;
        if (*at == end || **at != '"') return *size = used, true;
        out[used++] = '"';
        (*at)++;
    }
    return false;
}

const char *dfrt__csv_split_quoted(const char *data, size_t size, char *scratch, dfrt_slice *fields, size_t room,
                                   size_t *count)
{
    const char *at = data, *end = data + without_return(data, data + size);
    for (*count = 0;; at++) {
        dfrt_slice field = {at, 0};
        if (at < end && *at == '"') {
            at++;
            if (!unescape(&at, end, scratch, &field.size)) return "a quote is never closed";
            field.data = scratch;
            scratch += field.size;
            if (at < end && *at != ',') return "text after the closing quote of a field";
        } else {
            const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
            at = comma == NULL ? end : comma;
            field.size = (size_t)(at - field.data);
            if (field.size > 0 && memchr(field.data, '"', field.size) != NULL)
                return "a quote inside an unquoted field";
        }
        if (*count < room) fields[*count] = field;
        ++*count;
        if (at == end) return NULL;
    }
}
