#include "intercept/hsa/replay_kept.h"

#include <pthread.h>
#include <string.h>

enum { BLOCKS_MAX = 64, SLACK_PART = 8, LARGER_BY = 4 };

struct block {
    struct replay_copies copies;
    void *memory; /* NULL: this place is free */
    size_t bytes;
    bool in_use;
};

/* Under the lock, under which nobody is called. */
static struct {
    pthread_mutex_t lock;
    struct block blocks[BLOCKS_MAX];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- a child of fork() has no such memory */

static void fork_prepare(void)
{
    pthread_mutex_lock(&kept.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&kept.lock);
}

static void fork_child(void)
{
    memset(kept.blocks, 0, sizeof kept.blocks);
    pthread_mutex_unlock(&kept.lock);
}

static void fork_watch(void)
{
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- blocks */

static bool is_of(const struct block *block, const struct replay_copies *copies)
{
    return block->memory && !block->in_use && block->copies.data == copies->data &&
           block->copies.get == copies->get;
}

/* Neither too small nor a waste. */
static bool fits(const struct block *block, size_t bytes)
{
    return block->bytes >= bytes && block->bytes / LARGER_BY <= bytes;
}

/* Takes one that is kept for these copies out of the list, at best one that fits: `*found` has
 * memory if there is one. */
static void block_take(const struct replay_copies *copies, size_t bytes, struct block *found)
{
    struct block *best = NULL;
    *found = (struct block){0};
    pthread_mutex_lock(&kept.lock);
    for (struct block *block = kept.blocks; block < kept.blocks + BLOCKS_MAX; block++)
        if (is_of(block, copies) && (!best || (fits(block, bytes) && !fits(best, bytes))))
            best = block;
    if (best) {
        *found = *best;
        best->memory = NULL;
    }
    pthread_mutex_unlock(&kept.lock);
}

static bool block_note(const struct block *block)
{
    int at = 0;
    pthread_mutex_lock(&kept.lock);
    while (at < BLOCKS_MAX && kept.blocks[at].memory)
        at++;
    if (at < BLOCKS_MAX)
        kept.blocks[at] = *block;
    pthread_mutex_unlock(&kept.lock);
    return at < BLOCKS_MAX;
}

/* A program whose memory grows from launch to launch does not need another block for each. */
static void block_make(struct block *block, size_t bytes, bool grows)
{
    const struct replay_copies *copies = &block->copies;
    block->bytes = bytes;
    if (grows) {
        block->bytes += bytes / SLACK_PART;
        block->memory = copies->get(copies->data, block->bytes);
    }
    if (!block->memory) {
        block->bytes = bytes;
        block->memory = copies->get(copies->data, bytes);
    }
}

void *replay_kept_get(const struct replay_copies *copies, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct block block;
    pthread_once(&once, fork_watch);
    block_take(copies, bytes, &block);
    if (block.memory && !fits(&block, bytes)) {
        block.copies.put(block.copies.data, block.memory);
        block.memory = NULL;
        block.copies = *copies;
        block_make(&block, bytes, block.bytes < bytes);
    } else if (!block.memory) {
        block.copies = *copies;
        block_make(&block, bytes, false);
    }
    block.in_use = true;
    if (block.memory && !block_note(&block)) {
        copies->put(copies->data, block.memory);
        return NULL;
    }
    return block.memory;
}

void replay_kept_put(void *memory)
{
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < BLOCKS_MAX && memory; i++)
        if (kept.blocks[i].memory == memory)
            kept.blocks[i].in_use = false;
    pthread_mutex_unlock(&kept.lock);
}

size_t replay_kept_bytes(void)
{
    size_t bytes = 0;
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < BLOCKS_MAX; i++)
        if (kept.blocks[i].memory && !kept.blocks[i].in_use)
            bytes += kept.blocks[i].bytes;
    pthread_mutex_unlock(&kept.lock);
    return bytes;
}

void replay_kept_release(void)
{
    for (int i = 0; i < BLOCKS_MAX; i++) {
        pthread_mutex_lock(&kept.lock);
        struct block block = kept.blocks[i];
        if (!block.in_use)
            kept.blocks[i].memory = NULL;
        pthread_mutex_unlock(&kept.lock);
        if (block.memory && !block.in_use)
            block.copies.put(block.copies.data, block.memory);
    }
}

void replay_kept_forget(const void *data)
{
    pthread_mutex_lock(&kept.lock);
    for (int i = 0; i < BLOCKS_MAX; i++)
        if (kept.blocks[i].copies.data == data)
            kept.blocks[i].memory = NULL;
    pthread_mutex_unlock(&kept.lock);
}
