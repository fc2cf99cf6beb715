/* rocpd: the schema of the SQLite databases that ROCm's profilers write and its tools read. */
#ifndef ROCPROFILER_SDK_ROCPD_ROCPD_H
#define ROCPROFILER_SDK_ROCPD_ROCPD_H

#include <rocprofiler-sdk-rocpd/defines.h>
#include <rocprofiler-sdk-rocpd/sql.h>
#include <rocprofiler-sdk-rocpd/types.h>
#include <rocprofiler-sdk-rocpd/version.h>

ROCPD_EXTERN_C_INIT

/** Always SUCCESS; each pointer may be NULL. */
rocpd_status_t rocpd_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch) ROCPD_API;

/** INVALID_ARGUMENT: `info` is NULL. */
rocpd_status_t rocpd_get_version_triplet(rocpd_version_triplet_t *info) ROCPD_NONNULL(1) ROCPD_API;

/** "ROCPD_STATUS_..." and a sentence; for ever. NULL: no status. */
const char *rocpd_get_status_name(rocpd_status_t status) ROCPD_API;
const char *rocpd_get_status_string(rocpd_status_t status) ROCPD_API;

ROCPD_EXTERN_C_FINI

#endif
