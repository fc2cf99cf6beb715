/*
 * What L2 channels have seen, and what they write back, in totals.
 */
#include <string.h>

#include "perf/memory.h"
#include "perf/memory_inside.h"

/* One dirty sector of each of `lines` goes to memory: half a sector when only one half was written.
 */
static void sector_write_back(uint64_t dirty_bytes, enum memory_home home, uint32_t lines,
                              const struct channel *channel)
{
    bool whole = (uint32_t)dirty_bytes && dirty_bytes >> 32;
    channel->totals[whole ? CHANNEL(EA_WRITE_64) : CHANNEL(EA_WRITE_32)] += lines;
    writes_note(channel, home, lines);
}

void l2_line_write_back(const struct l2_sets *l2, uint32_t set, uint32_t way, uint32_t lines,
                        const struct channel *channel)
{
    const uint32_t state = l2->sets[set].states[way];
    const enum memory_home home =
        vm_place_home((uint64_t)l2->sets[set].memory[way] << L2_MEMORY_SHIFT);
    for (uint32_t i = 0; i < CACHE_SECTORS; i++)
        if (state & L2_DIRTY << i)
            sector_write_back(state & L2_FULL << i ? UINT64_MAX : l2->dirty_bytes[set][way][i],
                              home, lines, channel);
}

/* What a channel has seen comes to its totals, and to what the dispatch asks of it. */
static void channel_settle(const struct memory_model *memory, uint64_t seen[SEEN_SLOTS],
                           const struct channel *channel)
{
    const uint64_t lines = 1u << memory->tcc->block_shift, *read = seen + SEEN_READ;
    const uint64_t block_reads = CACHE_BLOCK_BYTES / memory->model->tcp_line_bytes;
    const uint64_t block_misses = block_reads * seen[SEEN_READ_BLOCK_MISS];
    const uint64_t joined = seen[SEEN_JOINED_MISS] + seen[SEEN_JOINED_ALONE];
    const uint64_t singles = read[1] + read[2] + read[3];
    /* A block's lines are a request each, whatever the L1 asks for. */
    const uint64_t read_misses =
        singles + seen[SEEN_JOINED_ALONE] + lines * seen[SEEN_READ_BLOCK_MISS];
    const uint64_t read_hits =
        read[0] - seen[SEEN_JOINED_ALONE] + lines * seen[SEEN_READ_BLOCK_HIT];
    const bool halves = block_reads == BLOCK_LINES; /* of lines of 128 bytes */
    /* What of a block's lines is no first part of a line of the L2 finds what that has made. */
    const uint64_t write_misses = seen[SEEN_WRITE_MISS] + lines * seen[SEEN_WRITE_BLOCK_MISS];
    const uint64_t writes =
        seen[SEEN_WRITE_HIT] + seen[SEEN_WRITE_MISS] +
        BLOCK_LINES * (seen[SEEN_WRITE_BLOCK_HIT] + seen[SEEN_WRITE_BLOCK_MISS]);
    uint64_t *totals = channel->totals;
    totals[CHANNEL(TCC_READ)] += read_hits + read_misses;
    totals[CHANNEL(TCC_WRITE)] += writes;
    totals[CHANNEL(TCC_RW)] += read_hits + read_misses + writes;
    totals[CHANNEL(TCC_HIT)] += read_hits + writes - write_misses;
    totals[CHANNEL(TCC_MISS)] += read_misses + write_misses;
    totals[CHANNEL(EA_READ_64)] += read[1] + read[2] + joined + (halves ? block_misses : 0);
    totals[CHANNEL(EA_READ_128)] += read[3] + (halves ? 0 : block_misses);
    channel->work->reads += singles + joined + block_misses;
}

/* Lines that have left for others, with no dirty sector, with one, or with two. */
static void evicted_settle(const struct memory_model *memory, const uint64_t seen[SEEN_SLOTS],
                           const struct channel *channel)
{
    const uint64_t lines = 1u << memory->tcc->block_shift;
    const uint64_t *one = seen + SEEN_EVICT, *many = seen + SEEN_EVICT_BLOCK;
    const uint64_t line_sectors = BLOCK_LINES / lines, dirty_blocks = lines * many[1];
    const uint64_t clean = one[0] + lines * many[0],
                   dirty = one[1] + one[2] + one[3] + dirty_blocks;
    const uint64_t sectors = one[1] + one[2] + 2 * one[3] + line_sectors * dirty_blocks;
    channel->totals[CHANNEL(TCC_EVICT)] += clean + dirty;
    channel->totals[CHANNEL(TCC_EVICT_DIRTY)] += dirty;
    channel->totals[CHANNEL(EA_WRITE_64)] += sectors;
    channel->work->writes += sectors;
}

static void seen_settle(const struct memory_model *memory, struct channels_seen *seen)
{
    for (uint32_t i = 0; seen->work && i < memory->model->tcc_channels; i++) {
        const struct channel channel = {seen->totals[i], &seen->work[i]};
        channel_settle(memory, seen->counts[i], &channel);
        evicted_settle(memory, seen->counts[i], &channel);
        memset(seen->counts[i], 0, sizeof seen->counts[i]);
    }
    seen->work = NULL;
}

void memory_settle(struct memory_model *memory)
{
    for (uint32_t xcc = 0; xcc < memory->model->xcc_count; xcc++)
        seen_settle(memory, &memory->seen[xcc]);
}

void channels_seen_change(struct memory_model *memory, uint32_t xcc,
                          const struct memory_totals *totals)
{
    struct channels_seen *seen = &memory->seen[xcc];
    seen_settle(memory, seen);
    seen->totals = totals->channel;
    seen->work = totals->work;
}
