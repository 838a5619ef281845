#include <dfrt/random.h>

#include <math.h>
#include <stdlib.h>

enum { START_BITS = 12 };

static void fill_limits(dfrt_zipf *zipf, double exponent)
{
    double total = 0.0, sum = 0.0;
    for (uint64_t k = 0; k < zipf->keys; k++) total += pow((double)(k + 1), -exponent);
    for (uint64_t k = 0; k < zipf->keys; k++) {
        sum += pow((double)(k + 1), -exponent);
        zipf->limits[k] = (uint64_t)(sum / total * 0x1p53);
    }
    zipf->limits[zipf->keys - 1] = UINT64_C(1) << 53;
}

/* starts[part] is the answer for the smallest r of the part, so the answers of a part lie between two neighbours. */
static void fill_starts(dfrt_zipf *zipf)
{
    uint64_t k = 0;
    for (uint64_t part = 0; part <= UINT64_C(1) << START_BITS; part++) {
        uint64_t smallest = part << (53 - START_BITS);
        while (k + 1 < zipf->keys && zipf->limits[k] <= smallest) k++;
        zipf->starts[part] = (uint32_t)k;
    }
}

dfrt_status dfrt_zipf_make(dfrt_zipf *zipf, uint64_t keys, double exponent, dfrt_error *error)
{
    *zipf = (dfrt_zipf){.keys = keys, .start_bits = START_BITS};
    if (keys == 0 || keys > UINT32_MAX || !(exponent >= 0.0) || isinf(exponent))
        return dfrt_fail(error, DFRT_USAGE, "a Zipf distribution needs 1 to %u keys and an exponent >= 0", UINT32_MAX);
    if (exponent == 0.0) return DFRT_OK;
    zipf->limits = malloc(keys * sizeof *zipf->limits);
    zipf->starts = malloc((((size_t)1 << START_BITS) + 1) * sizeof *zipf->starts);
    if (zipf->limits == NULL || zipf->starts == NULL) {
        dfrt_zipf_free(zipf);
        return dfrt_fail(error, DFRT_MEMORY, "no memory for a distribution of %llu keys", (unsigned long long)keys);
    }
    fill_limits(zipf, exponent);
    fill_starts(zipf);
    return DFRT_OK;
}

void dfrt_zipf_free(dfrt_zipf *zipf)
{
    free(zipf->limits);
    free(zipf->starts);
    *zipf = (dfrt_zipf){0};
}
