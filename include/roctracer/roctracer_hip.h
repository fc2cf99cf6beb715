/*
 * ROCtracer and HIP. Operations and arguments of ACTIVITY_DOMAIN_HIP_API are those of HIP's own
 * hip_prof_str.h (hip_api_id_t, hip_api_data_t): a tool must be compiled with the header of the HIP
 * release that it runs with.
 */
#ifndef ROCTRACER_HIP_H_
#define ROCTRACER_HIP_H_

#include "roctracer.h"

#include "hip_ostream_ops.h"
#include <hip/amd_detail/hip_prof_str.h>

/** Operations of ACTIVITY_DOMAIN_HIP_OPS. */
typedef enum {
    HIP_OP_ID_DISPATCH = 0,
    HIP_OP_ID_COPY = 1,
    HIP_OP_ID_BARRIER = 2,
    HIP_OP_ID_NUMBER = 3
} hip_op_id_t;

#endif
