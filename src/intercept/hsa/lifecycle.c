/* The runtime going away while the process lives on. */
#include "intercept/hsa/lifecycle.h"
#include "base/log.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/copies.h"
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
   counts; draining early is harmless. */
hsa_status_t service_hsa_shut_down(struct hsa_instance *runtime)
{
    if (!completion_drain(STALL_NS))
        log_warning("intercept", "device work was still running at hsa_shut_down and is lost");
    copies_release(runtime);
    leaving = runtime;
    hsa_status_t status = runtime->real.hsa_shut_down();
    leaving = NULL;
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
