/*
 * Scratch memory: runtimes of ROCm 6 and later have a table of functions for tools, which they call
 * when a kernel needs more scratch than its queue has, and when scratch is given back. Start and
 * end of one event come on one thread, and events of one operation do not nest.
 */
#include "intercept/hsa/scratch.h"

#include "base/log.h"
#include "intercept/hsa/instance.h"
#include "model/trace.h"

#include <stddef.h>

/* The table, and what the runtime passes (as in hsa_amd_tool.h, which older installations lack). */
enum { ROOT_SLOT_TOOLS = 4, FUNCTION_COUNT = 6, TABLE_MAJOR = 1, QUEUE_INFO_AGENT = 0 };

struct table {
    uint32_t major, bytes, step, reserved;
    void *slots[];
};

struct scratch_event {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    uint32_t flags;
    uint64_t dispatch_id; /* only allocations have this and what follows */
    size_t size_bytes, wave_slots;
};

typedef hsa_status_t (*event_function)(const struct scratch_event *event);

/* Who was called before us; written while installing, before the runtime can call us. */
static event_function others[HSA_INSTANCES_MAX][FUNCTION_COUNT];

/* Events between start and end. Writer of `owner`: a thread that puts itself there
 * (compare-exchange, acquire) and clears it (release); until then it alone reads and writes the
 * slot. */
enum { PENDING_MAX = 32 };
static struct pending {
    _Atomic(const void *) owner; /* writer: see above; NULL: free */
    int32_t operation;
    struct trace_event event;
    rocprofiler_agent_id_t agent;
    uint64_t start_ns;
} pending[PENDING_MAX];
static __thread char here
    __attribute__((tls_model("initial-exec"))); /* its address stands for the thread */

static struct pending *pending_take(int32_t operation)
{
    for (int i = 0; i < PENDING_MAX; i++) {
        const void *nobody = NULL;
        if (!atomic_compare_exchange_strong_explicit(&pending[i].owner, &nobody, &here,
                                                     memory_order_seq_cst, memory_order_seq_cst))
            continue;
        pending[i].operation = operation;
        return &pending[i];
    }
    return NULL;
}

static struct pending *pending_find(int32_t operation)
{
    for (int i = 0; i < PENDING_MAX; i++)
        if (atomic_load_explicit(&pending[i].owner, memory_order_relaxed) == &here &&
            pending[i].operation == operation)
            return &pending[i];
    return NULL;
}

static void pending_release(struct pending *p)
{
    trace_event_release(&p->event);
    atomic_store_explicit(&p->owner, NULL, memory_order_release);
}

static rocprofiler_agent_id_t agent_of(const struct hsa_instance *runtime, const hsa_queue_t *queue)
{
    typedef hsa_status_t (*get_info)(const hsa_queue_t *, int, void *);
    hsa_agent_t agent = {0};
    get_info queue_get_info = (get_info)(void *)runtime->real.hsa_amd_queue_get_info;
    if (!queue_get_info || queue_get_info(queue, QUEUE_INFO_AGENT, &agent) != HSA_STATUS_SUCCESS)
        return (rocprofiler_agent_id_t){0};
    const struct hsa_agent_entry *entry = agents_find(runtime, agent);
    return entry ? entry->id : (rocprofiler_agent_id_t){0};
}

static void callbacks_run(struct pending *p, const struct scratch_event *event, bool ends)
{
    rocprofiler_callback_tracing_scratch_memory_data_t data = {
        .size = sizeof data,
        .agent_id = p->agent,
        .queue_id = {event->queue->id},
        .flags = (rocprofiler_scratch_alloc_flag_t)event->flags,
        .args_kind = event->kind,
    };
    if (p->operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC && ends) {
        data.args.alloc_end.dispatch_id = event->dispatch_id;
        data.args.alloc_end.size = event->size_bytes;
        data.args.alloc_end.num_slots = event->wave_slots;
    } else if (p->operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC) {
        data.args.alloc_start.dispatch_id = event->dispatch_id;
    }
    trace_event_call(&p->event, p->operation,
                     ends ? ROCPROFILER_CALLBACK_PHASE_EXIT : ROCPROFILER_CALLBACK_PHASE_ENTER,
                     &data);
}

static void event_start(const struct hsa_instance *runtime, int32_t operation,
                        const struct scratch_event *event)
{
    if (!event || !event->queue || !trace_set_load(TRACE_SCRATCH_MEMORY, operation))
        return;
    struct pending *p = pending_take(operation);
    if (!p) {
        log_warning("intercept", "more than %d scratch events at once: one is lost", PENDING_MAX);
        return;
    }
    if (!trace_event_open(&p->event, TRACE_SCRATCH_MEMORY, operation)) {
        pending_release(p);
        return;
    }
    p->agent = agent_of(runtime, event->queue);
    callbacks_run(p, event, false);
    p->start_ns = trace_time_ns();
}

static void event_end(const struct hsa_instance *runtime, int32_t operation,
                      const struct scratch_event *event)
{
    (void)runtime;
    struct pending *p = pending_find(operation);
    if (!p)
        return;
    rocprofiler_buffer_tracing_scratch_memory_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY,
        .operation = (rocprofiler_scratch_memory_operation_t)operation,
        .agent_id = p->agent,
        .queue_id = {event->queue->id},
        .thread_id = p->event.thread_id,
        .start_timestamp = p->start_ns,
        .end_timestamp = trace_time_ns(),
        .flags = (rocprofiler_scratch_alloc_flag_t)event->flags,
        .allocation_size = operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC ? event->size_bytes : 0,
    };
    callbacks_run(p, event, true);
    trace_event_record(&p->event, &record, sizeof record);
    pending_release(p);
}

/* The functions of one runtime, in the order of the table. */
#define EVENTS(X, runtime)                                                                         \
    X(runtime, 0, ALLOC, start)                                                                    \
    X(runtime, 1, ALLOC, end)                                                                      \
    X(runtime, 2, FREE, start)                                                                     \
    X(runtime, 3, FREE, end)                                                                       \
    X(runtime, 4, ASYNC_RECLAIM, start)                                                            \
    X(runtime, 5, ASYNC_RECLAIM, end)

_Static_assert(HSA_INSTANCES_MAX == 2, "one row of functions each");
#define X(runtime, slot, operation, edge)                                                          \
    static hsa_status_t on_##operation##_##edge##_##runtime(const struct scratch_event *event)     \
    {                                                                                              \
        event_##edge(&hsa_instances[runtime], ROCPROFILER_SCRATCH_MEMORY_##operation, event);      \
        return others[runtime][slot] ? others[runtime][slot](event) : HSA_STATUS_SUCCESS;          \
    }
EVENTS(X, 0)
EVENTS(X, 1)
#undef X

static const event_function ours[HSA_INSTANCES_MAX][FUNCTION_COUNT] = {
#define X(runtime, slot, operation, edge) [runtime][slot] = on_##operation##_##edge##_##runtime,
    EVENTS(X, 0) EVENTS(X, 1)
#undef X
};

static bool has_slot(const struct table *table, uint32_t slot)
{
    return table && table->bytes >= sizeof *table + (slot + 1) * sizeof(void *);
}

uint32_t scratch_install(const struct hsa_instance *runtime, void *api_table)
{
    uint32_t instance = hsa_instance_index(runtime);
    const struct table *root = api_table;
    if (!trace_domain_is_configured(TRACE_SCRATCH_MEMORY))
        return 0;
    struct table *tools = has_slot(root, ROOT_SLOT_TOOLS) ? root->slots[ROOT_SLOT_TOOLS] : NULL;
    if (!tools || tools->major != TABLE_MAJOR) {
        log_info("intercept", "this HSA runtime tells nothing about scratch memory");
        return 0;
    }
    uint32_t wrapped = 0;
    for (uint32_t i = 0; i < FUNCTION_COUNT && has_slot(tools, i); i++) {
        if (tools->slots[i] == (void *)ours[instance][i])
            continue;
        others[instance][i] = (event_function)tools->slots[i];
        tools->slots[i] = (void *)ours[instance][i];
        wrapped++;
    }
    return wrapped;
}
