/* The whole stable interface, except registration.h, which only tools include. */
#ifndef ROCPROFILER_SDK_ROCPROFILER_H
#define ROCPROFILER_SDK_ROCPROFILER_H

/* AMD's header brings these by way of HIP's, and its users rely on it. */
#include <assert.h>
#include <pthread.h>
#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/version.h>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/deprecated/profile_config.h>
#include <rocprofiler-sdk/deprecated/profile_counting.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/hip.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/ompt.h>
#include <rocprofiler-sdk/pc_sampling.h>
#include <rocprofiler-sdk/rccl.h>
#include <rocprofiler-sdk/rocdecode.h>
#include <rocprofiler-sdk/rocjpeg.h>
#include <rocprofiler-sdk/rocshmem.h>

ROCPROFILER_EXTERN_C_INIT

/** Of the library that is loaded, not of these headers. Any pointer may be NULL. */
rocprofiler_status_t rocprofiler_get_version(uint32_t *major, uint32_t *minor,
                                             uint32_t *patch) ROCPROFILER_API;

rocprofiler_status_t
rocprofiler_get_version_triplet(rocprofiler_version_triplet_t *info) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/** Nanoseconds of the clock that all records use. */
rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/** The calling thread, as records name it. */
rocprofiler_status_t rocprofiler_get_thread_id(rocprofiler_thread_id_t *tid) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/** "ROCPROFILER_STATUS_ERROR_BUFFER_BUSY"; NULL for a value that is no status. */
const char *rocprofiler_get_status_name(rocprofiler_status_t status) ROCPROFILER_API;

/** A sentence for people; NULL for a value that is no status. */
const char *rocprofiler_get_status_string(rocprofiler_status_t status) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
