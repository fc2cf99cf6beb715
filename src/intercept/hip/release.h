/* Which release a HIP library with a tracer callback is of, and where it puts the arguments of its
 * calls. Internal to this folder. */
#ifndef INTERCEPT_HIP_RELEASE_H
#define INTERCEPT_HIP_RELEASE_H

#include "intercept/hip/calls.h"
#include "intercept/hip/tracer.h"

#include <stdbool.h>

struct hip_release {
    /* By the library's id. NULL: the library has none, no list knows it, or two releases of which
     * it may be one put its arguments in different places; then it is traced without them. */
    const struct hip_tracer_function *functions[HIP_IDS_MAX];
    uint32_t data_size_bytes; /* of hip_api_data_t */
    int major;
};

/* `code`: of the library; `name`: of its functions, "" or "unknown" or NULL where there is none.
 * False, with a message: the size of what it hands to callbacks is unknown, so that nothing may be
 * written behind it. */
bool hip_release_find(const void *code, const char *(*name)(uint32_t id),
                      struct hip_release *release);

#endif
