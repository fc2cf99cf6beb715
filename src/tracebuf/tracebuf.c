#include "tracebuf/tracebuf.h"

#include "base/log.h"
#include "base/process.h"
#include "tracebuf/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(struct tracebuf_lease) * TRACEBUF_LEASES_MAX <= THREAD_ROOM_TRACEBUF_BYTES,
               "leases fit the thread's room");

/* Writers: create (release, under tracebuf_create_lock). Readers: any. Slots are never cleared. */
static _Atomic(struct tracebuf *) buffers[TRACEBUF_MAX];
/* Writer: create, under the lock, after the slot (release). Readers: any (acquire). */
static _Atomic uint32_t buffer_count;
static uint32_t lease_count = 1; /* lease 0 is the one that is never valid; tracebuf_create_lock */
pthread_mutex_t tracebuf_create_lock = PTHREAD_MUTEX_INITIALIZER;

uint32_t tracebuf_count(void)
{
    return atomic_load_explicit(&buffer_count, memory_order_acquire);
}

struct tracebuf *tracebuf_at(uint32_t index)
{
    return index < tracebuf_count() ? atomic_load_explicit(&buffers[index], memory_order_acquire)
                                    : NULL;
}

static bool segments_create(struct tracebuf *buffer)
{
    struct tracebuf_state *state = buffer->state;
    atomic_store_explicit(&buffer->current, segment_create(&buffer->config), memory_order_seq_cst);
    state->free = segment_create(&buffer->config);
    state->segment_count = SEGMENTS_NORMAL;
    return atomic_load_explicit(&buffer->current, memory_order_seq_cst) && state->free;
}

static void buffer_free(struct tracebuf *buffer)
{
    segment_destroy(atomic_load_explicit(&buffer->current, memory_order_seq_cst));
    if (buffer->state)
        segment_destroy(buffer->state->free);
    free(buffer->state);
    free(buffer);
}

static struct tracebuf *buffer_new(const struct tracebuf_config *config)
{
    struct tracebuf *buffer = aligned_alloc(_Alignof(struct tracebuf), sizeof *buffer);
    if (!buffer)
        return NULL;
    memset(buffer, 0, sizeof *buffer);
    buffer->config = *config;
    if (config->watermark_bytes > config->size_bytes)
        buffer->config.watermark_bytes = config->size_bytes;
    buffer->exact = buffer->config.watermark_bytes < EXACT_BELOW_BYTES;
    atomic_init(&buffer->generation, 1);
    buffer->state = calloc(1, sizeof *buffer->state);
    if (!buffer->state || !segments_create(buffer)) {
        buffer_free(buffer);
        return NULL;
    }
    pthread_mutex_init(&buffer->state->rotate_lock, NULL);
    return buffer;
}

static bool buffer_list(struct tracebuf *buffer)
{
    pthread_mutex_lock(&tracebuf_create_lock);
    uint32_t index = atomic_load_explicit(&buffer_count, memory_order_seq_cst);
    bool listed = index < TRACEBUF_MAX;
    if (listed) {
        if (lease_count == TRACEBUF_LEASES_MAX)
            buffer->exact = true;
        if (!buffer->exact)
            buffer->lease_index = lease_count++;
        buffer->index = index;
        atomic_store_explicit(&buffers[index], buffer, memory_order_release);
        atomic_store_explicit(&buffer_count, index + 1, memory_order_release);
    }
    pthread_mutex_unlock(&tracebuf_create_lock);
    return listed;
}

struct tracebuf *tracebuf_create(const struct tracebuf_config *config)
{
    thread_init();
    struct tracebuf *buffer = buffer_new(config);
    if (buffer && !buffer_list(buffer)) {
        buffer_free(buffer);
        return NULL;
    }
    return buffer;
}

__thread volatile bool tracebuf_rotating __attribute__((tls_model("initial-exec")));

void *tracebuf_drop(struct tracebuf *buffer)
{
    atomic_fetch_add_explicit(&buffer->dropped, 1, memory_order_relaxed);
    return NULL;
}

/* A record of its own, without a lease. */
static enum claim_result record_claim(struct tracebuf *buffer, struct tracebuf_segment *segment,
                                      size_t payload_bytes, size_t stored_bytes, unsigned char **at)
{
    if (buffer->exact)
        return segment_claim(segment, &buffer->config, payload_bytes, stored_bytes, at);
    size_t used_bytes = sizeof(struct tracebuf_extent) + stored_bytes;
    size_t bytes = (used_bytes + EXTENT_HEAD_BYTES - 1) & ~(size_t)(EXTENT_HEAD_BYTES - 1);
    enum claim_result result = segment_claim(segment, &buffer->config, payload_bytes, bytes, at);
    if (result == CLAIM_FULL)
        return result;
    *(struct tracebuf_extent *)*at =
        (struct tracebuf_extent){.bytes = bytes, .used_bytes = used_bytes};
    *at += sizeof(struct tracebuf_extent);
    return result;
}

/* A lease counts against capacity as if it were full. */
static enum claim_result lease_claim(struct tracebuf *buffer, struct thread *self,
                                     struct tracebuf_segment *segment, uint64_t generation)
{
    struct tracebuf_lease *lease = (struct tracebuf_lease *)self->tracebuf + buffer->lease_index;
    size_t bytes = buffer->config.size_bytes < LARGE_BUFFER_BYTES ? LEASE_BYTES : LARGE_LEASE_BYTES;
    unsigned char *at;
    enum claim_result result = segment_claim(segment, &buffer->config, bytes, bytes, &at);
    if (result == CLAIM_FULL)
        return result;
    struct tracebuf_extent *extent = (struct tracebuf_extent *)at;
    *extent = (struct tracebuf_extent){.bytes = bytes, .used_bytes = sizeof *extent};
    *lease = (struct tracebuf_lease){.at = at + sizeof *extent,
                                     .end = at + bytes,
                                     .used_bytes = &extent->used_bytes,
                                     .generation = generation};
    return result;
}

/* The thread's lease has no more room. While the generation is the lease's and the thread is busy
 * with the buffer, nobody takes the segment away. */
static void lease_finish(const struct tracebuf *buffer, const struct tracebuf_lease *lease)
{
    extent_finish((struct tracebuf_extent *)((char *)lease->used_bytes -
                                             offsetof(struct tracebuf_extent, used_bytes)),
                  &buffer->config);
}

static enum claim_result claim(struct tracebuf *buffer, struct thread *self,
                               struct tracebuf_segment *segment, uint64_t generation,
                               size_t payload_bytes, size_t stored_bytes, unsigned char **at)
{
    if (buffer->exact || stored_bytes > LEASE_BYTES / 4)
        return record_claim(buffer, segment, payload_bytes, stored_bytes, at);
    struct tracebuf_lease *lease = (struct tracebuf_lease *)self->tracebuf + buffer->lease_index;
    if (lease->generation == generation)
        lease_finish(buffer, lease);
    enum claim_result result = lease_claim(buffer, self, segment, generation);
    if (result == CLAIM_FULL) {
        lease->generation = 0; /* what is left of it would put later records before this one */
        return record_claim(buffer, segment, payload_bytes, stored_bytes, at);
    }
    *at = lease->at;
    lease->at += stored_bytes;
    *lease->used_bytes += stored_bytes;
    return result;
}

/* False: nobody rotated since `generation`, and there is no free segment. */
static bool rotate_once(struct tracebuf *buffer, uint64_t generation, bool *closed, uint32_t *epoch)
{
    struct tracebuf_state *state = buffer->state;
    pthread_mutex_lock(&state->rotate_lock);
    *epoch = atomic_load_explicit(&state->freed_epoch, memory_order_seq_cst);
    *closed = state->closed || state_is_abandoned(state);
    bool moved = atomic_load_explicit(&buffer->generation, memory_order_seq_cst) != generation ||
                 (!state->ending && state_rotate(buffer));
    pthread_mutex_unlock(&state->rotate_lock);
    return moved;
}

/* A child without fork()'s handlers: nobody delivers what it would record. */
static bool is_strange_child(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT; /* writers: any; only the first one tells */
    if (process_is_own())
        return false;
    if (!atomic_flag_test_and_set_explicit(&told, memory_order_relaxed))
        log_warning("tracebuf", "process %d was not made by fork(): its records are lost",
                    (int)getpid());
    return true;
}

/* LOSSLESS: the current segment is full. Rotates, or waits until a segment was delivered. False:
 * the record cannot be kept. Outside of the busy section. */
static bool make_room(struct tracebuf *buffer, uint64_t generation)
{
    struct tracebuf_state *state = buffer->state;
    if (tracebuf_rotating || is_strange_child())
        return false;
    bool own = delivery_is_own(buffer) || delivery_may_not_wait(), closed;
    uint32_t epoch;
    tracebuf_rotating = true;
    bool moved = rotate_once(buffer, generation, &closed, &epoch);
    if (!moved && !closed) {
        state_extend(buffer, own);
        moved = rotate_once(buffer, generation, &closed, &epoch);
    }
    tracebuf_rotating = false;
    if (closed || (own && !moved) || !atomic_load_explicit(&state->thread, memory_order_seq_cst))
        return false;
    bool served = delivery_request(buffer);
    if (moved)
        return true;
    /* After the look for a free segment: the end delivers once more after it has said so. */
    if (!served || delivery_is_over(buffer) ||
        atomic_load_explicit(&state->muted, memory_order_seq_cst))
        return false;
    delivery_wait(&state->freed_epoch, epoch);
    return true;
}

static void *too_large(struct tracebuf *buffer, size_t size_bytes)
{
    size_t nothing = 0; /* kept for a message when the buffer is closed: none is written here */
    atomic_compare_exchange_strong_explicit(&buffer->state->too_large_bytes, &nothing, size_bytes,
                                            memory_order_seq_cst, memory_order_seq_cst);
    return tracebuf_drop(buffer);
}

/* DISCARD: the current segment has no room for this record. It is as full as such records can make
 * it, and nothing else may ask for it to be delivered: where no sum of records is the watermark,
 * the watermark is never crossed. Counted first, so that this delivery tells of the loss. */
static void *discard(struct tracebuf *buffer, uint64_t generation)
{
    tracebuf_drop(buffer);
    if (atomic_load_explicit(&buffer->generation, memory_order_relaxed) == generation)
        delivery_request(buffer);
    return NULL;
}

void *tracebuf_reserve_slow(struct tracebuf *buffer, struct thread *self, uint64_t word,
                            size_t size_bytes)
{
    size_t payload_bytes = tracebuf_round(size_bytes);
    size_t stored_bytes = tracebuf_stored_bytes(word, size_bytes);
    for (;;) {
        uint64_t generation = atomic_load_explicit(&buffer->generation, memory_order_acquire);
        struct tracebuf_segment *segment =
            atomic_load_explicit(&buffer->current, memory_order_acquire);
        unsigned char *at = NULL;
        enum claim_result result =
            segment && size_bytes <= UINT32_MAX
                ? claim(buffer, self, segment, generation, payload_bytes, stored_bytes, &at)
                : CLAIM_FULL;
        /* The first record in a forked child is delivered at once: then its thread is there, and
         * its consumer knows, before the child ends in a way that nobody could do anything in. */
        if (result != CLAIM_FULL && (fork_first_record(buffer) || result == CLAIM_CROSSED))
            self->wake = buffer;
        if (result != CLAIM_FULL)
            return tracebuf_word_put(at, word);
        thread_busy_end(self);
        if (!segment)
            return tracebuf_drop(buffer);
        if (payload_bytes > buffer->config.size_bytes || size_bytes > UINT32_MAX)
            return too_large(buffer, size_bytes);
        if (buffer->config.policy == TRACEBUF_DISCARD)
            return discard(buffer, generation);
        if (!make_room(buffer, generation))
            return tracebuf_drop(buffer);
        thread_busy_begin(self, buffer);
    }
}

/* A signal handler that records may come before any of these lines and find the note first. */
void tracebuf_wake(struct thread *self)
{
    struct tracebuf *buffer = (struct tracebuf *)*(const void *volatile *)&self->wake;
    self->wake = NULL;
    if (buffer)
        delivery_request(buffer);
}

static void loss_report(const struct tracebuf *buffer)
{
    size_t too_large_bytes =
        atomic_load_explicit(&buffer->state->too_large_bytes, memory_order_seq_cst);
    uint64_t dropped = atomic_load_explicit(&buffer->dropped, memory_order_relaxed);
    if (too_large_bytes)
        log_warning("tracebuf", "records of %zu bytes did not fit a buffer of %zu bytes",
                    too_large_bytes, buffer->config.size_bytes);
    if (dropped > atomic_load_explicit(&buffer->state->dropped_told, memory_order_seq_cst))
        log_warning(
            "tracebuf", "%llu records were lost after the last delivery of their buffer",
            (unsigned long long)(dropped - atomic_load_explicit(&buffer->state->dropped_told,
                                                                memory_order_seq_cst)));
}

/* All storage there is, as a list; NULL when there is none or a callback may still be using it. */
static struct tracebuf_segment *storage_take(struct tracebuf *buffer, bool *busy)
{
    struct tracebuf_state *state = buffer->state;
    struct tracebuf_segment *storage = NULL;
    pthread_mutex_lock(&state->rotate_lock);
    *busy = !state->closed && (state->delivering != 0 || state->full_first);
    if (!*busy && !state->closed) {
        state->closed = true;
        storage = atomic_exchange_explicit(&buffer->current, NULL, memory_order_seq_cst);
        storage->next = state->free;
        state->free = NULL;
        atomic_fetch_add_explicit(&buffer->generation, 1, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&state->rotate_lock);
    return storage;
}

bool tracebuf_close(struct tracebuf *buffer)
{
    bool busy;
    struct tracebuf_segment *storage = storage_take(buffer, &busy);
    if (!storage)
        return !busy;
    thread_quiesce(buffer);
    while (storage) {
        struct tracebuf_segment *next = storage->next;
        struct segment_cursor cursor = segment_begin(storage, buffer->exact);
        atomic_fetch_add_explicit(&buffer->dropped, segment_count(&cursor), memory_order_relaxed);
        segment_destroy(storage);
        storage = next;
    }
    loss_report(buffer);
    state_epoch_end(&buffer->state->freed_epoch);
    state_epoch_end(&buffer->state->flush_epoch);
    return true;
}
