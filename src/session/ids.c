/*
 * Internal correlation ids: 1, 2, 3 and so on, without gaps as far as that costs nothing.
 *
 * A thread whose calls come slowly takes each id from one counter. One that makes millions a second
 * takes a block at a time, because two threads that write one cache line at every call cost each
 * other more than the record. What is left of a block when its thread ends, or when a context
 * stops, is handed on: back to the counter if nobody has taken a later id, else to a thread whose
 * ids are all smaller. So the ids of one thread always grow. Decision 0013 has the figures.
 */
#include "session/ids.h"

#include "base/environment.h"
#include "session/internal.h"

#include <pthread.h>

enum {
    BLOCK = 256,
    PACE_IDS = 1024,
    PACE_NS_PER_ID = 400,
    ALL_NS_PER_ID = 250, /* some 4 million a second are as many as one counter gives to a crowd */
    CROWD_NS_PER_ID = 64 * ALL_NS_PER_ID,
    REMAINDERS_MAX = 64,
    COUNT_BITS = 16,
};

/* The smallest id that nobody has taken. Writers: any thread, by one operation (relaxed: only the
 * number matters, nothing is published by it). */
static struct {
    _Alignas(64) _Atomic uint64_t id; /* alone on its cache line */
} id_counter = {1};

/* Ids below the counter that nobody has: the first one above COUNT_BITS, their number below; 0:
 * none. Writers: any thread, by compare-exchange (relaxed, as the counter). The word says all there
 * is to know, so that it does not matter whether it was changed and is the same again. Not on the
 * counter's cache line, nor is what follows: every thread reads that. */
static _Alignas(64) _Atomic uint64_t remainders[REMAINDERS_MAX];
/* How many of them are not 0, or are about to be. Writers: any thread (relaxed). Readers: threads
 * that take ids (relaxed); one that reads too small a number leaves ids to others. */
static _Atomic uint32_t remainder_count;

/* A block may be with a thread that no context's end has handed on yet. Writers: threads that have
 * just taken one and see that it is false (release), ids_hand_on (exchange). Those store the block
 * and then look here, behind a light fence; that one stores here and then looks for blocks, behind
 * a heavy one: so a block is found, or noted. */
static _Atomic bool blocks_are_out;

/* Written by ids_init before any thread takes an id. */
static bool always_dense;

/* Held by whoever takes blocks away from threads, and by every thread that ends: none does
 * meanwhile, so that no thread's memory becomes another's. A leaf. */
static pthread_mutex_t ids_lock = PTHREAD_MUTEX_INITIALIZER;

void ids_init(void)
{
    always_dense = environment_flag("CROCPROF_DENSE_IDS", false);
}

void ids_on_fork_prepare(void)
{
    pthread_mutex_lock(&ids_lock);
}

void ids_on_fork_parent(void)
{
    pthread_mutex_unlock(&ids_lock);
}

void ids_on_fork_child(void)
{
    pthread_mutex_init(&ids_lock, NULL);
}

/* ---- taking */

/* What a handler is refused before the end is there is no refusal of the new block. */
static void block_set(struct session_thread *self, uint64_t first, uint64_t end)
{
    self->block_end = end;
    self->first_refused = UINT64_MAX;
    atomic_store_explicit(&self->revoked_next, 0, memory_order_relaxed);
    atomic_store_explicit(&self->next_id, first, memory_order_relaxed);
    atomic_store_explicit(&self->end_id, end, memory_order_release); /* pairs with block_revoke */
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&self->id_refusals, 0, memory_order_relaxed);
}

/* Every step past the block's end was refused and said so, as this one. Else this is a signal
 * handler, and what it interrupted has made a step and not yet looked at the end: it would take its
 * number for one of the next block. Then the thread has none until that is done; a handler that
 * does not come back leaves it without. */
static bool block_is_over(const struct session_thread *self)
{
    uint64_t refusals = atomic_load_explicit(&self->id_refusals, memory_order_relaxed);
    uint64_t next = atomic_load_explicit(&self->next_id, memory_order_relaxed);
    uint64_t end = self->block_end;
    if (atomic_load_explicit(&self->end_id, memory_order_relaxed) == 0) {
        uint64_t revoked = atomic_load_explicit(&self->revoked_next, memory_order_acquire);
        if (revoked < end) /* 0: not yet; a block that was used up is taken away behind its end */
            end = revoked;
    }
    return self->first_refused <= end && next - self->first_refused == refusals;
}

/* The thread gets the first id of the block, and has the others next. */
static uint64_t block_begin(struct session_thread *self, uint64_t first, uint64_t count)
{
    self->last_id = first;
    if (count > 1) {
        block_set(self, first + 1, first + count);
        thread_fence_light(); /* pairs with the first thread_fence_heavy in ids_hand_on */
        if (!atomic_load_explicit(&blocks_are_out, memory_order_acquire))
            atomic_store_explicit(&blocks_are_out, true, memory_order_release);
    }
    return first;
}

/* The place of the smallest one that comes after all ids of this thread; REMAINDERS_MAX: none. The
 * smallest, because once a thread is past one it cannot have it any more. */
static uint32_t remainder_find(const struct session_thread *self, uint64_t *word)
{
    uint32_t found = REMAINDERS_MAX;
    for (uint32_t i = 0; i < REMAINDERS_MAX; i++) {
        uint64_t at = atomic_load_explicit(&remainders[i], memory_order_relaxed);
        if (at >> COUNT_BITS <= self->last_id || (found < REMAINDERS_MAX && at > *word))
            continue;
        found = i;
        *word = at;
    }
    return found;
}

/* An id of what others have left, and the rest as the thread's block; 0: nothing for it. */
static uint64_t remainder_take(struct session_thread *self)
{
    for (;;) {
        uint64_t word = 0;
        uint32_t i = remainder_find(self, &word);
        if (i == REMAINDERS_MAX)
            return 0;
        if (!atomic_compare_exchange_strong_explicit(&remainders[i], &word, 0, memory_order_relaxed,
                                                     memory_order_relaxed))
            continue; /* another thread has it */
        atomic_fetch_sub_explicit(&remainder_count, 1, memory_order_relaxed);
        return block_begin(self, word >> COUNT_BITS, word & ((1u << COUNT_BITS) - 1));
    }
}

/* Decides, every PACE_IDS ids, whether they came so fast that blocks pay. Many threads keep each
 * other from being fast by the counter itself, so what all of them took counts, too, for a thread
 * that is one of those. */
static void pace_look(struct session_thread *self, uint64_t counter)
{
    uint64_t now_ns = clock_now_ns(), past_ns = now_ns - self->pace_begin_ns;
    uint64_t taken = counter > self->pace_begin_id ? counter - self->pace_begin_id : 0;
    bool is_fast = past_ns < (uint64_t)PACE_IDS * PACE_NS_PER_ID;
    bool in_crowd =
        past_ns < (uint64_t)PACE_IDS * CROWD_NS_PER_ID && past_ns < taken * ALL_NS_PER_ID;
    self->pace_begin_ns = now_ns;
    self->pace_begin_id = counter;
    self->pace_ids = 0;
    self->takes_blocks = (is_fast || in_crowd) && !always_dense;
}

static uint64_t ids_take(struct session_thread *self)
{
    bool may_have_block = block_is_over(self);
    if (__builtin_expect(atomic_load_explicit(&remainder_count, memory_order_relaxed) != 0, 0) &&
        may_have_block) {
        uint64_t id = remainder_take(self);
        if (id)
            return id;
    }
    uint64_t count = self->takes_blocks && may_have_block ? BLOCK : 1;
    uint64_t first = atomic_fetch_add_explicit(&id_counter.id, count, memory_order_relaxed);
    self->pace_ids += (uint32_t)count;
    if (__builtin_expect(self->pace_ids >= PACE_IDS, 0))
        pace_look(self, first);
    return block_begin(self, first, count);
}

/* A signal handler that comes in between finds no block, until there is a whole one, and makes
 * none. One that never comes back leaves the thread without blocks. */
uint64_t correlation_take(struct session_thread *self, uint64_t refused)
{
    id_step(&self->id_refusals);
    if (__builtin_expect(atomic_load_explicit(&self->is_taking, memory_order_relaxed), 0))
        return atomic_fetch_add_explicit(&id_counter.id, 1, memory_order_relaxed);
    atomic_store_explicit(&self->is_taking, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (refused < self->first_refused)
        self->first_refused = refused;
    if (self->last_id + 1 < refused) /* it was the block's, which gave all ids before it */
        self->last_id = refused - 1;
    uint64_t id = ids_take(self);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&self->is_taking, false, memory_order_relaxed);
    return id;
}

/* ---- handing on */

/* True: they are the counter's again, as nobody has a later one. */
static bool counter_lower(uint64_t first, uint64_t end)
{
    return atomic_compare_exchange_strong_explicit(&id_counter.id, &end, first,
                                                   memory_order_relaxed, memory_order_relaxed);
}

/* Without a place for them they are lost: a gap. */
static void remainder_keep(uint64_t first, uint64_t end)
{
    uint64_t wanted = first << COUNT_BITS | (end - first);
    atomic_fetch_add_explicit(&remainder_count, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < REMAINDERS_MAX; i++) {
        uint64_t nothing = 0;
        if (atomic_compare_exchange_strong_explicit(&remainders[i], &nothing, wanted,
                                                    memory_order_relaxed, memory_order_relaxed))
            return;
    }
    atomic_fetch_sub_explicit(&remainder_count, 1, memory_order_relaxed);
}

/* One that the counter has come down to goes back to it; then another one may. */
static bool remainder_return(void)
{
    uint64_t counter = atomic_load_explicit(&id_counter.id, memory_order_relaxed);
    for (uint32_t i = 0; i < REMAINDERS_MAX; i++) {
        uint64_t word = atomic_load_explicit(&remainders[i], memory_order_relaxed);
        uint64_t first = word >> COUNT_BITS, end = first + (word & ((1u << COUNT_BITS) - 1));
        if (word == 0 || end != counter ||
            !atomic_compare_exchange_strong_explicit(&remainders[i], &word, 0, memory_order_relaxed,
                                                     memory_order_relaxed))
            continue;
        atomic_fetch_sub_explicit(&remainder_count, 1, memory_order_relaxed);
        if (counter_lower(first, end))
            return true;
        remainder_keep(first, end);
    }
    return false;
}

static void remainder_hand_on(uint64_t first, uint64_t end)
{
    if (first >= end)
        return;
    if (!counter_lower(first, end))
        remainder_keep(first, end);
    while (atomic_load_explicit(&remainder_count, memory_order_relaxed) != 0 && remainder_return())
        ;
}

/* From now on the thread has no block; returns the end of the one it had. */
static uint64_t block_revoke(struct session_thread *self)
{
    return atomic_exchange_explicit(&self->end_id, 0, memory_order_acq_rel);
}

void ids_on_thread_exit(struct thread *thread)
{
    struct session_thread *self = session_of(thread);
    pthread_mutex_lock(&ids_lock);
    uint64_t end = block_revoke(self);
    remainder_hand_on(atomic_load_explicit(&self->next_id, memory_order_relaxed), end);
    pthread_mutex_unlock(&ids_lock);
}

static void blocks_revoke(void)
{
    for (struct thread *t = thread_first(); t; t = t->next) {
        struct session_thread *self = session_of(t);
        if (thread_is_taken(t) && atomic_load_explicit(&self->end_id, memory_order_relaxed) != 0)
            atomic_store_explicit(&self->revoked_end, block_revoke(self), memory_order_relaxed);
    }
}

/* A thread takes an id from its block by moving its next one and then looking whether the block is
 * still its own; here the block is taken and then its next one looked at. With the fence between,
 * a thread that still got its id has moved. One that was told no after it had moved has left a gap
 * of one id. */
void ids_hand_on(void)
{
    if (!atomic_exchange_explicit(&blocks_are_out, false, memory_order_acq_rel))
        return;
    pthread_mutex_lock(&ids_lock);
    thread_fence_heavy(); /* pairs with thread_fence_light in block_begin */
    blocks_revoke();
    thread_fence_heavy(); /* pairs with thread_fence_light in correlation_next */
    for (struct thread *t = thread_first(); t; t = t->next) {
        struct session_thread *self = session_of(t);
        uint64_t end = 0;
        if (thread_is_taken(t))
            end = atomic_load_explicit(&self->revoked_end, memory_order_relaxed);
        if (end == 0)
            continue;
        atomic_store_explicit(&self->revoked_end, 0, memory_order_relaxed);
        uint64_t next = atomic_load_explicit(&self->next_id, memory_order_relaxed);
        atomic_store_explicit(&self->revoked_next, next, memory_order_release);
        remainder_hand_on(next, end);
    }
    pthread_mutex_unlock(&ids_lock);
}
