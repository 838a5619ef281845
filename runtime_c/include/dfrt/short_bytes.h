/* Up to eight bytes as one number, without reading beside them: most fields are that short.
 *
 * Threads, Ownership, Progress: pure functions on borrowed bytes.
 */
#ifndef DFRT_SHORT_BYTES_H
#define DFRT_SHORT_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t dfrt__load_four(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap32(word);
}

static inline uint64_t dfrt__load_eight(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* `size` is 1 to 8. The first byte is the lowest; what is missing above is zero. Loads overlap where they must. */
static inline uint64_t dfrt__load_short(const char *at, size_t size)
{
    if (size == 8) return dfrt__load_eight(at);
    if (size >= 4) return dfrt__load_four(at) | dfrt__load_four(at + size - 4) << 8 * (size - 4);
    const unsigned char *bytes = (const unsigned char *)at;
    return (uint64_t)bytes[0] | (uint64_t)bytes[size / 2] << 8 * (size / 2) |
           (uint64_t)bytes[size - 1] << 8 * (size - 1);
}

#endif
