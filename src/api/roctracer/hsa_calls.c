/* HSA_API: ids, and callbacks with hsa_api_data_t. */
#include "api/roctracer/internal.h"

#include <string.h>

#include "hsa_calls.inc"

typedef rocprofiler_callback_tracing_hsa_api_data_t engine_data;

#define WORD sizeof(uint64_t)

const struct hsa_call hsa_calls[] = {
#define X(function, domain, operation, parameters, name)                                           \
    {name, operation, domain,                                                                      \
     (parameters) ? (sizeof(((hsa_api_data_t *)0)->args.function) + WORD - 1) / WORD : 0},
    HSA_CALLS(X)
#undef X
};
_Static_assert(sizeof hsa_calls / sizeof hsa_calls[0] == HSA_CALL_COUNT, "one row per id");
_Static_assert(sizeof(((hsa_api_data_t *)0)->args) / WORD < UINT8_MAX, "words fit in a row");

const char *hsa_call_name(uint32_t id)
{
    return hsa_call_texts + hsa_calls[id].name;
}

#define CALL_ID(function) HSA_API_ID_##function
_Static_assert(CALL_ID(hsa_init) == 0 && CALL_ID(hsa_amd_coherency_get_type) == 125 &&
                   CALL_ID(hsa_ext_image_get_capability) == 199,
               "where tables begin");

uint32_t hsa_call_base(enum trace_domain domain)
{
    return domain == TRACE_HSA_CORE_API      ? CALL_ID(hsa_init)
           : domain == TRACE_HSA_AMD_EXT_API ? CALL_ID(hsa_amd_coherency_get_type)
                                             : CALL_ID(hsa_ext_image_get_capability);
}

/* Arguments have the same layout in both interfaces, except those of one function, which also gets
 * a copy of what a pointer points to. */
_Static_assert(sizeof(((engine_data *)0)->args) % WORD == 0 &&
                   offsetof(engine_data, args) % WORD == 0,
               "whole words may be read");

static void range_expand(hsa_api_data_t *data, const engine_data *from)
{
    const __typeof__(from->args.hsa_amd_memory_async_copy_rect) *a =
        &from->args.hsa_amd_memory_async_copy_rect;
    __typeof__(data->args.hsa_amd_memory_async_copy_rect) *b =
        &data->args.hsa_amd_memory_async_copy_rect;
    b->dst = a->dst;
    b->dst_offset = a->dst_offset;
    b->src = a->src;
    b->src_offset = a->src_offset;
    b->range = a->range;
    b->range__val = a->range ? *a->range : (hsa_dim3_t){0, 0, 0};
    b->copy_agent = a->copy_agent;
    b->dir = a->dir;
    b->num_dep_signals = a->num_dep_signals;
    b->dep_signals = a->dep_signals;
    b->completion_signal = a->completion_signal;
}

static inline void arguments_copy(hsa_api_data_t *data, const engine_data *from, uint32_t id)
{
    uint64_t *to_words = (uint64_t *)(void *)&data->args;
    const uint64_t *from_words = (const uint64_t *)(const void *)&from->args;
    if (__builtin_expect(id == CALL_ID(hsa_amd_memory_async_copy_rect), 0)) {
        range_expand(data, from);
        return;
    }
    for (uint32_t i = 0; i < hsa_calls[id].argument_words; i++)
        to_words[i] = from_words[i];
}

void hsa_call_listener(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                       rocprofiler_callback_phase_t phase, void *data)
{
    const struct registration *registration = data;
    uint32_t id = hsa_call_base(trace_frame_domain(frame)) + (uint32_t)frame->operation;
    if (__builtin_expect(registration->events, 0))
        events_of_call(frame, phase);
    if (!registration->callback ||
        !registration_is_current(ACTIVITY_DOMAIN_HSA_API, id, registration))
        return;
    const engine_data *from = frame->payload;
    hsa_api_data_t call;
    call.correlation_id = frame->internal;
    bool leaving = phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
    call.phase = leaving ? ACTIVITY_API_PHASE_EXIT : ACTIVITY_API_PHASE_ENTER;
    call.uint64_t_retval = leaving ? from->retval.uint64_t_retval : 0;
    arguments_copy(&call, from, id);
    call.phase_data = &user_data->value;
    registration->callback(ACTIVITY_DOMAIN_HSA_API, id, &call, registration->arg);
}
