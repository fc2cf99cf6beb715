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

#include <string.h>

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
    const void *where; /* the frame, on the stack; NULL: it is somewhere else. With CALL_STRAIGHT in
                          it: it began by a straight way, and may end by one */
    uint64_t internal;
    uint64_t ancestor; /* NONE in calls[0] while no call is open: straight ways leave it alone */
    struct trace_work *work; /* asynchronous work refers to the call; NULL: none, or a free slot */
};

enum { CALL_STRAIGHT = 1 }; /* no frame's address has that bit */
static inline const void *call_where(const struct open_call *call)
{
    return (const void *)((uintptr_t)call->where & ~(uintptr_t)CALL_STRAIGHT);
}

/* In the session room of struct thread; zero when a thread begins. Owner only, unless noted. */
struct session_thread {
    /* The first line of memory is all that a call outside of others needs.
     * Block of correlation ids, [next, end). Writers: the owner; ids_hand_on takes the block away
     * by end = 0 (exchange) and then reads next, behind a membarrier. */
    _Atomic uint64_t next_id, end_id;
    uint64_t tid; /* 0: not yet set up */
    /* What is open on the thread. 0: nothing; the address of a frame: one call that began by a
     * straight way, of which calls[0] knows only the ids; else OPEN_COUNTED, with the number of
     * calls and, in the upper half, of enclosures (calls_settled). All ones in thread_stranger. A
     * signal handler may find it, and leave it, as a frame's address where the code that it
     * interrupted had it counted, so that is read once and written whole. */
    uint64_t open;
    /* Open calls, the innermost last. The last slot belongs to the innermost of those past the
     * array; its frame keeps what was there before (call_keep). */
    struct open_call calls[CALLS_MAX];
    /* The thread is just about to take ids. Only it and signal handlers on it use this and
     * id_refusals, so relaxed is enough. */
    _Atomic bool is_taking;
    bool takes_blocks;
    /* Ids that the block has refused to give since it began: how many, and the first one. Writers
     * and readers: the owner and its handlers (id_step; relaxed). */
    _Atomic uint64_t id_refusals;
    uint64_t first_refused, block_end;
    uint64_t last_id; /* no id of the thread was greater when it last took or was refused one */
    uint64_t pace_begin_ns, pace_begin_id;
    uint32_t pace_ids;            /* taken since then */
    _Atomic uint64_t revoked_end; /* of ids_hand_on, under its lock (relaxed) */
    /* From this id on the block that was taken away belongs to others; 0: not known yet. Writers:
     * ids_hand_on, before it gives them to anybody (release); the owner, 0 before its next block.
     * Reader: the owner (acquire). */
    _Atomic uint64_t revoked_next;
    /* Data of the listener being called. Writer: the owner (relaxed before the listener looks
     * whether it still shall be called, release after it). Reader: subscription_calls_wait
     * (acquire, behind a membarrier). */
    _Atomic(const void *) calling;
    /* Writers: external_push of any thread (release). Reader: the owner (acquire). NULL: none. */
    _Atomic(struct external_table *) external;
    uintptr_t stack_top; /* behind all frames of the thread's own stack */
    /* In the order of their beginnings; those past the array are only counted. */
    struct enclosure enclosures[ENCLOSURES_MAX];
};
_Static_assert(sizeof(struct session_thread) <= THREAD_ROOM_SESSION_BYTES, "fits its room");
_Static_assert(offsetof(struct session_thread, calls[0].internal) < 64, "one line of memory");

/* Of `open`. */
enum { OPEN_NOTHING = 0, OPEN_COUNTED = 1, OPEN_CALL = 2, OPEN_ENCLOSURE_SHIFT = 32 };
static inline uint32_t open_calls(uint64_t open)
{
    return (uint32_t)open >> 1;
}

static inline uint32_t open_enclosures(uint64_t open)
{
    return (uint32_t)(open >> OPEN_ENCLOSURE_SHIFT);
}

/* The word as a count, which it is from here on, if anything is open: the end of a call that began
 * by a straight way is not overlooked then. */
static inline uint64_t calls_settled(struct session_thread *self)
{
    uint64_t open = self->open;
    if (open == OPEN_NOTHING || open & OPEN_COUNTED)
        return open;
    self->calls[0].where = (const void *)(uintptr_t)(open | CALL_STRAIGHT);
    self->open = OPEN_COUNTED + OPEN_CALL;
    return OPEN_COUNTED + OPEN_CALL;
}

static inline void open_set(struct session_thread *self, uint32_t calls, uint32_t enclosures)
{
    uint64_t counts = (uint64_t)calls * OPEN_CALL | (uint64_t)enclosures << OPEN_ENCLOSURE_SHIFT;
    self->open = counts ? counts | OPEN_COUNTED : OPEN_NOTHING;
}

/* NULL only when memory is exhausted. */
struct thread *session_thread_setup(void);
static inline struct thread *session_self(void)
{
    struct thread *thread = thread_ready;
    return __builtin_expect(thread != &thread_stranger, 1) ? thread : session_thread_setup();
}

static inline struct session_thread *session_of(struct thread *thread)
{
    return (struct session_thread *)thread->session;
}

/* Ids begin to retire, which the way out of this thread's call is not to miss. */
static inline void calls_settle_own(void)
{
    struct thread *thread = thread_ready;
    if (thread != &thread_stranger)
        calls_settled(session_of(thread));
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
void call_pop_outermost(struct session_thread *self);
struct open_call *call_innermost_checked(struct session_thread *self, const void *here);

/* True when the frame of the call lies between `here` and the top of this thread's own stack, or on
 * no stack. */
static inline bool call_is_around(const struct session_thread *self, const void *where,
                                  const void *here)
{
    uintptr_t above = (uintptr_t)where - (uintptr_t)here - 1;
    return __builtin_expect(above < self->stack_top - (uintptr_t)here - 1, 1) || !where;
}

/* The innermost open call around code whose stack is at `here`; NULL: none. One that does not lie
 * between here and the top may be over. */
static inline struct open_call *call_innermost(struct session_thread *self, const void *here)
{
    uint64_t open = self->open;
    if (__builtin_expect(open == OPEN_NOTHING, 1))
        return NULL;
    struct open_call *call = &self->calls[0];
    const void *where = (const void *)(uintptr_t)open;
    if (open & OPEN_COUNTED) {
        uint32_t count = open_calls(open);
        if (count == 0)
            return NULL;
        call += (count < CALLS_MAX ? count : CALLS_MAX) - 1;
        where = call_where(call);
    }
    return call_is_around(self, where, here) ? call : call_innermost_checked(self, here);
}

/* The enclosure that the next call of this thread is directly inside of; NULL: none, or the traced
 * call `innermost` is in between. */
static inline const struct enclosure *enclosure_innermost(const struct session_thread *self,
                                                          const struct open_call *innermost)
{
    uint64_t open = self->open;
    uint32_t count = open & OPEN_COUNTED ? open_enclosures(open) : 0;
    if (__builtin_expect(count == 0, 1))
        return NULL;
    const struct enclosure *last =
        &self->enclosures[(count < ENCLOSURES_MAX ? count : ENCLOSURES_MAX) - 1];
    return !innermost || innermost->internal == last->call ? last : NULL;
}

/* ---- trace_api.c: ways in and out of a call. Any way out completes what any way in began. */
struct trace_way {
    trace_way_fn *enter, *exit;
};
struct trace_ways {
    struct trace_way any;
    /* For a set of one context with one service, while nobody wants external ids or retirements,
     * with the TSC, and where fences are free. A call inside of another one goes the first way
     * nevertheless.
     */
    struct trace_way callback, record;
};
extern const struct trace_ways trace_ways;
void sets_ways_use(const struct trace_ways *ways); /* once, before any set is made */

/* ---- ids.c */

/* Another id than one of the thread's block, whose end refused it the id `refused`. */
uint64_t correlation_take(struct session_thread *self, uint64_t refused);

/* An id of this process that nobody else has. A signal handler that comes in between finds the step
 * made and nothing said about it, and so takes no other block (correlation_take). */
static inline uint64_t correlation_next(struct session_thread *self)
{
    uint64_t id = id_step(&self->next_id);
    thread_fence_light(); /* pairs with thread_fence_heavy in ids_hand_on */
    if (__builtin_expect(id >= atomic_load_explicit(&self->end_id, memory_order_relaxed), 0))
        return correlation_take(self, id);
    return id;
}

/* The same in fewer instructions, where thread_fence_is_free. False: correlation_take must refuse
 * the id. The compiler does not compare with atomics in memory, but by way of registers. */
static inline __attribute__((always_inline)) bool correlation_step(struct session_thread *self,
                                                                   uint64_t *id)
{
#ifdef __x86_64__
    uint64_t step = 1;
    __asm__ goto volatile("xaddq %[step], %[next]\n\t"
                          "cmpq %[end], %[step]\n\t"
                          "jae %l[refused]"
                          : [step] "+&r"(step), [next] "+m"(self->next_id)
                          : [end] "m"(self->end_id)
                          : "cc", "memory"
                          : refused);
    *id = step;
    return true;
refused:
    *id = step;
    return false;
#else
    *id = correlation_next(self);
    return true;
#endif
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

/* False until anybody pushes an external id: the hot path writes zero without looking. Writer:
 * sets_externals_begin, under session_lock, once no straight way in is left (release). Readers:
 * external_push (acquire); the hot path (relaxed: what was pushed is found by loads of its own). */
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
/* What record_plain needs to know of the set, which has one buffer and nothing else. */
void record_plain_prepare(struct trace_set *set);
typedef rocprofiler_buffer_tracing_hsa_api_record_t api_record; /* all begin alike, see record.c */
/* False: it has not been written, and record_api is to do it. */
static inline __attribute__((always_inline)) bool
record_plain(struct thread *thread, const struct trace_frame *frame, const struct trace_set *set,
             uint64_t end_ticks, uint64_t external, uint64_t ancestor)
{
    api_record *record = tracebuf_reserve_leased(
        set->subscribers[0].buffer, thread, set->lease_offset, set->record_word, sizeof *record);
    if (__builtin_expect(!record, 0))
        return false;
    uint64_t kind_operation = frame->what + set->record_kind_offset;
    memcpy((char *)record + offsetof(api_record, kind), &kind_operation, sizeof kind_operation);
    record->correlation_id.internal = frame->internal;
    record->correlation_id.external.value = external;
    record->correlation_id.ancestor = ancestor;
    record->start_timestamp = frame->start_ticks;
    record->end_timestamp = end_ticks;
    record->thread_id = session_of(thread)->tid;
    thread_busy_end(thread);
    return true;
}
/* Copies a record into one buffer and returns the copy, to be completed and committed; NULL:
 * dropped. */
void *record_copy(struct thread *thread, struct tracebuf *buffer, uint32_t tag, const void *record,
                  size_t size_bytes);

#endif
