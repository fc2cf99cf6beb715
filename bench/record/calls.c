#include "calls.h"

#include "base/clock.h"
#include "session/front/engine.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OP_CALLBACK = 1, OP_BUFFERED = 2, FLOOR_BYTES = 4 << 20, FLOOR_RECORD_BYTES = 80 };

const char *const call_names[CALL_COUNTED_KINDS] = {
    "plain call", "floor",         "stopped",       "callback",    "buffered", "nested",
    "in record",  "two callbacks", "both services", "external id", "listener"};

static rocprofiler_context_id_t callback_context, other_context, buffer_context, full_context;
static struct subscription *subscription;
static rocprofiler_buffer_id_t buffer, full_buffer;
static _Atomic uint64_t delivered;
static _Atomic bool held, holding;

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)record, (void)user_data, (void)data;
}

static void on_listen(const struct trace_frame *frame, rocprofiler_user_data_t *user_data,
                      rocprofiler_callback_phase_t phase, void *data)
{
    (void)frame, (void)user_data, (void)phase, (void)data;
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)headers, (void)data, (void)dropped;
    delivered += count;
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 100000}, NULL);
}

static void on_full(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                    rocprofiler_record_header_t **headers, size_t count, void *data,
                    uint64_t dropped)
{
    (void)context, (void)id, (void)headers, (void)count, (void)data, (void)dropped;
    holding = true;
    while (held)
        nap();
}

static rocprofiler_status_t full_configure(void)
{
    const rocprofiler_tracing_operation_t operation = OP_BUFFERED;
    rocprofiler_status_t failed = context_create(&full_context);
    failed |= buffer_create(full_context, FULL_BUFFER_BYTES, FULL_BUFFER_BYTES,
                            ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_full, NULL, &full_buffer);
    failed |= buffer_service_configure(full_context, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API,
                                       &operation, 1, full_buffer);
    return failed;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    const rocprofiler_tracing_operation_t op_callback = OP_CALLBACK, op_buffered = OP_BUFFERED;
    rocprofiler_status_t failed = context_create(&callback_context);
    failed |= context_create(&other_context);
    failed |= context_create(&buffer_context);
    failed |= buffer_create(buffer_context, 4 << 20, 3 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                            on_buffer, NULL, &buffer);
    failed |=
        callback_service_configure(callback_context, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
                                   &op_callback, 1, on_call, NULL);
    failed |= callback_service_configure(
        other_context, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
        (rocprofiler_tracing_operation_t[]){OP_CALLBACK, OP_BUFFERED}, 2, on_call, &other_context);
    failed |= buffer_service_configure(buffer_context, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API,
                                       &op_buffered, 1, buffer);
    failed |= full_configure();
    return (int)failed;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

bool calls_prepare(void)
{
    return session_force_configure(configure) == ROCPROFILER_STATUS_SUCCESS &&
           service_context_exists(buffer_context);
}

static void listener_begin(void)
{
    static const struct subscription_front front = {.listener = on_listen};
    const struct trace_subscriber what = {.front = &front};
    subscription = subscription_create(1ull << TRACE_HSA_CORE_API);
    if (subscription)
        subscription_want(subscription, TRACE_HSA_CORE_API, OP_CALLBACK, 1, &what);
}

void calls_select(enum call_kind kind)
{
    context_stop(callback_context);
    context_stop(other_context);
    context_stop(buffer_context);
    if (kind == CALL_CALLBACK || kind == CALL_NESTED || kind == CALL_RECORD_NESTED ||
        kind == CALL_TWO || kind == CALL_PUSHED)
        context_start(callback_context);
    if (kind == CALL_TWO || kind == CALL_BOTH)
        context_start(other_context);
    if (kind == CALL_BUFFERED || kind == CALL_RECORD_NESTED || kind == CALL_BOTH)
        context_start(buffer_context);
    if (kind == CALL_PUSHED)
        external_push(callback_context, (rocprofiler_thread_id_t)gettid(),
                      (rocprofiler_user_data_t){.value = 7});
    if (kind == CALL_LISTENED)
        listener_begin();
}

uint64_t calls_delivered(void)
{
    buffer_flush(buffer);
    return delivered;
}

void calls_fill(void (*looked)(void *), void *data)
{
    enum { RECORDS = FULL_BUFFER_BYTES / 64, PER_CENT_SPARED = 1 };
    context_stop(callback_context);
    context_stop(buffer_context);
    held = true;
    context_start(full_context);
    calls_make(CALL_BUFFERED, 2 * (RECORDS - RECORDS / 100 * PER_CENT_SPARED));
    context_stop(full_context);
    while (!holding)
        nap();
    looked(data);
    held = false;
    buffer_flush(full_buffer);
}

/* ---- the runtime and its table */

static __attribute__((noinline)) int runtime_function(void *a, uint64_t b)
{
    __asm__ volatile("" : : "r"(a), "r"(b));
    return 0;
}

typedef int (*runtime_function_t)(void *, uint64_t);
static runtime_function_t volatile runtime_slot = runtime_function;

/* As gen/hsa_wrappers.py makes them. */
#define WRAPPER(name, op)                                                                          \
    static __attribute__((noinline)) int traced_##name(                                            \
        void *a, uint64_t b, runtime_function_t next, const struct trace_set *set)                 \
    {                                                                                              \
        rocprofiler_callback_tracing_hsa_api_data_t data;                                          \
        struct trace_frame frame;                                                                  \
        if (trace_set_wants_args(set)) {                                                           \
            data.size = sizeof data;                                                               \
            data.args.hsa_system_get_info.attribute = (hsa_system_info_t)b;                        \
            data.args.hsa_system_get_info.value = a;                                               \
            data.retval = (__typeof__(data.retval)){0};                                            \
        }                                                                                          \
        TRACE_KEEP(a);                                                                             \
        TRACE_KEEP(b);                                                                             \
        TRACE_KEEP(next);                                                                          \
        trace_api_enter(&frame, set, TRACE_HSA_CORE_API, op, &data);                               \
        int status = next(a, b);                                                                   \
        TRACE_CALL_MAY_BE_LEFT();                                                                  \
        data.retval.hsa_status_t_retval = (hsa_status_t)status;                                    \
        trace_api_exit(&frame);                                                                    \
        return status;                                                                             \
    }                                                                                              \
    static __attribute__((noinline)) int name(void *a, uint64_t b)                                 \
    {                                                                                              \
        const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, op);                      \
        runtime_function_t next = runtime_slot;                                                    \
        if (__builtin_expect(!set, 1))                                                             \
            return next(a, b);                                                                     \
        return traced_##name(a, b, next, set);                                                     \
    }

WRAPPER(wrapper_callback, OP_CALLBACK)
WRAPPER(wrapper_buffered, OP_BUFFERED)

/* The least that a traced call can cost on this machine. */
struct floor_state {
    unsigned char *at, *begin, *end;
    uint64_t next_id, end_id;
};
static __thread struct floor_state floor_state __attribute__((tls_model("initial-exec")));
static __thread unsigned char floor_memory[FLOOR_BYTES];
static _Atomic uint64_t floor_ids;

static void floor_refill(struct floor_state *state)
{
    if (!state->begin) {
        state->at = state->begin = floor_memory;
        state->end = floor_memory + FLOOR_BYTES - FLOOR_RECORD_BYTES;
    }
    if (state->at > state->end)
        state->at = state->begin;
    if (state->next_id == state->end_id) {
        state->next_id = floor_ids += 1024;
        state->end_id = state->next_id + 1024;
    }
}

static __attribute__((noinline)) int wrapper_floor(void *a, uint64_t b)
{
    struct floor_state *state = &floor_state;
    uint64_t start = clock_ticks();
    int status = runtime_slot(a, b);
    uint64_t end = clock_ticks();
    if (__builtin_expect(state->at > state->end || state->next_id == state->end_id, 0) ||
        !state->begin)
        floor_refill(state);
    uint64_t record[FLOOR_RECORD_BYTES / 8] = {1, 64, 64, 3, state->next_id++, 0, 0, start, end, 7};
    memcpy(state->at, record, sizeof record);
    state->at += sizeof record;
    return status;
}

static runtime_function_t volatile slots[CALL_COUNTED_KINDS] = {
    [CALL_PLAIN] = runtime_function,         [CALL_FLOOR] = wrapper_floor,
    [CALL_STOPPED] = wrapper_buffered,       [CALL_CALLBACK] = wrapper_callback,
    [CALL_BUFFERED] = wrapper_buffered,      [CALL_NESTED] = wrapper_callback,
    [CALL_RECORD_NESTED] = wrapper_buffered, [CALL_TWO] = wrapper_callback,
    [CALL_BOTH] = wrapper_buffered,          [CALL_PUSHED] = wrapper_callback,
    [CALL_LISTENED] = wrapper_callback,
};

void calls_make(enum call_kind kind, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        slots[kind](&count, i);
}

__attribute__((noinline)) void calls_counted(enum call_kind kind, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        slots[kind](&count, i);
}

void calls_counted_inside(enum call_kind kind, uint32_t count)
{
    const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, OP_CALLBACK);
    struct trace_frame frame;
    if (!set || (kind != CALL_NESTED && kind != CALL_RECORD_NESTED)) {
        calls_counted(kind, count);
        return;
    }
    trace_api_enter(&frame, set, TRACE_HSA_CORE_API, OP_CALLBACK, NULL);
    calls_counted(kind, count);
    trace_api_exit(&frame);
}
