/* The yield of a bond with a price: the rate at which 40 coupons of 6 and 100 at the end are worth it, by bisection. */
#ifndef YIELD_H
#define YIELD_H

enum { YIELD_COUPONS = 40, YIELD_STEPS = 30 };

static inline double yield_of(double price)
{
    double low = 0.0, high = 1.0;
    for (int step = 0; step < YIELD_STEPS; step++) {
        double rate = 0.5 * (low + high), shrink = 1.0 / (1.0 + rate), worth = 100.0;
        for (int i = 0; i < YIELD_COUPONS; i++) worth = (worth + 6.0) * shrink;
        low = worth > price ? rate : low;
        high = worth > price ? high : rate;
    }
    return 0.5 * (low + high);
}

#endif
