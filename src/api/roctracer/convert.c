/* The engine's records as roctracer_record_t, when they are delivered. */
#include "api/roctracer/internal.h"

#include "base/process.h"

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

static void call_convert(const struct conversion *conversion, const api_record *from,
                         enum trace_domain domain, struct converted *out)
{
    roctracer_record_t record = {.domain = 0};
    call_name(&record, domain, from->operation);
    record.correlation_id = from->correlation_id.internal;
    record.begin_ns = from->start_timestamp;
    record.end_ns = from->end_timestamp;
    record.process_id = conversion->process_id;
    record.thread_id = (uint32_t)from->thread_id;
    if (record.begin_ns < conversion->not_before_ns)
        return;
    uint64_t external = from->correlation_id.external.value;
    if (external) {
        roctracer_record_t *id = &out->records[out->count++];
        *id = (roctracer_record_t){.domain = ACTIVITY_DOMAIN_EXT_API,
                                   .op = ACTIVITY_EXT_OP_EXTERN_ID};
        id->correlation_id = record.correlation_id;
        id->external_id = external_decode(external);
    }
    out->records[out->count++] = record;
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

static void dispatch_convert(const struct conversion *conversion, const dispatch_record *from,
                             struct converted *out)
{
    roctracer_record_t *record =
        device_work_add(conversion, out, HSA_OP_ID_DISPATCH, from->correlation_id.internal,
                        from->start_timestamp, from->end_timestamp);
    if (!record)
        return;
    record->device_id = device_of(from->dispatch_info.agent_id);
    record->queue_id = from->dispatch_info.queue_id.handle;
    out->name = engine->hsa_facts->kernel_name(from->dispatch_info.kernel_id);
    out->name_size = out->name ? strlen(out->name) + 1 : 0;
}

static void copy_convert(const struct conversion *conversion, const copy_record *from,
                         struct converted *out)
{
    roctracer_record_t *record =
        device_work_add(conversion, out, HSA_OP_ID_COPY, from->correlation_id.internal,
                        from->start_timestamp, from->end_timestamp);
    if (!record)
        return;
    record->device_id =
        device_of(device_is_gpu(from->dst_agent_id) ? from->dst_agent_id : from->src_agent_id);
    record->bytes = from->bytes;
}

static void report_convert(enum trace_domain domain, const struct trace_report *from,
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
}

void record_convert(const struct conversion *conversion, uint64_t tag, const void *from,
                    struct converted *out)
{
    uint32_t category = (uint32_t)tag, kind = (uint32_t)(tag >> 32);
    enum trace_domain domain = api_domain(kind);
    out->count = 0;
    out->name = NULL;
    out->name_size = 0;
    if (category == TRACE_REPORT_CATEGORY)
        report_convert((enum trace_domain)kind, from, out);
    else if (category != ROCPROFILER_BUFFER_CATEGORY_TRACING)
        return;
    else if (kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)
        dispatch_convert(conversion, from, out);
    else if (kind == ROCPROFILER_BUFFER_TRACING_MEMORY_COPY)
        copy_convert(conversion, from, out);
    else if (domain != TRACE_DOMAIN_COUNT)
        call_convert(conversion, from, domain, out);
}

/* ---- whole runs of calls */

_Static_assert(sizeof(roctracer_record_t) == sizeof(api_record) &&
                   offsetof(api_record, end_timestamp) ==
                       offsetof(api_record, start_timestamp) + sizeof(uint64_t),
               "one takes the other's place; times are a pair");

/* TRACE_DOMAIN_COUNT: the run is not one of calls. */
static enum trace_domain run_domain(const struct tracebuf_run *run)
{
    return (uint32_t)run->tag == ROCPROFILER_BUFFER_CATEGORY_TRACING
               ? api_domain((uint32_t)(run->tag >> 32))
               : TRACE_DOMAIN_COUNT;
}

void run_times_convert(const struct tracebuf_run *run)
{
    struct clock_segment segment = {.last_ticks = 0};
    if (run_domain(run) != TRACE_DOMAIN_COUNT)
        engine->clock_pairs_to_ns(&segment, run->at + offsetof(api_record, start_timestamp),
                                  run->stride_bytes, run->count, true);
}

/* How many calls, from the first one on, become one record each, whatever the pool was before. */
static size_t plain_calls(const struct tracebuf_run *run, uint64_t not_before_ticks)
{
    const api_record *from = (const api_record *)run->at;
    size_t count = 0;
    while (count < run->count && from[count].correlation_id.external.value == 0 &&
           from[count].start_timestamp >= not_before_ticks)
        count++;
    return count;
}

/* Both records as words of eight bytes, read and written alone: a record that is built of smaller
 * fields and then copied waits for the store buffer. */
union call_words {
    uint64_t words[8];
    struct {
        uint64_t size, kind_operation, internal, external, ancestor, start, end, thread;
    } from;
    struct {
        uint64_t domain_kind, op, correlation, begin, end, process_thread, unused, bytes;
    } to;
};
#define WORD_AT(type, member, word) (offsetof(type, member) == (word) * sizeof(uint64_t))
_Static_assert(sizeof(union call_words) == sizeof(roctracer_record_t) &&
                   WORD_AT(api_record, kind, 1) && WORD_AT(api_record, correlation_id, 2) &&
                   WORD_AT(api_record, start_timestamp, 5) && WORD_AT(api_record, thread_id, 7) &&
                   offsetof(api_record, operation) == 12 && WORD_AT(roctracer_record_t, op, 1) &&
                   WORD_AT(roctracer_record_t, correlation_id, 2) &&
                   WORD_AT(roctracer_record_t, begin_ns, 3) &&
                   WORD_AT(roctracer_record_t, end_ns, 4) &&
                   WORD_AT(roctracer_record_t, process_id, 5) &&
                   offsetof(roctracer_record_t, thread_id) == 44 &&
                   WORD_AT(roctracer_record_t, bytes, 7),
               "the words are the records");

static inline void call_replace(union call_words *call, const union call_words *like, uint32_t op)
{
    uint64_t begin_ns = call->from.start, end_ns = call->from.end, thread_id = call->from.thread;
    call->to.domain_kind = like->to.domain_kind;
    call->to.op = op;
    call->to.begin = begin_ns;
    call->to.end = end_ns;
    call->to.process_thread = like->to.process_thread | thread_id << 32;
    call->to.unused = 0;
    call->to.bytes = 0;
}

size_t calls_convert_early(const struct tracebuf_run *run, struct clock_segment *segment,
                           uint64_t not_before_ticks)
{
    enum trace_domain domain = run_domain(run);
    if (domain == TRACE_DOMAIN_COUNT || run->stride_bytes != sizeof(api_record))
        return 0;
    size_t count = plain_calls(run, not_before_ticks);
    count = engine->clock_pairs_to_ns(segment, run->at + offsetof(api_record, start_timestamp),
                                      run->stride_bytes, count, false);
    bool is_hip = domain == TRACE_HIP_RUNTIME_API || domain == TRACE_HIP_COMPILER_API;
    roctracer_record_t named = {.domain = 0};
    call_name(&named, domain, 0);
    const union call_words like = {
        .to = {.domain_kind = named.domain, .process_thread = process_id()}};
    union call_words *call = (void *)run->at;
    for (size_t i = 0; i < count; i++, call++) {
        int32_t operation = (int32_t)(call->from.kind_operation >> 32);
        call_replace(call, &like,
                     is_hip ? hip_function_of(domain, operation) : named.op + (uint32_t)operation);
    }
    return count;
}
