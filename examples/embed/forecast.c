/* Embeds the trading example: reads quotes from a CSV file, pushes them into the program, and prints a forecast as
 * soon as it comes.
 *
 *     forecast quotes.csv [WORKERS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trading.h"

enum { BATCH = 4096, LONGEST_ROW = 256 };

/* Called in this thread when there is one worker, else in the thread of the program's last stage. */
static void print_forecasts(void *context, const trading_Forecast *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const trading_Forecast *f = &results[i];
        fprintf(context, "%s,%" PRId64 ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", trading_symbol_text(f->symbol).data,
                f->ts, f->open, f->high, f->low, f->close, f->next_bid, f->next_ask);
    }
}

/* One row `ts,symbol,bid,ask,bid_size,ask_size`; false when it is none. */
static bool read_quote(const char *row, trading_Quote *quote)
{
    char symbol[32], rest;
    memset(quote, 0, sizeof *quote);
    int fields = sscanf(row, "%" SCNd64 ",%31[^,],%lf,%lf,%" SCNd32 ",%" SCNd32 "%c", &quote->ts, symbol, &quote->bid,
                        &quote->ask, &quote->bid_size, &quote->ask_size, &rest);
    return fields == 7 && rest == '\n' && trading_symbol(symbol, strlen(symbol), &quote->symbol) == DFRT_OK;
}

static dfrt_status push_file(trading_instance *instance, FILE *file)
{
    static trading_Quote batch[BATCH];
    char row[LONGEST_ROW];
    size_t count = 0;
    dfrt_status status = DFRT_OK;
    while (status == DFRT_OK && fgets(row, sizeof row, file) != NULL) {
        count += read_quote(row, &batch[count]) ? 1 : 0; /* the header is none either */
        if (count == BATCH) {
            status = trading_push_quotes(instance, batch, count);
            count = 0;
        }
    }
    return status == DFRT_OK ? trading_push_quotes(instance, batch, count) : status;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: forecast quotes.csv [WORKERS]\n");
        return 2;
    }
    trading_options options = {.context = stdout, .on_forecasts = print_forecasts};
    options.workers = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    trading_instance *instance;
    dfrt_error error;
    if (trading_create(&instance, &options, &error) != DFRT_OK) {
        fprintf(stderr, "forecast: %s\n", error.text);
        return 4;
    }
    dfrt_status status = push_file(instance, file);
    if (status == DFRT_OK) {
        status = trading_drain(instance);
    }
    if (status != DFRT_OK) {
        fprintf(stderr, "forecast: %s\n", trading_error(instance));
    }
    trading_destroy(instance);
    fclose(file);
    return status == DFRT_OK ? 0 : 4;
}
