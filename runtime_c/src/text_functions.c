#define _GNU_SOURCE
#include "dfrt/text_functions.h"

#include <stdlib.h>

bool dfrt_text_contains(dfrt_slice text, dfrt_slice part)
{
    return part.size == 0 || dfrt__split_find(text, part) != NULL;
}

bool dfrt_text_starts_with(dfrt_slice text, dfrt_slice start)
{
    return start.size <= text.size && dfrt_text_equal((dfrt_slice){text.data, start.size}, start);
}

bool dfrt_text_ends_with(dfrt_slice text, dfrt_slice end)
{
    return end.size <= text.size &&
           dfrt_text_equal((dfrt_slice){text.data + (text.size - end.size), end.size}, end);
}

/* An expression holds few changed texts at a time: eight turns of a fixed scratch are enough. A text that is
 * longer than a turn goes to the symbol table, which keeps it for good. */
enum { TURNS = 8, TURN_BYTES = 4096 };

static dfrt_slice changed(dfrt_slice text, char first, char last, int shift)
{
    static _Thread_local char scratch[TURNS][TURN_BYTES];
    static _Thread_local unsigned turn;
    char *room = scratch[turn++ % TURNS];
    char *large = NULL;
    if (text.size > TURN_BYTES) {
        room = large = malloc(text.size);
        if (large == NULL) {
            dfrt_out_of_memory();
        }
    }
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        room[i] = (char)(c >= first && c <= last ? c + shift : c);
    }
    dfrt_slice result = {room, text.size};
    if (large != NULL) {
        result = dfrt_symbol_text(dfrt_intern(result));
        free(large);
    }
    return result;
}

dfrt_slice dfrt_text_lower(dfrt_slice text) { return changed(text, 'A', 'Z', 'a' - 'A'); }
dfrt_slice dfrt_text_upper(dfrt_slice text) { return changed(text, 'a', 'z', 'A' - 'a'); }

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

dfrt_slice dfrt_text_trim(dfrt_slice text)
{
    while (text.size > 0 && is_space(text.data[0])) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && is_space(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}
