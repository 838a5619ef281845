/* How tuples find their groups, after the program has said what a group is: `state` has `tags` and `groups`, a group has
 * `high`, the upper half of the hash, and new_group makes one. Included once, behind these. */
static inline uint32_t guess(state *s, uint64_t hash)
{
    uint64_t at = hash;
    uint32_t number;
    if (UNLIKELY(!next_group(&s->tags, hash, &at, &number))) number = new_group(s, hash);
    fetch_group(&s->groups[number], s->tags.used);
    return number;
}

/* Two keys have the same lower half of their hashes. */
static __attribute__((noinline)) uint32_t search(state *s, uint64_t hash)
{
    uint32_t number;
    for (uint64_t at = hash; next_group(&s->tags, hash, &at, &number); at++)
        if (s->groups[number].high == hash >> 32) return number;
    return new_group(s, hash);
}
