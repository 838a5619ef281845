#include "yield.h"

#include "expensive_step.h"

bool bond_yield(const expensive_step_Quote *quote, expensive_step_Bond *result)
{
    *result = (expensive_step_Bond){.key = quote->key, .yield = yield_of(quote->price)};
    return true;
}
