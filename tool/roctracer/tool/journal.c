#include "journal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16, ENTRY_ALIGN = 16 };

struct chunk {
    _Atomic(struct chunk *) next; /* writer: the owning thread (release), reader: drain (acquire) */
    _Atomic uint32_t used;        /* bytes; the same pair: what is below it does not change */
    _Alignas(ENTRY_ALIGN) unsigned char bytes[CHUNK_BYTES];
};

/* One for each thread that has recorded; reused by a later thread when its thread has ended. */
struct lane {
    struct lane *next;    /* does not change once it is listed */
    _Atomic bool is_free; /* set by its thread at its end (release), taken by exchange (acquire) */
    struct chunk *last;   /* the thread's */
    bool is_open;         /* the thread's: between begin and end */
    struct chunk *first;  /* the reader's */
    uint32_t done;        /* the reader's: bytes of first */
};

/* Writers: threads push their own (release). Readers: drain and who looks for a free one (acquire).
 * None is ever removed. */
static _Atomic(struct lane *) lanes;
static __thread struct lane *own_lane __attribute__((tls_model("initial-exec")));
static pthread_key_t lane_key;
static pthread_once_t lane_key_made = PTHREAD_ONCE_INIT;

/* The reader's; never taken by a writer. Error-checking: a plugin that ends the process does so
 * inside of a drain. */
static pthread_mutex_t drain_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static _Atomic(struct chunk *) spare; /* one chunk that was read; exchanged by both sides */
static _Atomic size_t chunk_count;    /* made and not freed; relaxed: a limit, not a boundary */
static _Atomic size_t chunk_limit = ((size_t)1 << 30) / CHUNK_BYTES;
static _Atomic uint64_t lost; /* relaxed: a number */
static _Atomic(void (*)(void)) on_full;

static struct chunk *chunk_make(void)
{
    struct chunk *chunk = atomic_exchange_explicit(&spare, NULL, memory_order_acquire);
    if (!chunk) {
        if (atomic_fetch_add_explicit(&chunk_count, 1, memory_order_relaxed) <
            atomic_load_explicit(&chunk_limit, memory_order_relaxed))
            chunk = malloc(sizeof *chunk);
        if (!chunk) {
            atomic_fetch_sub_explicit(&chunk_count, 1, memory_order_relaxed);
            return NULL;
        }
    }
    atomic_init(&chunk->next, NULL);
    atomic_init(&chunk->used, 0);
    return chunk;
}

static void chunk_free(struct chunk *chunk)
{
    chunk = atomic_exchange_explicit(&spare, chunk, memory_order_acq_rel);
    if (!chunk)
        return;
    free(chunk);
    atomic_fetch_sub_explicit(&chunk_count, 1, memory_order_relaxed);
}

static void lane_release(void *lane)
{
    own_lane = NULL;
    atomic_store_explicit(&((struct lane *)lane)->is_free, true, memory_order_release);
}

static void lane_key_make(void)
{
    pthread_key_create(&lane_key, lane_release);
}

static struct lane *lane_reuse(void)
{
    for (struct lane *lane = atomic_load_explicit(&lanes, memory_order_acquire); lane;
         lane = lane->next)
        if (atomic_load_explicit(&lane->is_free, memory_order_relaxed) &&
            atomic_exchange_explicit(&lane->is_free, false, memory_order_acquire))
            return lane;
    return NULL;
}

static struct lane *lane_make(void)
{
    struct lane *lane = calloc(1, sizeof *lane);
    struct chunk *chunk = lane ? chunk_make() : NULL;
    if (!chunk) {
        free(lane);
        return NULL;
    }
    lane->first = lane->last = chunk;
    lane->next = atomic_load_explicit(&lanes, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&lanes, &lane->next, lane, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return lane;
}

static struct lane *lane_get(void)
{
    if (own_lane)
        return own_lane;
    pthread_once(&lane_key_made, lane_key_make);
    struct lane *lane = lane_reuse();
    if (!lane)
        lane = lane_make();
    if (lane)
        pthread_setspecific(lane_key, lane);
    return own_lane = lane;
}

static struct journal_entry *entry_lose(void)
{
    atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    return NULL;
}

struct journal_entry *journal_begin(void)
{
    struct lane *lane = lane_get();
    if (!lane || lane->is_open)
        return entry_lose();
    struct chunk *chunk = lane->last;
    uint32_t used = atomic_load_explicit(&chunk->used, memory_order_relaxed);
    if (CHUNK_BYTES - used < JOURNAL_ENTRY_BYTES_MAX) {
        struct chunk *fresh = chunk_make();
        if (!fresh)
            return entry_lose();
        atomic_store_explicit(&chunk->next, fresh, memory_order_release);
        lane->last = chunk = fresh;
        used = 0;
        void (*full)(void) = atomic_load_explicit(&on_full, memory_order_acquire);
        if (full)
            full();
    }
    lane->is_open = true;
    return (struct journal_entry *)(void *)(chunk->bytes + used);
}

void journal_end(struct journal_entry *entry, size_t data_size_bytes)
{
    struct lane *lane = own_lane;
    size_t size = sizeof *entry + data_size_bytes;
    size = (size + ENTRY_ALIGN - 1) & ~(size_t)(ENTRY_ALIGN - 1);
    entry->size_bytes = (uint32_t)size;
    uint32_t used = atomic_load_explicit(&lane->last->used, memory_order_relaxed);
    atomic_store_explicit(&lane->last->used, used + (uint32_t)size, memory_order_release);
    lane->is_open = false;
}

static void chunk_drain(struct lane *lane, void (*write)(const struct journal_entry *entry))
{
    uint32_t used = atomic_load_explicit(&lane->first->used, memory_order_acquire);
    while (lane->done < used) {
        const struct journal_entry *entry =
            (const struct journal_entry *)(const void *)(lane->first->bytes + lane->done);
        lane->done += entry->size_bytes;
        write(entry);
    }
}

static void lane_drain(struct lane *lane, void (*write)(const struct journal_entry *entry))
{
    for (;;) {
        /* The next one first: once it is there, nothing is added to this one. */
        struct chunk *next = atomic_load_explicit(&lane->first->next, memory_order_acquire);
        chunk_drain(lane, write);
        if (!next)
            return;
        chunk_free(lane->first);
        lane->first = next;
        lane->done = 0;
    }
}

void journal_drain(void (*write)(const struct journal_entry *entry))
{
    if (pthread_mutex_lock(&drain_lock) != 0)
        return;
    for (struct lane *lane = atomic_load_explicit(&lanes, memory_order_acquire); lane;
         lane = lane->next)
        lane_drain(lane, write);
    pthread_mutex_unlock(&drain_lock);
}

void journal_notify(void (*full)(void))
{
    atomic_store_explicit(&on_full, full, memory_order_release);
}

uint64_t journal_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

void journal_limit(size_t bytes)
{
    atomic_store_explicit(&chunk_limit, bytes / CHUNK_BYTES, memory_order_relaxed);
}

/* The child has one thread, and locks may be held by threads that it does not have. */
void journal_forget(void)
{
    atomic_store_explicit(&on_full, NULL, memory_order_relaxed);
    atomic_store_explicit(&lanes, NULL, memory_order_relaxed);
    atomic_store_explicit(&spare, NULL, memory_order_relaxed);
    atomic_store_explicit(&chunk_count, 0, memory_order_relaxed);
    atomic_store_explicit(&lost, 0, memory_order_relaxed);
    own_lane = NULL;
    drain_lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
}
