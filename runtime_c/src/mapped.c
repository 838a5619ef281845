#define _GNU_SOURCE
#include "mapped.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pages are asked for, and let go, so many bytes at a time: one call instead of a fault every few pages. */
enum { BLOCK = 4 << 20, MAPPINGS = 64, PAGE = 4096 };

struct dfrt__mapped {
    unsigned char *data;
    size_t size;      /* in whole units */
    size_t length;    /* of the mapping */
    size_t taken;
    size_t ready;     /* pages below this were asked for; a multiple of BLOCK */
    int fd;           /* borrowed: to look at the file's size */
    bool shorter;     /* it was found to be */
    _Atomic bool missed; /* a page was not there any more: set by the handler in this thread, relaxed */
};

/* Those that are open; the handler looks here. A slot is written once it is complete (release) and read there
 * (acquire). */
static _Atomic(dfrt__mapped *) open_mappings[MAPPINGS];
static struct sigaction before;
static atomic_flag handled = ATOMIC_FLAG_INIT;

static void pass_on(int number, siginfo_t *info, void *context)
{
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        (void)signal(number, SIG_DFL); /* the access comes again, and ends us as it should */
    }
}

/* The page lies behind the end of the file now: zeros take its place, and the reader is told before it believes them.
 * mmap is a plain system call here; it takes no lock of the C library. */
static void on_missing_page(int number, siginfo_t *info, void *context)
{
    unsigned char *at = info->si_addr;
    for (int i = 0; i < MAPPINGS; i++) {
        dfrt__mapped *mapped = atomic_load_explicit(&open_mappings[i], memory_order_acquire);
        if (mapped == NULL || at < mapped->data || at >= mapped->data + mapped->length) continue;
        size_t offset = (size_t)(at - mapped->data) & ~(size_t)(PAGE - 1);
        void *zeros = mmap(mapped->data + offset, mapped->length - offset, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == MAP_FAILED) break;
        atomic_store_explicit(&mapped->missed, true, memory_order_relaxed);
        return;
    }
    pass_on(number, info, context);
}

static bool handle_missing_pages(void)
{
    if (atomic_flag_test_and_set_explicit(&handled, memory_order_acq_rel)) return true;
    struct sigaction action = {.sa_sigaction = on_missing_page, .sa_flags = SA_SIGINFO};
    (void)sigemptyset(&action.sa_mask); /* can't fail */
    return sigaction(SIGBUS, &action, &before) == 0;
}

static bool enter(dfrt__mapped *mapped)
{
    for (int i = 0; i < MAPPINGS; i++) {
        dfrt__mapped *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&open_mappings[i], &none, mapped, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return true;
    }
    return false;
}

static void leave(dfrt__mapped *mapped)
{
    for (int i = 0; i < MAPPINGS; i++) {
        dfrt__mapped *own = mapped;
        if (atomic_compare_exchange_strong_explicit(&open_mappings[i], &own, NULL, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return;
    }
}

dfrt__mapped *dfrt__map(int fd, size_t unit)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < BLOCK || unit > BLOCK / 16) return NULL;
    if (lseek(fd, 0, SEEK_CUR) != 0 || (uint64_t)about.st_size > SIZE_MAX / 2 || !handle_missing_pages()) return NULL;
    dfrt__mapped *mapped = calloc(1, sizeof *mapped);
    if (mapped == NULL) return NULL;
    size_t length = (size_t)about.st_size;
    void *data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    *mapped = (dfrt__mapped){.data = data, .size = length - length % unit, .length = length, .fd = fd};
    if (data != MAP_FAILED && enter(mapped)) return mapped;
    if (data != MAP_FAILED) (void)munmap(data, length); /* too many are open: read instead */
    free(mapped);
    return NULL;
}

void dfrt__unmap(dfrt__mapped *mapped)
{
    if (mapped == NULL) return;
    leave(mapped);
    (void)munmap(mapped->data, mapped->length); /* can't fail for what was mapped */
    free(mapped);
}

static void look_at_size(dfrt__mapped *mapped)
{
    struct stat about;
    mapped->shorter |= fstat(mapped->fd, &about) == 0 && (uint64_t)about.st_size < mapped->length;
}

/* Advice only: where the kernel does not take it, pages come one fault at a time. */
static void make_ready(dfrt__mapped *mapped)
{
    size_t left = mapped->length - mapped->ready, size = left < BLOCK ? left : BLOCK;
    look_at_size(mapped);
#ifdef MADV_POPULATE_READ
    if (!mapped->shorter) (void)madvise(mapped->data + mapped->ready, size, MADV_POPULATE_READ);
#endif
    if (mapped->ready >= 2 * BLOCK) (void)madvise(mapped->data + mapped->ready - 2 * BLOCK, BLOCK, MADV_DONTNEED);
    mapped->ready += size;
}

const unsigned char *dfrt__mapped_front(dfrt__mapped *mapped, size_t least, size_t *size)
{
    while (mapped->taken + least > mapped->ready && mapped->ready < mapped->length) make_ready(mapped);
    size_t end = mapped->size < mapped->ready ? mapped->size : mapped->ready;
    *size = end > mapped->taken ? end - mapped->taken : 0;
    if (*size == 0) look_at_size(mapped); /* the last look: nothing of it was zeros */
    return mapped->data + mapped->taken;
}

/* The translation of every page must come from memory first, which takes longer than the page's own tuples do. So those of
 * as many bytes behind are asked for now, where nothing waits for them; behind the end nothing happens. */
void dfrt__mapped_touch(const dfrt__mapped *mapped, size_t bytes)
{
    const unsigned char *at = mapped->data + mapped->taken;
    for (size_t i = 0; i < bytes; i += PAGE) {
        (void)__atomic_load_n(at + i, __ATOMIC_RELAXED); /* is not left out */
        __builtin_prefetch(at + bytes + i);
    }
    if (bytes > 0) (void)__atomic_load_n(at + bytes - 1, __ATOMIC_RELAXED);
}

void dfrt__mapped_take(dfrt__mapped *mapped, size_t bytes)
{
    mapped->taken += bytes;
}

size_t dfrt__mapped_taken(const dfrt__mapped *mapped)
{
    return mapped->taken;
}

bool dfrt__mapped_cut(const dfrt__mapped *mapped)
{
    return mapped->shorter || atomic_load_explicit(&mapped->missed, memory_order_relaxed);
}
