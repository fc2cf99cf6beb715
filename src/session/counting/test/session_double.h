/*
 * Agents, contexts and buffers for counting_test.c and front_test.c, which include this once.
 */
#ifndef SESSION_COUNTING_TEST_SESSION_DOUBLE_H
#define SESSION_COUNTING_TEST_SESSION_DOUBLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/replay.h"
#include "model/service.h"
#include "model/trace.h"
#include "topology/topology.h"

/* ---- agents: a CPU, two equal MI210, an MI50, a GPU nobody knows, half an MI250X */
#define GPU(handle, text, engines, units)                                                          \
    {                                                                                              \
        .size = sizeof(rocprofiler_agent_v0_t), .id = {handle},                                    \
        .type = ROCPROFILER_AGENT_TYPE_GPU, .simd_count = 4 * (units), .simd_per_cu = 4,           \
        .wave_front_size = 64, .num_xcc = 1, .cu_count = units, .array_count = engines,            \
        .num_shader_banks = engines, .simd_arrays_per_engine = 1, .name = text                     \
    }
static const rocprofiler_agent_v0_t agents[] = {{.size = sizeof(rocprofiler_agent_v0_t),
                                                 .id = {100},
                                                 .type = ROCPROFILER_AGENT_TYPE_CPU,
                                                 .name = "cpu"},
                                                GPU(101, "gfx90a", 8, 104),
                                                GPU(102, "gfx90a", 8, 104),
                                                GPU(103, "gfx906", 4, 60),
                                                GPU(104, "gfx000", 4, 60),
                                                GPU(105, "gfx90a", 8, 110)};
enum {
    CPU = 100,
    MI210 = 101,
    MI210_TWIN = 102,
    MI50 = 103,
    UNKNOWN = 104,
    MI250X = 105,
    NOBODY = 999
};

const struct topology *topology_system(void)
{
    static const rocprofiler_agent_v0_t *list[] = {&agents[0], &agents[1], &agents[2],
                                                   &agents[3], &agents[4], &agents[5]};
    static const struct topology topology = {list, sizeof list / sizeof list[0]};
    return &topology;
}

/* ---- what session publishes for interception. Writers: the service. Readers: the tests. */
_Atomic(const struct trace_counting_ops *) trace_counting;
const void *(*_Atomic trace_queue_first)(rocprofiler_agent_id_t agent, uint64_t hsa_agent);

/* ---- contexts and buffers */
static const struct service_ops *added_ops[4];
static void *added_data[4];
static int configuration_open = 1;

rocprofiler_status_t service_add(rocprofiler_context_id_t context, enum service_kind kind,
                                 const struct service_ops *ops, void *data)
{
    assert_int_equal(kind, SERVICE_DISPATCH_COUNTING);
    rocprofiler_status_t status = service_counting_open(context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (added_ops[context.handle])
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    added_ops[context.handle] = ops;
    added_data[context.handle] = data;
    return ROCPROFILER_STATUS_SUCCESS;
}

void *service_find(rocprofiler_context_id_t context, enum service_kind kind)
{
    assert_int_equal(kind, SERVICE_DISPATCH_COUNTING);
    return added_data[context.handle];
}

bool service_context_exists(rocprofiler_context_id_t context)
{
    return context.handle < 4;
}

const char *service_context_owner(rocprofiler_context_id_t context)
{
    return context.handle == 1 ? "tool one" : "another tool";
}

rocprofiler_status_t service_counting_open(rocprofiler_context_id_t context)
{
    if (!service_context_exists(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    return configuration_open ? ROCPROFILER_STATUS_SUCCESS
                              : ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
}

bool service_dispatches_missed(void)
{
    return false;
}

struct tracebuf {
    uint32_t headers, values;
    rocprofiler_dispatch_counting_service_record_t header;
    rocprofiler_counter_record_t records[4096];
};
static struct tracebuf buffer;

struct tracebuf *trace_buffer_find(rocprofiler_buffer_id_t id)
{
    return id.handle == 7 ? &buffer : NULL;
}

bool trace_buffer_put(struct tracebuf *to, uint32_t category, uint32_t kind, const void *payload,
                      size_t size)
{
    assert_int_equal(category, ROCPROFILER_BUFFER_CATEGORY_COUNTERS);
    if (kind == ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER) {
        assert_int_equal(size, sizeof to->header);
        memcpy(&to->header, payload, size);
        to->headers++;
        to->values = 0;
        return true;
    }
    assert_int_equal(kind, ROCPROFILER_COUNTER_RECORD_VALUE);
    assert_int_equal(size, sizeof to->records[0]);
    memcpy(&to->records[to->values++], payload, size);
    return true;
}

void trace_buffer_put_many(struct tracebuf *to, uint32_t category, uint32_t kind,
                           const void *payloads, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        trace_buffer_put(to, category, kind, (const char *)payloads + i * size, size);
}

bool trace_replay_is_stopped(rocprofiler_context_id_t context)
{
    (void)context;
    return false;
}

rocprofiler_user_data_t trace_event_external(const struct trace_event *event,
                                             rocprofiler_context_id_t context)
{
    (void)event;
    return (rocprofiler_user_data_t){.value = 5000 + context.handle};
}

#endif
