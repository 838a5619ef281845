#include "yield.h"

#include "uneven.h"

enum { DEAR = 128, TIMES = 250 };

/* The mean of the yields around a price, at many places where it is dear. */
bool uneven_yield(const uneven_Quote *quote, uneven_Bond *result)
{
    int places = quote->id % DEAR == 0 ? TIMES : 1;
    double sum = 0.0;
    for (int i = 0; i < places; i++) sum += yield_of(quote->price + 1e-6 * i);
    *result = (uneven_Bond){.key = quote->key, .yield = sum / places};
    return true;
}
