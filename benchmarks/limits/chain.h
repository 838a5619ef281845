/* The sums over 100,000 tuples that both chains end in, fed with compacted columns. */
#ifndef CHAIN_H
#define CHAIN_H

#include <dfrt/number.h>

#include "limit.h"

enum { BLOCK = 512, WINDOW = 100000 };

typedef struct sums {
    int64_t n;
    double value, cost;
    bool known; /* some cost was no NaN */
    output *out;
} sums;

static inline void begin(sums *s)
{
    s->n = 0;
    s->value = 0.0;
    s->cost = -INFINITY; /* every number beats it, NaN does not */
    s->known = false;
}

static inline void release(sums *s)
{
    char *start = room(s->out, 3 * DFRT_NUMBER_ROOM + 3), *at = start;
    at += dfrt_format_i64(s->n, at);
    *at++ = ',';
    at += dfrt_format_f64(s->value, at);
    *at++ = ',';
    at += dfrt_format_f64(s->known ? s->cost : NAN, at);
    *at++ = '\n';
    s->out->used += (size_t)(at - start);
    begin(s);
}

static inline void open_sums(sums *s, const char *path)
{
    static const char header[] = "n,value,cost\n";
    s->out = create(path);
    memcpy(room(s->out, sizeof header), header, sizeof header - 1);
    s->out->used += sizeof header - 1;
    begin(s);
}

/* One tuple of the chain: written always, counted when it passes the filter. No branch to mispredict. */
static inline size_t chain(double bid, double ask, int32_t size, double *value, double *cost, size_t kept)
{
    double spread = ask - bid;
    value[kept] = (bid + ask) / 2.0 * size;
    cost[kept] = spread * size;
    return kept + (spread > 0.0 && size >= 100);
}

/* The order of the additions is that of the stream; maxima have no order. */
static inline void add(sums *s, const double *value, const double *cost, size_t count)
{
    for (size_t from = 0; from < count;) {
        size_t left = (size_t)(WINDOW - s->n), to = count - from < left ? count : from + left;
        double sum = s->value, high = s->cost;
        bool known = s->known;
        for (size_t i = from; i < to; i++) {
            sum += value[i];
            high = cost[i] > high ? cost[i] : high;
            known |= cost[i] == cost[i];
        }
        s->known = known;
        s->value = sum;
        s->cost = high;
        s->n += (int64_t)(to - from);
        if (s->n == WINDOW) release(s);
        from = to;
    }
}

#endif
