/* Words without punctuation, and the most frequent word of a window. */
#include "word_count.h"

#include <stdlib.h>

static bool is_letter(char c)
{
    /* Bytes above 127 are part of letters that have no small form here. */
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 128;
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Letters from the first to the last one; what stands between (it's, well-known) stays. */
bool clean_word(const word_count_Piece *tuple, word_count_Word *result)
{
    dfrt_slice piece = dfrt_text_of(&tuple->piece);
    size_t from = 0, to = piece.size;
    while (from < to && !is_letter(piece.data[from])) from++;
    while (to > from && !is_letter(piece.data[to - 1])) to--;
    char word[sizeof tuple->piece.data];
    for (size_t i = from; i < to; i++) {
        word[i - from] = small(piece.data[i]);
    }
    return to > from && dfrt_symbol_intern(word, to - from, &result->word) == DFRT_OK;
}

static int by_number(const void *left, const void *right)
{
    dfrt_symbol a = *(const dfrt_symbol *)left, b = *(const dfrt_symbol *)right;
    return (a > b) - (a < b);
}

/* Numbers of symbols depend on which was seen first, anywhere: equal counts are settled by the words themselves. */
static bool is_better(dfrt_symbol word, int64_t n, const word_count_Top *best)
{
    return n > best->n || (n == best->n && dfrt_symbol_compare(word, best->word) < 0);
}

bool most_frequent(const word_count_top_window *window, word_count_Top *result)
{
    dfrt_symbol *words = malloc(window->count * sizeof *words);
    if (words == NULL) return false;
    for (size_t i = 0; i < window->count; i++) {
        words[i] = window->tuples[i].word;
    }
    qsort(words, window->count, sizeof *words, by_number);
    for (size_t i = 0, first = 0; i < window->count; first = i) {
        while (i < window->count && words[i] == words[first]) i++;
        result->distinct++;
        if (is_better(words[first], (int64_t)(i - first), result)) {
            result->word = words[first];
            result->n = (int64_t)(i - first);
        }
    }
    free(words);
    return true;
}
