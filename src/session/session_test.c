/* Contexts, services, buffers and ids, through a tool that the test itself is. */
#include "base/clock.h"
#include "session/endings.h"
#include "session/front/engine.h"

#include <fcntl.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { OP = 7, OTHER_OP = 9 }; /* two HSA core functions */

static rocprofiler_context_id_t plain, second, asked, conflicting[2],
    many[TRACE_SUBSCRIBERS_MAX + 1];
static rocprofiler_buffer_id_t buffer, retire_buffer;
static rocprofiler_client_finalize_t finalize;
static rocprofiler_client_id_t *client;
static int fini_calls;

static rocprofiler_buffer_tracing_hsa_api_record_t records[64];
static unsigned record_count, retired_count;
static uint64_t retired[1024];

static struct {
    rocprofiler_callback_tracing_record_t record;
    uint64_t user_data;
} calls[1024];
static unsigned call_count;

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t drop_count)
{
    assert_int_equal(id.handle, buffer.handle);
    assert_int_equal(context.handle, plain.handle);
    assert_ptr_equal(data, &records);
    assert_int_equal(drop_count, 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(headers[i]->category, ROCPROFILER_BUFFER_CATEGORY_TRACING);
        assert_int_equal(headers[i]->kind, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API);
        records[record_count++] =
            *(rocprofiler_buffer_tracing_hsa_api_record_t *)headers[i]->payload;
    }
}

static void on_retirement(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                          rocprofiler_record_header_t **headers, size_t count, void *data,
                          uint64_t drop_count)
{
    (void)context, (void)id, (void)data, (void)drop_count;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *record =
            headers[i]->payload;
        retired[retired_count++] = record->internal_correlation_id;
    }
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    assert_ptr_equal(data, calls);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        user_data->value = 1000 + call_count;
    calls[call_count].record = record;
    calls[call_count++].user_data = user_data->value;
}

static unsigned requests;
static int on_request(rocprofiler_thread_id_t tid, rocprofiler_context_id_t context,
                      rocprofiler_external_correlation_id_request_kind_t kind,
                      rocprofiler_tracing_operation_t operation, uint64_t internal,
                      rocprofiler_user_data_t *external, void *data)
{
    (void)tid, (void)internal, (void)data;
    assert_int_equal(context.handle, asked.handle);
    assert_int_equal(kind, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH);
    assert_int_equal(operation, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE);
    external->value = 500 + requests++;
    return 0;
}

static int no_start_calls;
static rocprofiler_status_t rival_status; /* of one that conflicts with the context, meanwhile */
static rocprofiler_status_t refuse(rocprofiler_context_id_t context, void *data)
{
    (void)context, (void)data;
    no_start_calls++;
    rival_status = context_start(conflicting[0]);
    return ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED;
}
static const struct service_ops refusing = {.start = refuse}, plain_ops = {0};

#define OK(call)         assert_int_equal((call), ROCPROFILER_STATUS_SUCCESS)
#define FAILS(how, call) assert_int_equal((call), ROCPROFILER_STATUS_ERROR_##how)

static void configure_errors(void)
{
    rocprofiler_tracing_operation_t last = operation_count(TRACE_HSA_CORE_API), negative = -1;
    rocprofiler_context_id_t bad = {12345};
    FAILS(CONTEXT_ID_NOT_ZERO, context_create(&plain));
    FAILS(INVALID_ARGUMENT, context_create(NULL));
    FAILS(CONTEXT_NOT_FOUND, callback_service_configure(bad, 1, NULL, 0, on_call, NULL));
    FAILS(KIND_NOT_FOUND, callback_service_configure(plain, 0, NULL, 0, on_call, NULL));
    FAILS(KIND_NOT_FOUND, callback_service_configure(plain, 4000, NULL, 0, on_call, NULL));
    FAILS(INVALID_ARGUMENT, callback_service_configure(plain, 2, NULL, 0, NULL, NULL));
    FAILS(OPERATION_NOT_FOUND, callback_service_configure(plain, 1, &last, 1, on_call, NULL));
    FAILS(OPERATION_NOT_FOUND, callback_service_configure(plain, 1, &negative, 1, on_call, NULL));
    FAILS(INVALID_ARGUMENT, callback_service_configure(plain, 1, NULL, 3, on_call, NULL));
    FAILS(BUFFER_NOT_FOUND,
          buffer_service_configure(plain, 1, NULL, 0, (rocprofiler_buffer_id_t){0}));
    FAILS(BUFFER_NOT_FOUND, buffer_service_configure(
                                plain, 1, NULL, 0, (rocprofiler_buffer_id_t){buffer.handle + 99}));
    FAILS(INVALID_ARGUMENT, buffer_create(plain, 0, 0, ROCPROFILER_BUFFER_POLICY_DISCARD, on_buffer,
                                          NULL, &retire_buffer));
    FAILS(INVALID_ARGUMENT, buffer_create(plain, 4096, 0, ROCPROFILER_BUFFER_POLICY_NONE, on_buffer,
                                          NULL, &retire_buffer));
    FAILS(INVALID_ARGUMENT, buffer_create(plain, 4096, 0, ROCPROFILER_BUFFER_POLICY_DISCARD, NULL,
                                          NULL, &retire_buffer));
    FAILS(CONTEXT_NOT_FOUND, buffer_create(bad, 4096, 0, ROCPROFILER_BUFFER_POLICY_DISCARD,
                                           on_buffer, NULL, &retire_buffer));
    FAILS(
        SERVICE_ALREADY_CONFIGURED,
        buffer_create(plain, 4096, 0, ROCPROFILER_BUFFER_POLICY_DISCARD, on_buffer, NULL, &buffer));
    FAILS(THREAD_NOT_FOUND, callback_thread_assign(buffer, (rocprofiler_callback_thread_t){77}));
    FAILS(INVALID_ARGUMENT, callback_thread_create(NULL));
}

static int tool_initialize(rocprofiler_client_finalize_t fini, void *data)
{
    const rocprofiler_tracing_operation_t ops[] = {OP, OTHER_OP};
    assert_ptr_equal(data, &finalize);
    finalize = fini;
    OK(context_create(&plain));
    OK(context_create(&second));
    OK(buffer_create(plain, 4000, 4096, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, &records,
                     &buffer));
    configure_errors();
    OK(buffer_service_configure(plain, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, ops, 2, buffer));
    FAILS(SERVICE_ALREADY_CONFIGURED,
          buffer_service_configure(plain, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, ops, 2, buffer));
    OK(callback_service_configure(second, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, ops, 1,
                                  on_call, calls));
    rocprofiler_callback_thread_t thread = {0};
    OK(callback_thread_create(&thread));
    OK(buffer_create(second, 4096, 4096, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_retirement, NULL,
                     &retire_buffer));
    OK(callback_thread_assign(retire_buffer, thread));
    OK(buffer_service_configure(second, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL,
                                0, retire_buffer));
    for (int i = 0; i < 2; i++) {
        OK(context_create(&conflicting[i]));
        OK(service_add(conflicting[i], SERVICE_DISPATCH_COUNTING, &plain_ops, NULL));
        FAILS(AGENT_DISPATCH_CONFLICT,
              service_add(conflicting[i], SERVICE_DEVICE_COUNTING, &plain_ops, NULL));
    }
    OK(service_add(second, SERVICE_PC_SAMPLING, &plain_ops, NULL));
    OK(service_add(conflicting[1], SERVICE_THREAD_TRACE, &refusing, NULL));
    OK(context_create(&asked));
    OK(callback_service_configure(asked, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0,
                                  on_call, calls));
    const rocprofiler_external_correlation_id_request_kind_t dispatches =
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH;
    OK(request_service_configure(asked, &dispatches, 1, on_request, NULL));
    const rocprofiler_tracing_operation_t init = 0;
    for (int i = 0; i <= TRACE_SUBSCRIBERS_MAX; i++) {
        OK(context_create(&many[i]));
        OK(callback_service_configure(many[i], ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API, &init,
                                      1, on_call, calls));
    }
    return 0;
}

static void tool_finalize(void *data)
{
    assert_ptr_equal(data, &finalize);
    assert_int_equal(session_finalized_status(), -1);
    assert_false(context_is_active(plain));
    assert_null(trace_set_load(TRACE_HSA_CORE_API, OP));
    fini_calls++;
}

static rocprofiler_tool_configure_result_t *configure(uint32_t version, const char *runtime_version,
                                                      uint32_t priority,
                                                      rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, tool_initialize,
                                                         tool_finalize, &finalize};
    assert_int_equal(version, 10000);
    assert_string_equal(runtime_version, "1.0.0");
    assert_int_equal(priority, 0);
    assert_int_equal(session_initialized_status(), -1);
    client = id;
    id->name = "session test";
    return &result;
}

__attribute__((noinline)) static void traced_call(int32_t op, unsigned *depth)
{
    const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, op);
    if (!set)
        return;
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    struct trace_frame frame;
    trace_api_enter(&frame, set, TRACE_HSA_CORE_API, op, &data);
    if (depth && (*depth)-- > 1)
        traced_call(op, depth);
    trace_api_exit(&frame);
}

static void before_configuration(void **state)
{
    (void)state;
    rocprofiler_context_id_t id = {0};
    assert_int_equal(session_initialized_status(), 0);
    FAILS(CONFIGURATION_LOCKED, context_create(&id));
    FAILS(CONTEXT_NOT_FOUND, context_start((rocprofiler_context_id_t){1}));
    FAILS(BUFFER_NOT_FOUND, buffer_flush((rocprofiler_buffer_id_t){1}));
    OK(session_force_configure(configure));
    assert_int_equal(session_initialized_status(), 1);
    FAILS(CONFIGURATION_LOCKED, session_force_configure(configure));
    FAILS(CONFIGURATION_LOCKED, context_create(&id));
    FAILS(CONFIGURATION_LOCKED, callback_service_configure(plain, 1, NULL, 0, on_call, NULL));
    FAILS(CONFIGURATION_LOCKED, service_add(plain, SERVICE_PC_SAMPLING, &plain_ops, NULL));
}

static void only_configured_operations_get_wrappers(void **state)
{
    (void)state;
    assert_true(trace_is_configured(TRACE_HSA_CORE_API, OP));
    assert_true(trace_is_configured(TRACE_HSA_CORE_API, OTHER_OP));
    assert_false(trace_is_configured(TRACE_HSA_CORE_API, OP + 1));
    assert_false(trace_is_configured(TRACE_HSA_CORE_API, -1));
    assert_false(trace_is_configured(TRACE_HSA_CORE_API, 1 << 20));
    assert_false(trace_domain_is_configured(TRACE_HIP_RUNTIME_API));
    assert_true(trace_domain_is_configured(TRACE_HSA_CORE_API));
    assert_true(trace_counting_is_configured()); /* by contexts other than the first */
}

static void stopped_contexts_see_nothing(void **state)
{
    (void)state;
    assert_null(trace_set_load(TRACE_HSA_CORE_API, OP));
    FAILS(CONTEXT_NOT_FOUND, context_stop(plain));
    OK(context_start(plain));
    OK(context_start(plain));
    assert_true(context_is_active(plain));
    assert_non_null(trace_set_load(TRACE_HSA_CORE_API, OP));
    assert_null(trace_set_load(TRACE_HSA_CORE_API, OP + 1));
    const struct trace_set *set = trace_set_load(TRACE_HSA_CORE_API, OP);
    OK(context_stop(plain));
    assert_null(trace_set_load(TRACE_HSA_CORE_API, OP));
    OK(context_start(plain)); /* an equal set is the same object: nothing grows */
    assert_ptr_equal(trace_set_load(TRACE_HSA_CORE_API, OP), set);
    OK(context_stop(plain));
}

static void records_carry_time_thread_and_ids(void **state)
{
    (void)state;
    unsigned depth = 3;
    record_count = 0;
    OK(context_start(plain));
    uint64_t before = clock_now_ns();
    traced_call(OP, &depth);
    uint64_t after = clock_now_ns();
    OK(context_stop(plain));
    traced_call(OP, NULL);
    OK(buffer_flush(buffer));
    assert_int_equal(record_count, 3);
    for (unsigned i = 0; i < 3; i++) { /* innermost first */
        const rocprofiler_buffer_tracing_hsa_api_record_t *r = &records[i];
        assert_int_equal(r->size, sizeof *r);
        assert_int_equal(r->operation, OP);
        assert_int_equal(r->thread_id, syscall(SYS_gettid));
        assert_true(r->start_timestamp <= r->end_timestamp);
        assert_true(r->start_timestamp + 1000 >= before && r->end_timestamp <= after + 1000);
        uint64_t parent = i < 2 ? records[i + 1].correlation_id.internal : 0;
        assert_int_equal(r->correlation_id.ancestor, parent);
        assert_true(r->correlation_id.internal > parent);
        assert_int_equal(r->correlation_id.external.value, 0);
        if (i < 2)
            assert_true(r->start_timestamp >= records[i + 1].start_timestamp);
    }
}

static void callbacks_come_in_pairs(void **state)
{
    (void)state;
    call_count = 0;
    OK(context_start(second));
    traced_call(OP, NULL);
    traced_call(OTHER_OP, NULL); /* the callback service asked for OP only */
    OK(context_stop(second));
    assert_int_equal(call_count, 2);
    assert_int_equal(calls[0].record.phase, ROCPROFILER_CALLBACK_PHASE_ENTER);
    assert_int_equal(calls[1].record.phase, ROCPROFILER_CALLBACK_PHASE_EXIT);
    assert_int_equal(calls[0].user_data, 1000);
    assert_int_equal(calls[1].user_data, 1000);
    assert_int_equal(calls[0].record.context_id.handle, second.handle);
    assert_int_equal(calls[0].record.kind, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API);
    assert_int_equal(calls[0].record.operation, OP);
    assert_int_equal(calls[1].record.correlation_id.internal,
                     calls[0].record.correlation_id.internal);
    assert_non_null(calls[0].record.payload);
}

static void external_ids_are_per_thread_and_context(void **state)
{
    (void)state;
    rocprofiler_thread_id_t self = (rocprofiler_thread_id_t)syscall(SYS_gettid);
    rocprofiler_user_data_t value = {.value = 42}, popped = {0};
    FAILS(INVALID_ARGUMENT, external_push(plain, 0, value));
    FAILS(INVALID_ARGUMENT, external_push(plain, 1u << 30, value));
    FAILS(CONTEXT_NOT_FOUND, external_push((rocprofiler_context_id_t){5}, self, value));
    OK(external_push(plain, self, value));
    record_count = call_count = 0;
    OK(context_start(plain));
    OK(context_start(second));
    traced_call(OP, NULL);
    OK(external_pop(plain, self, &popped));
    assert_int_equal(popped.value, 42);
    traced_call(OP, NULL);
    OK(context_stop(plain));
    OK(context_stop(second));
    OK(buffer_flush(buffer));
    assert_int_equal(record_count, 2);
    assert_int_equal(records[0].correlation_id.external.value, 42);
    assert_int_equal(records[1].correlation_id.external.value, 0);
    assert_int_equal(calls[0].record.correlation_id.external.value, 0); /* other context */
    OK(external_pop(plain, self, NULL));                                /* empty: no crash */
}

static void a_dispatch_is_asked_for_its_id_once(void **state)
{
    (void)state;
    enum { ENQUEUE = ROCPROFILER_KERNEL_DISPATCH_ENQUEUE };
    enum { COMPLETE = ROCPROFILER_KERNEL_DISPATCH_COMPLETE };
    struct trace_event event;
    char payload[8];
    call_count = requests = 0;
    OK(context_start(asked));
    assert_true(trace_event_open(&event, TRACE_KERNEL_DISPATCH, ENQUEUE));
    trace_event_call(&event, ENQUEUE, ROCPROFILER_CALLBACK_PHASE_ENTER, payload);
    assert_true(trace_event_recapture(&event, COMPLETE));
    trace_event_call(&event, ENQUEUE, ROCPROFILER_CALLBACK_PHASE_EXIT, payload);
    trace_event_call(&event, COMPLETE, ROCPROFILER_CALLBACK_PHASE_NONE, payload);
    trace_event_release(&event);
    OK(context_stop(asked));
    assert_int_equal(requests, 1);
    assert_int_equal(call_count, 3);
    for (unsigned i = 0; i < call_count; i++)
        assert_int_equal(calls[i].record.correlation_id.external.value, 500);
}

static void ids_retire_after_their_last_work(void **state)
{
    (void)state;
    OK(buffer_flush(retire_buffer));
    retired_count = 0;
    OK(context_start(second));
    struct trace_event event;
    rocprofiler_callback_tracing_hsa_api_data_t data = {.size = sizeof data};
    struct trace_frame frame;
    trace_api_enter(&frame, trace_set_load(TRACE_HSA_CORE_API, OP), TRACE_HSA_CORE_API, OP, &data);
    trace_event_open_unwatched(&event, TRACE_KERNEL_DISPATCH);
    assert_int_equal(event.correlation_id.internal, frame.internal);
    trace_api_exit(&frame);
    OK(buffer_flush(retire_buffer));
    assert_int_equal(retired_count, 0);
    trace_event_release(&event);
    OK(buffer_flush(retire_buffer));
    assert_int_equal(retired_count, 1);
    assert_int_equal(retired[0], frame.internal);
    traced_call(OP, NULL); /* no work: retires with its exit */
    OK(context_stop(second));
    OK(buffer_flush(retire_buffer));
    assert_int_equal(retired_count, 2);
}

/* Code objects and the start of a runtime: nobody's work, also inside of a call. */
static void what_is_nobodys_work_has_no_id(void **state)
{
    static const enum trace_domain domain[] = {TRACE_CODE_OBJECT, TRACE_RUNTIME_INITIALIZATION};
    (void)state;
    struct trace_frame frame;
    OK(context_start(second));
    OK(buffer_flush(retire_buffer));
    retired_count = 0;
    for (int is_inside = 0; is_inside < 2; is_inside++)
        for (size_t i = 0; i < sizeof domain / sizeof *domain; i++) {
            struct trace_event event;
            if (is_inside)
                trace_api_enter(&frame, trace_set_load(TRACE_HSA_CORE_API, OP), TRACE_HSA_CORE_API,
                                OP, NULL);
            trace_event_open_unwatched(&event, domain[i]);
            assert_int_equal(event.correlation_id.internal, 0);
            assert_int_equal(event.correlation_id.ancestor, 0);
            trace_event_release(&event);
            if (is_inside)
                trace_api_exit(&frame);
        }
    OK(context_stop(second));
    OK(buffer_flush(retire_buffer));
    assert_int_equal(retired_count, 2); /* those of the calls */
}

/* Scratch memory that the runtime handles on a thread of its own; a call that it is inside of lends
 * it its id. No id is used up, so that the greatest id is the number of calls. */
static void scratch_has_the_id_of_its_call_or_none(void **state)
{
    (void)state;
    struct trace_frame before, after;
    struct trace_event alone, inside;
    OK(context_start(second));
    trace_api_enter(&before, trace_set_load(TRACE_HSA_CORE_API, OP), TRACE_HSA_CORE_API, OP, NULL);
    trace_event_open_unwatched(&inside, TRACE_SCRATCH_MEMORY);
    assert_int_equal(inside.correlation_id.internal, before.internal);
    trace_event_release(&inside);
    trace_api_exit(&before);
    trace_event_open_unwatched(&alone, TRACE_SCRATCH_MEMORY);
    assert_int_equal(alone.correlation_id.internal, 0);
    assert_int_equal(alone.correlation_id.ancestor, 0);
    trace_event_release(&alone);
    trace_api_enter(&after, trace_set_load(TRACE_HSA_CORE_API, OP), TRACE_HSA_CORE_API, OP, NULL);
    assert_int_equal(after.internal, before.internal + 1);
    trace_api_exit(&after);
    OK(context_stop(second));
}

__attribute__((noinline)) static uint64_t ancestor_of_a_call(void)
{
    struct trace_frame frame;
    trace_api_enter(&frame, trace_set_load(TRACE_HSA_CORE_API, OP), TRACE_HSA_CORE_API, OP, NULL);
    trace_api_exit(&frame);
    return frame.ancestor;
}

static void ranges_are_ancestors_of_what_they_enclose(void **state)
{
    (void)state;
    struct trace_event outer, inner, work;
    struct trace_frame frame;
    OK(context_start(second));
    OK(buffer_flush(retire_buffer));
    trace_event_open_unwatched(&outer, TRACE_MARKER_CORE_RANGE_API);
    trace_enclosure_begin(&outer);
    assert_int_equal(outer.correlation_id.ancestor, 0);
    assert_int_equal(ancestor_of_a_call(), outer.correlation_id.internal);

    trace_api_enter(&frame, trace_set_load(TRACE_HSA_CORE_API, OP), TRACE_HSA_CORE_API, OP, NULL);
    assert_int_equal(ancestor_of_a_call(), frame.internal); /* the call is closer */
    trace_event_open_unwatched(&inner, TRACE_OMPT);
    trace_enclosure_begin(&inner);
    assert_int_equal(inner.correlation_id.ancestor, frame.internal);
    assert_int_equal(ancestor_of_a_call(), inner.correlation_id.internal);
    trace_enclosure_end(&inner);
    trace_event_release(&inner);
    assert_int_equal(ancestor_of_a_call(), frame.internal);
    trace_api_exit(&frame);

    /* work that no call causes is the range's, and keeps its id alive */
    OK(buffer_flush(retire_buffer));
    retired_count = 0;
    trace_event_open_unwatched(&work, TRACE_KERNEL_DISPATCH);
    assert_int_equal(work.correlation_id.internal, outer.correlation_id.internal);
    trace_enclosure_end(&outer);
    trace_event_release(&outer);
    OK(buffer_flush(retire_buffer));
    assert_int_equal(retired_count, 0);
    trace_event_release(&work);
    OK(buffer_flush(retire_buffer));
    assert_int_equal(retired_count, 1);
    assert_int_equal(retired[0], outer.correlation_id.internal);
    assert_int_equal(ancestor_of_a_call(), 0);
    OK(context_stop(second));
}

static void ranges_end_in_any_order_and_depth(void **state)
{
    (void)state;
    enum { DEEP = 300 };
    static struct trace_event events[DEEP];
    OK(context_start(second));
    for (int i = 0; i < 3; i++) {
        trace_event_open_unwatched(&events[i], TRACE_OMPT);
        trace_enclosure_begin(&events[i]);
    }
    trace_enclosure_end(&events[1]);
    assert_int_equal(ancestor_of_a_call(), events[2].correlation_id.internal);
    trace_enclosure_end(&events[2]);
    assert_int_equal(ancestor_of_a_call(), events[0].correlation_id.internal);
    trace_enclosure_end(&events[2]); /* not open any more */
    trace_enclosure_end(&events[0]);
    assert_int_equal(ancestor_of_a_call(), 0);
    for (int i = 0; i < DEEP; i++) {
        trace_event_open_unwatched(&events[i], TRACE_MARKER_CORE_RANGE_API);
        trace_enclosure_begin(&events[i]);
        if (i == 40)
            assert_int_equal(ancestor_of_a_call(), events[i].correlation_id.internal);
    }
    assert_int_not_equal(ancestor_of_a_call(), 0); /* the deepest that is kept */
    for (int i = DEEP - 1; i >= 0; i--) {
        if (i == 40)
            assert_int_equal(ancestor_of_a_call(), events[i].correlation_id.internal);
        trace_enclosure_end(&events[i]);
        trace_event_release(&events[i]);
    }
    assert_int_equal(ancestor_of_a_call(), 0);
    OK(context_stop(second));
    OK(buffer_flush(retire_buffer));
}

static void conflicts_are_refused(void **state)
{
    (void)state;
    OK(context_start(conflicting[0]));
    FAILS(CONTEXT_CONFLICT, context_start(conflicting[1]));
    assert_int_equal(no_start_calls, 0);
    OK(context_stop(conflicting[0]));
    FAILS(HSA_NOT_LOADED, context_start(conflicting[1]));
    assert_int_equal(no_start_calls, 1);
    assert_int_equal(rival_status, ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT);
    assert_false(context_is_active(conflicting[1]));
    OK(context_start(conflicting[0]));
    OK(context_stop(conflicting[0]));
}

static void one_listener_too_many_is_refused(void **state)
{
    (void)state;
    int said[2], standard_error = dup(STDERR_FILENO);
    assert_int_equal(pipe2(said, O_NONBLOCK), 0);
    dup2(said[1], STDERR_FILENO);
    for (int i = 0; i < TRACE_SUBSCRIBERS_MAX; i++)
        OK(context_start(many[i]));
    dup2(standard_error, STDERR_FILENO);
    assert_int_equal(read(said[0], &(char){0}, 1), -1); /* all of them are heard: no warning */
    close(standard_error);
    close(said[0]);
    close(said[1]);
    FAILS(OUT_OF_RESOURCES, context_start(many[TRACE_SUBSCRIBERS_MAX]));
    call_count = 0;
    const struct trace_set *set = trace_set_load(TRACE_HSA_AMD_EXT_API, 0);
    struct trace_frame frame;
    trace_api_enter(&frame, set, TRACE_HSA_AMD_EXT_API, 0, NULL);
    trace_api_exit(&frame);
    assert_int_equal(call_count, 2 * TRACE_SUBSCRIBERS_MAX);
    for (int i = 0; i < TRACE_SUBSCRIBERS_MAX; i++)
        OK(context_stop(many[i]));
}

static void finalisation_delivers_and_locks(void **state)
{
    (void)state;
    record_count = 0;
    OK(context_start(plain));
    traced_call(OP, NULL);
    finalize(*client);
    assert_int_equal(fini_calls, 1);
    assert_int_equal(record_count, 1);
    assert_int_equal(session_finalized_status(), 1);
    FAILS(FINALIZED, buffer_flush(buffer));
    FAILS(CONFIGURATION_LOCKED, context_start(plain));
    OK(context_stop(plain));
    session_finalize();
    finalize(*client);
    assert_int_equal(fini_calls, 1);
    traced_call(OP, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_configuration),
        cmocka_unit_test(only_configured_operations_get_wrappers),
        cmocka_unit_test(stopped_contexts_see_nothing),
        cmocka_unit_test(records_carry_time_thread_and_ids),
        cmocka_unit_test(callbacks_come_in_pairs),
        cmocka_unit_test(external_ids_are_per_thread_and_context),
        cmocka_unit_test(a_dispatch_is_asked_for_its_id_once),
        cmocka_unit_test(ids_retire_after_their_last_work),
        cmocka_unit_test(what_is_nobodys_work_has_no_id),
        cmocka_unit_test(scratch_has_the_id_of_its_call_or_none),
        cmocka_unit_test(ranges_are_ancestors_of_what_they_enclose),
        cmocka_unit_test(ranges_end_in_any_order_and_depth),
        cmocka_unit_test(conflicts_are_refused),
        cmocka_unit_test(one_listener_too_many_is_refused),
        cmocka_unit_test(finalisation_delivers_and_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
