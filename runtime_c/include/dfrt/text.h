/* Texts of the language as slices: length, order, storing into a text<N> field, splitting.
 *
 * Threads:   pure functions; a dfrt_split belongs to one thread.
 * Ownership: slices borrow; pieces point into the text that is split.
 * Progress:  nothing waits.
 */
#ifndef DFRT_TEXT_H
#define DFRT_TEXT_H

#include <dfrt/record.h>
#include <dfrt/utf8.h>

#include <string.h>

/* Characters, not bytes. */
static inline int64_t dfrt_text_length(dfrt_slice text)
{
    return (int64_t)dfrt_utf8_length(text.data, text.size);
}

/* Negative, zero or positive: bytewise, a prefix before what it begins. */
static inline int dfrt_text_compare(dfrt_slice a, dfrt_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static inline bool dfrt_text_equal(dfrt_slice a, dfrt_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* A text<N> field as a slice: it begins with its size. */
static inline dfrt_slice dfrt_text_of(const void *field)
{
    uint32_t size;
    memcpy(&size, field, sizeof size);
    return (dfrt_slice){(const char *)field + sizeof size, size};
}

/* Stores what fits, cut between two characters; false when something was cut off. The text may lie in the field. */
static inline bool dfrt_text_assign(void *field, uint32_t capacity, dfrt_slice text)
{
    char *data = (char *)field + sizeof(uint32_t);
    uint32_t size = (uint32_t)dfrt_utf8_cut(text.data, text.size, capacity);
    if (size > 0) memmove(data, text.data, size);
    memset(data + size, 0, capacity - size);
    memcpy(field, &size, sizeof size);
    return size == text.size;
}

/* For generated parsers: valid UTF-8 of at most `capacity` bytes. */
static inline bool dfrt_parse_text(const char *bytes, size_t size, void *field, uint32_t capacity)
{
    if (size > capacity || !dfrt_utf8_valid(bytes, size)) return false;
    return dfrt_text_assign(field, capacity, (dfrt_slice){bytes, size});
}

/* For generated decoders: `capacity` bytes, padded with zeros, into a field. Zeros before the last byte that is none
 * belong to the text. */
static inline bool dfrt_text_decode(const unsigned char *packed, void *field, uint32_t capacity)
{
    size_t size = capacity;
    while (size > 0 && packed[size - 1] == 0) size--;
    return dfrt_parse_text((const char *)packed, size, field, capacity);
}

/* The pieces of a text between separators, empty ones included; an empty separator leaves the text whole:
 *     for (dfrt_split s = dfrt_split_begin(text, separator); dfrt_split_next(&s, &piece);) … */
typedef struct dfrt_split {
    dfrt_slice rest, separator;
    bool done;
} dfrt_split;

static inline dfrt_split dfrt_split_begin(dfrt_slice text, dfrt_slice separator)
{
    return (dfrt_split){text, separator, false};
}

/* Where the separator is next, or NULL. */
static inline const char *dfrt__split_find(dfrt_slice rest, dfrt_slice separator)
{
    if (separator.size == 0) return NULL;
    while (rest.size >= separator.size) {
        const char *hit = (const char *)memchr(rest.data, separator.data[0], rest.size - separator.size + 1);
        if (hit == NULL || memcmp(hit, separator.data, separator.size) == 0) return hit;
        rest.size -= (size_t)(hit + 1 - rest.data);
        rest.data = hit + 1;
    }
    return NULL;
}

static inline bool dfrt_split_next(dfrt_split *split, dfrt_slice *piece)
{
    if (split->done) return false;
    *piece = split->rest;
    const char *hit = dfrt__split_find(split->rest, split->separator);
    if (hit == NULL) return split->done = true, true;
    piece->size = (size_t)(hit - split->rest.data);
    split->rest.size -= piece->size + split->separator.size;
    split->rest.data = hit + split->separator.size;
    return true;
}

#endif
