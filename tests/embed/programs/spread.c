/* The newest price, and how far the prices of the window lie apart. */
#include "orders.h"

bool spread(const orders_lasts_window *window, orders_Last *result)
{
    const orders_Order *last = &window->tuples[window->count - 1];
    double low = last->price, high = last->price;
    for (size_t i = 0; i < window->count; i++) {
        low = window->tuples[i].price < low ? window->tuples[i].price : low;
        high = window->tuples[i].price > high ? window->tuples[i].price : high;
    }
    result->shop = last->shop;
    memcpy(&result->item, &last->item, sizeof result->item);
    result->price = last->price;
    result->spread = high - low;
    return true;
}
