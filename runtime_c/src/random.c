#include <dfrt/random.h>

#include <math.h>
#include <stdlib.h>

enum { START_BITS = 12 };

/* Of key k: as given, or by Zipf's law. */
static double weight_of(const double *weights, double exponent, uint64_t k)
{
    return weights != NULL ? weights[k] : pow((double)(k + 1), -exponent);
}

static void fill_limits(dfrt_zipf *zipf, const double *weights, double exponent)
{
    double total = 0.0, sum = 0.0;
    for (uint64_t k = 0; k < zipf->keys; k++) total += weight_of(weights, exponent, k);
    for (uint64_t k = 0; k < zipf->keys; k++) {
        sum += weight_of(weights, exponent, k);
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

static dfrt_status make_table(dfrt_zipf *zipf, const double *weights, double exponent, dfrt_error *error)
{
    zipf->limits = malloc(zipf->keys * sizeof *zipf->limits);
    zipf->starts = malloc((((size_t)1 << START_BITS) + 1) * sizeof *zipf->starts);
    if (zipf->limits == NULL || zipf->starts == NULL) {
        unsigned long long keys = zipf->keys;
        dfrt_zipf_free(zipf);
        return dfrt_fail(error, DFRT_MEMORY, "no memory for a distribution of %llu keys", keys);
    }
    fill_limits(zipf, weights, exponent);
    fill_starts(zipf);
    return DFRT_OK;
}

dfrt_status dfrt_zipf_make(dfrt_zipf *zipf, uint64_t keys, double exponent, dfrt_error *error)
{
    *zipf = (dfrt_zipf){.keys = keys, .start_bits = START_BITS};
    if (keys == 0 || keys > UINT32_MAX || !(exponent >= 0.0) || isinf(exponent))
        return dfrt_fail(error, DFRT_USAGE, "a Zipf distribution needs 1 to %u keys and an exponent >= 0", UINT32_MAX);
    return exponent == 0.0 ? DFRT_OK : make_table(zipf, NULL, exponent, error);
}

dfrt_status dfrt_zipf_by_weights(dfrt_zipf *zipf, uint64_t keys, const double *weights, dfrt_error *error)
{
    *zipf = (dfrt_zipf){.keys = keys, .start_bits = START_BITS};
    if (keys == 0 || keys > UINT32_MAX)
        return dfrt_fail(error, DFRT_USAGE, "weights are those of 1 to %u keys", UINT32_MAX);
    return make_table(zipf, weights, 0.0, error);
}

void dfrt_zipf_free(dfrt_zipf *zipf)
{
    free(zipf->limits);
    free(zipf->starts);
    *zipf = (dfrt_zipf){0};
}
