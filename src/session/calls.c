/* Traced calls that ended without trace_api_exit: by an exception, by longjmp, with their thread.
 */
#include "base/callback.h"
#include "base/log.h"
#include "session/internal.h"
#include "session/record.h"

#include <pthread.h>
#include <unistd.h>

/* Calls that nobody saw end. Writers: any thread (relaxed). Reader: calls_lost_report. */
static _Atomic uint64_t calls_lost;

static uint32_t calls_count(struct session_thread *self)
{
    return open_calls(calls_settled(self));
}

static void calls_count_set(struct session_thread *self, uint32_t count)
{
    open_set(self, count, open_enclosures(calls_settled(self)));
}

static struct open_call *slot_of(struct session_thread *self, uint32_t depth)
{
    return &self->calls[depth < CALLS_MAX ? depth : CALLS_MAX - 1];
}

void call_keep(struct session_thread *self, struct trace_frame *frame)
{
    struct open_call *last = &self->calls[CALLS_MAX - 1];
    frame->kept = (struct trace_kept){last->where, last->internal, last->ancestor, last->work};
    last->work = NULL;
}

static void call_bring_back(struct session_thread *self, const struct trace_frame *frame)
{
    const struct trace_kept *kept = &frame->kept;
    self->calls[CALLS_MAX - 1] =
        (struct open_call){kept->where, kept->internal, kept->ancestor, kept->work};
}

void call_over(struct open_call *call)
{
    struct trace_work *work = call->work;
    call->work = NULL;
    call->ancestor = ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE;
    if (work)
        work_drop(work);
    else if (retirement_wanted())
        retirement_report(call->internal);
}

/* The innermost call has no memory any more; only what this thread wrote down of it is read. What
 * its frame kept of outer ones is gone with it: nobody inside them hears of them again. */
static void innermost_forget(struct session_thread *self)
{
    uint32_t depth = calls_count(self) - 1;
    struct open_call *call = slot_of(self, depth);
    calls_count_set(self, depth < CALLS_MAX ? depth : CALLS_MAX - 1);
    atomic_fetch_add_explicit(&calls_lost, 1, memory_order_relaxed);
    call_over(call);
}

/* Those inside the call `internal` that nobody saw end are over. False: it is not open itself; it
 * was taken for over, while it was on another stack. */
static bool calls_inside_forget(struct session_thread *self, uint64_t internal)
{
    uint32_t depth = calls_count(self);
    while (depth > 0 && slot_of(self, depth - 1)->internal != internal)
        depth = depth > CALLS_MAX ? CALLS_MAX - 1 : depth - 1;
    while (depth > 0 && calls_count(self) > depth)
        innermost_forget(self);
    return depth > 0;
}

void call_pop_unusual(struct session_thread *self, const struct trace_frame *frame)
{
    if (!calls_inside_forget(self, frame->internal))
        return;
    uint32_t depth = calls_count(self) - 1;
    calls_count_set(self, depth);
    call_over(slot_of(self, depth));
    if (depth >= CALLS_MAX)
        call_bring_back(self, frame);
}

void call_pop_outermost(struct session_thread *self)
{
    if (calls_count(self) == 0 || !calls_inside_forget(self, self->calls[0].internal))
        return;
    calls_count_set(self, 0);
    call_over(&self->calls[0]);
}

extern void *__libc_stack_end; /* of the main thread; the dynamic linker's */

/* The C library has a thread's own structure at the top of its stack. */
void calls_stack_learn(struct session_thread *self)
{
    self->stack_top =
        self->tid == (uint64_t)getpid() ? (uintptr_t)__libc_stack_end : (uintptr_t)pthread_self();
}

/* A stack that lies below the thread's own may pass for its lower end: there, too, what began is
 * over for whoever runs on the thread's own, and what began on that goes on. */
static bool on_own_stack(const struct session_thread *self, const void *where)
{
    return (uintptr_t)where < self->stack_top;
}

/* Whoever runs at `here` has given back what lies below. On another stack, of a coroutine or of
 * signals, that says nothing: whatever began on the thread's own may be going on; what began on
 * another one is not what runs now on the thread's own. */
static bool call_is_over(struct session_thread *self, const struct open_call *call,
                         const void *here)
{
    bool here_own = on_own_stack(self, here), call_own = on_own_stack(self, call_where(call));
    if (here_own != call_own)
        return here_own;
    return (uintptr_t)call_where(call) <= (uintptr_t)here;
}

struct open_call *call_innermost_checked(struct session_thread *self, const void *here)
{
    uint32_t count;
    while ((count = calls_count(self)) > 0) {
        struct open_call *call = slot_of(self, count - 1);
        if (!call->where || !call_is_over(self, call, here))
            return call;
        innermost_forget(self);
    }
    return NULL;
}

/* A wrapper's stack has its frame, its payload and little else. */
enum { WRAPPER_BYTES = 4096 };

/* The call whose frame stands in the function's part of the stack, that begins at `lowest`; NULL:
 * none. Memory of a call that ended unseen may be anything, but hardly its own unique number. */
static struct trace_frame *frame_of_function(struct session_thread *self, const void *lowest)
{
    for (uint32_t depth = calls_count(self); depth-- > 0;) {
        const struct open_call *call = slot_of(self, depth);
        struct trace_frame *frame = (struct trace_frame *)(uintptr_t)call_where(call);
        if (frame && (uintptr_t)frame - (uintptr_t)lowest < WRAPPER_BYTES &&
            frame->internal == call->internal)
            return frame;
    }
    return NULL;
}

/* One that ends its thread in a callback of a tool has no end: that tool knows, and others got what
 * the tool left them. */
struct trace_frame *call_left(const void *lowest)
{
    struct thread *thread = thread_current;
    struct trace_frame *frame = thread ? frame_of_function(session_of(thread), lowest) : NULL;
    if (!frame || !callback_left)
        return frame;
    if (calls_inside_forget(session_of(thread), frame->internal))
        innermost_forget(session_of(thread));
    callback_left = false;
    return NULL;
}

/* A thread's first traced call. */
struct thread *session_thread_setup(void)
{
    struct thread *thread = thread_self();
    if (!thread)
        return NULL;
    struct session_thread *self = session_of(thread);
    external_on_thread_begin(thread);
    self->tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
    calls_stack_learn(self);
    thread_ready = thread;
    return thread;
}

void calls_lost_report(void)
{
    uint64_t lost = atomic_exchange_explicit(&calls_lost, 0, memory_order_seq_cst);
    if (lost > 0)
        log_warning("session",
                    "%llu calls have no records: they were left by longjmp, or with their thread",
                    (unsigned long long)lost);
}
