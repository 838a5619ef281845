#include "mode.h"

#include "expensive_whole.h"

bool window_mode(const expensive_whole_modes_whole_columns *window, expensive_whole_Mode *result)
{
    *result = (expensive_whole_Mode){.key = window->key.key, .mode = mode_of(window->price, window->count)};
    return true;
}
