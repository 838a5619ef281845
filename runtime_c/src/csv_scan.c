#include "csv_scan.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 16 };

/* One bit a byte of the block at `at`: set where a comma, a quote or a newline stands. */
static unsigned marks_of(const char *at)
{
#ifdef __SSE2__
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i hits = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8(',')),
                                             _mm_cmpeq_epi8(block, _mm_set1_epi8('\n'))),
                                _mm_cmpeq_epi8(block, _mm_set1_epi8('"')));
    return (unsigned)_mm_movemask_epi8(hits);
#else
    unsigned marks = 0;
    for (unsigned i = 0; i < BLOCK; i++) marks |= (unsigned)(at[i] == ',' || at[i] == '\n' || at[i] == '"') << i;
    return marks;
#endif
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
        for (unsigned marks = marks_of(data + base); marks != 0; marks &= marks - 1) {
            const char *mark = data + base + (unsigned)__builtin_ctz(marks);
            if (mark >= data + size) return DFRT__CSV_CUT;
            if (*mark == '"') return DFRT__CSV_QUOTE;
            if (*mark == '\n') {
                if (found < room) fields[found] = (dfrt_slice){start, without_return(start, mark)};
                *count = found + 1;
                *length = (size_t)(mark - data);
                return DFRT__CSV_ROW;
            }
            if (found < room) fields[found] = (dfrt_slice){start, (size_t)(mark - start)};
            found++;
            start = mark + 1;
        }
    }
    return DFRT__CSV_CUT;
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
