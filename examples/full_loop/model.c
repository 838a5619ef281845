/* A model that answers after eight milliseconds, as one that runs elsewhere would: the time is waited for, not computed, so
 * that eight workers are eight times one also on a machine with two cores. Newer readings count more. */
#define _GNU_SOURCE
#include "scoring.h"

#include <time.h>

bool ask_model(const scoring_score_model_columns *window, scoring_Score *result)
{
    struct timespec left = {.tv_nsec = 8000000};
    while (nanosleep(&left, &left) != 0) { /* a signal came: the rest is waited for */
    }
    double sum = 0, weights = 0;
    for (size_t i = 0; i < window->count; i++) {
        double weight = (double)(i + 1);
        sum += weight * window->value[i];
        weights += weight;
    }
    result->device = window->key.device;
    result->ts = window->times[window->count - 1];
    result->score = sum / weights;
    return true;
}
