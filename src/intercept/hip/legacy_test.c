/* HIP's old callback interface, played by this program itself: interception finds the functions in
   the process, as it finds the library's. The protocol is the one observed on HIP 5.2.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "intercept/hip/arm.h"
#include "intercept/hip/legacy.h"
#include "intercept/hsa/test/trace_double.h"

#define EXPORTED __attribute__((visibility("default")))

enum { IDS = 512 };
static struct {
    void (*api)(uint32_t domain, uint32_t id, const void *data, void *argument);
    void *(*activity)(uint32_t id, void *record, const void *data, void *argument);
    void *api_argument, *activity_argument;
} hooks[IDS];
static hipError_t last_error;

EXPORTED hipError_t hipRegisterApiCallback(uint32_t id, void *callback, void *argument);
EXPORTED hipError_t hipRegisterActivityCallback(uint32_t id, void *callback, void *argument);
EXPORTED hipError_t hipRemoveApiCallback(uint32_t id);
EXPORTED hipError_t hipRemoveActivityCallback(uint32_t id);
EXPORTED const char *hipApiName(uint32_t id);
EXPORTED hipError_t hipPeekAtLastError(void);

hipError_t hipRegisterApiCallback(uint32_t id, void *callback, void *argument)
{
    memcpy(&hooks[id].api, &callback, sizeof callback);
    hooks[id].api_argument = argument;
    return hipSuccess;
}

hipError_t hipRegisterActivityCallback(uint32_t id, void *callback, void *argument)
{
    memcpy(&hooks[id].activity, &callback, sizeof callback);
    hooks[id].activity_argument = argument;
    return hipSuccess;
}

hipError_t hipRemoveApiCallback(uint32_t id)
{
    hooks[id].api = NULL;
    return hipSuccess;
}

hipError_t hipRemoveActivityCallback(uint32_t id)
{
    hooks[id].activity = NULL;
    return hipSuccess;
}

/* The test's own numbering: interception must match by name. */
static const char *const names[] = {NULL,       "hipMalloc",     "hipFree",
                                    "hipInit",  "hipNoSuchCall", "__hipPopCallConfiguration",
                                    "hipMemcpy"};
enum { MALLOC = 1, FREE, INIT, NO_SUCH, POP, MEMCPY };

const char *hipApiName(uint32_t id)
{
    return id > 0 && id < sizeof names / sizeof names[0] ? names[id] : "unknown";
}

/* One call of the library; `body` plays its inside, `error` is what it returns. */
static void call_play(uint32_t id, hipError_t error, void (*body)(void))
{
    void *data = hooks[id].activity ? hooks[id].activity(id, NULL, NULL, NULL) : NULL;
    if (data && hooks[id].api)
        hooks[id].api(3, id, data, hooks[id].api_argument);
    if (body)
        body();
    last_error = error;
    if (!data)
        return;
    hip_legacy_phase_set(data, 1);
    if (hooks[id].api)
        hooks[id].api(3, id, data, hooks[id].api_argument);
    hooks[id].activity(id, NULL, NULL, hooks[id].activity_argument);
}

/* Itself a traced function of the library. */
hipError_t hipPeekAtLastError(void)
{
    return last_error;
}

static int ready_count;

static void ready(void)
{
    ready_count++;
    call_play(INIT, hipSuccess, NULL); /* a tool that calls HIP while it initialises */
    double_listen(TRACE_HIP_RUNTIME_API, -1);
}

static int32_t operation_of(const char *name)
{
    for (uint32_t i = 0; i < hip_operation_count; i++)
        if (strcmp(api_texts + hip_operations[i].name, name) == 0)
            return hip_operations[i].operation;
    return -1;
}

static void arming_hooks_known_functions_and_waits(void **state)
{
    (void)state;
    double_reset();
    assert_true(intercept_hip_arm(ready));
    assert_true(intercept_hip_arm(ready));
    assert_int_equal(ready_count, 0);
    assert_non_null(hooks[MALLOC].activity);
    assert_non_null(hooks[MEMCPY].api);
    assert_null(hooks[NO_SUCH].activity);
}

static void hooks_are(bool there)
{
    assert_true((hooks[MALLOC].activity != NULL) == there);
    assert_true((hooks[MEMCPY].api != NULL) == there);
    assert_null(hooks[NO_SUCH].activity);
}

static void wanting_brings_hooks(enum trace_domain domain)
{
    double_listen(domain, -1);
    assert_false(intercept_hip_calls_want());
    hooks_are(true);
    assert_false(intercept_hip_calls_want());
    double_unlisten(domain);
    assert_true(intercept_hip_calls_want());
    hooks_are(false);
}

/* Hooked, HIP times each of its commands. */
static void hooks_that_nobody_needs_go_and_come_again(void **state)
{
    static const enum trace_domain wanted[] = {
        TRACE_HIP_RUNTIME_API, TRACE_HIP_COMPILER_API,       TRACE_HIP_STREAM,   TRACE_HIP_GRAPH,
        TRACE_HIP_EVENT,       TRACE_RUNTIME_INITIALIZATION, TRACE_HIP_OPERATION};
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    double_listen(TRACE_HSA_CORE_API, -1);
    assert_true(intercept_hip_calls_want());
    assert_false(intercept_hip_calls_want());
    hooks_are(false);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        wanting_brings_hooks(wanted[i]);
    assert_true(intercept_hip_arm(ready)); /* is no reason to hook again */
    hooks_are(false);
    double_listen(TRACE_HIP_STREAM, -1);
    assert_false(intercept_hip_calls_want());
    hooks_are(true);
    assert_int_equal(ready_count, 0);
}

static void the_first_call_lets_tools_configure_and_is_traced(void **state)
{
    (void)state;
    int32_t malloc_id = operation_of("hipMalloc");
    call_play(MALLOC, hipErrorOutOfMemory, NULL);
    call_play(FREE, hipSuccess, NULL);
    assert_int_equal(ready_count, 1);
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, malloc_id), 1);
    const struct double_entry *leave =
        double_entry(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, malloc_id, 0);
    assert_int_equal(leave->payload.hip.size, sizeof leave->payload.hip);
    assert_int_equal(leave->payload.hip.retval.hipError_t_retval, hipErrorOutOfMemory);
    assert_int_equal(double_count(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, -1), 2);
}

static void unconfigured_domains_stay_silent(void **state)
{
    (void)state;
    uint32_t before = double_count(DOUBLE_API_ENTER, TRACE_HIP_COMPILER_API, -1);
    call_play(POP, hipSuccess, NULL);
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HIP_COMPILER_API, -1), before);
}

static void inner(void)
{
    call_play(MALLOC, hipSuccess, NULL);
}

static void calls_nest(void **state)
{
    (void)state;
    uint32_t before = double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1);
    call_play(MEMCPY, hipSuccess, inner);
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1), before + 2);
    const struct double_entry *outer =
        double_entry(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, operation_of("hipMemcpy"), 0);
    const struct double_entry *enter =
        double_entry(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, operation_of("hipMemcpy"), 0);
    assert_true(outer > enter + 2); /* the inner call's two lie between */
    assert_int_equal(outer->correlation, enter->correlation);
}

static void bottomless(void)
{
    static int depth;
    if (depth++ < 40)
        call_play(MEMCPY, hipSuccess, bottomless);
}

static void endless_nesting_is_cut_not_crashed(void **state)
{
    (void)state;
    bottomless();
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1),
                     double_count(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, -1));
}

static void stopped_contexts_cost_one_question(void **state)
{
    (void)state;
    double_unlisten(TRACE_HIP_RUNTIME_API);
    uint32_t before = double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1);
    assert_null(hooks[FREE].activity(FREE, NULL, NULL, NULL));
    call_play(FREE, hipSuccess, NULL);
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1), before);
}

/* A release may hold a hook's entry while its call lasts, and wait for that. */
static void hooks_stay_once_a_call_has_come(void **state)
{
    (void)state;
    for (int i = 0; i < TRACE_DOMAIN_COUNT; i++)
        double_unlisten((enum trace_domain)i);
    assert_false(intercept_hip_calls_want());
    hooks_are(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arming_hooks_known_functions_and_waits),
        cmocka_unit_test(hooks_that_nobody_needs_go_and_come_again),
        cmocka_unit_test(the_first_call_lets_tools_configure_and_is_traced),
        cmocka_unit_test(unconfigured_domains_stay_silent),
        cmocka_unit_test(calls_nest),
        cmocka_unit_test(endless_nesting_is_cut_not_crashed),
        cmocka_unit_test(stopped_contexts_cost_one_question),
        cmocka_unit_test(hooks_stay_once_a_call_has_come),
    };
    return hip_legacy_has_arguments ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
