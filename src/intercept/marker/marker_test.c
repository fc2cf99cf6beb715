#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk/marker.h>

#include "intercept/marker/marker.h"
#include "model/trace.h"

/* A double of session: what is configured, who listens, and what was reported. */
_Atomic(const struct trace_set *) trace_slots[TRACE_DOMAIN_COUNT][TRACE_OPERATIONS_MAX];
static const struct trace_set somebody = {.has_callbacks = true, .wants_args = true};

static struct {
    int enters, exits;
    int32_t operation;
    enum trace_domain domain;
    rocprofiler_callback_tracing_marker_api_data_t data; /* as it was at the exit */
} seen;

bool trace_is_configured(enum trace_domain domain, int32_t operation)
{
    return !(domain == TRACE_MARKER_CORE_API &&
             operation == ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop);
}

void trace_api_enter(struct trace_frame *frame, const struct trace_set *set,
                     enum trace_domain domain, int32_t operation, void *payload)
{
    frame->set = set;
    frame->payload = payload;
    seen.enters++;
    seen.domain = domain;
    seen.operation = operation;
}

void trace_api_exit(struct trace_frame *frame)
{
    seen.exits++;
    seen.data = *(rocprofiler_callback_tracing_marker_api_data_t *)frame->payload;
}

/* A double of the library. */
static const char *marked;
static void mark(const char *message)
{
    marked = message;
}

static int push(const char *message)
{
    marked = message;
    return 5;
}

static roctx_range_id_t start(const char *message)
{
    marked = message;
    return UINT64_C(1) << 40;
}

static void stop(roctx_range_id_t id)
{
    (void)id;
}

static roctxCoreApiTable_t core = {sizeof core, mark, push, NULL, start, stop, NULL};
static roctxControlApiTable_t control = {sizeof(uint64_t), NULL, NULL}; /* an older, shorter one */
static roctxNameApiTable_t name = {sizeof name, NULL, NULL, NULL, NULL};

static void only_configured_slots_that_exist_are_wrapped(void **state)
{
    (void)state;
    void *tables[] = {&core, &control, &name};
    assert_true(intercept_marker_install(tables, 10000));
    assert_ptr_not_equal(core.roctxMarkA_fn, mark);
    assert_ptr_not_equal(core.roctxRangePushA_fn, push);
    assert_ptr_equal(core.roctxRangeStop_fn, stop);
    assert_null(core.roctxRangePop_fn);
    assert_null(control.roctxProfilerPause_fn);
    assert_false(intercept_marker_install(tables, 10000)); /* not twice: it would call itself */
}

static void nobody_listens_and_the_call_passes(void **state)
{
    (void)state;
    core.roctxMarkA_fn("quiet");
    assert_string_equal(marked, "quiet");
    assert_int_equal(core.roctxRangePushA_fn("quiet too"), 5);
    assert_int_equal(seen.enters, 0);
}

static void a_call_is_reported_with_arguments_and_result(void **state)
{
    (void)state;
    int32_t operation = ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA;
    trace_slots[TRACE_MARKER_CORE_API][operation] = &somebody;
    assert_true(core.roctxRangeStartA_fn("range") == UINT64_C(1) << 40);
    assert_int_equal(seen.enters, 1);
    assert_int_equal(seen.exits, 1);
    assert_int_equal(seen.domain, TRACE_MARKER_CORE_API);
    assert_int_equal(seen.operation, operation);
    assert_int_equal(seen.data.size, sizeof seen.data);
    assert_string_equal(seen.data.args.roctxRangeStartA.message, "range");
    assert_true(seen.data.retval.roctx_range_id_t_retval == UINT64_C(1) << 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_configured_slots_that_exist_are_wrapped),
        cmocka_unit_test(nobody_listens_and_the_call_passes),
        cmocka_unit_test(a_call_is_reported_with_arguments_and_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
