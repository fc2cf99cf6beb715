/* Features of kind TRACE: what their parameters ask for, and the bytes that were written. */
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"
#include "base/log.h"

#include <stdlib.h>

/* A copy in the host's memory: for each engine its size, in 32 bits, and its bytes. */
struct trace_bytes {
    uint32_t size; /* of `data` */
    uint32_t offsets[SQTT_ENGINES_MAX];
    uint32_t data[];
};

/* ---- what is asked for */

static void traces_survive_shut_down(void);

hsa_status_t plan_trace_take(struct plan *plan, uint32_t index)
{
    const rocprofiler_feature_t *feature = &plan->features[index];
    const rocprofiler_parameter_t *from = feature->parameters;
    uint32_t count = from ? feature->parameter_count : 0;
    if (plan->has_trace)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "feature %u: a context has one trace",
                    index);
    uint32_t(*parameters)[2] = calloc(count + 1u, sizeof *parameters);
    if (!parameters)
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for a trace's parameters");
    for (uint32_t i = 0; i < count; i++) {
        parameters[i][0] = (uint32_t)from[i].parameter_name;
        parameters[i][1] = from[i].value;
    }
    plan->trace = (struct counting_trace_options){
        .buffer_bytes = atomic_load_explicit(&trace_size_bytes, memory_order_relaxed),
        .is_local = atomic_load_explicit(&trace_is_local, memory_order_relaxed)};
    const char *problem =
        engine->counting_trace_options_fill(plan->gpu.agent, parameters, count, &plan->trace);
    free(parameters);
    plan->has_trace = true;
    plan->trace_feature = index;
    traces_survive_shut_down();
    return problem ? fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "feature %u: thread trace: %s", index,
                          problem)
                   : HSA_STATUS_SUCCESS;
}

/* ---- a group's trace */

void group_trace_renew(struct group *group)
{
    struct v1_context *context = group->context;
    if (!context->plan->has_trace)
        return;
    pthread_mutex_lock(&context->bytes_lock);
    free(group->bytes);
    group->bytes = NULL;
    pthread_mutex_unlock(&context->bytes_lock);
}

void group_trace_set(struct group *group, struct counting_slot *trace)
{
    struct v1_context *context = group->context;
    pthread_mutex_lock(&context->lock);
    struct counting_slot *former = group->trace;
    group->trace = trace;
    pthread_mutex_unlock(&context->lock);
    group_trace_renew(group);
    if (former)
        engine->counting_trace_release(former);
}

void group_trace_drop(struct group *group)
{
    if (group->context->plan->has_trace)
        group_trace_set(group, NULL);
}

/* The group's trace with a hold of the caller's. NULL: there is none. */
static struct counting_slot *group_trace_hold(struct group *group)
{
    pthread_mutex_lock(&group->context->lock);
    struct counting_slot *trace = group->trace;
    if (trace)
        engine->counting_trace_hold(trace);
    pthread_mutex_unlock(&group->context->lock);
    return trace;
}

/* ---- its copy */

static uint32_t words_of(const struct counting_trace_part *part)
{
    return (uint32_t)((part->bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t));
}

static bool parts_copy(const struct counting_slot *trace, const struct counting_trace_part *parts,
                       uint32_t count, struct trace_bytes *bytes)
{
    uint32_t at = 0;
    bool fine = true;
    for (uint32_t i = 0; i < count && fine; i++) {
        bytes->data[at++] = (uint32_t)parts[i].bytes;
        bytes->offsets[i] = at;
        fine =
            engine->counting_trace_read(trace, parts[i].offset, &bytes->data[at], parts[i].bytes);
        at += words_of(&parts[i]);
    }
    bytes->size = at * (uint32_t)sizeof(uint32_t);
    return fine;
}

static struct trace_bytes *bytes_make(const struct counting_slot *trace)
{
    struct counting_trace_part parts[SQTT_ENGINES_MAX];
    uint32_t count = engine->counting_trace_parts(trace, parts);
    size_t words = count;
    for (uint32_t i = 0; i < count; i++)
        words += words_of(&parts[i]);
    struct trace_bytes *bytes = calloc(1, sizeof *bytes + words * sizeof(uint32_t));
    if (bytes && parts_copy(trace, parts, count, bytes))
        return bytes;
    free(bytes);
    return NULL;
}

/* Under bytes_lock. */
static hsa_status_t bytes_have(struct group *group, const struct counting_slot *trace)
{
    if (!group->bytes)
        group->bytes = bytes_make(trace);
    return group->bytes ? HSA_STATUS_SUCCESS
                        : fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "the trace cannot be copied");
}

/* ---- a runtime that leaves */

/* What was not asked for yet is copied while that can be done: the tool's OnUnloadTool may ask for
 * it, which runs inside of hsa_shut_down, where runtimes from 7.0 on copy nothing any more. */
static void context_save(struct v1_context *context)
{
    struct counting_slot *trace =
        context->plan->has_trace ? group_trace_hold(&context->groups[0]) : NULL;
    if (!trace)
        return;
    pthread_mutex_lock(&context->bytes_lock);
    bytes_have(&context->groups[0], trace);
    pthread_mutex_unlock(&context->bytes_lock);
    engine->counting_trace_release(trace);
}

static void shut_down_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                               rocprofiler_callback_phase_t phase, void *unused)
{
    (void)frame, (void)user_data, (void)unused;
    if (phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        contexts_visit(context_save);
}

static void shut_down_follow(void)
{
    static const struct subscription_front front = {.listener = shut_down_listener};
    const struct trace_subscriber subscriber = {.front = &front};
    struct subscription *calls = engine->subscription_create(1ull << TRACE_HSA_CORE_API);
    if (!calls ||
        !engine->subscription_want(calls, TRACE_HSA_CORE_API,
                                   ROCPROFILER_HSA_CORE_API_ID_hsa_shut_down, 1, &subscriber))
        log_warning("rocprofiler", "out of memory: traces that nobody has asked for when the HSA "
                                   "runtime is shut down may be lost");
}

static void traces_survive_shut_down(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, shut_down_follow);
}

/* ---- data of the feature */

static bool group_has_feature(const struct group *group)
{
    return group->context->plan->has_trace && group->index == 0;
}

static rocprofiler_feature_t *feature_of(const struct group *group)
{
    const struct plan *plan = group->context->plan;
    return &plan->features[plan->trace_feature];
}

hsa_status_t group_trace_collect(struct group *group)
{
    if (!group_has_feature(group) || !feature_of(group)->data.result_bytes.copy)
        return HSA_STATUS_SUCCESS;
    struct counting_slot *trace = group_trace_hold(group);
    if (!trace)
        return HSA_STATUS_SUCCESS;
    hsa_status_t status = bytes_have(group, trace);
    engine->counting_trace_release(trace);
    return status;
}

static void overflow_tell(struct v1_context *context, const struct counting_trace_part *parts,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count && !context->overflow_was_told; i++) {
        if (parts[i].outcome == SQTT_COMPLETE)
            continue;
        log_warning("rocprofiler", "the trace of shader engine %u %s", parts[i].shader_engine,
                    parts[i].outcome == SQTT_FULL
                        ? "did not fit into its buffer (trace_size): its end is missing"
                        : "could not be written to memory");
        context->overflow_was_told = true;
    }
}

void group_trace_write(struct group *group)
{
    struct counting_trace_part parts[SQTT_ENGINES_MAX];
    size_t bytes = 0;
    if (!group_has_feature(group) || !group->trace)
        return;
    rocprofiler_data_t *data = &feature_of(group)->data;
    uint32_t count = engine->counting_trace_parts(group->trace, parts);
    overflow_tell(group->context, parts, count);
    data->kind = ROCPROFILER_DATA_KIND_BYTES;
    data->result_bytes.instance_count = count;
    if (data->result_bytes.copy) {
        data->result_bytes.ptr = group->bytes ? group->bytes->data : NULL;
        data->result_bytes.size = group->bytes ? group->bytes->size : 0;
        return;
    }
    data->result_bytes.ptr = engine->counting_trace_buffer(group->trace, &bytes);
    data->result_bytes.size = (uint32_t)bytes;
}

/* ---- iterating */

struct telling {
    struct group *group;
    struct counting_slot *trace;
    rocprofiler_trace_data_callback_t callback;
    void *data;
};

/* Where the host finds a part: the copy, if the buffer is the GPU's own. */
static void *part_place(const struct telling *telling, const struct counting_trace_part *part,
                        uint32_t i)
{
    size_t bytes;
    char *buffer = engine->counting_trace_buffer(telling->trace, &bytes);
    struct group *group = telling->group;
    if (!group->context->plan->trace.is_local)
        return buffer + part->offset;
    pthread_mutex_lock(&group->context->bytes_lock);
    void *place = bytes_have(group, telling->trace) == HSA_STATUS_SUCCESS
                      ? &group->bytes->data[group->bytes->offsets[i]]
                      : NULL;
    pthread_mutex_unlock(&group->context->bytes_lock);
    return place;
}

static hsa_status_t part_tell(const struct telling *telling, const struct counting_trace_part *part,
                              uint32_t i)
{
    hsa_ven_amd_aqlprofile_info_data_t info = {.sample_id = part->shader_engine};
    hsa_status_t status;
    info.trace_data.ptr = part_place(telling, part, i);
    info.trace_data.size = (uint32_t)part->bytes;
    if (!info.trace_data.ptr)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    CALLBACK(status =
                 telling->callback(HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &info, telling->data));
    return status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK
               ? status
               : fail(status, "iterate_trace_data: the callback returned 0x%x", (unsigned)status);
}

static hsa_status_t outcome_status(const struct counting_trace_part *part, hsa_status_t former)
{
    switch (part->outcome) {
    case SQTT_FULL:
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                    "the trace of shader engine %u did not fit into its buffer (trace_size)",
                    part->shader_engine);
    case SQTT_MEMORY_ERROR:
        return fail(HSA_STATUS_ERROR_EXCEPTION,
                    "the trace of shader engine %u could not be written", part->shader_engine);
    default:
        return former;
    }
}

/* Tells all parts; the status says whether they are the whole trace. */
static hsa_status_t parts_tell(const struct telling *telling)
{
    struct counting_trace_part parts[SQTT_ENGINES_MAX];
    uint32_t count = engine->counting_trace_parts(telling->trace, parts);
    hsa_status_t status, outcome = HSA_STATUS_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        status = part_tell(telling, &parts[i], i);
        if (status == HSA_STATUS_INFO_BREAK)
            return HSA_STATUS_SUCCESS;
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    for (uint32_t i = 0; i < count; i++)
        outcome = outcome_status(&parts[i], outcome);
    return outcome;
}

static hsa_status_t trace_tell(struct v1_context *context,
                               rocprofiler_trace_data_callback_t callback, void *data)
{
    if (!context->plan->has_trace)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                    "iterate_trace_data: the context has no trace");
    struct telling telling = {&context->groups[0], group_trace_hold(&context->groups[0]), callback,
                              data};
    if (!telling.trace)
        return fail(HSA_STATUS_ERROR, "iterate_trace_data: nothing was collected");
    hsa_status_t status = parts_tell(&telling);
    engine->counting_trace_release(telling.trace);
    return status;
}

hsa_status_t rocprofiler_iterate_trace_data(rocprofiler_t *handle,
                                            rocprofiler_trace_data_callback_t callback, void *data)
{
    if (!callback)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "iterate_trace_data: no callback");
    struct v1_context *context = context_acquire(handle);
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = trace_tell(context, callback, data);
    context_release(context);
    return status;
}
