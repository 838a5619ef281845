#include "pairs.h"

bool spread(const pairs_twos_window *window, pairs_Pair *result)
{
    result->name = window->tuples[0].name;
    result->first = window->tuples[0].x;
    result->second = window->tuples[window->count - 1].x;
    return true;
}
