/* libroctx64: the exported functions, all under the symbol version ROCTX_4.1. */
#include <roctracer/ext/prof_protocol.h>
#include <roctracer/roctx.h>

#include "markers.h"

/* In no public header; tracers look the symbol up. One listener for the process, NULL for none. A
 * call that is under way may still reach the former one. */
__attribute__((visibility("default"))) void roctxRegisterTracerCallback(
    int (*listener)(activity_domain_t domain, uint32_t operation, void *data));

uint32_t roctx_version_major(void)
{
    return ROCTX_VERSION_MAJOR;
}

uint32_t roctx_version_minor(void)
{
    return ROCTX_VERSION_MINOR;
}

void roctxRegisterTracerCallback(int (*listener)(activity_domain_t, uint32_t, void *))
{
    /* The domain is an enumeration there and a number here: the same argument. */
    markers_listener_set((markers_listener)(void *)listener);
}
