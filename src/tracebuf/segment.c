#include "tracebuf/segment.h"
#include "base/clock.h"

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
    struct tracebuf_segment *segment =
        aligned_alloc(_Alignof(struct tracebuf_segment), sizeof *segment);
    if (!segment)
        return NULL;
    *segment = (struct tracebuf_segment){.storage_bytes = size_bytes + words_bytes};
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

static size_t stored_bytes(uint64_t word)
{
    return tracebuf_stored_bytes(word, (uint32_t)word);
}

/* Words that do not fit are of threads that were cancelled in the middle of a record. */
static bool word_fits(const struct segment_cursor *cursor)
{
    return stored_bytes(*(const uint64_t *)cursor->at) <= (size_t)(cursor->run_end - cursor->at);
}

static void extent_enter(struct segment_cursor *cursor)
{
    const struct tracebuf_extent *extent = (struct tracebuf_extent *)cursor->extent;
    cursor->at = cursor->extent + sizeof *extent;
    cursor->run_end = cursor->extent + extent->used_bytes;
    cursor->finished_end = cursor->at + extent->finished_bytes;
    cursor->finished_word = extent->finished_word;
    cursor->extent += extent->bytes;
    if (extent->finishing_count == 0)
        return;
    cursor->lost += extent->finishing_count;
    cursor->at = cursor->run_end;
}

/* False: there are no more records. */
static bool record_find(struct segment_cursor *cursor)
{
    while (cursor->at >= cursor->finished_end &&
           (cursor->at == cursor->run_end || !word_fits(cursor))) {
        if (cursor->extent == cursor->end)
            return false;
        extent_enter(cursor);
    }
    return true;
}

static uint64_t item_tag(uint64_t word)
{
    uint32_t tag = (uint32_t)(word >> 32) & (uint32_t) ~(TRACEBUF_WORD_LENT >> 32);
    return (tag & 0xffff) | (uint64_t)(tag >> 16) << 32;
}

/* How many records from `at` on have the word of the first one, which fits. */
static inline size_t words_alike(const unsigned char *at, size_t stride_bytes, size_t bytes,
                                 size_t most)
{
    enum { AT_ONCE = 4 };
    uint64_t word = *(const uint64_t *)at;
    size_t count = 1, fit = bytes / stride_bytes;
    most = fit < most ? fit : most;
    at += stride_bytes;
    for (; count + AT_ONCE <= most; count += AT_ONCE, at += AT_ONCE * stride_bytes)
        for (size_t i = 0; i < AT_ONCE; i++)
            if (*(const uint64_t *)(at + i * stride_bytes) != word)
                return count + i;
    for (; count < most && *(const uint64_t *)at == word; count++)
        at += stride_bytes;
    return count;
}

/* The word goes, the size comes in its place. */
static inline void sizes_put(unsigned char *at, size_t stride_bytes, size_t count, uint64_t word)
{
    enum { AT_ONCE = 8 };
    size_t done = 0;
    for (; done + AT_ONCE <= count; done += AT_ONCE, at += AT_ONCE * stride_bytes)
        for (size_t i = 0; i < AT_ONCE; i++)
            *(uint64_t *)(at + i * stride_bytes) = (uint32_t)word;
    for (; done < count; done++, at += stride_bytes)
        *(uint64_t *)at = (uint32_t)word;
}

bool segment_run_next(struct segment_cursor *cursor, size_t most, struct tracebuf_run *run)
{
    if (!record_find(cursor))
        return false;
    bool finished = cursor->at < cursor->finished_end;
    uint64_t word = finished ? cursor->finished_word : *(const uint64_t *)cursor->at;
    size_t stride_bytes = stored_bytes(word);
    *run = (struct tracebuf_run){cursor->at, stride_bytes, 1, item_tag(word), finished};
    if (finished) {
        size_t count = (size_t)(cursor->finished_end - cursor->at) / stride_bytes;
        run->count = count < most ? count : most;
    } else if (stride_bytes > 0) {
        run->count =
            words_alike(cursor->at, stride_bytes, (size_t)(cursor->run_end - cursor->at), most);
        if (word & TRACEBUF_WORD_LENT)
            sizes_put(cursor->at, stride_bytes, run->count, word);
        else
            run->at += sizeof word;
    }
    cursor->at += run->count * stride_bytes;
    return true;
}

size_t segment_count(struct segment_cursor *cursor)
{
    struct tracebuf_run run;
    size_t count = 0;
    while (segment_run_next(cursor, SIZE_MAX, &run))
        count += run.count;
    count += cursor->lost;
    cursor->lost = 0;
    return count;
}

void extent_finish(struct tracebuf_extent *extent, const struct tracebuf_config *config)
{
    struct clock_segment segment = {.last_ticks = 0};
    unsigned char *at = (unsigned char *)(extent + 1);
    size_t bytes = extent->used_bytes - sizeof *extent;
    uint64_t word = bytes ? *(const uint64_t *)at : 0;
    if (!(word & TRACEBUF_WORD_LENT) || stored_bytes(word) == 0)
        return;
    struct tracebuf_run run = {at, stored_bytes(word), 0, item_tag(word), false};
    run.count = words_alike(at, run.stride_bytes, bytes, SIZE_MAX);
    extent->finishing_count = bytes / run.stride_bytes;
    atomic_signal_fence(memory_order_seq_cst); /* a cancelled thread is seen with all of that */
    size_t count = config->finish ? config->finish(&run, &segment, true, config->arg) : run.count;
    if (!config->deliver_run)
        sizes_put(at, run.stride_bytes, count, word);
    extent->finished_word = word;
    extent->finished_bytes = count * run.stride_bytes;
    atomic_signal_fence(memory_order_seq_cst);
    extent->finishing_count = 0;
}

static void items_make(const struct tracebuf_run *run, struct tracebuf_item *items,
                       struct tracebuf_item **pointers)
{
    unsigned char *at = run->at;
    const size_t stride_bytes = run->stride_bytes, count = run->count;
    const uint64_t tag = run->tag;
    for (size_t i = 0; i < count; i++, at += stride_bytes) {
        items[i] = (struct tracebuf_item){tag, at};
        pointers[i] = &items[i]; /* each time: consumers may sort them */
    }
}

/* Few enough that what comes next finds them in the cache. */
enum { RUN_MAX = 256 };

size_t segment_collect(struct segment_cursor *cursor, const struct tracebuf_config *config,
                       struct tracebuf_item *items, struct tracebuf_item **pointers,
                       size_t items_max)
{
    struct clock_segment segment = {.last_ticks = 0};
    struct tracebuf_run run;
    size_t count = 0;
    while (count < items_max) {
        size_t room = items_max - count < RUN_MAX ? items_max - count : RUN_MAX;
        if (!segment_run_next(cursor, room, &run))
            break;
        if (config->finish && !run.finished)
            config->finish(&run, &segment, false, config->arg);
        items_make(&run, items + count, pointers + count);
        count += run.count;
    }
    return count;
}
