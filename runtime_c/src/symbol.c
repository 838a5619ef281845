/* A table of immutable nodes: buckets of linked lists that only grow at the head, and a directory from number to
 * node. Nothing is ever removed, so readers need no protection beyond seeing a node complete. */
#include <dfrt/symbol.h>

#include <dfrt/hash.h>
#include <dfrt/short_bytes.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
    const struct node *next;
    uint32_t hash; /* of the bits that did not choose the bucket */
    dfrt_symbol symbol;
    size_t size;
    char bytes[];
} node;

enum {
    BUCKET_BITS = 20,
    BUCKETS = 1 << BUCKET_BITS,
    FIRST_CHUNK_BITS = 10, /* chunk k of the directory holds 2**(10+k) numbers, so 23 chunks hold 2**32 */
    CHUNKS = 33 - FIRST_CHUNK_BITS,
    ARENA_BYTES = 1 << 16,
};

typedef _Atomic(const node *) entry;

/* Zero pages until touched. Partner: the compare-exchange in `publish` (release) with the loads in `intern` (acquire):
 * who finds a node sees its bytes, and its entry in the directory, which was written before. */
static entry buckets[BUCKETS];

/* Partner: the compare-exchange in `slot_of` (release) with the load there and in `node_of` (acquire): who finds a
 * chunk sees it zeroed. */
static _Atomic(entry *) chunks[CHUNKS];

/* Numbers are only counted, nothing is published through this: relaxed. Number 0 is the empty string. */
static _Atomic uint64_t next_symbol = 1;

/* Nodes are cut from blocks of their thread's own; the rest of a block is lost when its thread ends. */
static _Thread_local char *arena;
static _Thread_local size_t arena_left;

static node *allocate_node(size_t size)
{
    if (size > SIZE_MAX - sizeof(node) - 16) return NULL;
    size_t bytes = (sizeof(node) + size + 1 + 7) & ~(size_t)7;
    if (bytes > ARENA_BYTES / 8) return malloc(bytes);
    if (bytes > arena_left) {
        char *block = malloc(ARENA_BYTES);
        if (block == NULL) return NULL;
        arena = block;
        arena_left = ARENA_BYTES;
    }
    node *made = (node *)(void *)arena;
    arena += bytes;
    arena_left -= bytes;
    return made;
}

static unsigned chunk_of(dfrt_symbol symbol, size_t *index)
{
    uint64_t shifted = (uint64_t)symbol + (1 << FIRST_CHUNK_BITS);
    unsigned bits = 63 - (unsigned)__builtin_clzll(shifted);
    *index = (size_t)(shifted - (UINT64_C(1) << bits));
    return bits - FIRST_CHUNK_BITS;
}

/* The directory's place for a new number; makes its chunk when it is the first in it. */
static entry *slot_of(dfrt_symbol symbol)
{
    size_t index;
    unsigned number = chunk_of(symbol, &index);
    entry *chunk = atomic_load_explicit(&chunks[number], memory_order_acquire);
    if (chunk == NULL) {
        entry *made = calloc((size_t)1 << (FIRST_CHUNK_BITS + number), sizeof *made);
        if (made == NULL) return NULL;
        if (atomic_compare_exchange_strong_explicit(&chunks[number], &chunk, made, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            chunk = made;
        } else {
            free(made); /* another thread was first; `chunk` is now its */
        }
    }
    return &chunk[index];
}

static const node *node_of(dfrt_symbol symbol)
{
    size_t index;
    unsigned number = chunk_of(symbol, &index);
    entry *chunk = atomic_load_explicit(&chunks[number], memory_order_acquire);
    if (chunk == NULL) return NULL;
    /* Partner: the store in `make_node` (release). */
    return atomic_load_explicit(&chunk[index], memory_order_acquire);
}

static bool same_bytes(const char *a, const char *b, size_t size)
{
    return size > 8 ? memcmp(a, b, size) == 0 : dfrt__load_short(a, size) == dfrt__load_short(b, size);
}

/* Searches from `from` up to, not including, `until`. */
static const node *find(const node *from, const node *until, uint32_t hash, const char *bytes, size_t size)
{
    for (; from != until; from = from->next)
        if (from->hash == hash && from->size == size && same_bytes(from->bytes, bytes, size)) return from;
    return NULL;
}

/* The number and its place come first: if there is no memory for the node then, nothing but a number is lost. */
static node *make_node(const char *bytes, size_t size, uint32_t hash)
{
    uint64_t number = atomic_fetch_add_explicit(&next_symbol, 1, memory_order_relaxed);
    entry *slot = number > UINT32_MAX ? NULL : slot_of((dfrt_symbol)number);
    node *made = slot == NULL ? NULL : allocate_node(size);
    if (made == NULL) return NULL;
    *made = (node){.hash = hash, .symbol = (dfrt_symbol)number, .size = size};
    memcpy(made->bytes, bytes, size);
    made->bytes[size] = '\0';
    atomic_store_explicit(slot, made, memory_order_release); /* partner: node_of */
    return made;
}

/* Puts the node at the head of its bucket, unless another thread came with the same text meanwhile: then that one
 * counts, and ours stays as a number nobody was given. */
static const node *publish(entry *bucket, const node *head, node *made)
{
    for (;;) {
        const node *seen = head;
        made->next = head;
        if (atomic_compare_exchange_weak_explicit(bucket, &head, made, memory_order_release, memory_order_acquire))
            return made;
        const node *other = find(head, seen, made->hash, made->bytes, made->size);
        if (other != NULL) return other;
    }
}

dfrt_status dfrt_symbol_intern(const char *bytes, size_t size, dfrt_symbol *out)
{
    if (size == 0) return *out = 0, DFRT_OK;
    uint64_t full = dfrt_hash_bytes(bytes, size);
    entry *bucket = &buckets[full & (BUCKETS - 1)];
    uint32_t hash = (uint32_t)(full >> 32);
    const node *head = atomic_load_explicit(bucket, memory_order_acquire); /* partner: publish */
    const node *found = find(head, NULL, hash, bytes, size);
    if (found == NULL) {
        node *made = make_node(bytes, size, hash);
        if (made == NULL) return DFRT_MEMORY;
        found = publish(bucket, head, made);
    }
    *out = found->symbol;
    return DFRT_OK;
}

dfrt_slice dfrt_symbol_text(dfrt_symbol symbol)
{
    const node *found = node_of(symbol);
    return found == NULL ? (dfrt_slice){"", 0} : (dfrt_slice){found->bytes, found->size};
}

int dfrt_symbol_compare(dfrt_symbol a, dfrt_symbol b)
{
    if (a == b) return 0;
    dfrt_slice left = dfrt_symbol_text(a), right = dfrt_symbol_text(b);
    int order = memcmp(left.data, right.data, left.size < right.size ? left.size : right.size);
    return order != 0 ? order : (left.size > right.size) - (left.size < right.size);
}

uint64_t dfrt_symbol_count(void)
{
    return atomic_load_explicit(&next_symbol, memory_order_relaxed);
}
