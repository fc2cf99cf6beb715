/* Work that outlives its call, and events that are not calls. */
#include "base/callback.h"
#include "model/replay.h"
#include "session/internal.h"

#include <string.h>

/* Where a domain's record keeps its ids: internal and external at 16 and 24, ancestor at 32 only in
 * the records that have a full rocprofiler_correlation_id_t. */
#define CORRELATION(record) offsetof(rocprofiler_buffer_tracing_##record##_record_t, correlation_id)
_Static_assert(CORRELATION(kernel_dispatch) == 16 && CORRELATION(memory_copy) == 16 &&
                   CORRELATION(memory_allocation) == 16 && CORRELATION(scratch_memory) == 16 &&
                   CORRELATION(marker_api) == 16 && CORRELATION(ompt) == 16 &&
                   CORRELATION(hip_graph) == 16 && CORRELATION(hip_event) == 16,
               "ids stand at one place");

/* Marker ranges and OpenMP regions outlive the calls around them and have ids of their own. */
static bool has_own_id(enum trace_domain domain)
{
    return domain == TRACE_MARKER_CORE_RANGE_API || domain == TRACE_OMPT;
}

/* What a runtime does once for everybody is no work of the call that happens to cause it. */
static bool has_no_id(enum trace_domain domain)
{
    return domain == TRACE_CODE_OBJECT || domain == TRACE_RUNTIME_INITIALIZATION;
}

/* The runtime handles scratch memory on a thread of its own: outside of calls it is nobody's work,
 * and takes no id that tools would miss a call for. What happens to a graph has the id of the call
 * that does it, where that is traced. */
static bool has_id_of_call_only(enum trace_domain domain)
{
    return domain == TRACE_SCRATCH_MEMORY || domain == TRACE_HIP_GRAPH;
}

static bool has_ancestor(enum trace_domain domain)
{
    return domain == TRACE_MEMORY_ALLOCATION || domain == TRACE_SCRATCH_MEMORY ||
           domain == TRACE_HIP_GRAPH || has_own_id(domain);
}

static bool has_correlation(enum trace_domain domain)
{
    return domain == TRACE_KERNEL_DISPATCH || domain == TRACE_MEMORY_COPY ||
           domain == TRACE_HIP_EVENT || has_ancestor(domain);
}

/* The id of the call that encloses the event stays alive until the event is over. */
static struct trace_work *work_of_call(struct session_thread *self, struct open_call *call)
{
    if (!retirement_wanted())
        return NULL;
    if (!call->work)
        call->work = work_new(call->internal);
    if (call->work)
        work_add(call->work);
    calls_settled(self);
    return call->work;
}

static struct trace_work *work_of_enclosure(const struct enclosure *enclosure)
{
    if (enclosure->work)
        work_add(enclosure->work);
    return enclosure->work;
}

static void ids_own(struct session_thread *self, struct trace_event *event, uint64_t ancestor)
{
    event->correlation_id.ancestor = ancestor;
    event->correlation_id.internal = correlation_next(self);
    event->work = retirement_wanted() ? work_new(event->correlation_id.internal) : NULL;
}

/* Work has the id of the call, or the range, that it is directly inside of. */
static void ids_capture(struct session_thread *self, struct trace_event *event)
{
    struct open_call *call = call_innermost(self, __builtin_frame_address(0));
    const struct enclosure *enclosure = enclosure_innermost(self, call);
    bool is_alone = !enclosure && !call;
    if (has_no_id((enum trace_domain)event->domain) ||
        (is_alone && has_id_of_call_only((enum trace_domain)event->domain))) {
        event->correlation_id.internal = event->correlation_id.ancestor = 0;
        event->work = NULL;
    } else if (has_own_id((enum trace_domain)event->domain) || is_alone) {
        ids_own(self, event, enclosure ? enclosure->internal : call ? call->internal : 0);
    } else if (enclosure) {
        event->correlation_id.internal = enclosure->internal;
        event->correlation_id.ancestor = enclosure->ancestor;
        event->work = work_of_enclosure(enclosure);
    } else {
        event->correlation_id.internal = call->internal;
        event->correlation_id.ancestor = call->ancestor;
        event->work = work_of_call(self, call);
    }
}

void trace_enclosure_begin(const struct trace_event *event)
{
    struct thread *thread = session_self();
    struct session_thread *self = thread ? session_of(thread) : NULL;
    if (!self || event->correlation_id.internal == 0)
        return;
    const struct open_call *call = call_innermost(self, __builtin_frame_address(0));
    uint64_t open = calls_settled(self);
    uint32_t count = open_enclosures(open);
    if (count < ENCLOSURES_MAX)
        self->enclosures[count] = (struct enclosure){.internal = event->correlation_id.internal,
                                                     .ancestor = event->correlation_id.ancestor,
                                                     .call = call ? call->internal : 0,
                                                     .work = event->work};
    open_set(self, open_calls(open), count + 1);
}

/* Mostly the last one; OpenMP may end regions in another order. */
void trace_enclosure_end(const struct trace_event *event)
{
    struct thread *thread = session_self();
    struct session_thread *self = thread ? session_of(thread) : NULL;
    if (!self || event->correlation_id.internal == 0)
        return;
    uint64_t open = calls_settled(self);
    uint32_t count = open_enclosures(open), kept = count < ENCLOSURES_MAX ? count : ENCLOSURES_MAX;
    uint32_t i = kept;
    while (i > 0 && self->enclosures[i - 1].internal != event->correlation_id.internal)
        i--;
    if (i == 0 && count <= ENCLOSURES_MAX)
        return; /* begun before its thread was forgotten */
    open_set(self, open_calls(open), count - 1);
    for (; i > 0 && i < kept; i++)
        self->enclosures[i - 1] = self->enclosures[i];
}

static bool set_has(const struct trace_set *set, rocprofiler_context_id_t context)
{
    for (uint32_t i = 0; i < set->subscriber_count; i++)
        if (set->subscribers[i].context.handle == context.handle)
            return true;
    return false;
}

static rocprofiler_user_data_t value_of(const struct trace_set *set,
                                        const rocprofiler_user_data_t *values,
                                        rocprofiler_context_id_t context)
{
    for (uint32_t i = 0; i < set->subscriber_count; i++)
        if (set->subscribers[i].context.handle == context.handle)
            return values[i];
    return (rocprofiler_user_data_t){0};
}

static rocprofiler_user_data_t external_capture(struct session_thread *self,
                                                const struct trace_event *event,
                                                const struct trace_subscriber *s)
{
    return external_resolve(self, s, (enum trace_domain)event->domain, event->first_operation,
                            event->correlation_id.internal);
}

static bool externals_wanted(const struct trace_set *set)
{
    return set->has_requests || atomic_load_explicit(&external_in_use, memory_order_relaxed);
}

static void externals_capture(struct session_thread *self, struct trace_event *event)
{
    const struct trace_set *set = event->set;
    event->has_external = externals_wanted(set);
    for (uint32_t i = 0; event->has_external && i < set->subscriber_count; i++)
        event->slots[i].external = external_capture(self, event, &set->subscribers[i]);
}

/* Pushed ids may have changed meanwhile. An id that a context was asked for stays: the context is
 * asked once for each piece of work, and will look for that id in exactly one record. */
static void externals_recapture(struct session_thread *self, struct trace_event *event,
                                const struct trace_set *old)
{
    const struct trace_set *set = event->set;
    bool had_external = event->has_external && old;
    event->has_external = externals_wanted(set);
    if (!event->has_external)
        return;
    rocprofiler_user_data_t before[TRACE_SUBSCRIBERS_MAX];
    for (uint32_t i = 0; had_external && i < old->subscriber_count; i++)
        before[i] = event->slots[i].external;
    for (uint32_t i = 0; i < set->subscriber_count; i++) {
        const struct trace_subscriber *s = &set->subscribers[i];
        event->slots[i].external = s->request && had_external && set_has(old, s->context)
                                       ? value_of(old, before, s->context)
                                       : external_capture(self, event, s);
    }
}

static struct session_thread *event_begin(struct trace_event *event, enum trace_domain domain,
                                          int32_t operation)
{
    event->set = event->enter_set = NULL;
    event->work = NULL;
    event->correlation_id = (rocprofiler_correlation_id_t){0};
    event->operation = event->first_operation = operation;
    event->domain = (uint16_t)domain;
    event->has_external = false;
    struct thread *thread = session_self();
    struct session_thread *self = thread ? session_of(thread) : NULL;
    event->thread_id = self ? self->tid : 0;
    return self;
}

bool trace_event_open(struct trace_event *event, enum trace_domain domain, int32_t operation)
{
    struct session_thread *self = event_begin(event, domain, operation);
    if (!self)
        return false;
    event->set = trace_set_load(domain, operation);
    if (!event->set)
        return false;
    ids_capture(self, event);
    for (uint32_t i = 0; event->set->has_callbacks && i < event->set->subscriber_count; i++)
        event->slots[i].user_data.value = 0;
    externals_capture(self, event);
    return true;
}

bool trace_event_open_beside(struct trace_event *event, enum trace_domain domain, int32_t operation,
                             const struct trace_event *other)
{
    struct session_thread *self = event_begin(event, domain, operation);
    event->set = self ? trace_set_load(domain, operation) : NULL;
    if (!event->set)
        return false;
    event->correlation_id = other->correlation_id;
    for (uint32_t i = 0; event->set->has_callbacks && i < event->set->subscriber_count; i++)
        event->slots[i].user_data.value = 0;
    externals_capture(self, event);
    return true;
}

rocprofiler_user_data_t trace_event_user_data(const struct trace_event *event)
{
    return event->set && event->set->has_callbacks ? event->slots[0].user_data
                                                   : (rocprofiler_user_data_t){0};
}

void trace_event_open_unwatched(struct trace_event *event, enum trace_domain domain)
{
    struct session_thread *self = event_begin(event, domain, 0);
    if (self)
        ids_capture(self, event);
}

/* The new set's contexts take over what the old set's ones left there. */
static void user_data_move(struct trace_event *event, const struct trace_set *old)
{
    rocprofiler_user_data_t before[TRACE_SUBSCRIBERS_MAX];
    const struct trace_set *set = event->set;
    bool had_callbacks = old && old->has_callbacks;
    for (uint32_t i = 0; had_callbacks && i < old->subscriber_count; i++)
        event->slots[i].enter_user_data = before[i] = event->slots[i].user_data;
    for (uint32_t i = 0; set && set->has_callbacks && i < set->subscriber_count; i++)
        event->slots[i].user_data = had_callbacks
                                        ? value_of(old, before, set->subscribers[i].context)
                                        : (rocprofiler_user_data_t){0};
}

bool trace_event_recapture(struct trace_event *event, int32_t operation)
{
    struct thread *thread = session_self();
    const struct trace_set *old = event->set;
    event->enter_set = old;
    event->operation = operation;
    event->set = thread ? trace_set_load((enum trace_domain)event->domain, operation) : NULL;
    if (old && event->set == old && !old->has_callbacks)
        return true; /* nobody was called who could have changed anything */
    user_data_move(event, old);
    if (!event->set)
        return false;
    if (event->correlation_id.internal == 0)
        ids_capture(session_of(thread), event);
    externals_recapture(session_of(thread), event, old);
    return true;
}

static rocprofiler_user_data_t event_external(const struct trace_event *event, uint32_t i)
{
    return event->has_external ? event->slots[i].external : (rocprofiler_user_data_t){0};
}

static rocprofiler_user_data_t external_by_context(const struct trace_event *event,
                                                   const struct trace_subscriber *s)
{
    for (uint32_t i = 0; event->set && i < event->set->subscriber_count; i++)
        if (event->set->subscribers[i].context.handle == s->context.handle)
            return event_external(event, i);
    return (rocprofiler_user_data_t){0};
}

static void callbacks_run(struct trace_event *event, const struct trace_set *set, bool of_enter,
                          int32_t operation, rocprofiler_callback_phase_t phase, void *payload)
{
    rocprofiler_callback_tracing_record_t record = {
        .thread_id = event->thread_id,
        .correlation_id = event->correlation_id,
        .kind = (rocprofiler_callback_tracing_kind_t)domains[event->domain].callback_kind,
        .operation = operation,
        .phase = phase,
        .payload = payload,
    };
    for (uint32_t i = 0; i < set->subscriber_count; i++) {
        const struct trace_subscriber *s = &set->subscribers[i];
        if (!s->callback)
            continue;
        record.context_id = s->context;
        record.correlation_id.external = external_by_context(event, s);
        struct trace_event_slot *slot = &event->slots[i];
        CALLBACK(s->callback(record, of_enter ? &slot->enter_user_data : &slot->user_data,
                             s->callback_data));
    }
}

void trace_event_call(struct trace_event *event, int32_t operation,
                      rocprofiler_callback_phase_t phase, void *payload)
{
    bool of_enter = operation != event->operation;
    const struct trace_set *set = of_enter ? event->enter_set : event->set;
    if (set && set->has_callbacks)
        callbacks_run(event, set, of_enter, operation, phase, payload);
    if (of_enter)
        event->enter_set = NULL;
}

static void ids_fill(const struct trace_event *event, uint32_t i, unsigned char *record)
{
    if (!has_correlation((enum trace_domain)event->domain))
        return;
    rocprofiler_async_correlation_id_t ids = {.internal = event->correlation_id.internal,
                                              .external = event_external(event, i)};
    memcpy(record + 16, &ids, sizeof ids);
    if (has_ancestor((enum trace_domain)event->domain))
        memcpy(record + 32, &event->correlation_id.ancestor, sizeof(uint64_t));
}

static void record_put(const struct trace_event *event, uint32_t i, const void *record, size_t size)
{
    struct thread *thread = thread_self();
    if (!thread)
        return;
    uint32_t tag =
        tracebuf_tag(ROCPROFILER_BUFFER_CATEGORY_TRACING, domains[event->domain].buffer_kind);
    unsigned char *room = record_copy(thread, event->set->subscribers[i].buffer, tag, record, size);
    if (!room)
        return;
    ids_fill(event, i, room);
    tracebuf_commit(thread);
}

void trace_event_record(struct trace_event *event, const void *record, size_t size)
{
    if (!event->set || !event->set->has_buffers)
        return;
    for (uint32_t i = 0; i < event->set->subscriber_count; i++)
        if (event->set->subscribers[i].buffer)
            record_put(event, i, record, size);
}

static void report_put(struct tracebuf *buffer, enum trace_domain domain,
                       const struct trace_report *report, const char *name)
{
    struct thread *thread = thread_self();
    size_t size = sizeof *report + report->name_size;
    uint32_t tag = tracebuf_tag(TRACE_REPORT_CATEGORY, domain);
    char *room = thread ? tracebuf_reserve(buffer, thread, tag, size) : NULL;
    if (!room)
        return;
    memcpy(room, report, sizeof *report);
    if (report->name_size > 0) {
        memcpy(room + sizeof *report, name, report->name_size - 1);
        room[size - 1] = 0;
    }
    tracebuf_commit(thread);
}

void trace_report(enum trace_domain domain, const struct trace_report *report, const char *name)
{
    const struct trace_set *set = trace_set_load(domain, report->operation);
    for (uint32_t i = 0; set && i < set->subscriber_count; i++)
        if (set->subscribers[i].buffer)
            report_put(set->subscribers[i].buffer, domain, report, name ? name : "");
}

void trace_event_release(struct trace_event *event)
{
    if (event->work)
        work_drop(event->work);
    event->work = NULL;
    event->set = event->enter_set = NULL;
}

rocprofiler_user_data_t trace_event_external(const struct trace_event *event,
                                             rocprofiler_context_id_t id)
{
    struct trace_subscriber wanted = {.context = id};
    for (uint32_t i = 0; event->set && i < event->set->subscriber_count; i++)
        if (event->set->subscribers[i].context.handle == id.handle)
            return external_by_context(event, &wanted);
    struct context *context = context_find(id);
    struct thread *thread = session_self();
    if (!context || !thread)
        return (rocprofiler_user_data_t){0};
    uint8_t kind = domains[event->domain].request_kind;
    wanted.context_index = context->index;
    wanted.request = kind ? context->requests[kind].callback : NULL;
    wanted.request_data = context->requests[kind].data;
    return external_resolve(session_of(thread), &wanted, (enum trace_domain)event->domain,
                            event->first_operation, event->correlation_id.internal);
}
