#include "intercept/marker/open_ranges.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- of a thread */

enum { BLOCK_RANGES = 16 };

/* Blocks stay until the thread ends: a thread allocates only when it nests deeper than before. */
struct block {
    struct block *below, *above;
    uint32_t used;
    struct {
        uint32_t level;
        struct range range;
    } ranges[BLOCK_RANGES];
};

static __thread struct block *top; /* the block of the innermost traced range, or the empty first */
static __thread uint32_t depth;    /* pushes without a pop, traced or not */

static pthread_key_t blocks_key;
static pthread_once_t blocks_once = PTHREAD_ONCE_INIT;

static void blocks_free(void *any)
{
    struct block *block = any;
    top = NULL;
    while (block->above)
        block = block->above;
    while (block) {
        struct block *below = block->below;
        for (uint32_t i = 0; i < block->used; i++)
            trace_event_release(&block->ranges[i].range.event);
        free(block);
        block = below;
    }
}

static void blocks_key_create(void)
{
    pthread_key_create(&blocks_key, blocks_free);
}

static struct block *block_add(struct block *below)
{
    struct block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->below = below;
    if (below)
        below->above = block;
    pthread_once(&blocks_once, blocks_key_create);
    if (!below)
        pthread_setspecific(blocks_key, block);
    return block;
}

static bool room_find(void)
{
    if (top && top->used < BLOCK_RANGES)
        return true;
    struct block *next = top ? top->above : NULL;
    if (!next)
        next = block_add(top);
    if (next)
        top = next;
    return next != NULL;
}

struct range *thread_range_push(bool traced)
{
    uint32_t level = depth++;
    if (!traced || !room_find())
        return NULL;
    uint32_t place = top->used++;
    top->ranges[place].level = level;
    return &top->ranges[place].range;
}

struct range *thread_range_pop(void)
{
    if (depth == 0)
        return NULL; /* pushed before we were there, or never */
    depth--;
    if (top && top->used == 0 && top->below)
        top = top->below;
    if (!top || top->used == 0 || top->ranges[top->used - 1].level != depth)
        return NULL;
    return &top->ranges[--top->used].range;
}

/* ---- of the process */

#define BUSY UINT64_MAX
/* 0: free; BUSY: being written or read; else the number + 1. Writers: the starting thread, which
 * makes it BUSY and then the number (release), and the stopping one, which makes it BUSY (acquire)
 * and then 0 (release). */
static _Atomic uint64_t keys[PROCESS_RANGES_MAX];
static struct range ranges[PROCESS_RANGES_MAX];

/* Numbers ascend, so the first look mostly hits; a place may be taken by a range that lasts. */
static int place_claim(uint64_t number, uint64_t from)
{
    for (uint32_t i = 0; i < PROCESS_RANGES_MAX; i++) {
        uint32_t place = (uint32_t)((number + i) % PROCESS_RANGES_MAX);
        uint64_t expected = from;
        if (atomic_load_explicit(&keys[place], memory_order_relaxed) == from &&
            atomic_compare_exchange_strong_explicit(&keys[place], &expected, BUSY,
                                                    memory_order_acquire, memory_order_relaxed))
            return (int)place;
    }
    return -1;
}

bool process_range_keep(uint64_t number, const struct range *range)
{
    int place = number + 1 == BUSY || number + 1 == 0 ? -1 : place_claim(number, 0);
    if (place < 0)
        return false;
    ranges[place] = *range;
    if (range->data.args.roctxProcessRangeA.message == range->message)
        ranges[place].data.args.roctxProcessRangeA.message = ranges[place].message;
    atomic_store_explicit(&keys[place], number + 1, memory_order_release);
    return true;
}

bool process_range_take(uint64_t number, struct range *range)
{
    int place = number + 1 == BUSY || number + 1 == 0 ? -1 : place_claim(number, number + 1);
    if (place < 0)
        return false;
    *range = ranges[place];
    if (ranges[place].data.args.roctxProcessRangeA.message == ranges[place].message)
        range->data.args.roctxProcessRangeA.message = range->message;
    atomic_store_explicit(&keys[place], 0, memory_order_release);
    return true;
}
