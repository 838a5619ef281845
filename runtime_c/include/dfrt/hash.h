/* 64-bit hashes for keys. Every output bit depends on every input bit, so that a table may use any of them.
 * Not for secrets: whoever chooses the keys can make them collide.
 *
 * Threads:   pure functions.
 * Ownership: bytes are borrowed for the call.
 * Progress:  nothing waits.
 */
#ifndef DFRT_HASH_H
#define DFRT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 dfrt__hash_wide;

/* Multiplies to 128 bits and folds: one instruction that mixes 64 bits with 64 bits. */
static inline uint64_t dfrt__hash_fold(uint64_t a, uint64_t b)
{
    dfrt__hash_wide product = (dfrt__hash_wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Shift, multiply, shift, multiply, shift: a bijection, so different integers never collide in 64 bits. */
static inline uint64_t dfrt_hash_u64(uint64_t value)
{
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static inline uint64_t dfrt_hash_combine(uint64_t first, uint64_t second)
{
    return dfrt_hash_u64((first << 23 | first >> 41) * UINT64_C(0x9e3779b97f4a7c15) + second);
}

/* The last up to eight bytes as one number. */
static inline uint64_t dfrt__hash_tail(const unsigned char *at, size_t size)
{
    uint64_t word = 0;
    if (size >= 4) {
        uint32_t head, tail;
        memcpy(&head, at, 4);
        memcpy(&tail, at + size - 4, 4);
        return (uint64_t)head << 32 | tail;
    }
    if (size > 0) word = (uint64_t)at[0] << 16 | (uint64_t)at[size / 2] << 8 | at[size - 1];
    return word;
}

static inline uint64_t dfrt_hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0x243f6a8885a308d3) ^ (uint64_t)size * UINT64_C(0x9e3779b97f4a7c15);
    size_t left = size;
    for (; left > 8; left -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = dfrt__hash_fold(hash ^ word, UINT64_C(0xa0761d6478bd642f)) + word;
    }
    return dfrt_hash_u64(dfrt__hash_fold(hash ^ dfrt__hash_tail(at, left), UINT64_C(0xe7037ed1a0b428db)) ^ hash);
}

#endif
