/* How many bytes a copying call moves, for releases whose reports of finished copies do not say it.
 * Internal to this folder. */
#ifndef INTERCEPT_HIP_TRANSFERS_H
#define INTERCEPT_HIP_TRANSFERS_H

#include <rocprofiler-sdk/hip.h>
#include <stdbool.h>
#include <stdint.h>

/* Is it a copy whose arguments tell? An operation of TRACE_HIP_RUNTIME_API. */
bool transfer_is_sized(int32_t operation);

/* 0: unknown, as for arrays, whose elements are of any size. Any thread; calls nobody. */
uint64_t transfer_bytes(int32_t operation, const rocprofiler_hip_api_args_t *arguments);

#endif
