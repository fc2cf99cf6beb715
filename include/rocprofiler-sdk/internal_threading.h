/* Threads that the library creates: who delivers buffers, and notice of their creation. */
#ifndef ROCPROFILER_SDK_INTERNAL_THREADING_H
#define ROCPROFILER_SDK_INTERNAL_THREADING_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

ROCPROFILER_SDK_EXPERIMENTAL
typedef void (*rocprofiler_internal_thread_library_cb_t)(rocprofiler_runtime_library_t, void *);

/** Calls before and after a library of the mask `libs` creates a thread, on the creating thread. */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_at_internal_thread_create(rocprofiler_internal_thread_library_cb_t precreate,
                                      rocprofiler_internal_thread_library_cb_t postcreate, int libs,
                                      void *data) ROCPROFILER_API;

typedef struct ROCPROFILER_SDK_EXPERIMENTAL rocprofiler_callback_thread_t {
    uint64_t handle;
} rocprofiler_callback_thread_t;

ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_create_callback_thread(rocprofiler_callback_thread_t *cb_thread_id) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/** Buffers without a thread of their own share one. */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_assign_callback_thread(rocprofiler_buffer_id_t buffer_id,
                                   rocprofiler_callback_thread_t cb_thread_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
