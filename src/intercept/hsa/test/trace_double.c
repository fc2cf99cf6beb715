#include "intercept/hsa/test/trace_double.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork_lock.h"
#include "intercept/hsa/install.h"
#include "model/replay.h"
#include "runtime/instances.h"

enum { ENTRIES_MAX = 65536 };

_Atomic(const struct trace_set *) trace_slots[TRACE_DOMAIN_COUNT][TRACE_OPERATIONS_MAX];
_Atomic(const struct trace_counting_ops *) trace_counting;
const void *(*_Atomic trace_queue_first)(rocprofiler_agent_id_t agent, uint64_t hsa_agent);

static void api_enter(struct trace_frame *frame, void *payload, uint64_t what,
                      const struct trace_set *set);
static void api_exit(struct trace_frame *frame, void *payload, uint64_t what,
                     const struct trace_set *set);
static const struct trace_set everything = {.enter = api_enter,
                                            .exit = api_exit,
                                            .has_callbacks = true,
                                            .has_buffers = true,
                                            .wants_args = true};
static const struct trace_set records = {.enter = api_enter, .exit = api_exit, .has_buffers = true};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock_kept, lock)
static struct double_entry entries[ENTRIES_MAX];
static uint32_t entry_count;
static uint64_t correlation_last;
static int open_events;
static __thread uint64_t enclosing[256];
static __thread uint32_t enclosing_count;
static bool counting_configured;
static __thread const struct trace_frame *calls[64];
static __thread uint32_t call_count;

void (*_Atomic double_on_call)(void);
void (*_Atomic double_on_payload)(int32_t, rocprofiler_callback_phase_t, void *);

void double_reset(void)
{
    atomic_store(&double_on_call, NULL);
    atomic_store(&double_on_payload, NULL);
    memset(trace_slots, 0, sizeof trace_slots);
    atomic_store(&trace_counting, NULL);
    counting_configured = false;
    entry_count = 0;
    open_events = 0;
    clock_init();
}

static void listen_by(const struct trace_set *set, enum trace_domain domain, int32_t operation)
{
    for (int32_t i = 0; i < TRACE_OPERATIONS_MAX; i++)
        if (operation < 0 || operation == i)
            atomic_store(&trace_slots[domain][i], set);
}

void double_listen(enum trace_domain domain, int32_t operation)
{
    listen_by(&everything, domain, operation);
}

void double_listen_records(enum trace_domain domain, int32_t operation)
{
    listen_by(&records, domain, operation);
}

void double_unlisten(enum trace_domain domain)
{
    for (int32_t i = 0; i < TRACE_OPERATIONS_MAX; i++)
        atomic_store(&trace_slots[domain][i], NULL);
}

void double_counting_configure(const struct trace_counting_ops *ops)
{
    counting_configured = true;
    atomic_store(&trace_counting, ops);
}

bool trace_is_configured(enum trace_domain domain, int32_t operation)
{
    return operation >= 0 && operation < TRACE_OPERATIONS_MAX &&
           atomic_load(&trace_slots[domain][operation]) != NULL;
}

bool trace_domain_is_configured(enum trace_domain domain)
{
    for (int32_t i = 0; i < TRACE_OPERATIONS_MAX; i++)
        if (trace_is_configured(domain, i))
            return true;
    return false;
}

bool trace_domain_is_wanted(enum trace_domain domain)
{
    return trace_domain_is_configured(domain);
}

bool trace_counting_is_configured(void)
{
    return counting_configured;
}

static void entry_add(enum double_what what, enum trace_domain domain, int32_t operation,
                      rocprofiler_callback_phase_t phase, uint64_t correlation, const void *payload,
                      size_t size)
{
    pthread_mutex_lock(&lock);
    if (entry_count < ENTRIES_MAX) {
        struct double_entry *entry = &entries[entry_count++];
        memset(entry, 0, sizeof *entry);
        entry->what = what;
        entry->domain = domain;
        entry->operation = operation;
        entry->phase = phase;
        entry->correlation = correlation;
        if (payload)
            memcpy(&entry->payload, payload,
                   size < sizeof entry->payload ? size : sizeof entry->payload);
    }
    pthread_mutex_unlock(&lock);
}

/* Payloads of APIs begin with their own size. */
static size_t payload_size(const void *payload)
{
    return (size_t) * (const uint64_t *)payload;
}

uint64_t trace_correlation_take(void)
{
    return __atomic_add_fetch(&correlation_last, 1, __ATOMIC_RELAXED);
}

static enum trace_domain domain_of(const struct trace_frame *frame)
{
    int domain = 0;
    while (trace_what((enum trace_domain)domain, frame->operation) != frame->what)
        domain++;
    return (enum trace_domain)domain;
}

static void enter(struct trace_frame *frame, const struct trace_set *set, uint64_t what,
                  void *payload, uint64_t correlation)
{
    frame->set = set;
    frame->what = what;
    frame->payload = payload;
    frame->internal = correlation;
    calls[call_count++ % 64] = frame;
    entry_add(DOUBLE_API_ENTER, domain_of(frame), frame->operation,
              ROCPROFILER_CALLBACK_PHASE_ENTER, frame->internal, payload, payload_size(payload));
}

void trace_api_enter_as(struct trace_frame *frame, const struct trace_set *set,
                        enum trace_domain domain, int32_t operation, void *payload,
                        uint64_t correlation)
{
    enter(frame, set, trace_what(domain, operation), payload, correlation);
}

static void api_enter(struct trace_frame *frame, void *payload, uint64_t what,
                      const struct trace_set *set)
{
    enter(frame, set, what, payload, trace_correlation_take());
}

static void api_exit(struct trace_frame *frame, void *payload, uint64_t what,
                     const struct trace_set *set)
{
    (void)payload, (void)what, (void)set;
    call_count--;
    entry_add(DOUBLE_API_EXIT, domain_of(frame), frame->operation, ROCPROFILER_CALLBACK_PHASE_EXIT,
              frame->internal, frame->payload, payload_size(frame->payload));
}

void trace_calls_leave(const void *lowest)
{
    (void)lowest;
}

bool trace_event_open(struct trace_event *event, enum trace_domain domain, int32_t operation)
{
    memset(event, 0, sizeof *event);
    event->set = trace_set_load(domain, operation);
    event->domain = (uint16_t)domain;
    event->operation = operation;
    event->thread_id = 1;
    if (!event->set)
        return false;
    __atomic_add_fetch(&open_events, 1, __ATOMIC_RELAXED);
    event->correlation_id.internal =
        call_count > 0 ? calls[(call_count - 1) % 64]->internal
                       : __atomic_add_fetch(&correlation_last, 1, __ATOMIC_RELAXED);
    return true;
}

bool trace_event_recapture(struct trace_event *event, int32_t operation)
{
    event->enter_set = event->set;
    event->set = trace_set_load(event->domain, operation);
    event->operation = operation;
    return event->set != NULL;
}

void trace_event_open_unwatched(struct trace_event *event, enum trace_domain domain)
{
    memset(event, 0, sizeof *event);
    event->domain = (uint16_t)domain;
    __atomic_add_fetch(&open_events, 1, __ATOMIC_RELAXED);
}

bool trace_event_open_beside(struct trace_event *event, enum trace_domain domain, int32_t operation,
                             const struct trace_event *other)
{
    memset(event, 0, sizeof *event);
    event->set = trace_set_load(domain, operation);
    event->domain = (uint16_t)domain;
    event->operation = operation;
    event->correlation_id = other->correlation_id;
    if (event->set)
        __atomic_add_fetch(&open_events, 1, __ATOMIC_RELAXED);
    return event->set != NULL;
}

rocprofiler_user_data_t trace_event_user_data(const struct trace_event *event)
{
    return event->slots[0].user_data;
}

static __thread bool replay_is_inside;

bool trace_replay_begin(struct trace_replay *mine)
{
    (void)mine;
    bool was_inside = replay_is_inside;
    replay_is_inside = true;
    return !was_inside;
}

void trace_replay_end(void)
{
    replay_is_inside = false;
}

void trace_replay_entering(bool is_entering)
{
    (void)is_entering;
}

rocprofiler_status_t trace_replay_context_start(rocprofiler_context_id_t context)
{
    (void)context;
    return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
}

rocprofiler_status_t trace_replay_context_stop(rocprofiler_context_id_t context)
{
    (void)context;
    return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
}

void trace_event_call(struct trace_event *event, int32_t operation,
                      rocprofiler_callback_phase_t phase, void *payload)
{
    const struct trace_set *set = event->set ? event->set : event->enter_set;
    void (*on_call)(void) = atomic_load(&double_on_call);

    void (*on_payload)(int32_t, rocprofiler_callback_phase_t, void *) =
        atomic_load(&double_on_payload);
    if (on_call)
        on_call();
    if (on_payload && event->domain == TRACE_KERNEL_REPLAY)
        on_payload(operation, phase, payload);
    if (set && set->has_callbacks)
        entry_add(DOUBLE_CALL, event->domain, operation, phase, event->correlation_id.internal,
                  payload, *(const uint64_t *)payload);
}

void trace_event_record(struct trace_event *event, const void *record, size_t size)
{
    if (event->set)
        entry_add(DOUBLE_RECORD, event->domain, event->operation, ROCPROFILER_CALLBACK_PHASE_NONE,
                  event->correlation_id.internal, record, size);
}

void trace_enclosure_begin(const struct trace_event *event)
{
    if (enclosing_count < sizeof enclosing / sizeof enclosing[0])
        enclosing[enclosing_count++] = event->correlation_id.internal;
}

/* Of tests: regions end in the opposite order of their beginnings. */
void trace_enclosure_end(const struct trace_event *event)
{
    if (enclosing_count > 0 && enclosing[enclosing_count - 1] == event->correlation_id.internal)
        enclosing_count--;
}

uint64_t double_enclosing(void)
{
    return enclosing_count > 0 ? enclosing[enclosing_count - 1] : 0;
}

void trace_event_release(struct trace_event *event)
{
    (void)event;
    __atomic_sub_fetch(&open_events, 1, __ATOMIC_RELAXED);
}

uint64_t trace_time_ns(void)
{
    return clock_now_ns();
}

uint32_t double_count(enum double_what what, enum trace_domain domain, int32_t operation)
{
    uint32_t count = 0;
    while (double_entry(what, domain, operation, count))
        count++;
    return count;
}

const struct double_entry *double_entry(enum double_what what, enum trace_domain domain,
                                        int32_t operation, uint32_t n)
{
    const struct double_entry *found = NULL;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < entry_count && !found; i++)
        if (entries[i].what == what && entries[i].domain == domain &&
            (operation < 0 || entries[i].operation == operation) && n-- == 0)
            found = &entries[i];
    pthread_mutex_unlock(&lock);
    return found;
}

uint32_t double_open_events(void)
{
    return (uint32_t)__atomic_load_n(&open_events, __ATOMIC_RELAXED);
}

void trace_report(enum trace_domain domain, const struct trace_report *report, const char *name)
{
    (void)name;
    entry_add(DOUBLE_RECORD, domain, report->operation, ROCPROFILER_CALLBACK_PHASE_NONE,
              report->correlation, NULL, 0);
}

/* Sets of this double have no subscribers, so nothing comes here. */
bool trace_buffer_put(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                      const void *payload, size_t size)
{
    (void)buffer, (void)category, (void)kind, (void)payload, (void)size;
    return false;
}

uint64_t trace_correlation_current(void)
{
    return call_count > 0 ? calls[(call_count - 1) % 64]->internal : 0;
}

bool table_arrives(void *api_table)
{
    static const struct runtime_row row = {.kind = RUNTIME_HSA, .name = "hsa"};
    struct runtime_instance arrival = {
        .row = &row, .tables = {api_table}, .number = RUNTIME_UNNUMBERED};
    return runtime_arrive(&arrival) && hsa_install(api_table, 0);
}

void table_leaves(const void *api_table)
{
    runtime_leave(RUNTIME_HSA, api_table);
}
