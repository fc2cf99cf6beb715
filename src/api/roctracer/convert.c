/* The engine's records as roctracer_record_t, when they are delivered. */
#include "api/roctracer/internal.h"

#include <string.h>

typedef rocprofiler_buffer_tracing_hsa_api_record_t api_record;
typedef rocprofiler_buffer_tracing_kernel_dispatch_record_t dispatch_record;
typedef rocprofiler_buffer_tracing_memory_copy_record_t copy_record;

/* TRACE_DOMAIN_COUNT: the kind is none of our API calls. */
static enum trace_domain api_domain(uint32_t kind)
{
    switch (kind) {
    case ROCPROFILER_BUFFER_TRACING_HSA_CORE_API:
        return TRACE_HSA_CORE_API;
    case ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API:
        return TRACE_HSA_AMD_EXT_API;
    case ROCPROFILER_BUFFER_TRACING_HSA_IMAGE_EXT_API:
        return TRACE_HSA_IMAGE_EXT_API;
    case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API:
        return TRACE_HIP_RUNTIME_API;
    case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API:
        return TRACE_HIP_COMPILER_API;
    case ROCPROFILER_BUFFER_TRACING_NONE: /* only the driver's library has no kind */
        return TRACE_THUNK_API;
    default:
        return TRACE_DOMAIN_COUNT;
    }
}

static void call_name(roctracer_record_t *record, enum trace_domain domain, int32_t operation)
{
    if (domain == TRACE_HIP_RUNTIME_API || domain == TRACE_HIP_COMPILER_API) {
        record->domain = ACTIVITY_DOMAIN_HIP_API;
        record->op = hip_function_of(domain, operation);
    } else if (domain == TRACE_THUNK_API) {
        record->domain = ACTIVITY_DOMAIN_KFD_API;
        record->op = (uint32_t)operation;
    } else {
        record->domain = ACTIVITY_DOMAIN_HSA_API;
        record->op = hsa_call_base(domain) + (uint32_t)operation;
    }
}

/* The engine's records of calls have their times in ticks; they become nanoseconds here. */
static bool call_convert(struct conversion *conversion, const api_record *from,
                         enum trace_domain domain, struct converted *out)
{
    roctracer_record_t record = {.domain = 0};
    call_name(&record, domain, from->operation);
    record.correlation_id = from->correlation_id.internal;
    record.begin_ns = engine->clock_ticks_to_ns(&conversion->segment, from->start_timestamp);
    record.end_ns = engine->clock_ticks_to_ns(&conversion->segment, from->end_timestamp);
    record.process_id = conversion->process_id;
    record.thread_id = (uint32_t)from->thread_id;
    if (record.begin_ns < conversion->not_before_ns)
        return false;
    uint64_t external = from->correlation_id.external.value;
    if (external) {
        roctracer_record_t *id = &out->records[out->count++];
        *id = (roctracer_record_t){.domain = ACTIVITY_DOMAIN_EXT_API,
                                   .op = ACTIVITY_EXT_OP_EXTERN_ID};
        id->correlation_id = record.correlation_id;
        id->external_id = external_decode(external);
    }
    out->records[out->count++] = record;
    return true;
}

static const rocprofiler_agent_t *agent_find(rocprofiler_agent_id_t id)
{
    const struct topology *topology = engine->topology_system();
    for (uint32_t i = 0; i < topology->agent_count; i++)
        if (topology->agents[i]->id.handle == id.handle)
            return topology->agents[i];
    return NULL;
}

static int device_of(rocprofiler_agent_id_t id)
{
    const rocprofiler_agent_t *agent = agent_find(id);
    return agent ? (int)agent->node_id : 0;
}

static bool device_is_gpu(rocprofiler_agent_id_t id)
{
    const rocprofiler_agent_t *agent = agent_find(id);
    return agent && agent->type == ROCPROFILER_AGENT_TYPE_GPU;
}

/* Adds a kernel or a copy. NULL: it began before the program asked. */
static roctracer_record_t *device_work_add(const struct conversion *conversion,
                                           struct converted *out, uint32_t op,
                                           uint64_t correlation_id, uint64_t begin_ns,
                                           uint64_t end_ns)
{
    if (begin_ns < conversion->not_before_ns)
        return NULL;
    roctracer_record_t *record = &out->records[out->count++];
    *record = (roctracer_record_t){.domain = ACTIVITY_DOMAIN_HSA_OPS, .op = op};
    record->correlation_id = correlation_id;
    record->begin_ns = begin_ns;
    record->end_ns = end_ns;
    return record;
}

static bool dispatch_convert(struct conversion *conversion, const dispatch_record *from,
                             struct converted *out)
{
    roctracer_record_t *record =
        device_work_add(conversion, out, HSA_OP_ID_DISPATCH, from->correlation_id.internal,
                        from->start_timestamp, from->end_timestamp);
    if (!record)
        return false;
    record->device_id = device_of(from->dispatch_info.agent_id);
    record->queue_id = from->dispatch_info.queue_id.handle;
    out->name = engine->hsa_facts->kernel_name(from->dispatch_info.kernel_id);
    out->name_size = out->name ? strlen(out->name) + 1 : 0;
    return true;
}

static bool copy_convert(struct conversion *conversion, const copy_record *from,
                         struct converted *out)
{
    roctracer_record_t *record =
        device_work_add(conversion, out, HSA_OP_ID_COPY, from->correlation_id.internal,
                        from->start_timestamp, from->end_timestamp);
    if (!record)
        return false;
    record->device_id =
        device_of(device_is_gpu(from->dst_agent_id) ? from->dst_agent_id : from->src_agent_id);
    record->bytes = from->bytes;
    return true;
}

static bool report_convert(enum trace_domain domain, const struct trace_report *from,
                           struct converted *out)
{
    roctracer_record_t *record = &out->records[out->count++];
    *record = (roctracer_record_t){
        .domain = ACTIVITY_DOMAIN_HIP_OPS, .kind = from->kind, .op = (uint32_t)from->operation};
    if (domain == TRACE_QUEUE_BARRIER) {
        record->domain = ACTIVITY_DOMAIN_HSA_OPS;
        record->op = HSA_OP_ID_BARRIER;
    }
    record->correlation_id = from->correlation;
    record->begin_ns = from->start_ns;
    record->end_ns = from->end_ns;
    record->device_id = (int)from->device;
    record->queue_id = from->queue;
    record->bytes = from->bytes;
    out->name = from->name_size ? (const char *)(from + 1) : NULL;
    out->name_size = from->name_size;
    return true;
}

bool record_convert(struct conversion *conversion, const struct tracebuf_item *item,
                    struct converted *out)
{
    uint32_t category = (uint32_t)item->tag, kind = (uint32_t)(item->tag >> 32);
    enum trace_domain domain = api_domain(kind);
    out->count = 0;
    out->name = NULL;
    out->name_size = 0;
    if (category == TRACE_REPORT_CATEGORY)
        return report_convert((enum trace_domain)kind, item->payload, out);
    if (category != ROCPROFILER_BUFFER_CATEGORY_TRACING)
        return false;
    if (kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)
        return dispatch_convert(conversion, item->payload, out);
    if (kind == ROCPROFILER_BUFFER_TRACING_MEMORY_COPY)
        return copy_convert(conversion, item->payload, out);
    return domain != TRACE_DOMAIN_COUNT && call_convert(conversion, item->payload, domain, out);
}
