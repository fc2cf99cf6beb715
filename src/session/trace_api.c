/* The hot path: what a wrapper runs around a traced call. bench/README.md says where its
 * budgets come from. */
#include "base/callback.h"
#include "session/internal.h"

/* Set by trace_api_enter when the thread has no block: exit then does nothing. */
static const struct trace_set nobody;

static rocprofiler_user_data_t external_of(const struct trace_frame *frame, uint32_t i)
{
    return frame->has_external ? frame->external[i] : (rocprofiler_user_data_t){0};
}

__attribute__((noinline, cold)) static void externals_request(struct session_thread *self,
                                                              struct trace_frame *frame)
{
    const struct trace_set *set = frame->set;
    frame->has_external = true;
    for (uint32_t i = 0; i < set->subscriber_count; i++)
        frame->external[i] =
            external_resolve(self, &set->subscribers[i], (enum trace_domain)frame->domain,
                             frame->operation, frame->internal);
}

/* An ENTER callback is the place where tools push an id for the call they see. */
__attribute__((noinline, cold)) static void externals_refresh(struct session_thread *self,
                                                              struct trace_frame *frame)
{
    const struct trace_set *set = frame->set;
    bool first = !frame->has_external;
    frame->has_external = true;
    for (uint32_t i = 0; i < set->subscriber_count; i++)
        if (first || !set->subscribers[i].request)
            frame->external[i] = external_pushed(self, set->subscribers[i].context_index);
}

/* The record goes to the callback by value, so it is built and copied for every call. Words of
 * eight bytes, written and read alike (this file is compiled for general registers only): vector
 * moves over freshly written smaller fields stall the store buffer, 9 ns of the 18 a traced call
 * cost. */
union record_words {
    rocprofiler_callback_tracing_record_t record;
    struct {
        uint64_t context, thread, internal, external, ancestor, kind_operation, phase;
        void *payload;
    };
};
_Static_assert(sizeof(union record_words) == sizeof(rocprofiler_callback_tracing_record_t) &&
                   offsetof(rocprofiler_callback_tracing_record_t, kind) == 40 &&
                   offsetof(rocprofiler_callback_tracing_record_t, operation) == 44 &&
                   offsetof(rocprofiler_callback_tracing_record_t, phase) == 48,
               "the words are the record");

static inline __attribute__((always_inline)) void listener_call(struct session_thread *self,
                                                                const struct trace_frame *frame,
                                                                const struct trace_subscriber *s,
                                                                rocprofiler_user_data_t *user_data,
                                                                rocprofiler_callback_phase_t phase)
{
    const void *outer = atomic_load_explicit(&self->calling, memory_order_relaxed);
    atomic_store_explicit(&self->calling, s->callback_data, memory_order_relaxed);
    thread_fence_light(); /* pairs with thread_fence_heavy in subscription_calls_wait */
    CALLBACK(front_of(s)->listener(frame, user_data, phase, s->callback_data));
    atomic_store_explicit(&self->calling, outer, memory_order_release);
}

static inline __attribute__((always_inline)) void callbacks_run(struct session_thread *self,
                                                                struct trace_frame *frame,
                                                                rocprofiler_callback_phase_t phase)
{
    const struct trace_set *set = frame->set;
    const struct trace_subscriber *s = set->subscribers, *end = s + set->subscriber_count;
    rocprofiler_user_data_t *user_data = frame->user_data;
    union record_words words;
    words.thread = self->tid;
    words.internal = frame->internal;
    words.ancestor = frame->ancestor;
    words.kind_operation =
        domains[frame->domain].callback_kind | (uint64_t)(uint32_t)frame->operation << 32;
    words.phase = phase;
    words.payload = frame->payload;
    for (; s < end; s++, user_data++) {
        if (phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
            user_data->value = 0;
        if (front_listens(s))
            listener_call(self, frame, s, user_data, phase);
        if (!s->callback)
            continue;
        words.context = s->context.handle;
        words.external = external_of(frame, (uint32_t)(user_data - frame->user_data)).value;
        CALLBACK(s->callback(words.record, user_data, s->callback_data));
    }
}

static void callbacks_enter(struct session_thread *self, struct trace_frame *frame)
{
    callbacks_run(self, frame, ROCPROFILER_CALLBACK_PHASE_ENTER);
    if (__builtin_expect(atomic_load_explicit(&external_in_use, memory_order_relaxed), 0))
        externals_refresh(self, frame);
}

/* For a call inside of another one: that may be over, or on another stack, or no place is left. */
__attribute__((noinline, cold)) static struct open_call *
call_push_unusual(struct session_thread *self, struct trace_frame *frame, const void *here)
{
    const struct open_call *outer = call_innermost(self, here);
    const struct enclosure *enclosure = enclosure_innermost(self, outer);
    frame->ancestor = enclosure ? enclosure->internal
                      : outer   ? outer->internal
                                : ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE;
    uint32_t depth = self->call_count++;
    if (depth >= CALLS_MAX) {
        call_keep(self, frame);
        depth = CALLS_MAX - 1;
    }
    return &self->calls[depth];
}

/* Most calls are inside no other: their place is known, and nothing is to be looked at. */
static inline __attribute__((always_inline)) void call_push(struct session_thread *self,
                                                            struct trace_frame *frame,
                                                            const void *where, uint64_t correlation)
{
    const void *here = where ? where : __builtin_frame_address(0);
    const struct enclosure *enclosure = NULL;
    struct open_call *call = &self->calls[0];
    uint64_t ancestor = ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE;
    uint32_t count = self->call_count;
    if (__builtin_expect(count == 0, 1)) {
        enclosure = enclosure_innermost(self, NULL);
        self->call_count = 1;
    } else if (__builtin_expect(count < CALLS_MAX && call_is_around(self, call + count - 1, here),
                                1)) {
        call += count;
        ancestor = call[-1].internal;
        enclosure = enclosure_innermost(self, call - 1);
        self->call_count = count + 1;
    } else {
        call = call_push_unusual(self, frame, here);
        ancestor = frame->ancestor;
    }
    if (__builtin_expect(enclosure != NULL, 0))
        ancestor = enclosure->internal;
    frame->internal = call->internal = correlation;
    frame->ancestor = call->ancestor = ancestor;
    call->where = where;
}

/* `where`: see struct open_call. */
static inline __attribute__((always_inline)) void
enter(struct session_thread *self, struct trace_frame *frame, const void *where,
      const struct trace_set *set, enum trace_domain domain, int32_t operation, void *payload,
      uint64_t correlation)
{
    call_push(self, frame, where, correlation);
    frame->set = set;
    frame->payload = payload;
    frame->operation = operation;
    frame->domain = (uint16_t)domain;
    frame->has_external = false;
    if (__builtin_expect(
            set->has_requests || atomic_load_explicit(&external_in_use, memory_order_relaxed), 0))
        externals_request(self, frame);
    if (set->has_callbacks)
        callbacks_enter(self, frame);
    if (set->has_buffers)
        frame->start_ticks = clock_ticks();
}

void trace_api_enter(struct trace_frame *frame, const struct trace_set *set,
                     enum trace_domain domain, int32_t operation, void *payload)
{
    struct thread *thread = session_self();
    if (__builtin_expect(!thread, 0)) {
        frame->set = &nobody;
        return;
    }
    struct session_thread *self = session_of(thread);
    frame->native = NULL;
    enter(self, frame, frame, set, domain, operation, payload, correlation_next(self));
}

uint64_t trace_correlation_take(void)
{
    struct thread *thread = session_self();
    return thread ? correlation_next(session_of(thread)) : 0;
}

void trace_api_enter_as(struct trace_frame *frame, const struct trace_set *set,
                        enum trace_domain domain, int32_t operation, void *payload,
                        uint64_t correlation)
{
    struct thread *thread = session_self();
    if (!thread || correlation == 0) {
        frame->set = &nobody;
        return;
    }
    enter(session_of(thread), frame, NULL, set, domain, operation, payload, correlation);
}

static rocprofiler_user_data_t external_at_exit(const struct trace_frame *frame, uint32_t i)
{
    const struct trace_subscriber *s = &frame->set->subscribers[i];
    if (__builtin_expect(s->front != NULL, 0) && front_of(s)->external_now)
        return (rocprofiler_user_data_t){.value = front_of(s)->external_now()};
    return external_of(frame, i);
}

static void records_write(struct thread *thread, const struct trace_frame *frame,
                          uint64_t end_ticks)
{
    const struct trace_set *set = frame->set;
    for (uint32_t i = 0; i < set->subscriber_count; i++) {
        const struct trace_subscriber *s = &set->subscribers[i];
        if (s->buffer || s->args_buffer)
            record_api(thread, frame, s, external_at_exit(frame, i), end_ticks);
    }
}

static inline __attribute__((always_inline)) void call_pop(struct session_thread *self,
                                                           const struct trace_frame *frame)
{
    struct open_call *call = &self->calls[0];
    uint32_t depth = self->call_count - 1;
    if (__builtin_expect(depth != 0, 0))
        call = &self->calls[depth];
    if (__builtin_expect(depth >= CALLS_MAX || call->internal != frame->internal, 0)) {
        call_pop_unusual(self, frame);
        return;
    }
    self->call_count = depth;
    if (__builtin_expect(call->work != NULL || retirement_wanted(), 0))
        call_over(call);
}

void trace_api_exit(struct trace_frame *frame)
{
    const struct trace_set *set = frame->set;
    if (__builtin_expect(set == &nobody, 0))
        return;
    uint64_t end_ticks = set->has_buffers ? clock_ticks() : 0;
    struct thread *thread = thread_self();
    struct session_thread *self = session_of(thread);
    if (set->has_callbacks)
        callbacks_run(self, frame, ROCPROFILER_CALLBACK_PHASE_EXIT);
    if (set->has_buffers)
        records_write(thread, frame, end_ticks);
    call_pop(self, frame);
}

void trace_calls_leave(const void *lowest)
{
    struct trace_frame *frame = call_left(lowest);
    if (frame)
        trace_api_exit(frame);
}

uint64_t trace_correlation_current(void)
{
    struct thread *thread = session_self();
    const struct open_call *call =
        thread ? call_innermost(session_of(thread), __builtin_frame_address(0)) : NULL;
    return call ? call->internal : ROCPROFILER_CORRELATION_ID_INTERNAL_NONE;
}

uint64_t trace_time_ns(void)
{
    return clock_now_ns();
}
