/* Numbers of HIP's functions while no HIP is in the process: those of the releases that we know. */
#include "intercept/hip/arm.h"

#include <string.h>

#include "intercept/hip/tracer.h"

static const char *listed_in(const struct hip_tracer_release *release, const char *name,
                             uint32_t *id)
{
    for (uint32_t i = 1; i < release->function_count; i++) {
        const char *own = hip_tracer_name(release, i);
        if (strcmp(own, name) != 0)
            continue;
        *id = i;
        return own;
    }
    return NULL;
}

const char *intercept_hip_listed_function(const char *name, uint32_t *id)
{
    const char *own = NULL;
    for (uint32_t i = hip_tracer_release_count; i > 0 && *name && !own; i--)
        own = listed_in(&hip_tracer_releases[i - 1], name, id);
    return own;
}

uint32_t intercept_hip_listed_end(void)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < hip_tracer_release_count; i++)
        if (hip_tracer_releases[i].function_count > end)
            end = hip_tracer_releases[i].function_count;
    return end;
}
