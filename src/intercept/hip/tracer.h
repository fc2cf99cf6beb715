/* What gen/hip_tracer.py makes for hip/tracer.c: releases whose tracer callback we know. Internal
 * to this folder. */
#ifndef INTERCEPT_HIP_TRACER_H
#define INTERCEPT_HIP_TRACER_H

#include <rocprofiler-sdk/hip.h>
#include <stdint.h>

/* Bytes of the library's hip_api_data_t that are an argument of the SDK's. */
struct hip_tracer_copy {
    uint16_t from, to, size_bytes;
};

struct hip_tracer_function {
    uint32_t name;         /* place in hip_tracer_names; 0: no function has this id */
    uint16_t first, count; /* of hip_tracer_copies */
};

struct hip_tracer_release {
    int major, minor;
    uint32_t data_size_bytes; /* of hip_api_data_t */
    uint32_t function_count;
    const struct hip_tracer_function *functions; /* by the library's id */
};
extern const struct hip_tracer_copy hip_tracer_copies[];
extern const char hip_tracer_names[];
extern const struct hip_tracer_release hip_tracer_releases[];
extern const uint32_t hip_tracer_release_count;

#endif
