/* The runtime going away while the process lives on. */
#include "base/log.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/copies.h"
#include "intercept/hsa/wrappers.h"

enum { STALL_NS = 2000000000 };

static bool lifecycle_wanted(void)
{
    return true;
}

/* Only the last of nested hsa_init/hsa_shut_down pairs ends the runtime, and only the runtime
   counts; draining early is harmless. */
static hsa_status_t shut_down(void)
{
    if (!completion_drain(STALL_NS))
        log_warning("intercept", "device work was still running at hsa_shut_down and is lost");
    copies_release();
    return hsa_real.hsa_shut_down();
}

static const struct hsa_wrapper wrappers[] = {
    {HSA_FN_hsa_shut_down, (void *)shut_down},
};

const struct hsa_service hsa_service_lifecycle = {
    .name = "shut-down",
    .wanted = lifecycle_wanted,
    .wrappers = wrappers,
    .wrapper_count = sizeof wrappers / sizeof wrappers[0],
};
