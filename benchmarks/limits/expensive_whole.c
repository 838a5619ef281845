/* expensive_whole.dfl by hand: expensive_whole INPUT OUTPUT
 *
 * Prices of a key in an array of twice the window: when it is full, the last 800 go to the front. */
#include "keyed.h"

#include "mode.h"

enum { WINDOW = 1000, SLIDE = 200, ROOM = 2 * WINDOW };

typedef struct group {
    uint32_t at, complete; /* where the next price goes, and where the next window is complete */
    double prices[ROOM];
} group;

typedef struct result {
    int64_t key;
    double mode;
} result;

static void emit(group *g, int64_t key, output *out)
{
    result r = {key, mode_of(g->prices + g->at - WINDOW, WINDOW)};
    memcpy(room(out, sizeof r), &r, sizeof r);
    out->used += sizeof r;
    g->complete += SLIDE;
    if (g->complete <= ROOM) return;
    memmove(g->prices, g->prices + g->at - (WINDOW - SLIDE), (WINDOW - SLIDE) * sizeof(double));
    g->at = WINDOW - SLIDE;
    g->complete = WINDOW;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const quote *quotes = (const quote *)file.data;
    size_t count = file.size / sizeof *quotes;
    table keys = new_table(1 << 12);
    rooms groups = {0};
    output *out = create(argv[2]);
    for (size_t i = 0; i < count; i++) {
        if (i * sizeof *quotes % AHEAD == 0) touch(&file, i * sizeof *quotes);
        group *g = room_of(&groups, group_of(&keys, quotes[i].key), sizeof *g);
        if (UNLIKELY(g->complete == 0)) g->complete = WINDOW;
        g->prices[g->at++] = quotes[i].price;
        if (UNLIKELY(g->at == g->complete)) emit(g, quotes[i].key, out);
    }
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(out);
    return 0;
}
