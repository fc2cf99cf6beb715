/*
 * The record engine: many threads put small records in, one delivery thread hands them out in
 * batches. It knows bytes, not events.
 *
 * Records live in segments. Producers fill the current one; when it is taken away (watermark, full,
 * explicit flush) another becomes current, so producers go on while a callback works on the first.
 * A thread leases a few KiB of the current segment and then puts records there without any shared
 * write; a rotation makes every lease void at once by advancing `generation`, and
 * thread_quiesce() waits out those who were in the middle of a record.
 *
 * Small buffers (see `exact`) lease single records: watermark and capacity then hold to the byte.
 */
#ifndef TRACEBUF_TRACEBUF_H
#define TRACEBUF_TRACEBUF_H

#include "base/atomic_plain.h"
#include "base/thread.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A forked child has empty buffers and no delivery thread until it records; its first record is
 * delivered at once, those in its parent's buffers are the parent's. In other children (vfork,
 * clone) nothing is delivered, and nobody waits. */
enum tracebuf_policy { TRACEBUF_DISCARD, TRACEBUF_LOSSLESS };

enum { TRACEBUF_MAX = 4096, TRACEBUF_LEASES_MAX = 256 };

/* What the consumer gets pointers to, made at delivery. The layout is that of
 * rocprofiler_record_header_t (session asserts it). */
struct tracebuf_item {
    uint64_t tag; /* the two halves of the record's tag, 32 bits each */
    void *payload;
};

/* What stands before a record while it waits: its size and its tag in one word. A record that
 * begins with its own size, as most public ones do, lends that word instead; delivery puts the size
 * back. So a full buffer takes its size in memory and not a quarter more. */
enum { TRACEBUF_TAG_MAX = 1 << 15 };
#define TRACEBUF_WORD_LENT (1ull << 63)
static inline uint64_t tracebuf_word(uint32_t tag, size_t size_bytes)
{
    return (uint64_t)tag << 32 | (uint32_t)size_bytes;
}

/* Halves below TRACEBUF_TAG_MAX. */
static inline uint32_t tracebuf_tag(uint32_t low, uint32_t high)
{
    return low | high << 16;
}

struct tracebuf;
struct tracebuf_thread;
struct clock_segment;

/* Records of one tag and one size, one behind the other. */
struct tracebuf_run {
    unsigned char *at;
    size_t stride_bytes, count;
    uint64_t tag;  /* as in an item */
    bool finished; /* see `finish` */
};

struct tracebuf_config {
    size_t size_bytes, watermark_bytes;
    enum tracebuf_policy policy;
    /* Turns raw fields of records into public ones and returns how many it has done, from the
     * first one on; what it does not know it counts as done. Before `deliver`, and only once for
     * each record: by the producer, when its lease is full and the records are in its cache, or by
     * the delivery thread. The producer must not wait and may leave any of them to the delivery
     * thread, which does them all. May be NULL. `segment` is a note between calls, zero at first.
     */
    size_t (*finish)(const struct tracebuf_run *run, struct clock_segment *segment,
                     bool is_producer, void *arg);
    /* Never concurrent with itself for one buffer; may flush, record, start and stop. A large batch
     * comes in several calls. `dropped` is the total since creation. */
    void (*deliver)(struct tracebuf *buffer, struct tracebuf_item **items, size_t count,
                    uint64_t dropped, void *arg);
    /* Instead of `deliver`, for a consumer that copies records anyway: they come in runs, and
     * what no producer has finished is not finished. What `finish` has done is what comes: it may
     * turn records into others of that stride, and puts their sizes back itself. */
    void (*deliver_run)(struct tracebuf *buffer, const struct tracebuf_run *run, uint64_t dropped,
                        void *arg);
    /* May be NULL. A flush begins; and it has delivered all that was there when it began, also when
     * that was nothing. On the delivery thread; flushed may do what deliver may. */
    void (*flushing)(void *arg);
    void (*flushed)(void *arg);
    void *arg;
    /* Goes on after tracebuf_shutdown, for owners who flush at their own time. */
    bool outlives_shutdown;
    /* `deliver` and `flushed` are not called inside of one another. A consumer that waited for room
     * in another buffer could not be handed more meanwhile: its thread does not wait (see
     * SEGMENTS_MAX).
     */
    bool one_at_a_time;
};

struct tracebuf_lease {
    unsigned char *at, *end;
    uint64_t *used_bytes; /* in the extent's header */
    uint64_t generation;  /* 0: none */
};

struct tracebuf_segment;
struct tracebuf {
    /* Every record reads the first line of memory, so that nothing is to share it that is written
     * more often than a segment becomes full; calloc would put it beside anybody's.
     * Writer: rotation, under rotate_lock (release). Readers: producers (acquire). Starts at 1. */
    _Alignas(64) _Atomic uint64_t generation;
    uint32_t index; /* for tracebuf_at */
    uint32_t lease_index;
    bool exact; /* uses lease 0, which is never valid */
    /* Writer: rotation (release). Readers: producers inside a busy section (acquire). */
    _Atomic(struct tracebuf_segment *) current;
    struct tracebuf_config config;
    struct tracebuf_state *state;
    /* Producers and the delivery thread; relaxed adds, read by delivery. */
    _Alignas(64) _Atomic uint64_t dropped;
};

/* NULL: out of memory or of indices. Buffers are never freed, only closed. */
struct tracebuf *tracebuf_create(const struct tracebuf_config *config);
uint32_t tracebuf_count(void);
struct tracebuf *tracebuf_at(uint32_t index);

/* Records are dropped from now on and storage is given back; what was not delivered counts as
 * dropped. False: a callback is at work on it. */
bool tracebuf_close(struct tracebuf *buffer);

/* Delivers everything that was committed before the call and returns afterwards. From a callback of
 * the same delivery thread it delivers in place. A signal handler that interrupted a record only
 * asks for it: that record must be completed first. */
void tracebuf_flush(struct tracebuf *buffer);
void tracebuf_flush_start(struct tracebuf *buffer); /* asks for it and does not wait */

/* The consumer is not called until tracebuf_unmute: records stay while there is room, and count as
 * dropped in the end. Returns when no call of it runs any more, but for one that will not return.
 * From inside of any consumer it does not wait: that one may be waited for. */
void tracebuf_mute(struct tracebuf *buffer);
void tracebuf_unmute(struct tracebuf *buffer);

/* Delivery threads. Buffers start without one and need one before records arrive. */
struct tracebuf_thread *tracebuf_thread_create(void);
void tracebuf_assign(struct tracebuf *buffer, struct tracebuf_thread *thread);

/* Delivers everything, ends the threads; later records are dropped. */
void tracebuf_shutdown(void);

/* The process ends on this thread, which is not coming back: if it is a delivery thread, what its
 * consumers have in hand is lost, and they are not called again. For signal handlers, too. */
void tracebuf_leave(void);
/* After that, on any other thread, or on that one when it is in no handler: delivery goes on. */
void tracebuf_threads_renew(void);

/* True inside a deliver callback, on its thread. */
bool tracebuf_delivering(void);
bool tracebuf_delivers(const struct tracebuf *buffer); /* of that buffer */

/* Counts a loss; returns NULL. */
void *tracebuf_drop(struct tracebuf *buffer);
void *tracebuf_reserve_slow(struct tracebuf *buffer, struct thread *self, uint64_t word,
                            size_t size_bytes);
void tracebuf_wake(struct thread *self);

static inline size_t tracebuf_round(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static inline size_t tracebuf_stored_bytes(uint64_t word, size_t size_bytes)
{
    return tracebuf_round(size_bytes) + (word & TRACEBUF_WORD_LENT ? 0 : sizeof word);
}

/* Where the caller's record begins. */
static inline void *tracebuf_word_put(unsigned char *at, uint64_t word)
{
    *(uint64_t *)at = word;
    return word & TRACEBUF_WORD_LENT ? at : at + sizeof word;
}

static inline void *tracebuf_reserve_word(struct tracebuf *buffer, struct thread *self,
                                          uint64_t word, size_t size_bytes)
{
    struct tracebuf_lease *lease = (struct tracebuf_lease *)self->tracebuf + buffer->lease_index;
    size_t need = tracebuf_stored_bytes(word, size_bytes);
    if (__builtin_expect(atomic_load_explicit(&self->busy, memory_order_relaxed) != NULL, 0))
        return tracebuf_drop(buffer); /* a signal handler inside of a record */
    thread_busy_begin(self, buffer);
    uint64_t generation = atomic_load_explicit(&buffer->generation, memory_order_acquire);
    if (__builtin_expect(lease->generation != generation || (size_t)(lease->end - lease->at) < need,
                         0))
        return tracebuf_reserve_slow(buffer, self, word, size_bytes);
    unsigned char *at = lease->at;
    lease->at += need;
    *lease->used_bytes += need;
    return tracebuf_word_put(at, word);
}

/* Room for one record of `size_bytes` (a multiple of 8 is best), or NULL: dropped and counted. The
 * caller fills it and commits at once: nothing but stores in between. */
static inline void *tracebuf_reserve(struct tracebuf *buffer, struct thread *self, uint32_t tag,
                                     size_t size_bytes)
{
    return tracebuf_reserve_word(buffer, self, tracebuf_word(tag, size_bytes), size_bytes);
}

/* The same for a record whose first 8 bytes are to be `size_bytes`: the caller fills what follows
 * and leaves these alone. */
static inline void *tracebuf_reserve_sized(struct tracebuf *buffer, struct thread *self,
                                           uint32_t tag, size_t size_bytes)
{
    return tracebuf_reserve_word(buffer, self, tracebuf_word(tag, size_bytes) | TRACEBUF_WORD_LENT,
                                 size_bytes);
}

/* Where a struct thread has its lease of that buffer. */
static inline size_t tracebuf_lease_offset(const struct tracebuf *buffer)
{
    return offsetof(struct thread, tracebuf) + buffer->lease_index * sizeof(struct tracebuf_lease);
}

/* tracebuf_reserve_sized, for its word and a size that is a multiple of 8, where the lease is known
 * and thread_fence_is_free. NULL: there is no room in the lease; nothing has happened, and the
 * other way remains. Nobody is to be woken, so it ends with thread_busy_end. */
static inline __attribute__((always_inline)) void *
tracebuf_reserve_leased(struct tracebuf *buffer, struct thread *self, size_t lease_offset,
                        uint64_t word, size_t size_bytes)
{
    struct tracebuf_lease *lease = (struct tracebuf_lease *)((char *)self + lease_offset);
    if (__builtin_expect(ATOMIC_PLAIN(const void *, self->busy) != NULL, 0))
        return NULL; /* a signal handler inside of a record */
    atomic_store_explicit(&self->busy, buffer, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* pairs with membarrier in thread_quiesce */
    uint64_t generation = atomic_load_explicit(&buffer->generation, memory_order_acquire);
    unsigned char *at = lease->at, *next = at + size_bytes;
    if (__builtin_expect(lease->generation != generation || next > lease->end, 0)) {
        thread_busy_end(self);
        return NULL;
    }
    lease->at = next;
    *lease->used_bytes += size_bytes;
    *(uint64_t *)at = word;
    return at;
}

/* Room for up to `count` records, one behind the other, as far as this thread's lease has it: for
 * how many, and in *at where the word of the first one goes (tracebuf_word); each takes
 * `stride_bytes` (tracebuf_stored_bytes). 0: nothing has happened, and the next one is to be
 * reserved by itself. The caller writes words and records, nothing else, and commits once. */
static inline size_t tracebuf_reserve_run(struct tracebuf *buffer, struct thread *self,
                                          size_t stride_bytes, size_t count, unsigned char **at)
{
    struct tracebuf_lease *lease = (struct tracebuf_lease *)self->tracebuf + buffer->lease_index;
    if (__builtin_expect(atomic_load_explicit(&self->busy, memory_order_relaxed) != NULL, 0))
        return 0; /* a signal handler inside of a record */
    thread_busy_begin(self, buffer);
    uint64_t generation = atomic_load_explicit(&buffer->generation, memory_order_acquire);
    size_t room = (size_t)(lease->end - lease->at) / stride_bytes;
    if (lease->generation != generation || room == 0) {
        thread_busy_end(self);
        return 0;
    }
    *at = lease->at;
    count = count < room ? count : room;
    lease->at += count * stride_bytes;
    *lease->used_bytes += count * stride_bytes;
    return count;
}

static inline void tracebuf_commit(struct thread *self)
{
    thread_busy_end(self);
    if (__builtin_expect(self->wake != NULL, 0))
        tracebuf_wake(self);
}

#endif
