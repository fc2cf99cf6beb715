/*
 * The slow side of a buffer. Private to tracebuf.
 */
#ifndef TRACEBUF_STATE_H
#define TRACEBUF_STATE_H

#include "tracebuf/segment.h"
#include <pthread.h>

enum {
    SEGMENTS_NORMAL = 2,
    /* A callback that records more than both segments hold cannot wait for itself; it gets more. */
    SEGMENTS_MAX = 64,
    LEASE_BYTES = 4096,
    LARGE_LEASE_BYTES = 16384,
    LARGE_BUFFER_BYTES = 2 << 20,
    EXACT_BELOW_BYTES = 256 << 10,
};

struct tracebuf_state {
    pthread_mutex_t rotate_lock; /* leaf: nothing is called under it */
    struct tracebuf_segment *full_first, *full_last, *free;
    uint64_t sequence;      /* of the last rotation */
    unsigned segment_count; /* current, full, free and being delivered */
    bool closed;
    /* Producers rotate no more: closing would never find it empty. Writer: the end, which delivers
     * last, under rotate_lock. */
    bool ending;
    unsigned delivering; /* nesting depth; delivery thread, read by close under rotate_lock */
    /* Its consumer will not return. Writer: tracebuf_leave (relaxed). Readers: any, who then
     * neither call the consumer nor wait for it. */
    _Atomic bool abandoned;

    /* Its consumer is not called. Writer: tracebuf_mute and _unmute (seq_cst). Reader: delivery,
     * with `delivering` counted, which mute waits for. */
    _Atomic bool muted;

    /* Writer: tracebuf_assign (release). Readers: producers, flushes, the threads (acquire). */
    _Atomic(struct tracebuf_thread *) thread;
    /* Writers: producers set it (exchange), the delivery thread clears it before it looks
     * (exchange; both seq_cst: a record that the look misses is seen as a request). */
    _Atomic bool requested;
    /* Explicit flushes. Writers: who flushes counts `flush_wanted` up (seq_cst); the delivery
     * thread, which read that (acquire), stores `flush_done` (release) and counts `flush_epoch` up,
     * a futex word. Reader: who flushes reads the word and then `flush_done` (acquire). */
    _Atomic uint64_t flush_wanted, flush_done;
    _Atomic uint32_t flush_epoch;
    /* Futex word: a segment became free. Writer: under rotate_lock, counts up. Readers: producers
     * read it under the lock, and wait outside. */
    _Atomic uint32_t freed_epoch;
    /* In a forked child nobody has recorded yet. Writers: the child before it has a second thread,
     * the first producer (exchange). Readers: flush. */
    _Atomic bool untouched;
    /* Losses, for the message at the end. Writers: a producer (once); the delivery thread. Reader:
     * close. */
    _Atomic size_t too_large_bytes;
    _Atomic uint64_t dropped_told;
};

static inline bool state_is_abandoned(const struct tracebuf_state *state)
{
    return atomic_load_explicit(&state->abandoned, memory_order_relaxed);
}

/* What is in it stays there: for the next flush, or until the end drops it. */
static inline bool state_is_kept(const struct tracebuf_state *state)
{
    return atomic_load_explicit(&state->muted, memory_order_seq_cst) && !state->ending;
}

/* Guards the list of buffers; taken before rotate_locks, and by fork handlers with all of them. */
extern pthread_mutex_t tracebuf_create_lock __attribute__((visibility("hidden")));

/* This thread records and holds a rotate_lock: a signal handler above it must not wait. */
extern __thread volatile bool tracebuf_rotating __attribute__((tls_model("initial-exec")));

/* Makes another segment current; under rotate_lock. False: none is free. */
bool state_rotate(struct tracebuf *buffer);
/* None is free: makes one if the buffer may have a further one. `own`: for its own consumer. */
void state_extend(struct tracebuf *buffer, bool own);

/* The oldest full segment, if it was filled by then; for delivery, which gives it back. */
struct tracebuf_segment *state_full_pop(struct tracebuf_state *state, uint64_t up_to);
void state_release(struct tracebuf_state *state, struct tracebuf_segment *segment);
/* Who waits on one of the epochs looks again. */
void state_epoch_end(_Atomic uint32_t *epoch);

/* On the delivery thread: rotates and delivers all that was committed before the call. */
void state_deliver(struct tracebuf *buffer);

/* How often this thread is inside of its consumer with records. */
unsigned delivery_depth(const struct tracebuf *buffer);

/* Around a fork: no rotation may be half done in the child. */
void fork_prepare(void);
void fork_parent(void);
void fork_child_reset(struct tracebuf *buffer);

/* A producer's record is the first one since the fork that made this process. */
bool fork_first_record(struct tracebuf *buffer);

/* The thread of `buffer` has something to do. False: there is none, and none can be made. */
bool delivery_request(struct tracebuf *buffer);
/* The process ends: what finds no room is lost, nobody waits for it any more. */
bool delivery_is_over(const struct tracebuf *buffer);
/* The calling thread serves that buffer. */
bool delivery_is_own(const struct tracebuf *buffer);
/* A producer on this thread takes more memory, or loses records, before it waits. */
bool delivery_may_not_wait(void);
/* Waits until `word` is no longer `value`; a delivery thread serves its own buffers meanwhile. */
void delivery_wait(_Atomic uint32_t *word, uint32_t value);

#endif
