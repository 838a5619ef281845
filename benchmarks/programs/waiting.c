/* The mean of a window, and a pause in place of an expensive computation: more workers than cores then behave as if each
 * had a core of its own. */
#include "migration.h"

#include <time.h>

enum { WAIT_NS = 300000 };

bool wait_a_little(const migration_slow_only_columns *window, migration_Result *result)
{
    double sum = 0;
    for (size_t i = 0; i < window->count; i++) {
        sum += window->price[i];
    }
    result->key = window->key.key;
    result->mean = sum / (double)window->count;
    struct timespec pause = {.tv_nsec = WAIT_NS};
    (void)nanosleep(&pause, NULL); /* a shorter pause does too */
    return true;
}
