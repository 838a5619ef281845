/* expensive_panes.dfl by hand: expensive_panes INPUT OUTPUT
 *
 * A window of 1000 is five panes of 200 tuples. Each tuple is added to one pane; a window is five panes added up. */
#include "keyed.h"

#include "density.h"

enum { SLIDE = 200, PANES = 5 };

typedef struct group {
    uint32_t now, tuples, full; /* the pane that is being filled, what is in it, how many are full */
    density panes[PANES];
} group;

typedef struct result {
    int64_t key;
    double peak;
} result;

static void end_pane(group *g, int64_t key, output *out)
{
    g->tuples = 0;
    g->full++;
    if (g->full >= PANES) {
        density whole = g->panes[0];
        for (int i = 1; i < PANES; i++) density_join(&whole, &g->panes[i]);
        result r = {key, density_peak(&whole)};
        memcpy(room(out, sizeof r), &r, sizeof r);
        out->used += sizeof r;
    }
    g->now = (g->now + 1) % PANES;
    memset(&g->panes[g->now], 0, sizeof g->panes[g->now]);
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
        density_put(&g->panes[g->now], quotes[i].price);
        if (UNLIKELY(++g->tuples == SLIDE)) end_pane(g, quotes[i].key, out);
    }
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(out);
    return 0;
}
