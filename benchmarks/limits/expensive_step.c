/* expensive_step.dfl by hand: expensive_step INPUT OUTPUT */
#include "limit.h"

#include "yield.h"

typedef struct result {
    int64_t key;
    double yield;
} result;

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const quote *quotes = (const quote *)file.data;
    size_t count = file.size / sizeof *quotes;
    output *out = create(argv[2]);
    for (size_t i = 0; i < count; i++) {
        if (i * sizeof *quotes % AHEAD == 0) touch(&file, i * sizeof *quotes);
        result r = {quotes[i].key, yield_of(quotes[i].price)};
        memcpy(room(out, sizeof r), &r, sizeof r);
        out->used += sizeof r;
    }
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(out);
    return 0;
}
