#define _GNU_SOURCE
#include "csv_blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dfrt/wait.h"
#include "waits.h"

/* Tests build with tiny blocks, so that short files have many. */
#ifndef DFRT_CSV_BLOCK_BYTES
#define DFRT_CSV_BLOCK_BYTES 65536
#endif

enum {
    BLOCK_BYTES = DFRT_CSV_BLOCK_BYTES,
    TAIL_BYTES = 512,           /* the end of a block's last row is looked for so far behind it, */
    LONG_TAIL_BYTES = 32 << 10, /* then so far; else the row is left to the reader */
    BLOCKS = 16,                /* parsed and not yet taken: work for a helper while many windows end at once */
    RECORD_BYTES = 512 << 10,   /* of a block's records, at most */
};

typedef struct block {
    /* n + 1 when block n lies here, parsed. Partner: its release in parse_block with the acquire in next_block. */
    _Atomic uint64_t ready;
    uint64_t start, end;  /* in the file: from behind a newline to behind one */
    size_t rows, length;  /* what was parsed of it, in records and in bytes */
    size_t given;         /* rows that have been taken */
    char *text;
    unsigned char *records;
} block;

typedef struct helper {
    dfrt__csv_blocks *blocks;
    pthread_t thread;
    dfrt_waiter waiter;
    dfrt__csv_parser parser;
    uint64_t busy_ns; /* CPU time without waiting, when it has ended; 0 where nobody asks */
} helper;

struct dfrt__csv_blocks {
    dfrt_csv *csv;
    const dfrt_record *record;
    dfrt_ahead_times *times; /* the reader's, or NULL */
    size_t capacity;  /* records of a block */
    uint64_t base;    /* where block 0 begins to look for a newline */
    uint64_t total;   /* blocks of the file, as long as it was when it was opened */
    uint64_t taken;   /* the reader's: blocks that it is done with */
    uint64_t offset;  /* the reader's: bytes of the file that it has got */

    _Atomic uint64_t claimed;  /* blocks that somebody parses or has parsed; only counted: relaxed */
    /* `taken` for the others. Partner: the release in release_block with the acquire in claim: the block's memory is
     * free. */
    _Atomic uint64_t released;
    _Atomic int stop; /* relaxed: a hint, looked at once a block */
    dfrt_waiter reader;
    block blocks[BLOCKS];
    unsigned helper_count;
    helper helpers[];
};

/* 0 where nobody asks. */
static uint64_t cpu_ns(const dfrt__csv_blocks *blocks)
{
    return blocks->times == NULL ? 0 : dfrt__thread_ns();
}

/* --- parsing: any thread ------------------------------------------------------------------------------ */

static bool has_room(dfrt__csv_blocks *blocks, uint64_t number, uint64_t free_blocks)
{
    uint64_t released = atomic_load_explicit(&blocks->released, memory_order_acquire);
    return number < blocks->total && number - released + free_blocks <= BLOCKS;
}

static bool claim(dfrt__csv_blocks *blocks, uint64_t *number)
{
    *number = atomic_load_explicit(&blocks->claimed, memory_order_relaxed);
    do {
        if (!has_room(blocks, *number, 1)) return false;
    } while (!atomic_compare_exchange_weak_explicit(&blocks->claimed, number, *number + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

/* Up to `size` bytes from `offset`; fewer at the end of the file, or where it can't be read: the reader will say so. */
static size_t load(int fd, char *text, size_t size, uint64_t offset)
{
    size_t got = 0;
    while (got < size) {
        ssize_t more = pread(fd, text + got, size - got, (off_t)(offset + got));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        got += (size_t)more;
    }
    return got;
}

/* 0: there is none. */
static size_t behind_newline(const char *text, size_t from, size_t to)
{
    const char *newline = from < to ? memchr(text + from, '\n', to - from) : NULL;
    return newline == NULL ? 0 : (size_t)(newline + 1 - text);
}

/* Block n begins behind the first newline of its BLOCK_BYTES bytes, counted from the one before `base`, and ends where
 * the next one begins. Without a newline it is empty. Answers its end in `text`. */
static size_t load_block(int fd, char *text, uint64_t before, size_t *start)
{
    size_t got = load(fd, text, BLOCK_BYTES + TAIL_BYTES, before), nominal = got < BLOCK_BYTES ? got : BLOCK_BYTES;
    *start = behind_newline(text, 0, nominal);
    if (*start == 0) return *start = nominal;
    size_t end = behind_newline(text, nominal, got);
    if (end == 0 && got == BLOCK_BYTES + TAIL_BYTES) {
        size_t more = load(fd, text + got, LONG_TAIL_BYTES - TAIL_BYTES, before + got);
        end = behind_newline(text, got, got + more);
    }
    return end == 0 ? nominal : end;
}

static void parse_block(dfrt__csv_blocks *blocks, uint64_t number, dfrt__csv_parser *parser)
{
    block *b = &blocks->blocks[number % BLOCKS];
    uint64_t before = blocks->base + number * BLOCK_BYTES - 1;
    size_t start, end = load_block(blocks->csv->input->fd, b->text, before, &start), at = start, length;
    b->rows = b->given = 0;
    while (at < end && b->rows < blocks->capacity) {
        size_t read = dfrt__csv_parse(parser, &blocks->csv->format, blocks->record, b->text + at, end - at,
                                      b->records + b->rows * blocks->record->size, blocks->capacity - b->rows, &length);
        if (read == 0) break;
        b->rows += read;
        at += length;
    }
    b->start = before + start;
    b->end = before + end;
    b->length = at - start;
    atomic_store_explicit(&b->ready, number + 1, memory_order_release);
}

/* Half of the blocks must be free before a helper goes on that had nothing to do: waking costs as much as parsing. */
static bool helper_may_go_on(dfrt__csv_blocks *blocks)
{
    uint64_t claimed = atomic_load_explicit(&blocks->claimed, memory_order_relaxed);
    return has_room(blocks, claimed, BLOCKS / 2) || claimed >= blocks->total ||
           atomic_load_explicit(&blocks->stop, memory_order_relaxed) != 0;
}

static void wait_for_room(dfrt__csv_blocks *blocks, dfrt_waiter *waiter)
{
    while (!helper_may_go_on(blocks)) {
        if (dfrt_waiter_pause(waiter)) continue;
        if (helper_may_go_on(blocks)) {
            dfrt_waiter_cancel(waiter);
            break;
        }
        dfrt_waiter_sleep(waiter);
    }
    waiter->rounds = 0;
}

static void *help(void *argument)
{
    helper *self = argument;
    dfrt__csv_blocks *blocks = self->blocks;
    uint64_t number, waited = 0, began = cpu_ns(blocks);
    while (atomic_load_explicit(&blocks->stop, memory_order_relaxed) == 0) {
        if (claim(blocks, &number)) {
            parse_block(blocks, number, &self->parser);
            dfrt_waiter_wake(&blocks->reader);
        } else if (number >= blocks->total) {
            break;
        } else {
            uint64_t from = cpu_ns(blocks);
            wait_for_room(blocks, &self->waiter);
            waited += cpu_ns(blocks) - from;
        }
    }
    self->busy_ns = cpu_ns(blocks) - began - waited;
    return NULL;
}

/* --- taking: the reader's thread ---------------------------------------------------------------------- */

static bool is_ready(dfrt__csv_blocks *blocks, const block *b)
{
    return atomic_load_explicit(&b->ready, memory_order_acquire) == blocks->taken + 1;
}

static void wait_until_ready(dfrt__csv_blocks *blocks, const block *b)
{
    while (!is_ready(blocks, b)) {
        if (dfrt_waiter_pause(&blocks->reader)) continue;
        if (is_ready(blocks, b)) {
            dfrt_waiter_cancel(&blocks->reader);
            break;
        }
        dfrt_waiter_sleep(&blocks->reader);
    }
    blocks->reader.rounds = 0;
}

/* The block that comes next, NULL behind the last one. While it is not ready others are parsed, as long as there is
 * room, which only this thread makes. */
static block *next_block(dfrt__csv_blocks *blocks)
{
    if (blocks->taken >= blocks->total) return NULL;
    block *b = &blocks->blocks[blocks->taken % BLOCKS];
    uint64_t number;
    while (!is_ready(blocks, b)) {
        uint64_t from = cpu_ns(blocks);
        bool parses = claim(blocks, &number);
        if (parses) parse_block(blocks, number, &blocks->csv->parser);
        else
            wait_until_ready(blocks, b);
        if (blocks->times == NULL) continue;
        *(parses ? &blocks->times->reader : &blocks->times->waited) += cpu_ns(blocks) - from;
    }
    return b;
}

static void release_block(dfrt__csv_blocks *blocks)
{
    blocks->taken++;
    atomic_store_explicit(&blocks->released, blocks->taken, memory_order_release);
    for (unsigned i = 0; i < blocks->helper_count; i++)
        if (helper_may_go_on(blocks)) dfrt_waiter_wake(&blocks->helpers[i].waiter);
}

size_t dfrt__csv_blocks_take(dfrt__csv_blocks *blocks, size_t capacity, const void **records)
{
    if (!dfrt__csv_is_between_rows(blocks->csv)) return 0;
    block *b = next_block(blocks);
    while (b != NULL && b->end <= blocks->offset) { /* all of it was taken, or read by the reader */
        release_block(blocks);
        b = next_block(blocks);
    }
    if (b == NULL || b->given == b->rows || (b->given == 0 && blocks->offset != b->start)) return 0;
    size_t count = b->rows - b->given < capacity ? b->rows - b->given : capacity;
    *records = b->records + b->given * blocks->record->size;
    dfrt__csv_count_rows(blocks->csv, count);
    b->given += count;
    if (b->given == b->rows) blocks->offset = b->start + b->length;
    return count;
}

/* What the reader reads itself: up to the beginning of the next block, or the rest of a block that was not plain, or
 * that it does not need since it stands inside quotes. */
static ssize_t read_in_order(void *context, char *to, size_t size)
{
    dfrt__csv_blocks *blocks = context;
    uint64_t until = UINT64_MAX;
    for (block *b; (b = next_block(blocks)) != NULL;) {
        until = blocks->offset < b->start ? b->start : b->end;
        if (blocks->offset < until) break;
        release_block(blocks);
        until = UINT64_MAX;
    }
    if (until - blocks->offset < size) size = (size_t)(until - blocks->offset);
    ssize_t got = pread(blocks->csv->input->fd, to, size, (off_t)blocks->offset);
    if (got > 0) blocks->offset += (uint64_t)got;
    return got;
}

/* --- the whole ---------------------------------------------------------------------------------------- */

static size_t records_of_a_block(const dfrt_csv *csv, const dfrt_record *record)
{
    size_t shortest = 2 * csv->format.columns, rows = BLOCK_BYTES / shortest + 1;
    size_t fit = RECORD_BYTES / record->size + 1;
    return rows < fit ? rows : fit;
}

static dfrt_status open_blocks(dfrt__csv_blocks *blocks, dfrt_error *error)
{
    blocks->capacity = records_of_a_block(blocks->csv, blocks->record);
    bool good = dfrt_waiter_open(&blocks->reader) == 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        block *b = &blocks->blocks[i];
        b->text = calloc(1, BLOCK_BYTES + LONG_TAIL_BYTES + DFRT_INPUT_SLACK);
        b->records = malloc(blocks->capacity * blocks->record->size);
        good &= b->text != NULL && b->records != NULL;
    }
    return good ? DFRT_OK : dfrt_fail(error, DFRT_MEMORY, "no memory to read ahead");
}

static dfrt_status start_helper(dfrt__csv_blocks *blocks, dfrt_error *error)
{
    helper *next = &blocks->helpers[blocks->helper_count];
    next->blocks = blocks;
    bool good = dfrt__csv_parser_open(&next->parser, &blocks->csv->format) && dfrt_waiter_open(&next->waiter) == 0;
    int code = good ? pthread_create(&next->thread, NULL, help, next) : ENOMEM;
    if (code == 0) {
        blocks->helper_count++;
        return DFRT_OK;
    }
    dfrt__csv_parser_close(&next->parser);
    return dfrt_fail(error, DFRT_IO, "no thread to read ahead: %s", strerror(code));
}

dfrt_status dfrt__csv_blocks_open(dfrt__csv_blocks **out, dfrt_csv *csv, const dfrt_record *record, unsigned helpers,
                                  dfrt_ahead_times *times, dfrt_error *error)
{
    struct stat about;
    off_t here = lseek(csv->input->fd, 0, SEEK_CUR);
    void *room = NULL;
    *out = NULL;
    if (here < 0 || fstat(csv->input->fd, &about) != 0)
        return dfrt_fail(error, DFRT_IO, "cannot read '%s': %s", csv->input->path, strerror(errno));
    size_t size = sizeof(dfrt__csv_blocks) + helpers * sizeof(helper);
    if (posix_memalign(&room, _Alignof(dfrt__csv_blocks), size) != 0)
        return dfrt_fail(error, DFRT_MEMORY, "no memory to read ahead");
    dfrt__csv_blocks *blocks = memset(room, 0, size);
    blocks->csv = csv;
    blocks->times = times;
    blocks->record = record;
    blocks->base = blocks->offset = (uint64_t)here;
    if (about.st_size > here) blocks->total = ((uint64_t)(about.st_size - here) + BLOCK_BYTES - 1) / BLOCK_BYTES;
    dfrt_status status = open_blocks(blocks, error);
    for (unsigned i = 0; i < helpers && status == DFRT_OK; i++) status = start_helper(blocks, error);
    if (status != DFRT_OK) {
        dfrt__csv_blocks_close(blocks);
        return status;
    }
    csv->input->read_context = blocks;
    csv->input->read = read_in_order;
    *out = blocks;
    return DFRT_OK;
}

void dfrt__csv_blocks_close(dfrt__csv_blocks *blocks)
{
    if (blocks == NULL) return;
    atomic_store_explicit(&blocks->stop, 1, memory_order_relaxed);
    for (unsigned i = 0; i < blocks->helper_count; i++) {
        dfrt_waiter_wake(&blocks->helpers[i].waiter);
        (void)pthread_join(blocks->helpers[i].thread, NULL); /* fails only for a thread that is not ours */
        if (blocks->times != NULL) blocks->times->parsers += blocks->helpers[i].busy_ns;
        dfrt_waiter_close(&blocks->helpers[i].waiter);
        dfrt__csv_parser_close(&blocks->helpers[i].parser);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        free(blocks->blocks[i].text);
        free(blocks->blocks[i].records);
    }
    dfrt_waiter_close(&blocks->reader);
    blocks->csv->input->read = NULL;
    free(blocks);
}
