/*
 * HIP up to 5.2: hipRegisterActivityCallback and hipRegisterApiCallback.
 *
 * A traced call makes the library call us four times on the calling thread: activity (argument
 * NULL: give me a hip_api_data_t, or NULL for "not interested"), API with phase 0, API with phase
 * 1, activity with our argument. Calls nest.
 */
#include "intercept/hip/library.h"

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
} hip;

static const struct library_symbol symbols[] = {
    {"hipRegisterApiCallback", &hip.api_register},
    {"hipRegisterActivityCallback", &hip.activity_register},
    {"hipApiName", &hip.api_name},
    {"hipPeekAtLastError", &hip.last_error}, /* of this generation: the latest call's result */
};

static void *on_activity(uint32_t id, void *record, const void *data, void *argument)
{
    (void)record;
    (void)data;
    if (argument) {
        hip_call_close();
        return NULL;
    }
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

/*
 * All at once, before HIP's first call, because who wants what is known only then. Hooks are never
 * taken away: the library removes one by waiting until no thread is inside that function, so a
 * removal from within a callback would wait for itself. What nobody configured costs one call that
 * returns NULL.
 */
static bool hook_all(uint32_t id_end)
{
    static char argument; /* its address only has to differ from NULL */
    for (uint32_t id = 1; id < id_end; id++) {
        if (!hip_calls_known(id))
            continue;
        if (hip.activity_register(id, (void *)(activity_callback_fn)on_activity, &argument) != 0 ||
            hip.api_register(id, (void *)(api_callback_fn)on_api, &argument) != 0)
            return false;
    }
    return id_end > 0;
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
    if (!hook_all(hip_calls_prepare(&setup)))
        return false;
    legacy_operations_arm();
    return true;
}
