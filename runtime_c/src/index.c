#include "dfrt/index.h"

#include <stdbool.h>
#include <string.h>

#include "dfrt/store.h"

/* Eight groups a line on average, at most: then one group of fifty has no room in its line. */
enum { FEWEST_BITS = 3, FEWEST_FURTHER = 8, MOST_A_LINE = 8 };

/* --- lines ------------------------------------------------------------------------------------------ */

/* Lines that belong together: all but the last one made are full, and that is the first behind the one where searches
 * begin. */
static dfrt_index_line *line_of(const dfrt_index *index, uint32_t hash)
{
    return &index->lines[hash & index->mask];
}

static dfrt_index_line *behind(const dfrt_index *index, const dfrt_index_line *line)
{
    return line->further == 0 ? NULL : &index->further[line->further - 1];
}

static bool is_full(const dfrt_index_line *line)
{
    return line->words[DFRT_LINE_GROUPS - 1] != 0;
}

static void add(dfrt_index_line *line, uint8_t byte, uint32_t word)
{
    uint32_t slot = dfrt__groups_of(line);
    line->bytes[slot] = byte;
    line->words[slot] = word;
}

static void make_further_room(dfrt_index *index)
{
    uint32_t room = index->further_room == 0 ? FEWEST_FURTHER : 2 * index->further_room;
    dfrt_index_line *lines = dfrt_pages_take(room * sizeof *lines);
    if (index->further != NULL) {
        memcpy(lines, index->further, index->further_made * sizeof *lines);
        dfrt_pages_release(index->further, index->further_room * sizeof *lines);
    }
    index->further = lines;
    index->further_room = room;
}

/* Behind the line where searches begin, which is full. */
static dfrt_index_line *add_further(dfrt_index *index, dfrt_index_line *first)
{
    uint32_t number = index->further_free;
    if (number != 0) {
        index->further_free = index->further[number - 1].further;
    } else {
        if (index->further_made == index->further_room) make_further_room(index);
        number = ++index->further_made;
    }
    dfrt_index_line *line = &index->further[number - 1];
    line->further = first->further;
    first->further = number;
    return line;
}

static void place(dfrt_index *index, uint32_t hash, uint32_t group)
{
    dfrt_index_line *first = line_of(index, hash), *line = first;
    if (is_full(line)) line = behind(index, first);
    if (line == NULL || is_full(line)) line = add_further(index, first);
    add(line, dfrt__index_byte(index, hash), (hash & ~dfrt__index_numbers(index)) | group);
}

/* --- growing ---------------------------------------------------------------------------------------- */

static size_t lines_of(const dfrt_index *index)
{
    return index->lines == NULL ? 0 : (size_t)index->mask + 1;
}

/* All of one line, which come to one of two: `filled` says how many groups these have. Whoever finds his full goes the way
 * of a new one. */
static void divide(dfrt_index *index, const dfrt_index *old, const dfrt_index_line *line, uint32_t at, uint32_t *filled)
{
    uint32_t had = dfrt__index_numbers(old), upper = ~dfrt__index_numbers(index);
    for (uint32_t slot = 0; slot < DFRT_LINE_GROUPS && line->words[slot] != 0; slot++) {
        uint32_t group = line->words[slot] & had, side = line->bytes[slot] & 1u;
        uint32_t hash = (line->words[slot] & ~had) | (uint32_t)line->bytes[slot] << old->bits | at;
        if (filled[side] == DFRT_LINE_GROUPS) {
            place(index, hash, group);
            continue;
        }
        dfrt_index_line *to = line_of(index, hash);
        to->bytes[filled[side]] = dfrt__index_byte(index, hash);
        to->words[filled[side]++] = (hash & upper) | group;
    }
}

/* What is in a line comes to one of two, so that both memories are gone through from their beginnings to their ends. */
static void grow(dfrt_index *index)
{
    dfrt_index old = *index;
    uint32_t bits = old.lines == NULL ? FEWEST_BITS : old.bits + 1;
    *index = (dfrt_index){.mask = (UINT32_C(1) << bits) - 1, .bits = bits, .used = old.used,
                          .most = (size_t)MOST_A_LINE << bits};
    index->lines = dfrt_pages_take(((size_t)index->mask + 1) * sizeof *index->lines);
    for (uint32_t at = 0; at < lines_of(&old); at++) {
        uint32_t filled[2] = {0, 0};
        for (const dfrt_index_line *line = &old.lines[at]; line != NULL; line = behind(&old, line)) {
            divide(index, &old, line, at, filled);
        }
    }
    dfrt_index_close(&old);
}

void dfrt__index_insert_slowly(dfrt_index *index, uint32_t hash, uint32_t group)
{
    while (index->used >= index->most || group > dfrt__index_numbers(index)) grow(index);
    index->used++;
    place(index, hash, group);
}

void dfrt_index_close(dfrt_index *index)
{
    if (index->lines != NULL) dfrt_pages_release(index->lines, lines_of(index) * sizeof *index->lines);
    if (index->further != NULL) dfrt_pages_release(index->further, index->further_room * sizeof *index->further);
}

/* --- removing --------------------------------------------------------------------------------------- */

/* The place of a word in a line; DFRT_LINE_GROUPS if it has none. */
static uint32_t slot_of(const dfrt_index_line *line, uint8_t byte, uint32_t word)
{
    uint32_t slot = 0;
    while (slot < DFRT_LINE_GROUPS && (line->words[slot] != word || line->bytes[slot] != byte)) slot++;
    return slot;
}

/* The last one of `from` goes to a slot, which may be its own. */
static void fill(dfrt_index_line *line, uint32_t slot, dfrt_index_line *from)
{
    uint32_t last = dfrt__groups_of(from) - 1;
    line->bytes[slot] = from->bytes[last];
    line->words[slot] = from->words[last];
    from->bytes[last] = 0;
    from->words[last] = 0;
}

void dfrt_index_remove(dfrt_index *index, uint32_t hash, uint32_t group)
{
    uint8_t byte = dfrt__index_byte(index, hash);
    uint32_t word = (hash & ~dfrt__index_numbers(index)) | group, slot;
    dfrt_index_line *first = line_of(index, hash), *line = first, *made_last = behind(index, first);
    while ((slot = slot_of(line, byte, word)) == DFRT_LINE_GROUPS) line = behind(index, line);
    fill(line, slot, made_last != NULL ? made_last : first);
    index->used--;
    if (made_last != NULL && dfrt__groups_of(made_last) == 0) {
        uint32_t number = first->further;
        first->further = made_last->further;
        made_last->further = index->further_free;
        index->further_free = number;
    }
}

/* --- all of them ------------------------------------------------------------------------------------ */

size_t dfrt_index_size(const dfrt_index *index)
{
    return (lines_of(index) + index->further_made) * DFRT_LINE_GROUPS;
}

uint32_t dfrt_index_at(const dfrt_index *index, size_t slot)
{
    size_t line = slot / DFRT_LINE_GROUPS, lines = lines_of(index);
    const dfrt_index_line *found = line < lines ? &index->lines[line] : &index->further[line - lines];
    return found->words[slot % DFRT_LINE_GROUPS] & dfrt__index_numbers(index);
}
