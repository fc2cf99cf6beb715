#include "intercept/kfd/smi.h"

#include "model/trace.h"
#include "topology/topology.h"

#include <string.h>

/* ---- agents */

/* 0, and what no agent has ("undefined"), is answered by agent 0 or the first CPU. */
static rocprofiler_agent_id_t agent_of(uint32_t gpu_id)
{
    const struct topology *system = topology_system();
    for (uint32_t i = 0; i < system->agent_count; i++)
        if (system->agents[i]->gpu_id == gpu_id)
            return system->agents[i]->id;
    return (rocprofiler_agent_id_t){0};
}

/* ---- to the buffers of whoever listens */

static void put(enum trace_domain domain, int32_t operation, uint32_t kind, const void *record,
                size_t size)
{
    const struct trace_set *set = operation < 0 ? NULL : trace_set_load(domain, operation);
    for (uint32_t i = 0; set && i < set->subscriber_count; i++)
        if (set->subscribers[i].buffer)
            trace_buffer_put(set->subscribers[i].buffer, ROCPROFILER_BUFFER_CATEGORY_TRACING, kind,
                             record, size);
}

#define PUT(name, record)                                                                          \
    put(TRACE_##name, (int32_t)(record)->operation, ROCPROFILER_BUFFER_TRACING_##name, record,     \
        sizeof *(record))
/* The beginning that all records of these kinds share. */
#define RECORD(name, op)                                                                           \
    .size = sizeof(rocprofiler_buffer_tracing_##name##_record_t), .operation = (op), .pid = e->pid

/* ---- intervals: starts that wait for their end. A driver that loses an end leaves an entry, which
 * the next start of the same thing takes over; when the table is full the oldest goes. */

enum { OPEN_MAX = 1024 };
static struct smi_event open_events[OPEN_MAX];
static uint32_t open_next;

static bool same_thing(const struct smi_event *one, const struct smi_event *other)
{
    return one->pid == other->pid && one->start == other->start && one->node == other->node &&
           one->from == other->from && one->to == other->to;
}

static struct smi_event *open_find(enum smi_event_id id, const struct smi_event *like)
{
    for (int i = 0; i < OPEN_MAX; i++)
        if (open_events[i].id == id && same_thing(&open_events[i], like))
            return &open_events[i];
    return NULL;
}

static void open_keep(const struct smi_event *event)
{
    struct smi_event *slot = open_find(event->id, event);
    for (int i = 0; !slot && i < OPEN_MAX; i++)
        if (open_events[i].id == 0)
            slot = &open_events[i];
    if (!slot)
        slot = &open_events[open_next++ % OPEN_MAX];
    *slot = *event;
}

/* ---- one function per sort of event */

static void migration(const struct smi_event *e)
{
    bool ends = e->id == SMI_MIGRATE_END;
    rocprofiler_buffer_tracing_kfd_event_page_migrate_record_t record = {
        RECORD(kfd_event_page_migrate,
               ends ? ROCPROFILER_KFD_EVENT_PAGE_MIGRATE_END
                    : (rocprofiler_kfd_event_page_migrate_operation_t)e->trigger),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE,
        .timestamp = e->time_ns,
        .start_address = {.value = e->start},
        .end_address = {.value = e->end},
        .src_agent = agent_of(e->from),
        .dst_agent = agent_of(e->to),
        .prefetch_agent = agent_of(ends ? UINT32_MAX : e->prefetch),
        .preferred_agent = agent_of(ends ? UINT32_MAX : e->preferred),
        .error_code = e->error,
    };
    PUT(KFD_EVENT_PAGE_MIGRATE, &record);
    if (!ends) {
        open_keep(e);
        return;
    }
    struct smi_event *start = open_find(SMI_MIGRATE_START, e);
    if (!start)
        return;
    rocprofiler_buffer_tracing_kfd_page_migrate_record_t interval = {
        RECORD(kfd_page_migrate, (rocprofiler_kfd_page_migrate_operation_t)start->trigger),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE,
        .start_timestamp = start->time_ns,
        .end_timestamp = e->time_ns,
        .start_address = {.value = start->start},
        .end_address = {.value = start->end},
        .src_agent = agent_of(start->from),
        .dst_agent = agent_of(start->to),
        .prefetch_agent = agent_of(start->prefetch),
        .preferred_agent = agent_of(start->preferred),
        .error_code = e->error,
    };
    PUT(KFD_PAGE_MIGRATE, &interval);
    start->id = 0;
}

static rocprofiler_kfd_event_page_fault_operation_t fault_operation(const struct smi_event *e)
{
    if (e->id == SMI_PAGE_FAULT_START)
        return e->letter == 'W'   ? ROCPROFILER_KFD_EVENT_PAGE_FAULT_START_WRITE_FAULT
               : e->letter == 'R' ? ROCPROFILER_KFD_EVENT_PAGE_FAULT_START_READ_FAULT
                                  : ROCPROFILER_KFD_EVENT_PAGE_FAULT_START;
    return e->letter == 'M' ? ROCPROFILER_KFD_EVENT_PAGE_FAULT_END_PAGE_MIGRATED
                            : ROCPROFILER_KFD_EVENT_PAGE_FAULT_END_PAGE_UPDATED;
}

static rocprofiler_kfd_page_fault_operation_t fault_interval(char access, char outcome)
{
    bool migrated = outcome == 'M';
    if (access == 'W')
        return migrated ? ROCPROFILER_KFD_PAGE_FAULT_WRITE_FAULT_MIGRATED
                        : ROCPROFILER_KFD_PAGE_FAULT_WRITE_FAULT_UPDATED;
    return migrated ? ROCPROFILER_KFD_PAGE_FAULT_READ_FAULT_MIGRATED
                    : ROCPROFILER_KFD_PAGE_FAULT_READ_FAULT_UPDATED;
}

static void page_fault(const struct smi_event *e)
{
    rocprofiler_buffer_tracing_kfd_event_page_fault_record_t record = {
        RECORD(kfd_event_page_fault, fault_operation(e)),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_FAULT,
        .timestamp = e->time_ns,
        .agent_id = agent_of(e->node),
        .address = {.value = e->start},
    };
    PUT(KFD_EVENT_PAGE_FAULT, &record);
    if (e->id == SMI_PAGE_FAULT_START) {
        open_keep(e);
        return;
    }
    struct smi_event *start = open_find(SMI_PAGE_FAULT_START, e);
    if (!start)
        return;
    rocprofiler_buffer_tracing_kfd_page_fault_record_t interval = {
        RECORD(kfd_page_fault, fault_interval(start->letter, e->letter)),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT,
        .start_timestamp = start->time_ns,
        .end_timestamp = e->time_ns,
        .agent_id = agent_of(e->node),
        .address = {.value = e->start},
    };
    PUT(KFD_PAGE_FAULT, &interval);
    start->id = 0;
}

static void queue(const struct smi_event *e)
{
    bool restored = e->id == SMI_QUEUE_RESTORE, put_off = restored && e->letter == 'R';
    rocprofiler_buffer_tracing_kfd_event_queue_record_t record = {
        RECORD(kfd_event_queue, put_off    ? ROCPROFILER_KFD_EVENT_QUEUE_RESTORE_RESCHEDULED
                                : restored ? ROCPROFILER_KFD_EVENT_QUEUE_RESTORE
                                           : (rocprofiler_kfd_event_queue_operation_t)e->trigger),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_EVENT_QUEUE,
        .timestamp = e->time_ns,
        .agent_id = agent_of(e->node),
    };
    PUT(KFD_EVENT_QUEUE, &record);
    if (!restored)
        open_keep(e);
    struct smi_event *start = restored && !put_off ? open_find(SMI_QUEUE_EVICTION, e) : NULL;
    if (!start)
        return;
    rocprofiler_buffer_tracing_kfd_queue_record_t interval = {
        RECORD(kfd_queue, (rocprofiler_kfd_queue_operation_t)start->trigger),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_QUEUE,
        .start_timestamp = start->time_ns,
        .end_timestamp = e->time_ns,
        .agent_id = agent_of(e->node),
    };
    PUT(KFD_QUEUE, &interval);
    start->id = 0;
}

static void unmapped(const struct smi_event *e)
{
    rocprofiler_buffer_tracing_kfd_event_unmap_from_gpu_record_t record = {
        RECORD(kfd_event_unmap_from_gpu,
               (rocprofiler_kfd_event_unmap_from_gpu_operation_t)e->trigger),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_EVENT_UNMAP_FROM_GPU,
        .timestamp = e->time_ns,
        .agent_id = agent_of(e->node),
        .start_address = {.value = e->start},
        .end_address = {.value = e->end},
    };
    PUT(KFD_EVENT_UNMAP_FROM_GPU, &record);
}

static void dropped(const struct smi_event *e)
{
    rocprofiler_buffer_tracing_kfd_event_dropped_events_record_t record = {
        RECORD(kfd_event_dropped_events, ROCPROFILER_KFD_EVENT_DROPPED_EVENTS),
        .kind = ROCPROFILER_BUFFER_TRACING_KFD_EVENT_DROPPED_EVENTS,
        .timestamp = e->time_ns,
        .count = e->dropped,
    };
    PUT(KFD_EVENT_DROPPED_EVENTS, &record);
}

/* Triggers are operations; a newer driver's may be out of range. */
static bool trigger_is_known(const struct smi_event *e)
{
    switch (e->id) {
    case SMI_MIGRATE_START:
        return e->trigger >= 0 && e->trigger < ROCPROFILER_KFD_EVENT_PAGE_MIGRATE_END;
    case SMI_QUEUE_EVICTION:
        return e->trigger >= 0 && e->trigger < ROCPROFILER_KFD_EVENT_QUEUE_RESTORE_RESCHEDULED;
    case SMI_UNMAP_FROM_GPU:
        return e->trigger >= 0 && e->trigger < ROCPROFILER_KFD_EVENT_UNMAP_FROM_GPU_LAST;
    default:
        return true;
    }
}

static const struct {
    enum smi_event_id id;
    void (*report)(const struct smi_event *event);
    enum trace_domain event_domain, interval_domain;
} sorts[] = {
    {SMI_MIGRATE_START, migration, TRACE_KFD_EVENT_PAGE_MIGRATE, TRACE_KFD_PAGE_MIGRATE},
    {SMI_MIGRATE_END, migration, TRACE_KFD_EVENT_PAGE_MIGRATE, TRACE_KFD_PAGE_MIGRATE},
    {SMI_PAGE_FAULT_START, page_fault, TRACE_KFD_EVENT_PAGE_FAULT, TRACE_KFD_PAGE_FAULT},
    {SMI_PAGE_FAULT_END, page_fault, TRACE_KFD_EVENT_PAGE_FAULT, TRACE_KFD_PAGE_FAULT},
    {SMI_QUEUE_EVICTION, queue, TRACE_KFD_EVENT_QUEUE, TRACE_KFD_QUEUE},
    {SMI_QUEUE_RESTORE, queue, TRACE_KFD_EVENT_QUEUE, TRACE_KFD_QUEUE},
    {SMI_UNMAP_FROM_GPU, unmapped, TRACE_KFD_EVENT_UNMAP_FROM_GPU, TRACE_KFD_EVENT_UNMAP_FROM_GPU},
    {SMI_DROPPED, dropped, TRACE_KFD_EVENT_DROPPED_EVENTS, TRACE_KFD_EVENT_DROPPED_EVENTS},
};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

void smi_report(const struct smi_event *event)
{
    for (int i = 0; i < SORTS; i++)
        if (sorts[i].id == event->id && trigger_is_known(event))
            sorts[i].report(event);
}

uint64_t smi_events_wanted(void)
{
    uint64_t wanted = 0;
    for (int i = 0; i < SORTS; i++)
        if (trace_domain_is_configured(sorts[i].event_domain) ||
            trace_domain_is_configured(sorts[i].interval_domain))
            wanted |= UINT64_C(1) << (sorts[i].id - 1);
    return wanted;
}
