#define _GNU_SOURCE
#include <dfrt/rates.h>

#include <dfrt/number.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_RATE = 1e10, MOST_SECONDS = 9e9, MOST_KEYS = 1e8;
static const char BLANKS[] = " \t\r\n";

/* --- numbers of a file, line by line --------------------------------------------------------------------- */

typedef struct text_file {
    FILE *stream;
    const char *path, *what;
    char *line;
    size_t room, number;
} text_file;

static dfrt_status open_text(text_file *file, const char *path, const char *what, dfrt_error *error)
{
    *file = (text_file){.stream = fopen(path, "re"), .path = path, .what = what};
    if (file->stream != NULL) return DFRT_OK;
    return dfrt_fail(error, DFRT_IO, "can't read the %s '%s': %s", what, path, strerror(errno));
}

static void close_text(text_file *file)
{
    free(file->line);
    (void)fclose(file->stream); /* it was only read */
}

static dfrt_status refuse_line(const text_file *file, const char *expected, dfrt_error *error)
{
    return dfrt_fail(error, DFRT_USAGE, "%s '%s', line %zu: expected %s", file->what, file->path, file->number,
                     expected);
}

/* The next line with words in it; NULL at the end. */
static char *next_line(text_file *file)
{
    while (getline(&file->line, &file->room, file->stream) >= 0) {
        file->number++;
        char *words = file->line + strspn(file->line, BLANKS);
        if (*words != '\0' && *words != '#') return words;
    }
    return NULL;
}

/* The next number of a line, and the words behind it; 0 at its end, -1 for what is no number. */
static int next_number(char **words, double *out)
{
    *words += strspn(*words, BLANKS);
    size_t size = strcspn(*words, BLANKS);
    if (size == 0) return 0;
    bool good = dfrt_parse_f64(*words, size, out) && isfinite(*out);
    *words += size;
    return good ? 1 : -1;
}

static dfrt_status read_failed(const text_file *file, dfrt_error *error)
{
    if (ferror(file->stream) == 0) return DFRT_OK;
    return dfrt_fail(error, DFRT_IO, "can't read the %s '%s': %s", file->what, file->path, strerror(errno));
}

/* An array with room for one more: it doubles whenever `count` is a power of two. */
static void *with_room(void *array, size_t count, size_t size, dfrt_error *error)
{
    if ((count & (count - 1)) != 0) return array;
    void *larger = realloc(array, (count > 0 ? 2 * count : 1) * size);
    if (larger == NULL) (void)dfrt_fail(error, DFRT_MEMORY, "no memory for the numbers of a file");
    return larger;
}

/* --- rates ----------------------------------------------------------------------------------------------- */

static uint64_t even_tuples(const dfrt_rate_step *step)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(step->end_ns - step->start_ns) * step->rate;
    return (uint64_t)((product + 999999999) / 1000000000);
}

static dfrt_status add_step(dfrt_rates *rates, double seconds, double rate, const text_file *file, dfrt_error *error)
{
    if (!(rate >= 0 && rate <= MOST_RATE && fabs(seconds) <= MOST_SECONDS))
        return refuse_line(file, "SECOND RATE, a rate from 0 to 10000000000", error);
    dfrt_rate_step *steps = with_room(rates->steps, rates->count, sizeof *steps, error);
    if (steps == NULL) return DFRT_MEMORY;
    rates->steps = steps;
    /* Until all are read, start_ns is a signed number; unsigned arithmetic gives the same differences. */
    uint64_t start = (uint64_t)(int64_t)floor(seconds * 1e9 + 0.5);
    if (rates->count > 0 && (int64_t)(start - steps[rates->count - 1].start_ns) <= 0)
        return refuse_line(file, "a second after that of the line before", error);
    steps[rates->count++] = (dfrt_rate_step){.start_ns = start, .rate = (uint64_t)floor(rate + 0.5)};
    return DFRT_OK;
}

/* One number or two. */
static int line_numbers(char *words, double *one, double *other)
{
    double more;
    if (next_number(&words, one) != 1) return -1;
    int second = next_number(&words, other);
    return second == 0 ? 1 : second == 1 && next_number(&words, &more) == 0 ? 2 : -1;
}

/* A rate a line, for a second each, or lines of SECOND RATE: the second line tells. A single number before those is how many
 * follow. */
static dfrt_status read_steps(dfrt_rates *rates, text_file *file, dfrt_error *error)
{
    dfrt_status status = DFRT_OK;
    double alone = NAN, one, other;
    bool counted = false; /* a rate a line */
    char *words;
    while (status == DFRT_OK && (words = next_line(file)) != NULL) {
        int numbers = line_numbers(words, &one, &other);
        if (numbers < 0 || (counted && numbers == 2)) return refuse_line(file, counted ? "one rate" : "SECOND RATE", error);
        if (numbers == 2) {
            alone = NAN;
            status = add_step(rates, one, other, file, error);
        } else if (rates->count == 0 && isnan(alone)) {
            alone = one;
        } else if (rates->count > 0 && !counted) {
            return refuse_line(file, "SECOND RATE", error);
        } else {
            status = counted ? DFRT_OK : add_step(rates, 0, alone, file, error);
            counted = true;
            if (status == DFRT_OK) status = add_step(rates, (double)rates->count, one, file, error);
        }
    }
    if (status == DFRT_OK && rates->count == 0 && !isnan(alone)) status = add_step(rates, 0, alone, file, error);
    return status == DFRT_OK ? read_failed(file, error) : status;
}

/* Ends and numbers of tuples, with time counted from the first line. */
static void complete_steps(dfrt_rates *rates)
{
    uint64_t origin = rates->steps[0].start_ns;
    for (size_t i = 0; i < rates->count; i++) rates->steps[i].start_ns -= origin;
    for (size_t i = 0; i < rates->count; i++) {
        dfrt_rate_step *step = &rates->steps[i];
        bool last = i + 1 == rates->count;
        step->end_ns = last ? 2 * step->start_ns - (i > 0 ? rates->steps[i - 1].start_ns : 0) : step[1].start_ns;
        if (rates->count == 1) step->end_ns = UINT64_MAX;
        step->tuples = rates->count == 1 && step->rate > 0 ? UINT64_MAX : even_tuples(step);
    }
}

dfrt_status dfrt_rates_one(dfrt_rates *rates, uint64_t rate, dfrt_error *error)
{
    rates->steps = malloc(sizeof *rates->steps);
    if (rates->steps == NULL) return dfrt_fail(error, DFRT_MEMORY, "no memory for a rate");
    *rates->steps = (dfrt_rate_step){.end_ns = UINT64_MAX, .rate = rate, .tuples = UINT64_MAX};
    rates->count = 1;
    return DFRT_OK;
}

dfrt_status dfrt_rates_read(dfrt_rates *rates, const char *path, dfrt_error *error)
{
    text_file file;
    *rates = (dfrt_rates){NULL, 0};
    dfrt_status status = open_text(&file, path, "rates", error);
    if (status != DFRT_OK) return status;
    status = read_steps(rates, &file, error);
    if (status == DFRT_OK && rates->count == 0)
        status = dfrt_fail(error, DFRT_USAGE, "rates '%s': no rate in it", path);
    close_text(&file);
    if (status == DFRT_OK) complete_steps(rates);
    else dfrt_rates_free(rates);
    return status;
}

void dfrt_rates_free(dfrt_rates *rates)
{
    free(rates->steps);
    *rates = (dfrt_rates){NULL, 0};
}

/* --- weights --------------------------------------------------------------------------------------------- */

static dfrt_status add_weights(double **weights, size_t *count, char *words, const text_file *file, dfrt_error *error)
{
    double weight;
    for (int found; (found = next_number(&words, &weight)) != 0;) {
        if (found < 0 || weight < 0) return refuse_line(file, "numbers that are not negative", error);
        if ((double)*count >= MOST_KEYS) return refuse_line(file, "at most 100000000 keys", error);
        double *larger = with_room(*weights, *count, sizeof **weights, error);
        if (larger == NULL) return DFRT_MEMORY;
        *weights = larger;
        larger[(*count)++] = weight;
    }
    return DFRT_OK;
}

static bool sums_up(const double *weights, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) total += weights[i];
    return total > 0 && isfinite(total);
}

dfrt_status dfrt_weights_read(double **weights, size_t *count, const char *path, dfrt_error *error)
{
    text_file file;
    *weights = NULL;
    *count = 0;
    dfrt_status status = open_text(&file, path, "weights", error);
    if (status != DFRT_OK) return status;
    for (char *words; status == DFRT_OK && (words = next_line(&file)) != NULL;)
        status = add_weights(weights, count, words, &file, error);
    if (status == DFRT_OK) status = read_failed(&file, error);
    if (status == DFRT_OK && !sums_up(*weights, *count))
        status = dfrt_fail(error, DFRT_USAGE, "weights '%s': no number above 0", path);
    close_text(&file);
    if (status != DFRT_OK) {
        free(*weights);
        *weights = NULL;
    }
    return status;
}
