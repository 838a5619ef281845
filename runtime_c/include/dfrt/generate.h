/* Synthetic tuples: what `generate:key=value,…` means, exactly, so that any language can make the same ones.
 *
 *     count=N        tuples, without end by default; N and rate take the suffixes k and M
 *     rate=N         tuples a second of event time, 1000000 by default; "/s" may follow; a whole number up to 10**10
 *     rates=FILE     instead of rate: rates that change, as rates.h says; the tuples end with the last one
 *     arrivals=even  or poisson: by chance, with exponential gaps; even by default
 *     paced=true     also in real time: no tuple is handed out before its time has passed; false by default
 *     start=T        event time of tuple 0, in the unit of the event-time field; 1700000000 s by default
 *     keys=N         how many keys there are, 1000 by default
 *     zipf=S         exponent of their distribution, 0 (uniform) by default; see dfrt_zipf in random.h
 *     weights=FILE   instead of keys and zipf: the weight of each key, as rates.h says
 *     disorder=D     a duration such as 200ms (ns us ms s min h d): tuples are up to D older than their place says
 *     seed=N         1 by default
 *     FIELD=LOW..HIGH  uniform numbers, both ends included for whole ones, HIGH excluded for floats
 *
 * A field named like one of the other keys can't be given a range. The recipe, with `next` a draw of SplitMix64 that
 * was seeded once with `seed` (random.h), `below(n)` = (next * n) >> 64, and Python's // as division:
 *
 *     for i = 0, 1, … count-1:
 *         time = start * unit_ns + i * 10**9 // rate               # nanoseconds; with rates: as rates.h says
 *         if arrivals is poisson: time = start * unit_ns + floor(position), see below
 *         if disorder > 0: time -= below(disorder_ns + 1)
 *         for each field in the record's order:
 *             the event-time field, and other timestamps without a range:   time // unit_ns of the field
 *             whole numbers, timestamps, durations with a range:   LOW + below(HIGH - LOW + 1)
 *             floats with a range:      LOW + (HIGH - LOW) * ((next >> 11) * 2**-53), in double precision
 *             floats without:           (next >> 11) * 2**-53
 *             bools:                    next >> 63
 *             others without a range:   key = below(keys), or with zipf the draw of dfrt_zipf;
 *                                       whole numbers and durations: key; symbols and texts: "k" and the key
 *
 * poisson: position is a double that begins at 0. Before each tuple, work = -log1p(-((next >> 11) * 2**-53)); while a
 * rate r holds until E, need = work * 1e9 / r (infinite for r = 0); if need < E - position, position += need and there
 * is the tuple; else work -= (E - position) * r / 1e9, position = E, and the next rate holds. In double precision.
 * weights: the table of dfrt_zipf with these weights.
 *
 * An f32 is the double, rounded. 64-bit arithmetic wraps.
 *
 * Threads, Ownership, Progress: as source.h; nothing is declared here but the specification's parsed form.
 */
#ifndef DFRT_GENERATE_H
#define DFRT_GENERATE_H

#include <dfrt/random.h>
#include <dfrt/rates.h>
#include <dfrt/record.h>
#include <dfrt/status.h>

typedef enum dfrt_recipe {
    DFRT_RECIPE_TIME,
    DFRT_RECIPE_WHOLE, /* in a range */
    DFRT_RECIPE_FLOAT, /* in a range, [0, 1) without one */
    DFRT_RECIPE_COIN,
    DFRT_RECIPE_KEY,
} dfrt_recipe;

typedef struct dfrt_generate_field {
    dfrt_recipe recipe;
    uint64_t draw;              /* its number among those of a tuple; a time has none */
    uint64_t low, span;         /* WHOLE: low + below(span), in two's complement */
    double low_float, width;    /* FLOAT */
} dfrt_generate_field;

typedef struct dfrt_generate_plan {
    uint64_t count; /* UINT64_MAX: without end */
    uint64_t rate, keys, seed, disorder_ns;
    int64_t start_ns;
    double zipf;
    bool paced, by_chance;
    dfrt_rates rates;  /* a single one without end unless a file has others */
    double *weights;   /* [keys]; NULL unless a file has them */
    uint64_t draws; /* of one tuple; the first ones are for the gap and the disorder, if there are any */
    dfrt_generate_field *fields; /* one a field of the record */
} dfrt_generate_plan;

/* Reads the text behind "generate:". event_time is the index of the field or -1. */
dfrt_status dfrt_generate_parse(dfrt_generate_plan *plan, const char *text, const dfrt_record *record, int event_time,
                                dfrt_error *error);
void dfrt_generate_free(dfrt_generate_plan *plan);

#endif
