#include "dfrt/index.h"

#include <stdbool.h>

#include "dfrt/store.h"

enum { FEWEST_LINES = 8 };

static bool is_full(const dfrt_index_line *line)
{
    return line->groups[DFRT_LINE_GROUPS - 1] != 0;
}

static void add(dfrt_index_line *line, uint32_t hash, uint32_t group)
{
    uint32_t slot = 0;
    while (line->groups[slot] != 0) slot++;
    line->hashes[slot] = hash;
    line->groups[slot] = group;
}

/* The last one of the line takes its place. */
static void take_out(dfrt_index_line *line, uint32_t slot)
{
    uint32_t last = DFRT_LINE_GROUPS - 1;
    while (line->groups[last] == 0) last--;
    line->hashes[slot] = line->hashes[last];
    line->groups[slot] = line->groups[last];
    line->hashes[last] = line->groups[last] = 0;
}

static void place(dfrt_index *index, uint32_t hash, uint32_t group)
{
    uint32_t at = hash & index->mask;
    while (is_full(&index->lines[at])) at = (at + 1) & index->mask;
    add(&index->lines[at], hash, group);
}

/* --- growing ---------------------------------------------------------------------------------------- */

static size_t bytes(const dfrt_index *index)
{
    return ((size_t)index->mask + 1) * sizeof *index->lines;
}

/* What is in a line comes to one of two, so that both memories are gone through from their beginnings to their ends. */
static void grow(dfrt_index *index)
{
    dfrt_index old = *index;
    index->mask = old.lines == NULL ? FEWEST_LINES - 1 : 2 * old.mask + 1;
    index->lines = dfrt_pages_take(bytes(index));
    for (size_t slot = 0; slot < dfrt_index_size(&old); slot++) {
        uint32_t group = dfrt_index_at(&old, slot);
        if (group != 0) place(index, old.lines[slot / DFRT_LINE_GROUPS].hashes[slot % DFRT_LINE_GROUPS], group);
    }
    dfrt_index_close(&old);
}

/* Half full: of a thousand groups four at most then have no room in their own line. */
static bool needs_room(const dfrt_index *index)
{
    return index->lines == NULL || index->used >= dfrt_index_size(index) / 2;
}

void dfrt_index_insert(dfrt_index *index, uint32_t hash, uint32_t group)
{
    if (needs_room(index)) grow(index);
    index->used++;
    place(index, hash, group);
}

void dfrt_index_close(dfrt_index *index)
{
    if (index->lines != NULL) dfrt_pages_release(index->lines, bytes(index));
}

/* --- removing --------------------------------------------------------------------------------------- */

/* A slot of a line that may move to an earlier one: its search begins there or before; DFRT_LINE_GROUPS if there is none. */
static uint32_t movable(const dfrt_index *index, uint32_t at, uint32_t to)
{
    const dfrt_index_line *line = &index->lines[at];
    for (uint32_t slot = 0; slot < DFRT_LINE_GROUPS && line->groups[slot] != 0; slot++) {
        uint32_t home = line->hashes[slot] & index->mask;
        if (((at - home) & index->mask) >= ((at - to) & index->mask)) return slot;
    }
    return DFRT_LINE_GROUPS;
}

/* A line was full and is not any more: what went past it comes back, so that no search ends early. */
static void fill_up(dfrt_index *index, uint32_t hole)
{
    bool more = true;
    for (uint32_t at = (hole + 1) & index->mask; more; at = (at + 1) & index->mask) {
        dfrt_index_line *line = &index->lines[at];
        uint32_t slot = movable(index, at, hole);
        more = is_full(line);
        if (slot < DFRT_LINE_GROUPS) {
            add(&index->lines[hole], line->hashes[slot], line->groups[slot]);
            take_out(line, slot);
            hole = at;
        }
    }
}

void dfrt_index_remove(dfrt_index *index, uint32_t hash, uint32_t group)
{
    dfrt_seek seek = dfrt_index_seek(index, hash);
    while (dfrt_index_next(index, &seek) != group) {
    }
    dfrt_index_line *line = &index->lines[seek.at];
    uint32_t slot = 0;
    while (line->groups[slot] != group) slot++;
    bool was_full = is_full(line);
    take_out(line, slot);
    index->used--;
    if (was_full) fill_up(index, seek.at);
}
