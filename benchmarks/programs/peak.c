/* The aggregate of expensive_panes.dfl. */
#include "density.h"

void peak_add(void *state, double price);
void peak_combine(void *left, const void *right);
double peak_lower(const void *state);

void peak_add(void *state, double price)
{
    density_put(state, price);
}

void peak_combine(void *left, const void *right)
{
    density_join(left, right);
}

double peak_lower(const void *state)
{
    return density_peak(state);
}
