/*
 * The product's spine: how interception reports what happens, and who is told.
 *
 * src/intercept calls these functions; src/session implements them. Neither knows the other.
 *
 * The order of events in a process
 *   1. A runtime offers its table (HSA: OnLoad or rocprofiler_set_api_table). Session finds the
 *      tools and lets them configure contexts. Only now is it known what anybody wants.
 *   2. Session hands the table to intercept, which puts a wrapper into exactly those slots for
 * which trace_is_configured() is true; every other slot keeps the runtime's own pointer.
 *   3. Contexts start and stop at any time, from any thread. Each change publishes new immutable
 *      sets into trace_slots[]; a wrapper sees the change with its next load.
 *   4. Finalisation: intercept is asked to wait for work in flight (struct runtime_ops), then
 *      contexts stop, buffers are delivered, tools are told. Wrappers stay installed: the program
 * may still call them, they see NULL sets and pass through.
 *
 * A wrapper is
 *
 *      const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, ID);
 *      if (__builtin_expect(!set, 1))
 *          return next(a, b);
 *      rocprofiler_callback_tracing_hsa_api_data_t data;
 *      if (trace_set_wants_args(set))
 *          data = ... (arguments);
 *      TRACE_KEEP(a), TRACE_KEEP(b), TRACE_KEEP(next);
 *      struct trace_frame frame;
 *      trace_api_enter(&frame, set, TRACE_HSA_CORE_API, ID, &data);   (by the set's way in)
 *      status = next(a, b);
 *      data.retval... = status;
 *      trace_api_exit(&frame);
 *
 * No function here allocates, locks or waits on the calling thread, apart from LOSSLESS buffers
 * that are full twice over, and apart from what the tool's own callbacks do. None fails visibly.
 */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic_plain.h"

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/fwd.h>

/*
 * What can be traced. A domain joins the callback kind, the buffer kind and the request kind of the
 * same name, which share their operation numbers (rocprofiler_<api>_id_t), so that one load tells a
 * wrapper about every subscriber of either sort. `-` = that view does not exist.
 *   name, callback kind, buffer kind, buffer kind with arguments, external id request kind
 */
#define TRACE_PUBLIC_DOMAINS(X)                                                                    \
    X(HSA_CORE_API, HSA_CORE_API, HSA_CORE_API, NONE, HSA_CORE_API)                                \
    X(HSA_AMD_EXT_API, HSA_AMD_EXT_API, HSA_AMD_EXT_API, NONE, HSA_AMD_EXT_API)                    \
    X(HSA_IMAGE_EXT_API, HSA_IMAGE_EXT_API, HSA_IMAGE_EXT_API, NONE, HSA_IMAGE_EXT_API)            \
    X(HSA_FINALIZE_EXT_API, HSA_FINALIZE_EXT_API, HSA_FINALIZE_EXT_API, NONE,                      \
      HSA_FINALIZE_EXT_API)                                                                        \
    X(HIP_RUNTIME_API, HIP_RUNTIME_API, HIP_RUNTIME_API, HIP_RUNTIME_API_EXT, HIP_RUNTIME_API)     \
    X(HIP_COMPILER_API, HIP_COMPILER_API, HIP_COMPILER_API, HIP_COMPILER_API_EXT,                  \
      HIP_COMPILER_API)                                                                            \
    X(MARKER_CORE_API, MARKER_CORE_API, MARKER_CORE_API, NONE, MARKER_CORE_API)                    \
    X(MARKER_CONTROL_API, MARKER_CONTROL_API, MARKER_CONTROL_API, NONE, MARKER_CONTROL_API)        \
    X(MARKER_NAME_API, MARKER_NAME_API, MARKER_NAME_API, NONE, MARKER_NAME_API)                    \
    X(MARKER_CORE_RANGE_API, MARKER_CORE_RANGE_API, MARKER_CORE_RANGE_API, NONE,                   \
      MARKER_CORE_RANGE_API)                                                                       \
    X(RCCL_API, RCCL_API, RCCL_API, NONE, RCCL_API)                                                \
    X(ROCDECODE_API, ROCDECODE_API, ROCDECODE_API, ROCDECODE_API_EXT, ROCDECODE_API)               \
    X(ROCJPEG_API, ROCJPEG_API, ROCJPEG_API, NONE, ROCJPEG_API)                                    \
    X(ROCSHMEM_API, ROCSHMEM_API, ROCSHMEM_API, ROCSHMEM_API_EXT, ROCSHMEM_API)                    \
    X(HIPFILE_API, HIPFILE_API, HIPFILE_API, HIPFILE_API_EXT, NONE)                                \
    X(OMPT, OMPT, OMPT, NONE, OMPT)                                                                \
    X(CODE_OBJECT, CODE_OBJECT, NONE, NONE, NONE)                                                  \
    X(KERNEL_DISPATCH, KERNEL_DISPATCH, KERNEL_DISPATCH, NONE, KERNEL_DISPATCH)                    \
    X(MEMORY_COPY, MEMORY_COPY, MEMORY_COPY, NONE, MEMORY_COPY)                                    \
    X(MEMORY_ALLOCATION, MEMORY_ALLOCATION, MEMORY_ALLOCATION, NONE, MEMORY_ALLOCATION)            \
    X(SCRATCH_MEMORY, SCRATCH_MEMORY, SCRATCH_MEMORY, NONE, SCRATCH_MEMORY)                        \
    X(RUNTIME_INITIALIZATION, RUNTIME_INITIALIZATION, RUNTIME_INITIALIZATION, NONE, NONE)          \
    X(HIP_STREAM, HIP_STREAM, HIP_STREAM, NONE, NONE)                                              \
    X(HIP_GRAPH, HIP_GRAPH, HIP_GRAPH, NONE, NONE)                                                 \
    X(HIP_EVENT, HIP_EVENT, HIP_EVENT, NONE, NONE)                                                 \
    X(KERNEL_REPLAY, KERNEL_REPLAY, NONE, NONE, NONE)                                              \
    X(CORRELATION_ID_RETIREMENT, NONE, CORRELATION_ID_RETIREMENT, NONE, NONE)                      \
    X(KFD_EVENT_PAGE_MIGRATE, NONE, KFD_EVENT_PAGE_MIGRATE, NONE, NONE)                            \
    X(KFD_EVENT_PAGE_FAULT, NONE, KFD_EVENT_PAGE_FAULT, NONE, NONE)                                \
    X(KFD_EVENT_QUEUE, NONE, KFD_EVENT_QUEUE, NONE, NONE)                                          \
    X(KFD_EVENT_UNMAP_FROM_GPU, NONE, KFD_EVENT_UNMAP_FROM_GPU, NONE, NONE)                        \
    X(KFD_EVENT_DROPPED_EVENTS, NONE, KFD_EVENT_DROPPED_EVENTS, NONE, NONE)                        \
    X(KFD_PAGE_MIGRATE, NONE, KFD_PAGE_MIGRATE, NONE, NONE)                                        \
    X(KFD_PAGE_FAULT, NONE, KFD_PAGE_FAULT, NONE, NONE)                                            \
    X(KFD_QUEUE, NONE, KFD_QUEUE, NONE, NONE)

/* The last of these have no kinds of the SDK: only subscriptions (session/front/subscriptions.h)
 * reach them. */
#define TRACE_DOMAINS(X)                                                                           \
    TRACE_PUBLIC_DOMAINS(X)                                                                        \
    X(HIP_OPERATION, NONE, NONE, NONE, NONE)                                                       \
    X(QUEUE_BARRIER, NONE, NONE, NONE, NONE)                                                       \
    X(THUNK_API, NONE, NONE, NONE, NONE)

enum trace_domain {
#define X(name, ...) TRACE_##name,
    TRACE_DOMAINS(X)
#undef X
        TRACE_DOMAIN_COUNT
};

enum {
    TRACE_OPERATIONS_MAX = 544, /* operations of one domain; the largest is checked by session */
    /* Contexts that may listen to one operation at the same time; bounds the frames on the stack.
     * rocprofiler_start_context refuses one more with a status. */
    TRACE_SUBSCRIBERS_MAX = 64,
};

struct tracebuf; /* src/tracebuf */

/* One context's interest in one operation. */
struct trace_subscriber {
    rocprofiler_context_id_t context;
    uint32_t context_index;                     /* dense, for per-thread tables */
    rocprofiler_callback_tracing_cb_t callback; /* NULL: no callback service */
    void *callback_data;
    struct tracebuf *buffer;      /* NULL: no buffered service */
    struct tracebuf *args_buffer; /* the ..._EXT buffer kind; NULL: none */
    rocprofiler_external_correlation_id_request_cb_t request; /* NULL: pushed ids are used */
    void *request_data;
    const void *front; /* a front end's own, which session looks into; NULL: of a context */
};

struct trace_set;
struct trace_frame;
/* The set comes last, and what it is behind the payload: a tool's callback is called with two
 * arguments, and so they need not be moved out of those registers. A way out finds payload and what
 * in the frame. */
typedef void trace_way_fn(struct trace_frame *frame, void *payload, uint64_t what,
                          const struct trace_set *set);

/* Who listens to one (domain, operation) just now, and what a call has to do for them. Never freed
 * while the process lives (equal sets are one object, so starting and stopping for ever does not
 * grow them): a wrapper may hold it across a call that blocks for hours. Immutable but for the way
 * in and the way out: session exchanges them when something begins that concerns all calls
 * (external ids, retirement), and any way out completes what any way in began. */
struct trace_set {
    _Atomic(trace_way_fn *) enter; /* writer: session, under its lock (release); readers: wrappers
                                      (relaxed: they find no data by it) */
    _Atomic(trace_way_fn *) exit;  /* the same */
    /* Of a set of one buffer: the first word of its records, what makes a record's kind of a
     * call's, and where a thread's block has its lease. */
    uint64_t record_word, record_kind_offset;
    uint32_t lease_offset;
    uint16_t domain;
    bool has_callbacks;
    bool has_buffers; /* start and end times are wanted */
    bool wants_args;  /* callbacks or ..._EXT buffers: fill the payload */
    bool has_requests;
    uint32_t subscriber_count;
    struct trace_subscriber subscribers[];
};

/*
 * Written by session under its configuration lock (release), read by every wrapper (consume: what
 * is read through the pointer is what session wrote before it). NULL: nobody listens.
 */
extern _Atomic(const struct trace_set *) trace_slots[TRACE_DOMAIN_COUNT][TRACE_OPERATIONS_MAX]
    __attribute__((visibility("hidden")));

static inline const struct trace_set *trace_set_load(enum trace_domain domain, int32_t operation)
{
    return atomic_load_explicit(&trace_slots[domain][operation], memory_order_consume);
}

static inline bool trace_set_wants_args(const struct trace_set *set)
{
    return set->wants_args;
}

/* What a call is, in one word, as a callback's record has it: its kind below, its operation above.
 * Domains that have no such kind have a number of their own there. */
enum { TRACE_KINDLESS = 0x1000 };
static inline __attribute__((always_inline)) uint64_t trace_what(enum trace_domain domain,
                                                                 int32_t operation)
{
    uint32_t kind = 0;
    switch (domain) { /* a constant, where the domain is one */
#define X(name, callback_kind, ...)                                                                \
    case TRACE_##name:                                                                             \
        kind = ROCPROFILER_CALLBACK_TRACING_##callback_kind;                                       \
        break;
        TRACE_DOMAINS(X)
#undef X
    case TRACE_DOMAIN_COUNT:
        break;
    }
    return (kind ? kind : TRACE_KINDLESS + (uint32_t)domain) | (uint64_t)(uint32_t)operation << 32;
}

/* (a) Configuration. True when any context, started or not, configured the operation; final once
 * tools are initialised, before any table is handed to intercept. Out of range: false. */
bool trace_is_configured(enum trace_domain domain, int32_t operation);
bool trace_domain_is_configured(enum trace_domain domain); /* any operation of it */

/* Front ends without contexts change their mind at any time, so for them everything counts as
 * configured. This asks what is wanted just now: by a context, started or not, or by such a one. */
bool trace_domain_is_wanted(enum trace_domain domain);

/* (b) API calls. The frame lives on the wrapper's stack from enter to exit, which nest. */
struct trace_work;  /* reference count of a correlation id; session's */
struct trace_kept { /* what session knew of another call where it had no room for both */
    const void *where;
    uint64_t internal, ancestor;
    struct trace_work *work;
};
struct trace_frame {
    /* Callbacks' own, enter to exit. The first of all, so that a callback is called with the
     * frame's own address. */
    rocprofiler_user_data_t user_data[TRACE_SUBSCRIBERS_MAX];
    const struct trace_set *set;
    void *payload; /* rocprofiler_callback_tracing_*_data_t */
    /* What those who enter by trace_api_enter_as have to say besides, in words of their own; NULL:
     * nothing. Session hands it on. */
    const void *native;
    uint64_t internal; /* correlation ids */
    uint64_t ancestor;
    uint64_t start_ticks;
    union {
        uint64_t what; /* trace_what() */
        struct {
            uint32_t kind;
            int32_t operation;
        };
    };
    /* The call began by a straight way: it is inside of no other and has no external id, so that
     * neither `ancestor` nor `external` and what goes with it say anything. */
    bool is_plain;
    bool has_external;
    struct trace_kept kept;
    /* The first is valid always, the others when has_external. */
    rocprofiler_user_data_t external[TRACE_SUBSCRIBERS_MAX];
};

static inline enum trace_domain trace_frame_domain(const struct trace_frame *frame)
{
    return (enum trace_domain)frame->set->domain;
}

/* For an argument that nobody looks at: what its register holds. */
static inline __attribute__((always_inline)) uint64_t trace_whatever(void)
{
#ifdef __x86_64__
    uint64_t word;
    __asm__ volatile("" : "=r"(word)); /* volatile: no two are one, which would be moved about */
    return word;
#else
    return 0;
#endif
}

/* The frame's address, made anew: an instruction instead of a store and a load, since no register
 * is kept across the call (TRACE_KEEP). */
static inline __attribute__((always_inline)) struct trace_frame *
trace_frame_again(struct trace_frame *frame)
{
#ifdef __x86_64__
    struct trace_frame *again;
    __asm__("leaq %1, %0" : "=r"(again) : "m"(*frame));
    return again;
#else
    return frame;
#endif
}

/* `payload` must stay valid until exit; it is read only when the set wants arguments. */
static inline __attribute__((always_inline)) void trace_api_enter(struct trace_frame *frame,
                                                                  const struct trace_set *set,
                                                                  enum trace_domain domain,
                                                                  int32_t operation, void *payload)
{
    ATOMIC_PLAIN(trace_way_fn *, set->enter)(frame, payload, trace_what(domain, operation), set);
}

static inline __attribute__((always_inline)) void trace_api_exit(struct trace_frame *frame)
{
    const struct trace_set *set = frame->set;
    ATOMIC_PLAIN(trace_way_fn *, set->exit)
    (trace_frame_again(frame), (void *)(uintptr_t)trace_whatever(), trace_whatever(), set);
}

/* An argument that the wrapper needs again after trace_api_enter() stands on the stack from here
 * on: a store and a load, without the move to another register that compilers put before. What a
 * tool does with its payload does not change it. */
#ifdef __x86_64__
#define TRACE_KEEP(argument) __asm__("" : "+m"(argument))
#else
#define TRACE_KEEP(argument) ((void)0)
#endif

/* Stands between the traced function's call and trace_api_exit(), in the same part of the wrapper.
 * An exception of a callback that the program gave to the function, and the end of the thread, pass
 * through the wrapper, and trace_api_exit() is called on their way. It costs nothing until then.
 * Where it is not to be had, and after longjmp, session notices later that the call is over. */
#if defined(__x86_64__) && defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define TRACE_CALL_MAY_BE_LEFT() __asm__ volatile(".cfi_personality 0x1b, trace_call_personality")
#else
#define TRACE_CALL_MAY_BE_LEFT() ((void)0)
#endif
int trace_call_personality(int version, int actions, uint64_t exception_class, void *exception,
                           void *context) __attribute__((visibility("hidden")));
/* The wrapper whose part of this thread's stack begins at `lowest` is being left. */
void trace_calls_leave(const void *lowest);

/* For runtimes that must know the correlation id before the call can be reported. The caller has
 * set the frame's `native`; the frame is not on the stack. */
uint64_t trace_correlation_take(void); /* 0: no memory for this thread; then enter does nothing */
void trace_api_enter_as(struct trace_frame *frame, const struct trace_set *set,
                        enum trace_domain domain, int32_t operation, void *payload,
                        uint64_t correlation);

/*
 * (c, d) Work that outlives the call which caused it: kernel dispatch, memory copy; and events with
 * no duration of a call (memory allocation, scratch, code objects, runtime initialisation).
 *
 * An event captures who listens and under which ids. It is plain memory, owned by the caller (embed
 * it in the dispatch), and needs no clean-up besides trace_event_release().
 *
 *      kernel dispatch                                    memory copy
 *      trace_event_open(&e, KERNEL_DISPATCH, ENQUEUE)     trace_event_open(&e, MEMORY_COPY, H2D)
 *      trace_event_call(&e, ENQUEUE, ENTER, &data)        trace_event_call(&e, H2D, ENTER, &data)
 *      trace_event_recapture(&e, COMPLETE)                ... copy runs ...
 *      trace_event_call(&e, ENQUEUE, EXIT, &data)         trace_event_call(&e, H2D, EXIT, &data)
 *      ... kernel runs ...                                trace_event_record(&e, &record)
 *      trace_event_call(&e, COMPLETE, NONE, &data)        trace_event_release(&e)
 *      trace_event_record(&e, &record)
 *      trace_event_release(&e)
 *
 * Contexts stopped meanwhile still get what they captured.
 */
struct trace_event_slot { /* one subscriber's; a line of memory holds the first ones */
    rocprofiler_user_data_t user_data, enter_user_data;
    rocprofiler_user_data_t external; /* valid when has_external */
};

struct trace_event {
    const struct trace_set *set;       /* NULL: nobody; every call below is then a no-op */
    const struct trace_set *enter_set; /* between recapture and the enqueue's EXIT, else NULL */
    struct trace_work *work;           /* keeps the correlation id from retiring */
    rocprofiler_correlation_id_t correlation_id; /* external: of no context, 0 */
    rocprofiler_thread_id_t thread_id;           /* the thread that caused it */
    int32_t operation;
    int32_t first_operation; /* it was opened for; what external ids are asked for */
    uint16_t domain;
    bool has_external;
    struct trace_event_slot
        slots[TRACE_SUBSCRIBERS_MAX]; /* user data: only where set has callbacks */
};

/* Captures subscribers and ids on the causing thread: current call's internal id, or a new one when
 * no traced call encloses it. Returns false, with e->set NULL, when nobody listens. */
bool trace_event_open(struct trace_event *event, enum trace_domain domain, int32_t operation);

/* Captures again, for `operation` of the same domain, after ENTER callbacks that may have started,
 * stopped or pushed; user data of contexts in both sets moves over. The old set is kept for the
 * EXIT of the enqueue. False when nobody listens to `operation`. */
bool trace_event_recapture(struct trace_event *event, int32_t operation);

/* Ids but no subscribers: for work that only a counting service watches. */
void trace_event_open_unwatched(struct trace_event *event, enum trace_domain domain);

/* Runs the callbacks. ENTER and EXIT of one event share each context's user_data; later phases get
 * a copy taken by recapture. `payload` carries nanoseconds. */
void trace_event_call(struct trace_event *event, int32_t operation,
                      rocprofiler_callback_phase_t phase, void *payload);

/* False: trace_event_call would call nobody, its payload need not be made. */
static inline bool trace_event_is_called(const struct trace_event *event, int32_t operation)
{
    const struct trace_set *set = operation == event->operation ? event->set : event->enter_set;
    return set != NULL && set->has_callbacks;
}

/* Copies `record` (complete but for correlation_id, which this fills per context; times in
 * nanoseconds) to every listening buffer. `size` is the record's own size. */
void trace_event_record(struct trace_event *event, const void *record, size_t size);

/* After the last call: the correlation id may retire. */
void trace_event_release(struct trace_event *event);

/* Marker ranges and OpenMP regions, which calls of a thread are inside of: from begin to end calls
 * and ranges of this thread have the event's id as their ancestor, and work that no call causes has
 * it as its own. Both on the thread that opened the event, the end before its release. */
void trace_enclosure_begin(const struct trace_event *event);
void trace_enclosure_end(const struct trace_event *event);

/* Work that is known only when it is over, of the domains without public records: HIP_OPERATION and
 * QUEUE_BARRIER. Every listening buffer gets one record, `struct trace_report` with `name` behind
 * it, under the category below and the domain as its kind. */
struct trace_report {
    uint64_t correlation, start_ns, end_ns, queue, bytes;
    uint32_t kind;      /* HIP_OPERATION: the runtime's command type */
    uint32_t device;    /* the driver's node number */
    int32_t operation;  /* of the domain */
    uint32_t name_size; /* with its zero; `name` may be longer, and is cut; 0: no name follows */
};
enum { TRACE_REPORT_CATEGORY = 0x1000 }; /* not one of rocprofiler_buffer_category_t */
void trace_report(enum trace_domain domain, const struct trace_report *report, const char *name);

/* The external id of a context for an event, as that context's records would carry it. */
rocprofiler_user_data_t trace_event_external(const struct trace_event *event,
                                             rocprofiler_context_id_t context);

/* The innermost traced call of this thread, or 0. */
uint64_t trace_correlation_current(void);

/* A record straight into one buffer: counter values, PC samples. `payload` is copied; `category` is
 * rocprofiler_buffer_category_t. False: dropped, and counted. */
bool trace_buffer_put(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                      const void *payload, size_t size);
/* The same for so many in a row, each of `size` bytes. */
void trace_buffer_put_many(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                           const void *payloads, size_t size, size_t count);

/* The buffer behind a public id; NULL when there is none. Never freed while in use by a service. */
struct tracebuf *trace_buffer_find(rocprofiler_buffer_id_t id);

/* Time. `ticks` are whatever is cheapest to read; records of API calls hold ticks until delivery.
 * Nanoseconds are CLOCK_BOOTTIME, the domain of the HSA system timestamp. */
uint64_t trace_time_ns(void);

/* (e) Dispatch counting: asked by intercept around every dispatch while a context counts. */
struct trace_dispatch {
    rocprofiler_kernel_dispatch_info_t info; /* complete before begin */
    uint64_t hsa_agent, hsa_queue;           /* hsa_agent_t handle; hsa_queue_t address */
    uint64_t start_ns, end_ns;               /* set before complete */
    void *counting;                          /* owned by the counting service; NULL: not counted */
    void *sampling;                          /* the same for PC sampling and thread trace */
    struct trace_event event;                /* last: what is in use stands together */
};

struct trace_packets {
    const void *before; /* 64-byte AQL packets, put before the kernel's, barrier bits set inside */
    const void *after;  /* put after it */
    uint32_t before_count, after_count;
    bool serialize;    /* the kernel must run alone on its device */
    bool in_order;     /* it begins when `before` has ended */
    bool signal_after; /* completion means that the last `after` packet completed */
};

struct trace_counting_ops {
    /* The submitting thread, in submission order per queue, packet not yet written. Leaves
     * `packets` zeroed for a dispatch that is not counted. */
    void (*dispatch_begin)(struct trace_dispatch *dispatch, struct trace_packets *packets);
    /* Any thread; once for each begin, also when the queue died (`failed`). Before the dispatch's
     * own records and callbacks. */
    void (*dispatch_complete)(struct trace_dispatch *dispatch, bool failed);
    /* Nobody asks which call a dispatch belongs to: where nothing else watches it, its event gets
     * no ids. */
    bool without_ids;
};

/* Written by the counting service when a counting context starts or stops (release), read per
 * dispatch (acquire). NULL: no context counts. A dispatch begun is completed through the same ops.
 */
extern _Atomic(const struct trace_counting_ops *) trace_counting;

/* Counting on devices: asked, for each GPU queue of the program and before the program gets it, for
 * a packet of 64 bytes that is to be its first, so that its waves may be counted; NULL: none.
 * Written once, when the first such service is configured (release), read per queue (acquire).
 * NULL: nobody counts devices. */
extern const void *(*_Atomic trace_queue_first)(rocprofiler_agent_id_t agent, uint64_t hsa_agent);

/* (a) for counting and sampling of dispatches: true when any context, started or not, configured
 * such a service, so that queues must be intercepted. Final once tools are initialised. */
bool trace_counting_is_configured(void);

#endif
