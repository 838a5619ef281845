#include "dfrt/bytes.h"

#include <stdint.h>
#include <stdlib.h>

#include "dfrt/stage.h"

enum { ALIGNMENT = 16, FIRST_BYTES = 256 };

static void grow(dfrt_bytes *bytes, size_t needed)
{
    size_t capacity = bytes->capacity == 0 ? FIRST_BYTES : bytes->capacity;
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2) {
            dfrt_out_of_memory();
        }
        capacity *= 2;
    }
    unsigned char *data = aligned_alloc(ALIGNMENT, capacity);
    if (data == NULL) {
        dfrt_out_of_memory();
    }
    if (bytes->size > 0) {
        memcpy(data, bytes->data, bytes->size);
    }
    free(bytes->data);
    bytes->data = data;
    bytes->capacity = capacity;
}

void *dfrt_bytes_add(dfrt_bytes *bytes, size_t size)
{
    if (size > SIZE_MAX - bytes->size) {
        dfrt_out_of_memory();
    }
    if (bytes->data == NULL || bytes->size + size > bytes->capacity) {
        grow(bytes, bytes->size + size);
    }
    void *added = bytes->data + bytes->size;
    bytes->size += size;
    return added;
}

void dfrt_bytes_free(dfrt_bytes *bytes)
{
    free(bytes->data);
    *bytes = (dfrt_bytes){0};
}
