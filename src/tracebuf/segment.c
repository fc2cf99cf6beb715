#include "tracebuf/segment.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    UNIT_BYTES = 8,
    /* Beyond the capacity, for words of records that have none of their own. Past it a buffer is
     * full before its capacity: with values of counters (40 bytes) from 1.25 MiB on. */
    WORDS_BYTES_MAX = 256 << 10,
};

static uint64_t units(size_t bytes)
{
    return (bytes + UNIT_BYTES - 1) / UNIT_BYTES;
}

enum claim_result segment_claim(struct tracebuf_segment *segment,
                                const struct tracebuf_config *config, size_t payload_bytes,
                                size_t storage_bytes, unsigned char **at)
{
    uint64_t add = units(payload_bytes) | units(storage_bytes) << 32;
    uint64_t size = config->size_bytes / UNIT_BYTES;
    uint64_t storage_size = segment->storage_bytes / UNIT_BYTES;
    uint64_t old = atomic_load_explicit(&segment->claimed, memory_order_relaxed);
    do {
        if ((uint32_t)old + units(payload_bytes) > size ||
            (old >> 32) + units(storage_bytes) > storage_size)
            return CLAIM_FULL;
    } while (!atomic_compare_exchange_weak_explicit(&segment->claimed, &old, old + add,
                                                    memory_order_relaxed, memory_order_relaxed));
    *at = segment->storage + (old >> 32) * UNIT_BYTES;
    uint64_t watermark = units(config->watermark_bytes);
    uint64_t before = (uint32_t)old, after = before + units(payload_bytes);
    bool crossed = after >= watermark && (before < watermark || before == 0);
    return crossed ? CLAIM_CROSSED : CLAIM_DONE;
}

/* All of it is address space; only what records touch becomes memory. */
struct tracebuf_segment *segment_create(const struct tracebuf_config *config)
{
    size_t size_bytes = config->size_bytes;
    size_t words_bytes = size_bytes < WORDS_BYTES_MAX ? size_bytes : WORDS_BYTES_MAX;
    struct tracebuf_segment *segment = calloc(1, sizeof *segment);
    if (!segment)
        return NULL;
    segment->storage_bytes = size_bytes + words_bytes;
    void *mapping = mmap(NULL, segment->storage_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        free(segment);
        return NULL;
    }
    segment->storage = mapping;
    return segment;
}

void segment_destroy(struct tracebuf_segment *segment)
{
    if (!segment)
        return;
    munmap(segment->storage, segment->storage_bytes);
    free(segment);
}

bool segment_is_empty(const struct tracebuf_segment *segment)
{
    return atomic_load_explicit(&segment->claimed, memory_order_relaxed) == 0;
}

void segment_reset(struct tracebuf_segment *segment)
{
    atomic_store_explicit(&segment->claimed, 0, memory_order_relaxed);
}

struct segment_cursor segment_begin(struct tracebuf_segment *segment, bool exact)
{
    uint64_t claimed = atomic_load_explicit(&segment->claimed, memory_order_relaxed);
    unsigned char *begin = segment->storage;
    unsigned char *end = begin + (claimed >> 32) * UNIT_BYTES;
    if (exact)
        return (struct segment_cursor){.at = begin, .run_end = end, .extent = end, .end = end};
    return (struct segment_cursor){.at = begin, .run_end = begin, .extent = begin, .end = end};
}

/* Words that do not fit are of threads that were cancelled in the middle of a record. */
static bool word_fits(const struct segment_cursor *cursor)
{
    uint64_t word = *(const uint64_t *)cursor->at;
    return tracebuf_stored_bytes(word, (uint32_t)word) <= (size_t)(cursor->run_end - cursor->at);
}

/* False: there are no more records. */
static bool record_find(struct segment_cursor *cursor)
{
    while (cursor->at == cursor->run_end || !word_fits(cursor)) {
        const struct tracebuf_extent *extent = (struct tracebuf_extent *)cursor->extent;
        if (cursor->extent == cursor->end)
            return false;
        cursor->at = cursor->extent + sizeof *extent;
        cursor->run_end = cursor->extent + extent->used_bytes;
        cursor->extent += extent->bytes;
    }
    return true;
}

size_t segment_count(struct tracebuf_segment *segment, bool exact)
{
    struct segment_cursor cursor = segment_begin(segment, exact);
    size_t count = 0;
    for (; record_find(&cursor); count++) {
        uint64_t word = *(const uint64_t *)cursor.at;
        cursor.at += tracebuf_stored_bytes(word, (uint32_t)word);
    }
    return count;
}

/* Few enough that finishing them finds them in the cache. */
enum { FINISH_ITEMS = 256 };

/* From the word in memory to what the consumer sees; returns where the next record begins. */
static inline unsigned char *item_make(struct tracebuf_item *item, unsigned char *at, uint64_t word)
{
    uint32_t size_bytes = (uint32_t)word;
    uint32_t tag = (uint32_t)(word >> 32) & (uint32_t) ~(TRACEBUF_WORD_LENT >> 32);
    if (word & TRACEBUF_WORD_LENT)
        *(uint64_t *)at = size_bytes;
    else
        at += sizeof word;
    item->tag = (tag & 0xffff) | (uint64_t)(tag >> 16) << 32;
    item->payload = at;
    return at + tracebuf_round(size_bytes);
}

static size_t items_collect(struct segment_cursor *cursor, struct tracebuf_item *items,
                            struct tracebuf_item **pointers, size_t items_max)
{
    size_t count = 0;
    while (count < items_max && record_find(cursor)) {
        unsigned char *at = cursor->at, *end = cursor->run_end;
        while (count < items_max && at != end) {
            uint64_t word = *(const uint64_t *)at;
            if (tracebuf_stored_bytes(word, (uint32_t)word) > (size_t)(end - at))
                break; /* see word_fits */
            at = item_make(&items[count], at, word);
            pointers[count] = &items[count]; /* each time: consumers may sort them */
            count++;
        }
        cursor->at = at;
    }
    return count;
}

size_t segment_collect(struct segment_cursor *cursor, const struct tracebuf_config *config,
                       struct tracebuf_item *items, struct tracebuf_item **pointers,
                       size_t items_max)
{
    size_t count = 0, more = FINISH_ITEMS;
    while (more == FINISH_ITEMS && count < items_max) {
        size_t room = items_max - count < FINISH_ITEMS ? items_max - count : FINISH_ITEMS;
        more = items_collect(cursor, items + count, pointers + count, room);
        if (config->finish && more > 0)
            config->finish(items + count, more);
        count += more;
    }
    return count;
}
