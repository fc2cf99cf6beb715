#include "pftrace_counters.h"

#include <stdio.h>
#include <string.h>

#include <crocprof/quality.h>

enum {
    COPIES_AT_ONCE = 64,  /* those that end first are taken to have ended where there are more */
    BLOCKS_MAX = 1 << 16, /* addresses that are remembered */
};

struct copied {
    perfetto_track track;
    struct {
        uint64_t end_ns, bytes;
    } open[COPIES_AT_ONCE];
    uint32_t count;
    uint64_t bytes; /* of all that are open */
};

struct allocated {
    perfetto_track track;
    uint64_t bytes;
};

struct block {
    uint64_t node, bytes; /* bytes 0: it is free */
};

void pftrace_counters_open(struct pftrace_counters *counters, struct perfetto *trace,
                           perfetto_track parent)
{
    *counters = (struct pftrace_counters){.trace = trace, .parent = parent};
    counters->dispatches.element_bytes = sizeof(perfetto_track);
    counters->copies.element_bytes = sizeof(struct copied);
    counters->memory.element_bytes = sizeof(struct allocated);
    counters->blocks.element_bytes = sizeof(struct block);
}

/* Shown as the values' unit: the tracks' names are those that others know. */
static const char *quality_unit(const struct out_counter *counter)
{
    if (counter && counter->quality == CROCPROF_QUALITY_NOT_COUNTED)
        return "(not counted by this device)";
    return counter && counter->quality == CROCPROF_QUALITY_APPROXIMATE ? "(approximate)" : NULL;
}

/* The value stands while the kernel runs. */
void pftrace_counters_value(struct pftrace_counters *counters, const struct out_counter_row *row)
{
    const char *counter = row->counter_name ? row->counter_name : "unknown";
    const struct out_dispatch_row *dispatch = &row->dispatch;
    uint64_t key = (uint64_t)perfetto_name(counters->trace, counter) << 32 ^ dispatch->node;
    bool is_new = false;
    perfetto_track *track = numbered_get(&counters->dispatches, key, &is_new);
    if (!track)
        return;
    if (is_new) {
        char name[256];
        snprintf(name, sizeof name, "Agent [%llu] PMC %s", (unsigned long long)dispatch->node,
                 counter);
        *track =
            perfetto_counter(counters->trace, counters->parent, name, quality_unit(row->counter));
    }
    perfetto_value(counters->trace, *track, dispatch->start_ns, row->counter_value);
    perfetto_value(counters->trace, *track, dispatch->end_ns, 0);
}

/* Ends the copies that have ended by then, the first one first. */
static void copies_end(struct pftrace_counters *counters, struct copied *copied, uint64_t now_ns)
{
    for (;;) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < copied->count; i++)
            if (copied->open[i].end_ns < copied->open[first].end_ns)
                first = i;
        if (copied->count == 0 ||
            (copied->open[first].end_ns > now_ns && copied->count < COPIES_AT_ONCE))
            return;
        copied->bytes -= copied->open[first].bytes;
        perfetto_value(counters->trace, copied->track, copied->open[first].end_ns,
                       (double)copied->bytes);
        copied->open[first] = copied->open[--copied->count];
    }
}

void pftrace_counters_copy(struct pftrace_counters *counters, const struct out_copy_row *row)
{
    bool is_new = false;
    struct copied *copied = numbered_get(&counters->copies, row->destination_node, &is_new);
    if (!copied)
        return;
    if (is_new) {
        char name[64] = "Copy bytes";
        if (row->destination_node != OUT_NO_AGENT)
            snprintf(name, sizeof name, "Copy bytes to agent [%llu]",
                     (unsigned long long)row->destination_node);
        copied->track = perfetto_counter(counters->trace, counters->parent, name, "bytes");
    }
    copies_end(counters, copied, row->start_ns);
    copied->bytes += row->bytes;
    copied->open[copied->count].end_ns = row->end_ns;
    copied->open[copied->count++].bytes = row->bytes;
    perfetto_value(counters->trace, copied->track, row->start_ns, (double)copied->bytes);
}

static void allocated_add(struct pftrace_counters *counters, uint64_t node, uint64_t bytes,
                          uint64_t at_ns)
{
    bool is_new = false;
    struct allocated *allocated = numbered_get(&counters->memory, node, &is_new);
    if (!allocated)
        return;
    if (is_new) {
        char name[64] = "Allocated bytes";
        if (node != OUT_NO_AGENT)
            snprintf(name, sizeof name, "Allocated bytes on agent [%llu]",
                     (unsigned long long)node);
        allocated->track = perfetto_counter(counters->trace, counters->parent, name, "bytes");
    }
    allocated->bytes += bytes;
    perfetto_value(counters->trace, allocated->track, at_ns, (double)allocated->bytes);
}

/* A free says the address alone. */
void pftrace_counters_allocation(struct pftrace_counters *counters,
                                 const struct out_allocation_row *row)
{
    bool is_new, is_free = row->operation && strstr(row->operation, "FREE");
    struct block *block = numbered_find(&counters->blocks, row->address);
    if (is_free && block && block->bytes) {
        allocated_add(counters, block->node, 0 - block->bytes, row->end_ns);
        block->bytes = 0;
    }
    if (is_free || (!block && counters->blocks.used >= BLOCKS_MAX))
        return; /* what is not remembered would never be taken away again */
    if (!block)
        block = numbered_get(&counters->blocks, row->address, &is_new);
    if (!block)
        return;
    allocated_add(counters, row->node, row->bytes - (block->node == row->node ? block->bytes : 0),
                  row->end_ns);
    *block = (struct block){row->node, row->bytes};
}

void pftrace_counters_close(struct pftrace_counters *counters)
{
    struct numbered *copies = &counters->copies;
    for (uint32_t i = 0; i < copies->capacity; i++)
        if (copies->slots[i].element)
            copies_end(counters, copies->slots[i].element, UINT64_MAX);
    numbered_free(&counters->dispatches);
    numbered_free(&counters->copies);
    numbered_free(&counters->memory);
    numbered_free(&counters->blocks);
}
