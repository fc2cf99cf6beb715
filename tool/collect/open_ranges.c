#include "open_ranges.h"

#include <stdlib.h>

enum { NOTHING = 0, FIRST_CAPACITY = 64 }; /* an index is one more than the place */

struct range {
    struct marker marker;
    struct range_key key;
    bool is_open;
    size_t below; /* the one before of the same key */
    size_t next;  /* of the newest ones: in the same bucket; of places that are free: another */
};

/* Arrays only grow. */
static struct range *ranges;
static size_t range_count, range_capacity; /* places that have been used */
static size_t free_first, any_from;        /* no place before `any_from` has an open one */
static size_t *buckets;                    /* a power of two: at most one key each, on average */
static size_t bucket_count, key_count;

static bool is_same(const struct range_key *a, const struct range_key *b)
{
    return a->id == b->id && (a->id != 0 || a->thread_id == b->thread_id);
}

static size_t *bucket_of(const struct range_key *key)
{
    uint64_t value = (key->id ? key->id : ~key->thread_id) * 0x9e3779b97f4a7c15u;
    return &buckets[(value >> 32) & (bucket_count - 1)];
}

/* Where the key's newest range is entered, or would be. */
static size_t *entry_of(const struct range_key *key)
{
    size_t *entry = bucket_of(key);
    while (*entry && !is_same(&ranges[*entry - 1].key, key))
        entry = &ranges[*entry - 1].next;
    return entry;
}

static bool buckets_grow(void)
{
    size_t *before = buckets, count_before = bucket_count;
    size_t count = count_before ? 2 * count_before : FIRST_CAPACITY;
    size_t *grown = calloc(count, sizeof *grown);
    if (!grown)
        return false;
    buckets = grown;
    bucket_count = count;
    for (size_t i = 0; i < count_before; i++)
        for (size_t at = before[i], next; at; at = next) {
            size_t *bucket = bucket_of(&ranges[at - 1].key);
            next = ranges[at - 1].next;
            ranges[at - 1].next = *bucket;
            *bucket = at;
        }
    free(before);
    return true;
}

/* NOTHING: no memory. */
static size_t place_take(void)
{
    size_t taken = free_first;
    if (taken) {
        free_first = ranges[taken - 1].next;
        return taken;
    }
    if (range_count == range_capacity) {
        size_t wanted = range_capacity ? 2 * range_capacity : FIRST_CAPACITY;
        struct range *grown = realloc(ranges, wanted * sizeof *grown);
        if (!grown)
            return NOTHING;
        ranges = grown;
        range_capacity = wanted;
    }
    return ++range_count;
}

bool open_ranges_add(struct range_key key, const struct marker *marker)
{
    if (key_count >= bucket_count && !buckets_grow() && bucket_count == 0)
        return false;
    size_t taken = place_take();
    if (!taken)
        return false;
    struct range *range = &ranges[taken - 1];
    size_t *entry = entry_of(&key);
    *range = (struct range){.marker = *marker, .key = key, .is_open = true, .below = *entry};
    range->next = *entry ? ranges[*entry - 1].next : NOTHING;
    key_count += *entry == NOTHING;
    *entry = taken;
    any_from = taken - 1 < any_from ? taken - 1 : any_from;
    return true;
}

struct marker *open_ranges_newest(struct range_key key)
{
    size_t at = bucket_count ? *entry_of(&key) : NOTHING;
    return at ? &ranges[at - 1].marker : NULL;
}

bool open_ranges_end(struct range_key key, struct marker *marker)
{
    size_t *entry = bucket_count ? entry_of(&key) : NULL;
    size_t at = entry ? *entry : NOTHING;
    if (!at)
        return false;
    struct range *range = &ranges[at - 1];
    *marker = range->marker;
    *entry = range->below ? range->below : range->next;
    if (range->below)
        ranges[range->below - 1].next = range->next;
    else
        key_count--;
    range->is_open = false;
    range->next = free_first;
    free_first = at;
    return true;
}

bool open_ranges_any(struct range_key *key)
{
    while (any_from < range_count && !ranges[any_from].is_open)
        any_from++;
    if (any_from == range_count)
        return false;
    *key = ranges[any_from].key;
    return true;
}

void open_ranges_forget(void)
{
    free(ranges);
    free(buckets);
    ranges = NULL;
    buckets = NULL;
    range_count = range_capacity = free_first = any_from = bucket_count = key_count = 0;
}
