/* What the hand-written programs share: a mapped file, a buffered output, a hash. Everything else is written out for
 * the one program, as somebody would who needs just that program to be fast. */
#ifndef LIMIT_H
#define LIMIT_H

#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline _Noreturn void die(const char *what)
{
    perror(what);
    exit(4);
}

static inline void *allocate(size_t size)
{
    void *room = aligned_alloc(64, (size + 63) & ~(size_t)63);
    if (room == NULL) die("memory");
    return room;
}

/* Many small groups in huge pages: without them every group is also a miss of the TLB. */
static inline void *allocate_huge(size_t size)
{
    size_t page = (size_t)2 << 20;
    size = (size + page - 1) & ~(page - 1);
    void *room = aligned_alloc(page, size);
    if (room == NULL) die("memory");
    (void)madvise(room, size, MADV_HUGEPAGE);
    memset(room, 0, size);
    return room;
}

typedef struct mapping {
    const unsigned char *data;
    size_t size;
} mapping;

static inline mapping map_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) die(path);
    size_t size = (size_t)about.st_size;
    if (size == 0) return (mapping){(const unsigned char *)"", 0};
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) die(path);
    (void)close(fd);
    return (mapping){data, size};
}

/* Maps the pages that come next in one go: one call a block instead of a fault every few pages. */
enum { AHEAD = 4 << 20 };

static inline void touch(const mapping *m, size_t at)
{
    size_t from = at & ~(size_t)(AHEAD - 1);
    size_t size = m->size - from < AHEAD ? m->size - from : AHEAD;
    (void)madvise((void *)(m->data + from), size, MADV_POPULATE_READ);
}

typedef struct output {
    int fd;
    size_t used;
    char buffer[1 << 17];
} output;

static inline output *create(const char *path)
{
    output *out = allocate(sizeof *out);
    out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    out->used = 0;
    if (out->fd < 0) die(path);
    return out;
}

static inline void flush(output *out)
{
    for (size_t done = 0; done < out->used;) {
        ssize_t wrote = write(out->fd, out->buffer + done, out->used - done);
        if (wrote < 0) die("write");
        done += (size_t)wrote;
    }
    out->used = 0;
}

/* Where `most` bytes may be put; add what was used to `used`. */
static inline char *room(output *out, size_t most)
{
    if (UNLIKELY(sizeof out->buffer - out->used < most)) flush(out);
    return out->buffer + out->used;
}

static inline uint64_t mix(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 32;
}


typedef struct quote {
    int64_t ts, key;
    double bid, ask, price, volume;
    int32_t size, flags;
    int64_t id;
} quote;

typedef struct order {
    int64_t ts, key;
    double price;
    int64_t size;
} order;

#endif
