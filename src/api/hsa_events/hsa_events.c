/* What happens inside of the HSA runtime, seen at its functions and at its loader. */
#include "api/hsa_events/hsa_events.h"

#include <string.h>

#define EVENT_BIT(name) (1u << HSA_EVT_ID_##name)

typedef rocprofiler_callback_tracing_hsa_api_data_t call_data;

#define engine (crocprof_engine())

typedef const struct hsa_event_sink sink_t;

/* The runtime tells a pool's agents one by one; this is what each is told on with. */
struct pool_telling {
    sink_t *sink;
    const void *address;
};

static void device_tell(sink_t *sink, uint64_t agent, const void *address)
{
    hsa_evt_data_t data;
    struct hsa_agent_facts facts;
    memset(&data, 0, sizeof data);
    if (!engine->hsa_facts->agent(agent, &facts))
        return;
    data.device.type = facts.gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
    data.device.id = facts.number;
    data.device.agent.handle = agent;
    data.device.ptr = address;
    sink->tell(HSA_EVT_ID_DEVICE, &data);
}

static void device_of_pool_tell(uint64_t agent, void *data)
{
    const struct pool_telling *telling = data;
    device_tell(telling->sink, agent, telling->address);
}

static void allocation_tell(sink_t *sink, const void *address, size_t size,
                            const struct hsa_memory_facts *facts)
{
    hsa_evt_data_t data;
    memset(&data, 0, sizeof data);
    data.allocate.ptr = address;
    data.allocate.size = size;
    data.allocate.segment = (hsa_amd_segment_t)facts->segment;
    data.allocate.global_flag = (hsa_amd_memory_pool_global_flag_t)facts->global_flags;
    sink->tell(HSA_EVT_ID_ALLOCATE, &data);
}

/* ---- one function per call; each runs only where its phase and result are right */

static void on_memory_allocate(sink_t *sink, const call_data *call)
{
    struct hsa_memory_facts facts = {0};
    engine->hsa_facts->region(call->args.hsa_memory_allocate.region.handle, &facts);
    allocation_tell(sink, *call->args.hsa_memory_allocate.ptr, call->args.hsa_memory_allocate.size,
                    &facts);
}

static void on_pool_allocate(sink_t *sink, const call_data *call)
{
    struct hsa_memory_facts facts = {0};
    uint64_t pool = call->args.hsa_amd_memory_pool_allocate.memory_pool.handle;
    void *address = *call->args.hsa_amd_memory_pool_allocate.ptr;
    if (call->args.hsa_amd_memory_pool_allocate.size == 0)
        return;
    engine->hsa_facts->pool(pool, &facts);
    allocation_tell(sink, address, call->args.hsa_amd_memory_pool_allocate.size, &facts);
    struct pool_telling telling = {sink, address};
    if (sink->wants(HSA_EVT_ID_DEVICE))
        engine->hsa_facts->pool_agents(pool, device_of_pool_tell, &telling);
}

static void on_pool_free(sink_t *sink, const call_data *call)
{
    allocation_tell(sink, call->args.hsa_amd_memory_pool_free.ptr, 0,
                    &(struct hsa_memory_facts){0});
}

static void on_memory_free(sink_t *sink, const call_data *call)
{
    allocation_tell(sink, call->args.hsa_memory_free.ptr, 0, &(struct hsa_memory_facts){0});
}

static void on_assign_agent(sink_t *sink, const call_data *call)
{
    device_tell(sink, call->args.hsa_memory_assign_agent.agent.handle,
                call->args.hsa_memory_assign_agent.ptr);
}

static void on_allow_access(sink_t *sink, const call_data *call)
{
    const hsa_agent_t *agents = call->args.hsa_amd_agents_allow_access.agents;
    for (uint32_t i = 0; i < call->args.hsa_amd_agents_allow_access.num_agents; i++)
        device_tell(sink, agents[i].handle, call->args.hsa_amd_agents_allow_access.ptr);
}

static void on_memory_copy(sink_t *sink, const call_data *call)
{
    hsa_evt_data_t data;
    memset(&data, 0, sizeof data);
    data.memcopy.dst = call->args.hsa_memory_copy.dst;
    data.memcopy.src = call->args.hsa_memory_copy.src;
    data.memcopy.size = call->args.hsa_memory_copy.size;
    sink->tell(HSA_EVT_ID_MEMCOPY, &data);
}

static const struct event_source {
    enum trace_domain domain;
    int32_t operation;
    uint32_t events;
    rocprofiler_callback_phase_t phase; /* what goes is told before it goes */
    void (*tell)(sink_t *sink, const call_data *call);
} sources[] = {
#define CORE(function) TRACE_HSA_CORE_API, ROCPROFILER_HSA_CORE_API_ID_##function
#define AMD(function)  TRACE_HSA_AMD_EXT_API, ROCPROFILER_HSA_AMD_EXT_API_ID_##function
#define ENTER          ROCPROFILER_CALLBACK_PHASE_ENTER
#define EXIT           ROCPROFILER_CALLBACK_PHASE_EXIT
    {CORE(hsa_memory_allocate), EVENT_BIT(ALLOCATE), EXIT, on_memory_allocate},
    {CORE(hsa_memory_free), EVENT_BIT(ALLOCATE), ENTER, on_memory_free},
    {AMD(hsa_amd_memory_pool_allocate), EVENT_BIT(ALLOCATE) | EVENT_BIT(DEVICE), EXIT,
     on_pool_allocate},
    {AMD(hsa_amd_memory_pool_free), EVENT_BIT(ALLOCATE), ENTER, on_pool_free},
    {CORE(hsa_memory_assign_agent), EVENT_BIT(DEVICE), EXIT, on_assign_agent},
    {AMD(hsa_amd_agents_allow_access), EVENT_BIT(DEVICE), EXIT, on_allow_access},
    {CORE(hsa_memory_copy), EVENT_BIT(MEMCOPY), EXIT, on_memory_copy},
};

static const struct event_source *source_find(enum trace_domain domain, int32_t operation)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (sources[i].domain == domain && sources[i].operation == operation)
            return &sources[i];
    return NULL;
}

bool hsa_event_needs_call(enum trace_domain domain, int32_t operation, uint32_t events)
{
    const struct event_source *source = source_find(domain, operation);
    return source && (source->events & events);
}

void hsa_events_of_call(sink_t *sink, const struct trace_frame *frame,
                        rocprofiler_callback_phase_t phase)
{
    const struct event_source *source = source_find(trace_frame_domain(frame), frame->operation);
    const call_data *call = frame->payload;
    if (!source || source->phase != phase)
        return;
    if (phase == EXIT && call->retval.hsa_status_t_retval != HSA_STATUS_SUCCESS)
        return;
    source->tell(sink, call);
}

/* ---- code objects and kernels */

static void object_tell(sink_t *sink,
                        const rocprofiler_callback_tracing_code_object_load_data_t *from,
                        bool unload)
{
    hsa_evt_data_t data;
    memset(&data, 0, sizeof data);
    bool is_file = from->storage_type == ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE;
    data.codeobj.storage_type = (uint32_t)from->storage_type;
    data.codeobj.storage_file = is_file ? from->storage_file : -1;
    data.codeobj.memory_base = is_file ? 0 : from->memory_base;
    data.codeobj.memory_size = is_file ? 0 : from->memory_size;
    data.codeobj.load_base = from->load_base;
    data.codeobj.load_size = from->load_size;
    data.codeobj.load_delta = (uint64_t)from->load_delta;
    data.codeobj.uri = from->uri ? from->uri : "";
    data.codeobj.uri_length = (uint32_t)strlen(data.codeobj.uri);
    data.codeobj.unload = unload;
    sink->tell(HSA_EVT_ID_CODEOBJ, &data);
}

static void
symbol_tell(sink_t *sink,
            const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *from,
            bool unload)
{
    hsa_evt_data_t data;
    memset(&data, 0, sizeof data);
    data.ksymbol.object = from->kernel_object;
    data.ksymbol.name = from->kernel_name;
    data.ksymbol.name_length = (uint32_t)strlen(from->kernel_name);
    data.ksymbol.unload = unload;
    sink->tell(HSA_EVT_ID_KSYMBOL, &data);
}

void hsa_event_of_object(sink_t *sink, const rocprofiler_callback_tracing_record_t *record)
{
    bool unload = record->phase == ROCPROFILER_CALLBACK_PHASE_UNLOAD;
    if (record->operation == ROCPROFILER_CODE_OBJECT_LOAD)
        object_tell(sink, record->payload, unload);
    else if (record->operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER)
        symbol_tell(sink, record->payload, unload);
}

void hsa_event_of_submission(sink_t *sink, const rocprofiler_callback_tracing_record_t *record)
{
    const rocprofiler_callback_tracing_kernel_dispatch_data_t *dispatch = record->payload;
    struct hsa_submission submission;
    if (record->phase != ROCPROFILER_CALLBACK_PHASE_ENTER ||
        !engine->hsa_facts->submission(&submission))
        return;
    hsa_evt_data_t data;
    memset(&data, 0, sizeof data);
    data.submit.packet = submission.packet;
    data.submit.kernel_name = engine->hsa_facts->kernel_name(dispatch->dispatch_info.kernel_id);
    data.submit.queue = submission.queue;
    data.submit.device_type = HSA_DEVICE_TYPE_GPU;
    data.submit.device_id = submission.device;
    sink->tell(HSA_EVT_ID_SUBMIT, &data);
}
