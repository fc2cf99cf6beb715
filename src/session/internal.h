/*
 * What the hot path's files share: per-thread state, ids, external ids, records. Private to
 * session.
 */
#ifndef SESSION_INTERNAL_H
#define SESSION_INTERNAL_H

#include "base/clock.h"
#include "base/thread.h"
#include "session/id_step.h"
#include "session/session.h"

struct external_table; /* pushed ids of one thread */

/* A marker range or an OpenMP region that is open on a thread. */
enum { ENCLOSURES_MAX = 56 };
struct enclosure {
    uint64_t internal, ancestor;
    uint64_t call;           /* the innermost call at its beginning; 0: none */
    struct trace_work *work; /* NULL: nobody counts references to its id */
};

/* A traced call that is open on a thread. Its frame may be gone without a word (longjmp), so
 * whatever those inside it need stands here, and `where` is mostly compared. */
enum { CALLS_MAX = 24 };
struct open_call {
    const void *where; /* the frame, on the stack; NULL: it is somewhere else */
    uint64_t internal, ancestor;
    struct trace_work *work; /* asynchronous work refers to the call; NULL: none, or a free slot */
};

/* In the session room of struct thread; zero when a thread begins. Owner only, unless noted. */
struct session_thread {
    /* Block of correlation ids, [next, end). Writers: the owner; ids_hand_on takes the block away
     * by end = 0 (exchange) and then reads next, behind a membarrier. */
    _Atomic uint64_t next_id, end_id;
    uint64_t last_id; /* no id of the thread was greater when it last took or was refused one */
    uint64_t pace_begin_ns;
    uint32_t pace_ids; /* taken since then */
    /* How often the thread has taken ids, and whether it is just about to. Only the thread and
     * signal handlers on it use them, so relaxed is enough. */
    _Atomic uint32_t takes;
    _Atomic bool is_taking;
    bool takes_blocks;
    _Atomic uint64_t revoked_end; /* of ids_hand_on, under its lock (relaxed) */
    uint64_t tid;                 /* 0: not yet set up */
    /* Data of the listener being called. Writer: the owner (relaxed before the listener looks
     * whether it still shall be called, release after it). Reader: subscription_calls_wait
     * (acquire, behind a membarrier). */
    _Atomic(const void *) calling;
    /* Writers: external_push of any thread (release). Reader: the owner (acquire). NULL: none. */
    _Atomic(struct external_table *) external;
    /* Open calls, the innermost last. The last slot belongs to the innermost of those past the
     * array; its frame keeps what was there before (call_keep). */
    uint32_t call_count;
    /* In the order of their beginnings; those past the array are only counted. */
    uint32_t enclosure_count;
    uintptr_t stack_top;    /* behind all frames of the thread's own stack */
    uintptr_t stack_lowest; /* 0: nobody has asked yet */
    struct open_call calls[CALLS_MAX];
    struct enclosure enclosures[ENCLOSURES_MAX];
};
_Static_assert(sizeof(struct session_thread) <= THREAD_ROOM_SESSION_BYTES, "fits its room");

void session_thread_setup(struct thread *thread);

/* NULL only when memory is exhausted. */
static inline struct thread *session_self(void)
{
    struct thread *thread = thread_self();
    if (__builtin_expect(thread && ((struct session_thread *)thread->session)->tid == 0, 0))
        session_thread_setup(thread);
    return thread;
}

static inline struct session_thread *session_of(struct thread *thread)
{
    return (struct session_thread *)thread->session;
}

/* ---- calls.c */

void call_keep(struct session_thread *self, struct trace_frame *frame);
/* The call has ended: its id retires now, or when the work that refers to it has ended. */
void call_over(struct open_call *call);
void calls_stack_learn(struct session_thread *self);
/* The call of the wrapper whose part of this thread's stack begins at `lowest` and is being left;
 * NULL: there is none, or its end is not to be told. */
struct trace_frame *call_left(const void *lowest);
/* Ends a call that is not the innermost one, or is past the array. */
void call_pop_unusual(struct session_thread *self, const struct trace_frame *frame);
struct open_call *call_innermost_checked(struct session_thread *self, const void *here);

/* True when the frame of the call lies between `here` and the top of this thread's own stack, or on
 * no stack. */
static inline bool call_is_around(const struct session_thread *self, const struct open_call *call,
                                  const void *here)
{
    uintptr_t above = (uintptr_t)call->where - (uintptr_t)here - 1;
    return __builtin_expect(above < self->stack_top - (uintptr_t)here - 1, 1) || !call->where;
}

/* The innermost open call around code whose stack is at `here`; NULL: none. One that does not lie
 * between here and the top may be over. */
static inline struct open_call *call_innermost(struct session_thread *self, const void *here)
{
    uint32_t count = self->call_count;
    if (__builtin_expect(count == 0, 1))
        return NULL;
    struct open_call *call = &self->calls[(count < CALLS_MAX ? count : CALLS_MAX) - 1];
    return call_is_around(self, call, here) ? call : call_innermost_checked(self, here);
}

/* The enclosure that the next call of this thread is directly inside of; NULL: none, or the traced
 * call `innermost` is in between. */
static inline const struct enclosure *enclosure_innermost(const struct session_thread *self,
                                                          const struct open_call *innermost)
{
    uint32_t count = self->enclosure_count;
    if (__builtin_expect(count == 0, 1))
        return NULL;
    const struct enclosure *last =
        &self->enclosures[(count < ENCLOSURES_MAX ? count : ENCLOSURES_MAX) - 1];
    return !innermost || innermost->internal == last->call ? last : NULL;
}

/* ---- ids.c */

/* Another id than one of the thread's block, whose end refused it the id `refused`. */
uint64_t correlation_take(struct session_thread *self, uint64_t refused);

/* An id of this process that nobody else has. A signal handler that comes in between may have taken
 * another block: then the end that is looked at is not that of the id. */
static inline uint64_t correlation_next(struct session_thread *self)
{
    uint32_t takes = atomic_load_explicit(&self->takes, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t id = id_step(&self->next_id);
    thread_fence_light(); /* pairs with thread_fence_heavy in ids_hand_on */
    if (__builtin_expect(id >= atomic_load_explicit(&self->end_id, memory_order_relaxed), 0) ||
        __builtin_expect(takes != atomic_load_explicit(&self->takes, memory_order_relaxed), 0))
        return correlation_take(self, id);
    return id;
}

/* ---- correlation.c */

/* True while a context wants to know when ids retire; only then are references counted. */
static inline bool retirement_wanted(void)
{
    return trace_set_load(TRACE_CORRELATION_ID_RETIREMENT, 0) != NULL;
}
struct trace_work *work_new(uint64_t internal); /* one reference; NULL: not counted */
void work_add(struct trace_work *work);
void work_drop(struct trace_work *work); /* the last one reports the retirement */
void retirement_report(uint64_t internal);

/* ---- external.c */

/* False until anybody pushes an external id: the hot path writes zero without looking. Writers:
 * external_push of any thread (release). Readers: the hot path (relaxed: what was pushed is found
 * by loads of its own). */
extern _Atomic bool external_in_use __attribute__((visibility("hidden")));
rocprofiler_user_data_t external_pushed(struct session_thread *self, uint32_t context_index);
/* Asks the context's request service, or takes the pushed id. */
rocprofiler_user_data_t external_resolve(struct session_thread *self,
                                         const struct trace_subscriber *subscriber,
                                         enum trace_domain domain, int32_t operation,
                                         uint64_t internal);

/* ---- record.c */

/* Writes an API record into one buffer; its times stay raw ticks. */
void record_api(struct thread *thread, const struct trace_frame *frame,
                const struct trace_subscriber *subscriber, rocprofiler_user_data_t external,
                uint64_t end_ticks);
/* Copies a record into one buffer and returns the copy, to be completed and committed; NULL:
 * dropped. */
void *record_copy(struct thread *thread, struct tracebuf *buffer, uint32_t tag, const void *record,
                  size_t size_bytes);

#endif
