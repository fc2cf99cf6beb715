/* The runtime going away while the process lives on. */
#include "intercept/hsa/lifecycle.h"
#include "base/log.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/copies.h"
#include "intercept/hsa/dispatch.h"
#include "intercept/hsa/replay_copies.h"
#include "intercept/hsa/replay_queue.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/hsa/serialize.h"
#include "intercept/hsa/wrappers.h"

enum { STALL_NS = 2000000000 };

/* The runtime that this thread is shutting down: it tells its tools that it goes, but not which
 * runtime it is. */
static __thread struct hsa_instance *leaving __attribute__((tls_model("initial-exec")));

struct hsa_instance *lifecycle_leaving(void)
{
    return leaving;
}

static bool lifecycle_wanted(void)
{
    return true;
}

/* Only the last of nested hsa_init/hsa_shut_down pairs ends the runtime, and only the runtime
   counts. */
static bool has_gone(const struct hsa_instance *runtime)
{
    uint16_t major;
    return runtime->real.hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) ==
           HSA_STATUS_ERROR_NOT_INITIALIZED;
}

/* Draining early is harmless. What is still in flight then, a kernel that hangs, has its signals in
   memory that goes with the runtime: nobody looks at them from before that on. */
hsa_status_t service_hsa_shut_down(struct hsa_instance *runtime)
{
    if (!completion_drain(STALL_NS))
        log_warning("intercept", "device work is still running at hsa_shut_down: it is lost when "
                                 "the runtime ends with it");
    copies_release(runtime);
    replay_copies_end(runtime, true);
    completion_hold(STALL_NS);
    leaving = runtime;
    hsa_status_t status = runtime->real.hsa_shut_down();
    leaving = NULL;
    bool gone = has_gone(runtime);
    if (gone) {
        dispatch_queues_abandon(runtime);
        copies_abandon(runtime);
        serialize_abandon(runtime);
        replay_queues_end(runtime, false);
        replay_copies_end(runtime, false);
        replay_regions_forget(runtime);
    }
    completion_hold_end();
    if (gone)
        copies_abandoned(runtime);
    return status;
}

static const enum hsa_function functions[] = {
    HSA_FN_hsa_shut_down,
};

const struct hsa_service hsa_service_lifecycle = {
    .name = "shut-down",
    .wanted = lifecycle_wanted,
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};
