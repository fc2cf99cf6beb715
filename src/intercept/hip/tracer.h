/* What gen/hip_tracer.py makes for hip/tracer.c: releases whose tracer callback we know. Internal
 * to this folder. */
#ifndef INTERCEPT_HIP_TRACER_H
#define INTERCEPT_HIP_TRACER_H

#include <rocprofiler-sdk/hip.h>
#include <stdint.h>

#include "model/api_texts.h"

/* Bytes of the library's hip_api_data_t that are an argument of the SDK's. */
struct hip_tracer_copy {
    uint16_t from, to, size_bytes;
};

struct hip_tracer_function {
    uint16_t name;         /* place in api_texts; 0: no function has this id */
    uint16_t first, count; /* of hip_tracer_copies */
};

struct hip_tracer_release {
    int major, minor;
    uint32_t data_size_bytes; /* of hip_api_data_t */
    uint32_t function_count;
    const uint16_t *functions; /* by the library's id; places in hip_tracer_functions */
};
extern const struct hip_tracer_copy hip_tracer_copies[];
extern const struct hip_tracer_function hip_tracer_functions[]; /* of all releases */
extern const struct hip_tracer_release hip_tracer_releases[];
extern const uint32_t hip_tracer_release_count;

static inline const struct hip_tracer_function *
hip_tracer_function(const struct hip_tracer_release *release, uint32_t id)
{
    return &hip_tracer_functions[release->functions[id]];
}

static inline const char *hip_tracer_name(const struct hip_tracer_release *release, uint32_t id)
{
    return api_texts + hip_tracer_function(release, id)->name;
}

#endif
