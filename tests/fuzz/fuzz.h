/* What the harnesses share: random numbers, mutations, a file in memory, and the loop that is bounded in time.
 *
 * A harness gives samples and a dictionary, and checks one input. The same seed gives the same inputs; a failure
 * prints the number of the input, and `HARNESS SEED COUNT SECONDS FIRST` begins there.
 */
#ifndef DFC_TESTS_FUZZ_H
#define DFC_TESTS_FUZZ_H

#include <dfrt/random.h>
#include <dfrt/sink.h>
#include <dfrt/source.h>

#include <sys/mman.h>
#include <time.h>

#include "check.h"
#include "sample.h"

/* Straight to the descriptor: what the runtime writes to stderr is thrown away, this is not. */
#undef CHECK
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)dprintf(STDERR_FILENO, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                       \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

enum { FUZZ_ROOM = 4096 };

typedef struct fuzz_input {
    char bytes[FUZZ_ROOM];
    size_t size;
} fuzz_input;

typedef struct fuzz_corpus {
    const dfrt_slice *samples;
    size_t sample_count;
    const dfrt_slice *words; /* pieces that matter to the format */
    size_t word_count;
} fuzz_corpus;

#define SLICE(text) {text, sizeof(text) - 1}
#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline size_t below(dfrt_random *random, size_t limit)
{
    return limit == 0 ? 0 : (size_t)dfrt_random_below(random, limit);
}

/* Replaces bytes[at … at + gone) by the text, as far as there is room. */
static inline void replace(fuzz_input *input, size_t at, size_t gone, const char *text, size_t size)
{
    if (input->size - gone + size > FUZZ_ROOM) return;
    memmove(input->bytes + at + size, input->bytes + at + gone, input->size - at - gone);
    memcpy(input->bytes + at, text, size);
    input->size += size - gone;
}

static inline void mutate_once(fuzz_input *input, const fuzz_corpus *corpus, dfrt_random *random)
{
    size_t at = below(random, input->size + 1), left = input->size - at;
    size_t run = below(random, left < 40 ? left + 1 : 40);
    char copy[64], byte = (char)dfrt_random_next(random);
    const dfrt_slice *word = &corpus->words[below(random, corpus->word_count)];
    const dfrt_slice *sample = &corpus->samples[below(random, corpus->sample_count)];
    switch (below(random, 9)) {
    case 0: if (left > 0) input->bytes[at] = (char)(input->bytes[at] ^ 1 << below(random, 8)); break;
    case 1: if (left > 0) input->bytes[at] = byte; break;
    case 2: replace(input, at, 0, &byte, 1); break;
    case 3: replace(input, at, run, "", 0); break;
    case 4: memcpy(copy, input->bytes + at, run); replace(input, at, 0, copy, run); break;
    case 5: replace(input, at, 0, word->data, word->size); break;
    case 6: replace(input, at, run, word->data, word->size); break;
    case 7: replace(input, at, below(random, 2) * left, sample->data, sample->size); break;
    default: if (below(random, 4) == 0) input->size = at;
    }
}

static inline void make_input(fuzz_input *input, const fuzz_corpus *corpus, dfrt_random *random)
{
    const dfrt_slice *sample = &corpus->samples[below(random, corpus->sample_count)];
    memcpy(input->bytes, sample->data, sample->size);
    input->size = sample->size;
    for (size_t i = below(random, 12); i > 0; i--) mutate_once(input, corpus, random);
}

/* --- a file in memory --- */

typedef struct fuzz_file {
    int fd;
    char path[64];
} fuzz_file;

static inline fuzz_file memory_file(void)
{
    fuzz_file file = {.fd = memfd_create("fuzz", 0)};
    CHECK(file.fd >= 0);
    (void)snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static inline void fill_file(const fuzz_file *file, const char *bytes, size_t size)
{
    CHECK(ftruncate(file->fd, 0) == 0 && pwrite(file->fd, bytes, size, 0) == (ssize_t)size);
}

/* --- what must hold for every record that was accepted --- */

static inline void check_trade(const trade *t)
{
    unsigned char buy;
    memcpy(&buy, &t->buy, 1);
    CHECK(buy <= 1);
    CHECK(t->note.size <= sizeof t->note.data && dfrt_utf8_valid(t->note.data, t->note.size));
    for (size_t i = t->note.size; i < sizeof t->note.data; i++) CHECK(t->note.data[i] == 0);
    CHECK(t->symbol < dfrt_symbol_count());
    dfrt_slice symbol = dfrt_symbol_text(t->symbol);
    CHECK(dfrt_utf8_valid(symbol.data, symbol.size));
}

static inline bool same_trade(const trade *a, const trade *b)
{
    return a->ts == b->ts && a->symbol == b->symbol && a->size == b->size && a->buy == b->buy &&
           (a->price == b->price || (a->price != a->price && b->price != b->price)) && a->note.size == b->note.size &&
           memcmp(a->note.data, b->note.data, sizeof a->note.data) == 0;
}

typedef struct fuzz_result {
    trade trades[512];
    size_t good;
    uint64_t malformed;
    bool opened;
} fuzz_result;

static inline dfrt_source_options fuzz_options(void)
{
    dfrt_source_options options = DFRT_SOURCE_DEFAULTS;
    options.report_limit = 0;
    options.max_row = 200;
    options.quiet = true;
    return options;
}

/* Reads everything, with so many threads that parse ahead; a file never makes us wait. */
static inline void read_as(const char *spec, const dfrt_record *record, unsigned helpers, fuzz_result *result)
{
    dfrt_error error;
    dfrt_source *source;
    dfrt_source_options options = fuzz_options();
    result->good = 0;
    result->malformed = 0;
    result->opened = dfrt_source_open(&source, "fuzz", spec, record, &options, &error) == DFRT_OK;
    if (!result->opened) return;
    bool ahead;
    if (helpers > 0) CHECK(dfrt_source_read_ahead(source, helpers, &ahead, &error) == DFRT_OK);
    dfrt_status status = DFRT_OK;
    while (status == DFRT_OK) {
        size_t count;
        CHECK(result->good < COUNT(result->trades));
        status = dfrt_source_read(source, result->trades + result->good, COUNT(result->trades) - result->good, &count);
        result->good += count;
    }
    CHECK(status == DFRT_END);
    for (size_t i = 0; i < result->good; i++) check_trade(&result->trades[i]);
    result->malformed = dfrt_source_malformed(source);
    CHECK(dfrt_source_close(source, &error) == DFRT_OK);
}

static inline void read_everything(const char *spec, fuzz_result *result)
{
    read_as(spec, &trade_record, 0, result);
}

/* What was accepted is written and read again: the same records. */
static inline void check_round_trip(const char *spec, const fuzz_result *result, fuzz_result *again)
{
    dfrt_error error;
    dfrt_sink *sink;
    CHECK(dfrt_sink_open(&sink, "fuzz", spec, &trade_record, &error) == DFRT_OK);
    for (size_t i = 0; i < result->good; i++) dfrt_sink_write(sink, &result->trades[i]);
    CHECK(dfrt_sink_close(sink, &error) == DFRT_OK);
    read_everything(spec, again);
    /* Escapes and quotes may make a row longer than what is taken. */
    CHECK(again->opened && again->good + again->malformed == result->good);
    if (again->malformed == 0)
        for (size_t i = 0; i < result->good; i++) CHECK(same_trade(&result->trades[i], &again->trades[i]));
}

/* --- the loop --- */

typedef void (*fuzz_check)(const fuzz_input *input, dfrt_random *random);

static inline int fuzz_main(int argc, char **argv, const fuzz_corpus *corpus, fuzz_check check)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    time_t seconds = argc > 3 ? (time_t)strtoull(argv[3], NULL, 10) : 3600, began = time(NULL);
    uint64_t number = argc > 4 ? strtoull(argv[4], NULL, 10) : 0, last = number + count;
    FILE *progress = fopen("progress", "w"); /* a crash leaves the number of its input here */
    FILE *terminal = stderr, *nowhere = fopen("/dev/null", "w");
    CHECK(progress != NULL && nowhere != NULL);
    stderr = nowhere; /* sanitizers write to descriptor 2, not to this */
    for (; number < last && time(NULL) - began < seconds; number++) {
        static fuzz_input input;
        dfrt_random random = dfrt_random_seed(seed * 1000003 + number);
        (void)fseek(progress, 0, SEEK_SET);
        (void)fprintf(progress, "%llu\n", (unsigned long long)number);
        (void)fflush(progress);
        make_input(&input, corpus, &random);
        check(&input, &random);
    }
    stderr = terminal;
    (void)fclose(nowhere);
    (void)fclose(progress);
    printf("%llu\n", (unsigned long long)(number - (last - count)));
    return 0;
}

#endif
