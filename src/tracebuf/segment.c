#include "tracebuf/segment.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { UNIT_BYTES = 8, RECORD_BYTES_MIN = 8 };

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

/* The smallest record sets how many items and how much header space the capacity can turn into. All
 * of it is address space; only what records touch becomes memory. */
struct tracebuf_segment *segment_create(const struct tracebuf_config *config, bool exact)
{
    size_t header_bytes = sizeof(struct tracebuf_item);
    size_t storage_bytes =
        exact ? config->size_bytes / RECORD_BYTES_MIN * (RECORD_BYTES_MIN + header_bytes)
              : config->size_bytes + config->size_bytes / 2;
    size_t items_max = storage_bytes / (RECORD_BYTES_MIN + header_bytes);
    size_t mapping_bytes = storage_bytes + items_max * sizeof(struct tracebuf_item *);
    struct tracebuf_segment *segment = calloc(1, sizeof *segment);
    if (!segment)
        return NULL;
    void *mapping = mmap(NULL, mapping_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        free(segment);
        return NULL;
    }
    segment->storage = mapping;
    segment->storage_bytes = storage_bytes;
    segment->items = (struct tracebuf_item **)(segment->storage + storage_bytes);
    segment->items_max = items_max;
    segment->mapping_bytes = mapping_bytes;
    return segment;
}

void segment_destroy(struct tracebuf_segment *segment)
{
    if (!segment)
        return;
    munmap(segment->storage, segment->mapping_bytes);
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

struct collection {
    struct tracebuf_segment *segment;
    const struct tracebuf_config *config;
    size_t count;
    _Alignas(16) unsigned char state[64];
};

static void collect_run(struct collection *c, unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        struct tracebuf_item *item = (struct tracebuf_item *)at;
        size_t size_bytes = item->size_bytes;
        item->payload = item + 1;
        if (c->config->finish)
            c->config->finish(c->state, item->tag, item->payload, size_bytes);
        c->segment->items[c->count++] = item;
        at += sizeof *item + ((size_bytes + 7) & ~(size_t)7);
    }
}

size_t segment_collect(struct tracebuf_segment *segment, const struct tracebuf_config *config,
                       bool exact)
{
    struct collection c = {.segment = segment, .config = config};
    uint64_t claimed = atomic_load_explicit(&segment->claimed, memory_order_relaxed);
    unsigned char *at = segment->storage;
    unsigned char *end = at + (claimed >> 32) * UNIT_BYTES;
    if (config->finish_begin)
        config->finish_begin(c.state);
    if (exact) {
        collect_run(&c, at, end);
        return c.count;
    }
    while (at < end) {
        struct tracebuf_extent *extent = (struct tracebuf_extent *)at;
        collect_run(&c, at + sizeof *extent, at + extent->used_bytes);
        at += extent->bytes;
    }
    return c.count;
}
