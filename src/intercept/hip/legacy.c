/*
 * HIP up to 5.2: hipRegisterActivityCallback and hipRegisterApiCallback.
 *
 * A traced call makes the library call us four times on the calling thread: activity (argument
 * NULL: give me a hip_api_data_t, or NULL for "not interested"), API with phase 0, API with phase
 * 1, activity with our argument. Calls nest.
 */
#include "intercept/hip/library.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hip/calls.h"
#include "intercept/hip/launches.h"

typedef void (*api_callback_fn)(uint32_t domain, uint32_t id, const void *data, void *argument);
typedef void *(*activity_callback_fn)(uint32_t id, void *record, const void *data, void *argument);

static struct {
    int (*api_register)(uint32_t id, void *callback, void *argument);
    int (*activity_register)(uint32_t id, void *callback, void *argument);
    const char *(*api_name)(uint32_t id);
    int (*last_error)(void);
    int (*api_remove)(uint32_t id);
    int (*activity_remove)(uint32_t id);
} hip;

static const struct library_symbol symbols[] = {
    {"hipRegisterApiCallback", &hip.api_register},
    {"hipRegisterActivityCallback", &hip.activity_register},
    {"hipApiName", &hip.api_name},
    {"hipPeekAtLastError", &hip.last_error}, /* of this generation: the latest call's result */
};

static const struct library_symbol removers[] = {
    {"hipRemoveApiCallback", &hip.api_remove},
    {"hipRemoveActivityCallback", &hip.activity_remove},
};

/* Some call has come to us. Writers: calling threads. Reader: who fits the hooks (relaxed: only
 * calls that were over, or had not begun, when the hooks were made have not said so). */
static _Atomic bool called;

static void *on_activity(uint32_t id, void *record, const void *data, void *argument)
{
    (void)record;
    (void)data;
    if (argument) {
        hip_call_close();
        return NULL;
    }
    if (!atomic_load_explicit(&called, memory_order_relaxed))
        atomic_store_explicit(&called, true, memory_order_relaxed);
    const struct hip_interest interest = hip_call_interest(id);
    struct hip_call *call = hip_call_open(&interest);
    if (!call)
        return NULL;
    hip_legacy_phase_set(call->data, 0);
    hip_data_correlate(call->data, call);
    return call->data;
}

static void on_api(uint32_t domain, uint32_t id, const void *data, void *argument)
{
    struct hip_call *call = hip_call_innermost();
    (void)domain;
    (void)argument;
    if (!call || call->data != data)
        return;
    if (hip_legacy_phase(data) == 0)
        hip_call_enter(call, id, data);
    else
        hip_call_exit(call);
}

static bool arguments_match(void)
{
    for (uint32_t id = 1; id < HIP_IDS_MAX; id++) {
        const char *name = hip.api_name(id);
        if (name && strcmp(name, "unknown") != 0 && !hip_legacy_id_matches(id, name)) {
            log_warning("intercept", "this HIP release's argument structures are unknown: HIP "
                                     "calls are traced without arguments");
            return false;
        }
    }
    return true;
}

/* One more than the largest id with a hook, and are they in place? Whoever holds the arming lock.
 */
static uint32_t hooks_end;
static bool hooked;

static bool hook(uint32_t id)
{
    static char argument; /* its address only has to differ from NULL */
    return hip.activity_register(id, (void *)(activity_callback_fn)on_activity, &argument) == 0 &&
           hip.api_register(id, (void *)(api_callback_fn)on_api, &argument) == 0;
}

static bool unhook(uint32_t id)
{
    return hip.api_remove(id) == 0 && hip.activity_remove(id) == 0;
}

static bool hooks_change(bool (*change)(uint32_t id))
{
    for (uint32_t id = 1; id < hooks_end; id++)
        if (hip_calls_known(id) && !change(id))
            return false;
    return hooks_end > 0;
}

/* Who counts kernels keeps them, too: kernels that HIP times have signals, which end when values
 * are there. */
static bool calls_are_wanted(void)
{
    static const enum trace_domain domains[] = {
        TRACE_HIP_RUNTIME_API, TRACE_HIP_COMPILER_API,       TRACE_HIP_STREAM,   TRACE_HIP_GRAPH,
        TRACE_HIP_EVENT,       TRACE_RUNTIME_INITIALIZATION, TRACE_HIP_OPERATION};
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        if (trace_domain_is_configured(domains[i]))
            return true;
    return trace_counting_is_configured();
}

/*
 * Before HIP's first call all functions are hooked at once, because who wants what is known only
 * then. With a single hook in place, HIP times each command and allocates for that. Hooks are taken
 * away only while no call has come by them: a release that holds a function's entry for as long as
 * a call lasts would wait for it, perhaps from within its own callback. 5.2.3 holds it while it
 * copies the entry.
 */
bool legacy_calls_fit(void)
{
    bool wanted = calls_are_wanted();
    if (!hip.activity_remove || wanted == hooked ||
        (!wanted && atomic_load_explicit(&called, memory_order_relaxed)))
        return false;
    hooked = wanted;
    if (!hooks_change(wanted ? hook : unhook))
        log_warning("intercept", "HIP does not change its callbacks");
    return !wanted;
}

bool legacy_arm(void (*ready)(void))
{
    if (!hip_legacy_has_arguments ||
        !library_symbols_find(symbols, sizeof symbols / sizeof symbols[0]))
        return false;
    library_initialise((void *)hip.api_name);
    bool known = arguments_match();
    const struct hip_calls_setup setup = {
        .api_name = hip.api_name,
        .result = hip.last_error,
        .ready = ready,
        .data_size_bytes = hip_legacy_data_size(),
        .arguments = known ? hip_legacy_arguments : NULL,
        .kernel_names = known && launches_prepare(),
        .transfer_sizes = known,
    };
    hooks_end = hip_calls_prepare(&setup);
    hooked = hooks_change(hook);
    if (!hooked)
        return false;
    if (!library_symbols_find(removers, sizeof removers / sizeof removers[0]))
        hip.activity_remove = NULL;
    legacy_operations_arm();
    return true;
}
