/* libroctx64: the exported functions, all under the symbol version ROCTX_4.1. */
#include <roctracer/ext/prof_protocol.h>
#include <roctracer/roctx.h>

#include "markers.h"

/* No public header has this; tracers look the symbol up. The process has one listener; NULL removes
 * it. A call that is under way may still reach the former one. */
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
    /* The domain is an enumeration there and a number here, which is passed alike. */
    markers_listener_set((markers_listener)(void *)listener);
}
