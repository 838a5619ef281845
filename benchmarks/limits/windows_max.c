/* windows_max.dfl by hand: windows_max INPUT OUTPUT
 *
 * van Herk and Gil-Werman: the stream is cut into blocks as long as the window. A window is the end of one block and
 * the beginning of the next: the highest of an end is made once a block, backwards; that of a beginning runs along. */
#include "limit.h"

enum { WINDOW = 100000 };

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    mapping file = map_file(argv[1]);
    const quote *quotes = (const quote *)file.data;
    size_t count = file.size / sizeof *quotes, at = 0;
    output *out = create(argv[2]);
    double *block = allocate((WINDOW + 1) * sizeof *block); /* after a block: [i] is the highest of its end from i on */
    double running = NAN;
    bool complete = false; /* a whole block has been seen */
    block[WINDOW] = NAN;
    for (size_t i = 0; i < count; i++) {
        if (i * sizeof *quotes % AHEAD == 0) touch(&file, i * sizeof *quotes);
        double price = quotes[i].price, before = block[at + 1];
        running = price > running || running != running ? price : running;
        block[at] = price; /* the end from here on is not needed any more */
        if (LIKELY(complete) || at + 1 == WINDOW) {
            double high = at + 1 < WINDOW && (before > running || running != running) ? before : running;
            memcpy(room(out, sizeof high), &high, sizeof high);
            out->used += sizeof high;
        }
        if (UNLIKELY(++at == WINDOW)) {
            for (size_t k = WINDOW - 1; k > 0; k--)
                if (block[k] > block[k - 1] || block[k - 1] != block[k - 1]) block[k - 1] = block[k];
            complete = true;
            at = 0;
            running = NAN;
        }
    }
    if (file.size % sizeof *quotes != 0) fprintf(stderr, "the input ends within record %zu\n", count + 1);
    flush(out);
    return 0;
}
