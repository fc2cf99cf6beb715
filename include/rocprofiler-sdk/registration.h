/*
 * How a tool and the library meet. A tool exports rocprofiler_configure(); the library finds it
 * (in the executable, in loaded libraries, in ROCP_TOOL_LIBRARIES) before the first GPU runtime
 * starts, calls it once, then calls `initialize`, where contexts and services are configured, and
 * `finalize` when the process ends.
 */
#ifndef ROCPROFILER_SDK_REGISTRATION_H
#define ROCPROFILER_SDK_REGISTRATION_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/** Identifies a tool to the library. */
typedef struct ROCPROFILER_SDK_EXPERIMENTAL rocprofiler_client_id_t {
    size_t size;
    const char *name;      /**< Set by the tool in rocprofiler_configure(); used in messages */
    const uint32_t handle; /**< Set by the library */
} rocprofiler_client_id_t;

/** Ends the tool early: stops its contexts, flushes its buffers, calls its `finalize`. */
typedef void (*rocprofiler_client_finalize_t)(rocprofiler_client_id_t);

/** Configures the tool's services. Non-zero: the tool is dropped. */
typedef int (*rocprofiler_tool_initialize_t)(rocprofiler_client_finalize_t finalize_func,
                                             void *tool_data);

/** Last call into the tool; its contexts are stopped and its buffers delivered. At exit it comes
 * before the destruction of static objects that were made until the tool was initialised, but after
 * that of those made later, such as locals of a callback: make these while initialising. After a
 * signal, abort() or quick_exit() it runs on a thread of the library: external correlation ids are
 * those that the thread which came to its end has pushed, but thread-local variables are not its.
 */
typedef void (*rocprofiler_tool_finalize_t)(void *tool_data);

typedef struct rocprofiler_tool_configure_result_t {
    size_t size; /**< sizeof(rocprofiler_tool_configure_result_t) */
    rocprofiler_tool_initialize_t initialize;
    rocprofiler_tool_finalize_t finalize;
    void *tool_data; /**< Passed to both */
} rocprofiler_tool_configure_result_t;

/**
 * Exported by the tool, called by the library. `version` is the library's
 * ROCPROFILER_SDK_VERSION, `priority` the number of tools found before this one. NULL means that
 * the tool does not want to run in this process. `client_id` stays valid while the process lives.
 *
 * An exception that leaves this or any other function of a tool ends the process at its place, as
 * in a function that is noexcept.
 */
rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id) ROCPROFILER_PUBLIC_API;

typedef rocprofiler_tool_configure_result_t *(*rocprofiler_configure_func_t)(
    uint32_t version, const char *runtime_version, uint32_t priority,
    rocprofiler_client_id_t *client_id);

/** Configures a tool now, without waiting for a runtime. Fails once configuration is locked. */
rocprofiler_status_t
rocprofiler_force_configure(rocprofiler_configure_func_t configure_func) ROCPROFILER_API;

/** status: 0 not yet, 1 done, -1 in progress. */
rocprofiler_status_t rocprofiler_is_initialized(int *status) ROCPROFILER_API ROCPROFILER_NONNULL(1);

/** status: 0 not yet, 1 done, -1 in progress. */
rocprofiler_status_t rocprofiler_is_finalized(int *status) ROCPROFILER_API ROCPROFILER_NONNULL(1);

ROCPROFILER_EXTERN_C_FINI

#endif
