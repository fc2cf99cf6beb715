/*
 * A block of memory for every thread that records, found through one initial-exec TLS pointer,
 * listed for those who must look at all threads, and reused after the thread has gone.
 *
 * It also carries the asymmetric half of a Dekker handshake. A writer marks itself busy with plain
 * stores; whoever wants to take away what writers use publishes the change, calls thread_quiesce()
 * and then owns it. membarrier(2) makes the rare side pay: the common side has no fence at all.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No thread's id. */
#define THREAD_BEING_TAKEN UINT32_MAX

enum { THREAD_ROOM_TRACEBUF_BYTES = 8192, THREAD_ROOM_SESSION_BYTES = 3072 };

struct thread {
    /* Writer: the owner (release on both edges). Readers: thread_quiesce (acquire). */
    _Atomic(const void *) busy;
    const void *wake; /* the owner notes here which buffer it wakes after the commit */
    /* Writer: the owner puts its id there at registration (release), 0 at exit, and in between,
     * while it clears the block, THREAD_BEING_TAKEN. Readers: any (acquire). */
    _Atomic uint32_t tid;
    struct thread *next; /* immutable once listed */
    _Alignas(64) unsigned char session[THREAD_ROOM_SESSION_BYTES];
    _Alignas(64) unsigned char tracebuf[THREAD_ROOM_TRACEBUF_BYTES];
};

extern __thread struct thread *thread_current __attribute__((tls_model("initial-exec")));
/* The same once whoever uses the session room has set it up; before, and at the thread's end, the
 * stranger: nobody's block, whose session room is full of ones, so that its user need not ask
 * twice whether there is one and what is in it. */
extern __thread struct thread *thread_ready __attribute__((tls_model("initial-exec")));
extern struct thread thread_stranger __attribute__((visibility("hidden")));

/* False: membarrier is not there, so writers use a locked exchange. Written by thread_init. */
extern bool thread_fence_is_free __attribute__((visibility("hidden")));

void thread_init(void);

/* NULL only when memory is exhausted. A reused block comes with its session room zeroed; tracebuf's
 * leases carry generations and need no clearing. */
struct thread *thread_register(void);

static inline struct thread *thread_self(void)
{
    struct thread *self = thread_current;
    return __builtin_expect(self != NULL, 1) ? self : thread_register();
}

/* Kernel thread id, from the block. */
uint32_t thread_id(void);

static inline void thread_busy_begin(struct thread *self, const void *what)
{
    if (__builtin_expect(thread_fence_is_free, 1)) {
        atomic_store_explicit(&self->busy, what, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst); /* pairs with membarrier in thread_quiesce */
    } else {
        atomic_exchange_explicit(&self->busy, what, memory_order_seq_cst);
    }
}

static inline void thread_busy_end(struct thread *self)
{
    atomic_store_explicit(&self->busy, NULL, memory_order_release);
}

/* The two sides of a store-then-load handshake: the rare one, which pays, and the frequent one. */
void thread_fence_heavy(void);
static inline void thread_fence_light(void)
{
    if (__builtin_expect(thread_fence_is_free, 1))
        atomic_signal_fence(memory_order_seq_cst);
    else
        thread_fence_heavy();
}

/* Returns when no thread is still in a busy section over `what` that began before the call. */
void thread_quiesce(const void *what);

/* Between these two the thread works for us, not for the program: what our own calls of a runtime
 * make it do is nobody's business. They nest. */
extern __thread uint32_t thread_own_depth __attribute__((tls_model("initial-exec")));
static inline void thread_own_work_begin(void)
{
    thread_own_depth++;
}
static inline void thread_own_work_end(void)
{
    thread_own_depth--;
}
static inline bool thread_is_own_work(void)
{
    return thread_own_depth != 0;
}

/* Called on a thread that ends, while its block is still its own. */
void thread_exit_hook(void (*hook)(struct thread *thread));

/* Whoever makes a thread of our own says so around it, with no lock held; session passes it on to
 * tools, some of which must not take our threads for the program's. */
void thread_creation_hook(void (*hook)(bool created)); /* once, before any notice */
void thread_creation_notice(bool created);

/* Every listed block, for look-ups by tid. */
struct thread *thread_first(void);
struct thread *thread_find(uint32_t tid);
/* Its session room is a living thread's. */
static inline bool thread_is_taken(const struct thread *thread)
{
    uint32_t tid = atomic_load_explicit(&thread->tid, memory_order_acquire);
    return tid != 0 && tid != THREAD_BEING_TAKEN;
}

#endif
