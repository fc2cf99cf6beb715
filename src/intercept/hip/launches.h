/* The kernel that a launching call names, for releases whose reports of finished kernels do not say
 * it. Internal to this folder. */
#ifndef INTERCEPT_HIP_LAUNCHES_H
#define INTERCEPT_HIP_LAUNCHES_H

#include <rocprofiler-sdk/hip.h>
#include <stdbool.h>
#include <stdint.h>

/* False: the library does not tell names. */
bool launches_prepare(void);

/* Is it a launch of one known kernel? An operation of TRACE_HIP_RUNTIME_API. */
bool launch_names_kernel(int32_t operation);

/* The name, ours and kept for ever: the kernel may be gone when its report comes. On the launching
 * thread, before the call does anything; asks the library. NULL: unknown. Allocates once for each
 * name, up to some megabytes in all. */
const char *launch_kernel_name(int32_t operation, const rocprofiler_hip_api_args_t *arguments);

#endif
