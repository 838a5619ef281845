/* Embeds `orders`: makes orders, writes them to orders.csv for the binary, pushes them, prints the results.
 *
 * usage: orders_main COUNT WORKERS callback|collect [ALTERNATE] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"

static void print_totals(void *context, const orders_Sum *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const orders_Sum *r = &results[i];
        fprintf(((FILE **)context)[0], "%s,%" PRId64 ",%.17g,%" PRId64 ",%" PRId64 "\n",
                orders_symbol_text(r->shop).data, r->end, r->total, r->pieces, r->orders);
    }
}

static void print_recent(void *context, const orders_Last *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const orders_Last *r = &results[i];
        fprintf(((FILE **)context)[1], "%s,%.*s,%.17g,%.17g\n", orders_symbol_text(r->shop).data, (int)r->item.size,
                r->item.data, r->price, r->spread);
    }
}

static void print_gone(void *context, const orders_Order *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const orders_Order *r = &results[i];
        fprintf(((FILE **)context)[2], "%" PRId64 ",%s,%.*s,%.17g,%.9g,%" PRId32 ",%s,%u\n", r->ts,
                orders_symbol_text(r->shop).data, (int)r->item.size, r->item.data, r->price, (double)r->weight,
                r->pieces, r->gift ? "true" : "false", r->code);
    }
}

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % limit;
}

static orders_Order make_order(uint64_t *state, int64_t number)
{
    static const char *const shops[] = {"north", "south", "east", "west", "void", "market"};
    orders_Order order;
    memset(&order, 0, sizeof order);
    const char *shop = shops[random_below(state, 6)];
    if (orders_symbol(shop, strlen(shop), &order.shop) != DFRT_OK) abort();
    order.ts = number * 3 - (random_below(state, 10) == 0 ? random_below(state, 120) : 0);
    order.item.size = (uint32_t)sprintf(order.item.data, "item%u", (unsigned)random_below(state, 1000));
    order.price = random_below(state, 10000) / 64.0;
    order.weight = (float)random_below(state, 1000) / 8.0f;
    order.pieces = (int32_t)random_below(state, 9) - 2;
    order.gift = random_below(state, 2) == 1;
    order.code = (uint8_t)random_below(state, 256);
    return order;
}

static void write_order(FILE *file, const orders_Order *o)
{
    fprintf(file, "%" PRId64 ",%s,%.*s,%.17g,%.9g,%" PRId32 ",%s,%u\n", o->ts, orders_symbol_text(o->shop).data,
            (int)o->item.size, o->item.data, o->price, (double)o->weight, o->pieces, o->gift ? "true" : "false",
            o->code);
}

static void require(dfrt_status status, const orders_instance *instance)
{
    if (status != DFRT_OK) {
        fprintf(stderr, "orders: %s\n", orders_error(instance));
        exit(1);
    }
}

/* Batches of odd sizes, and a poll now and then. */
static void push_all(orders_instance *instance, long count)
{
    FILE *file = fopen("orders.csv", "w");
    if (file == NULL) abort();
    fprintf(file, "ts,shop,item,price,weight,pieces,gift,code\n");
    uint64_t state = 1;
    orders_Order batch[777];
    for (long number = 0; number < count;) {
        size_t size = 0;
        for (size_t most = 1 + random_below(&state, 777); size < most && number < count; number++) {
            batch[size] = make_order(&state, number);
            write_order(file, &batch[size++]);
        }
        require(orders_push_orders(instance, batch, size), instance);
        if (random_below(&state, 4) == 0) require(orders_poll(instance), instance);
    }
    if (fclose(file) != 0) abort();
}

static void print_taken(orders_instance *instance, FILE **files)
{
    size_t count;
    void *taken = orders_take(instance, 0, &count);
    print_totals(files, taken, count);
    free(taken);
    taken = orders_take(instance, 1, &count);
    print_recent(files, taken, count);
    free(taken);
    taken = orders_take(instance, 2, &count);
    print_gone(files, taken, count);
    free(taken);
}

/* What must be refused, and how. */
static void check_refusals(orders_instance *instance)
{
    orders_Order none[1];
    memset(none, 0, sizeof none);
    if (orders_push_orders(instance, none, 1) != DFRT_USAGE || strstr(orders_error(instance), "drained") == NULL) abort();
    if (orders_set_alternate(instance, "lasts", "no such") != DFRT_USAGE) abort();
    if (strcmp(orders_error(instance), "there is no alternate 'no such' of 'lasts'") != 0) abort();
    dfrt_embed_counts counts;
    if (orders_count(instance, "no such", &counts) != DFRT_USAGE || strstr(orders_error(instance), "step") == NULL) abort();
    if (orders_set_alternate(instance, "no such", "exact") != DFRT_USAGE) abort();
    orders_options many = {.workers = 100000};
    orders_instance *other;
    dfrt_error error;
    if (orders_create(&other, &many, &error) != DFRT_USAGE || other != NULL) abort();
    if (orders_create(&other, NULL, &error) != DFRT_OK || strcmp(orders_error(other), "") != 0) abort();
    orders_destroy(other);
    orders_destroy(NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    FILE *files[] = {fopen("totals.embedded", "w"), fopen("recent.embedded", "w"), fopen("gone.embedded", "w")};
    orders_options options = {.workers = (unsigned)atoi(argv[2]), .context = files};
    if (strcmp(argv[3], "callback") == 0) {
        options.on_totals = print_totals;
        options.on_recent = print_recent;
        options.on_gone = print_gone;
    } else {
        options.collect = true;
    }
    orders_instance *instance;
    dfrt_error error;
    if (orders_create(&instance, &options, &error) != DFRT_OK) {
        fprintf(stderr, "orders: %s\n", error.text);
        return 1;
    }
    if (argc > 4 && orders_set_alternate(instance, "lasts", argv[4]) != DFRT_OK) return 1;
    push_all(instance, atol(argv[1]));
    require(orders_drain(instance), instance);
    if (options.collect) print_taken(instance, files);
    dfrt_embed_counts counts;
    require(orders_count(instance, "orders", &counts), instance);
    printf("%" PRIu64 " %" PRIu64 "\n", counts.out, counts.late);
    check_refusals(instance);
    orders_destroy(instance);
    for (int i = 0; i < 3; i++) fclose(files[i]);
    return 0;
}
