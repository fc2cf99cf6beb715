/* The hot path: what a wrapper runs around a traced call. bench/README.md says where its
 * budgets come from. */
#include "base/callback.h"
#include "session/internal.h"

static void exit_nobody(struct trace_frame *frame, void *payload, uint64_t what,
                        const struct trace_set *set)
{
    (void)frame, (void)payload, (void)what, (void)set;
}

/* Of calls on a thread that has no block: exit then does nothing. */
static const struct trace_set nobody = {.exit = exit_nobody};

static rocprofiler_user_data_t external_of(const struct trace_frame *frame, uint32_t i)
{
    return i == 0 || frame->has_external ? frame->external[i] : (rocprofiler_user_data_t){0};
}

__attribute__((noinline, cold)) static void externals_request(struct session_thread *self,
                                                              struct trace_frame *frame)
{
    const struct trace_set *set = frame->set;
    frame->has_external = true;
    for (uint32_t i = 0; i < set->subscriber_count; i++)
        frame->external[i] =
            external_resolve(self, &set->subscribers[i], (enum trace_domain)set->domain,
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

/* ---- a callback and its record, which goes to it by value */

/* What a call says in it: on a straight way in it is known better than from memory. */
struct call_words {
    uint64_t internal, external, ancestor, what;
    void *payload;
    /* In the registers for arguments that the callback does not look at: what is there anyway. */
    uint64_t third, fourth, fifth;
};

#ifdef __x86_64__
/* As the ABI has it, a structure of more than 16 bytes that is passed by value lies where further
 * arguments lie, word by word, once the registers for arguments are used up. Said like this, its
 * words go there from where they are, without a structure that is made first; what the four other
 * registers hold, the callback does not look at. */
typedef void (*words_callback_fn)(rocprofiler_user_data_t *user_data, void *data, uint64_t,
                                  uint64_t, uint64_t, uint64_t, uint64_t context, uint64_t thread,
                                  uint64_t internal, uint64_t external, uint64_t ancestor,
                                  uint64_t kind_operation, uint64_t phase, void *payload);
_Static_assert(sizeof(rocprofiler_callback_tracing_record_t) == 64 &&
                   offsetof(rocprofiler_callback_tracing_record_t, kind) == 40 &&
                   offsetof(rocprofiler_callback_tracing_record_t, operation) == 44 &&
                   offsetof(rocprofiler_callback_tracing_record_t, phase) == 48,
               "the words are the record");
static inline __attribute__((always_inline)) void
callback_run(const struct session_thread *self, rocprofiler_user_data_t *user_data,
             const struct trace_subscriber *s, const struct call_words *words, uint64_t phase)
{
    words_callback_fn callback = (words_callback_fn)(void (*)(void))s->callback;
    CALLBACK(callback(user_data, s->callback_data, words->third, words->fourth, words->fifth,
                      trace_whatever(), s->context.handle, self->tid, words->internal,
                      words->external, words->ancestor, words->what, phase, words->payload));
}
#else
static inline void callback_run(const struct session_thread *self,
                                rocprofiler_user_data_t *user_data,
                                const struct trace_subscriber *s, const struct call_words *words,
                                uint64_t phase)
{
    rocprofiler_callback_tracing_record_t record = {
        .context_id = s->context,
        .thread_id = self->tid,
        .correlation_id = {words->internal, {.value = words->external}, words->ancestor},
        .kind = (rocprofiler_callback_tracing_kind_t)(uint32_t)words->what,
        .operation = (int32_t)(words->what >> 32),
        .phase = (rocprofiler_callback_phase_t)phase,
        .payload = words->payload,
    };
    CALLBACK(s->callback(record, user_data, s->callback_data));
}
#endif

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

/* What is known of a set where a way is made for it; the compiler makes one of each. */
enum shape { SHAPE_ANY, SHAPE_ONE_CALLBACK, SHAPE_ONE_RECORD };

static inline __attribute__((always_inline)) void
only_callback_run(struct session_thread *self, struct trace_frame *frame,
                  const struct trace_subscriber *s, rocprofiler_callback_phase_t phase)
{
    if (phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        frame->user_data[0].value = 0;
    const struct call_words words = {frame->internal,  frame->external[0].value, frame->ancestor,
                                     frame->what,      frame->payload,           trace_whatever(),
                                     trace_whatever(), trace_whatever()};
    callback_run(self, frame->user_data, s, &words, phase);
}

static inline __attribute__((always_inline)) void callbacks_run(struct session_thread *self,
                                                                struct trace_frame *frame,
                                                                rocprofiler_callback_phase_t phase)
{
    const struct trace_set *set = frame->set;
    const struct trace_subscriber *s = set->subscribers, *end = s + set->subscriber_count;
    rocprofiler_user_data_t *user_data = frame->user_data;
    for (; s < end; s++, user_data++) {
        if (phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
            user_data->value = 0;
        if (front_listens(s))
            listener_call(self, frame, s, user_data, phase);
        if (!s->callback)
            continue;
        const struct call_words words = {
            frame->internal,  external_of(frame, (uint32_t)(user_data - frame->user_data)).value,
            frame->ancestor,  frame->what,
            frame->payload,   trace_whatever(),
            trace_whatever(), trace_whatever()};
        callback_run(self, user_data, s, &words, phase);
    }
}

__attribute__((noinline)) static void callbacks_enter(struct session_thread *self,
                                                      struct trace_frame *frame)
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
    uint64_t open = calls_settled(self);
    uint32_t depth = open_calls(open);
    open_set(self, depth + 1, open_enclosures(open));
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
    uint64_t open = calls_settled(self);
    uint32_t count = open_calls(open);
    if (count == 0) {
        self->open = (open | OPEN_COUNTED) + OPEN_CALL;
        enclosure = enclosure_innermost(self, NULL);
    } else if (__builtin_expect(count < CALLS_MAX &&
                                    call_is_around(self, call_where(call + count - 1), here),
                                1)) {
        self->open = open + OPEN_CALL;
        call += count;
        ancestor = call[-1].internal;
        enclosure = enclosure_innermost(self, call - 1);
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

static inline __attribute__((always_inline)) void
callbacks_enter_as(struct session_thread *self, struct trace_frame *frame, enum shape shape)
{
    if (shape == SHAPE_ANY) {
        callbacks_enter(self, frame);
        return;
    }
    only_callback_run(self, frame, &frame->set->subscribers[0], ROCPROFILER_CALLBACK_PHASE_ENTER);
    if (__builtin_expect(ATOMIC_PLAIN(bool, external_in_use), 0))
        externals_refresh(self, frame);
}

/* `where`: see struct open_call. */
static inline __attribute__((always_inline)) void
enter(struct session_thread *self, struct trace_frame *frame, const void *where,
      const struct trace_set *set, uint64_t what, void *payload, uint64_t correlation,
      enum shape shape)
{
    call_push(self, frame, where, correlation);
    frame->set = set;
    frame->payload = payload;
    frame->what = what;
    frame->is_plain = frame->has_external = false;
    frame->external[0].value = 0;
    if (__builtin_expect(
            set->has_requests || atomic_load_explicit(&external_in_use, memory_order_relaxed), 0))
        externals_request(self, frame);
    if (shape == SHAPE_ANY ? set->has_callbacks : shape == SHAPE_ONE_CALLBACK)
        callbacks_enter_as(self, frame, shape);
    if (shape == SHAPE_ANY ? set->has_buffers : shape == SHAPE_ONE_RECORD)
        frame->start_ticks = clock_ticks();
}

static inline __attribute__((always_inline)) void enter_as(struct trace_frame *frame, void *payload,
                                                           uint64_t what,
                                                           const struct trace_set *set,
                                                           enum shape shape)
{
    struct thread *thread = session_self();
    if (__builtin_expect(!thread, 0)) {
        frame->set = &nobody;
        return;
    }
    struct session_thread *self = session_of(thread);
    frame->native = NULL;
    enter(self, frame, frame, set, what, payload, correlation_next(self), shape);
}

static void enter_any(struct trace_frame *frame, void *payload, uint64_t what,
                      const struct trace_set *set)
{
    enter_as(frame, payload, what, set, SHAPE_ANY);
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
    enter(session_of(thread), frame, NULL, set, trace_what(domain, operation), payload, correlation,
          SHAPE_ANY);
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

/* The call that is left as the only one may end by a straight way again, if it began by one, unless
 * somebody refers to it. */
static inline __attribute__((always_inline)) void first_straighten(struct session_thread *self)
{
    const struct open_call *first = &self->calls[0];
    if ((uintptr_t)first->where & CALL_STRAIGHT && !first->work)
        self->open = (uintptr_t)call_where(first);
}

static inline __attribute__((always_inline)) void call_pop(struct session_thread *self,
                                                           const struct trace_frame *frame)
{
    struct open_call *call = &self->calls[0];
    uint64_t open = calls_settled(self);
    uint32_t depth = open_calls(open) - 1;
    if (__builtin_expect(depth != 0, 0))
        call = &self->calls[depth];
    if (__builtin_expect(depth >= CALLS_MAX || call->internal != frame->internal, 0)) {
        call_pop_unusual(self, frame);
        return;
    }
    call->ancestor = ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE;
    uint64_t left = open - OPEN_CALL;
    self->open = left == OPEN_COUNTED ? OPEN_NOTHING : left;
    if (__builtin_expect(call->work != NULL || retirement_wanted(), 0))
        call_over(call);
    else if (left == OPEN_COUNTED + OPEN_CALL)
        first_straighten(self);
}

/* What a straight way in has left unsaid. */
static inline __attribute__((always_inline)) void frame_complete(struct trace_frame *frame)
{
    if (__builtin_expect(!frame->is_plain, 1))
        return;
    frame->is_plain = frame->has_external = false;
    frame->external[0].value = 0;
    frame->ancestor = ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE;
}

static inline __attribute__((always_inline)) void exit_at(struct trace_frame *frame,
                                                          uint64_t end_ticks, enum shape shape)
{
    const struct trace_set *set = frame->set;
    struct thread *thread = thread_self();
    struct session_thread *self = session_of(thread);
    frame_complete(frame);
    if (shape == SHAPE_ONE_CALLBACK)
        only_callback_run(self, frame, &set->subscribers[0], ROCPROFILER_CALLBACK_PHASE_EXIT);
    else if (shape == SHAPE_ANY && set->has_callbacks)
        callbacks_run(self, frame, ROCPROFILER_CALLBACK_PHASE_EXIT);
    if (shape == SHAPE_ONE_RECORD) {
        if (!record_plain(thread, frame, set, end_ticks, frame->external[0].value, frame->ancestor))
            record_api(thread, frame, &set->subscribers[0], frame->external[0], end_ticks);
    } else if (shape == SHAPE_ANY && set->has_buffers) {
        records_write(thread, frame, end_ticks);
    }
    call_pop(self, frame);
}

static void exit_any(struct trace_frame *frame, void *payload, uint64_t what,
                     const struct trace_set *set)
{
    (void)payload, (void)what;
    exit_at(frame, set->has_buffers ? clock_ticks() : 0, SHAPE_ANY);
}

/* ---- straight ways: a call inside of no other, for one context with one service */

/* What is not as expected goes the other way, and nothing has happened yet but that an id was
 * refused. */
__attribute__((noinline, cold)) static void enter_refused(struct trace_frame *frame, void *payload,
                                                          uint64_t what,
                                                          const struct trace_set *set, uint64_t id)
{
    struct session_thread *self = session_of(thread_ready);
    frame->native = NULL;
    enter(self, frame, frame, set, what, payload, correlation_take(self, id), SHAPE_ANY);
}

static inline __attribute__((always_inline)) void first_push(struct session_thread *self,
                                                             struct trace_frame *frame,
                                                             const struct trace_set *set,
                                                             uint64_t what, uint64_t id)
{
    self->open = (uintptr_t)frame;
    self->calls[0].internal = frame->internal = id;
    frame->is_plain = true;
    frame->set = set;
    frame->what = what;
}

/* The call is the only one that is open, began by a straight way, nobody refers to it, and no
 * context on this thread has begun to want retirements since (calls_settled). One that begins on
 * another thread in the middle of this call's way out hears of the next calls, as with their
 * records. */
static inline __attribute__((always_inline)) bool first_is_plain(const struct session_thread *self,
                                                                 const struct trace_frame *frame)
{
    return __builtin_expect(self->open == (uintptr_t)frame, 1);
}

/* Who is this thread, asked again: compilers would keep the way to the answer in a register that
 * must be saved for it. */
static inline __attribute__((always_inline)) struct thread *thread_ready_again(void)
{
#ifdef __x86_64__
    struct thread *thread;
    __asm__ volatile("movq thread_ready@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
                     : "=r"(thread)
                     :
                     : "memory");
    return thread;
#else
    return thread_ready;
#endif
}

/* A tool's ENTER callback pushed the process's first external id: the call goes on by the other
 * way, and has the id if it was meant for it. That callback left no other call open. */
__attribute__((noinline, cold)) static void externals_begun(void)
{
    struct session_thread *self = session_of(thread_self());
    calls_settled(self);
    struct trace_frame *frame = (struct trace_frame *)(uintptr_t)call_where(&self->calls[0]);
    frame_complete(frame);
    externals_refresh(self, frame);
}

/* The same sets, for a call inside of another one, or of one whose end takes more. */
__attribute__((noinline)) static void enter_inner_callback(struct trace_frame *frame, void *payload,
                                                           uint64_t what,
                                                           const struct trace_set *set)
{
    enter_as(frame, payload, what, set, SHAPE_ONE_CALLBACK);
}

__attribute__((noinline)) static void exit_inner_callback(struct trace_frame *frame)
{
    exit_at(frame, 0, SHAPE_ONE_CALLBACK);
}

__attribute__((noinline)) static void enter_inner_record(struct trace_frame *frame, void *payload,
                                                         uint64_t what, const struct trace_set *set)
{
    enter_as(frame, payload, what, set, SHAPE_ONE_RECORD);
}

__attribute__((noinline)) static void exit_inner_record(struct trace_frame *frame,
                                                        uint64_t end_ticks)
{
    exit_at(frame, end_ticks, SHAPE_ONE_RECORD);
}

static void enter_callback(struct trace_frame *frame, void *payload, uint64_t what,
                           const struct trace_set *set)
{
    struct thread *thread = thread_ready;
    if (__builtin_expect(session_of(thread)->open != OPEN_NOTHING, 0)) {
        enter_inner_callback(frame, payload, what, set);
        return;
    }
    struct session_thread *self = session_of(thread);
    uint64_t id;
    if (__builtin_expect(!correlation_step(self, &id), 0)) {
        enter_refused(frame, payload, what, set, id);
        return;
    }
    first_push(self, frame, set, what, id);
    frame->payload = payload;
    frame->user_data[0].value = 0;
    const struct call_words words = {
        id, 0, ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE, what, payload, what, (uintptr_t)set, id};
    callback_run(self, frame->user_data, &set->subscribers[0], &words,
                 ROCPROFILER_CALLBACK_PHASE_ENTER);
    if (__builtin_expect(ATOMIC_PLAIN(bool, external_in_use), 0))
        externals_begun();
}

__attribute__((noinline, cold)) static void outermost_pop(void)
{
    call_pop_outermost(session_of(thread_self()));
}

/* While the callback runs, the call is open, and what the callback does there has ended behind it.
 * So if anything is open yet, and is no count, it is this call. */
static void exit_callback(struct trace_frame *frame, void *payload, uint64_t what,
                          const struct trace_set *set)
{
    (void)payload;
    struct thread *thread = thread_ready;
    if (!first_is_plain(session_of(thread), frame)) {
        exit_inner_callback(frame);
        return;
    }
    const struct call_words words = {frame->internal,
                                     0,
                                     ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE,
                                     frame->what,
                                     frame->payload,
                                     what,
                                     (uintptr_t)set,
                                     trace_whatever()};
    callback_run(session_of(thread), frame->user_data, &set->subscribers[0], &words,
                 ROCPROFILER_CALLBACK_PHASE_EXIT);
    struct session_thread *self = session_of(thread_ready_again());
    if (__builtin_expect(self->open & OPEN_COUNTED, 0))
        outermost_pop();
    else
        self->open = OPEN_NOTHING;
}

static void enter_record(struct trace_frame *frame, void *payload, uint64_t what,
                         const struct trace_set *set)
{
    struct thread *thread = thread_ready;
    if (__builtin_expect(session_of(thread)->open != OPEN_NOTHING, 0)) {
        enter_inner_record(frame, payload, what, set);
        return;
    }
    struct session_thread *self = session_of(thread);
    uint64_t id;
    if (__builtin_expect(!correlation_step(self, &id), 0)) {
        enter_refused(frame, payload, what, set, id);
        return;
    }
    first_push(self, frame, set, what, id); /* nobody reads the payload */
    frame->start_ticks = clock_tsc();
}

static void exit_record(struct trace_frame *frame, void *payload, uint64_t what,
                        const struct trace_set *set)
{
    (void)payload, (void)what;
    uint64_t end_ticks = clock_tsc();
    struct thread *thread = thread_ready;
    if (!first_is_plain(session_of(thread), frame) ||
        !record_plain(thread, frame, set, end_ticks, 0, ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE)) {
        exit_inner_record(frame, end_ticks);
        return;
    }
    session_of(thread)->open = OPEN_NOTHING;
}

const struct trace_ways trace_ways = {.any = {enter_any, exit_any},
                                      .callback = {enter_callback, exit_callback},
                                      .record = {enter_record, exit_record}};

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
