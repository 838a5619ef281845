/* chain_file.dfl by hand: chain_file INPUT OUTPUT */
#include "chain.h"

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const quote *quotes = (const quote *)file.data;
    size_t count = file.size / sizeof *quotes;
    static double value[BLOCK + 1], cost[BLOCK + 1];
    sums s;
    open_sums(&s, argv[2]);
    for (size_t from = 0; from < count; from += BLOCK) {
        size_t to = count - from < BLOCK ? count : from + BLOCK, kept = 0;
        if (from * sizeof *quotes % AHEAD == 0) touch(&file, from * sizeof *quotes);
        for (size_t i = from; i < to; i++)
            kept = chain(quotes[i].bid, quotes[i].ask, quotes[i].size, value, cost, kept);
        add(&s, value, cost, kept);
    }
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(s.out);
    return 0;
}
