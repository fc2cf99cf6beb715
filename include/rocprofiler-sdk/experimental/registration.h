/*
 * Tools that come into a program which runs already (newer SDKs than 1.0 have this header too).
 *
 * A tool that can be attached exports rocprofiler_configure() as always, and may export
 * rocprofiler_configure_attach() beside it, in the same library. The order of calls is
 *   first attachment: rocprofiler_configure, rocprofiler_configure_attach, initialize, tool_attach
 *   detachment:       tool_detach
 *   next attachment:  tool_attach
 *   program's end:    finalize, without a tool_detach if it is attached then
 * on the thread that attaches or detaches. Contexts that `initialize` starts run while the tool is
 * attached; a tool without tool_attach needs nothing else.
 */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_REGISTRATION_H
#define ROCPROFILER_SDK_EXPERIMENTAL_REGISTRATION_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/registration.h>

ROCPROFILER_EXTERN_C_INIT

/** Detaches the tool; what `tool_attach` is given. Ignored when the tool is not attached. Not from
 * inside of a buffer callback whose buffer is still to be flushed by it. */
typedef void (*rocprofiler_client_detach_t)(rocprofiler_client_id_t);

/**
 * Start of an attachment. `context_ids` are the contexts of this tool, valid during the call; those
 * that `initialize` started are started again after it. Kernels and code objects that are loaded
 * already are reported to active contexts with code object callbacks after it.
 * Non-zero: the tool stays detached, what it started is stopped, `tool_detach` is not called.
 */
typedef int (*rocprofiler_tool_attach_t)(rocprofiler_client_detach_t detach_func,
                                         rocprofiler_context_id_t *context_ids,
                                         uint64_t context_ids_length, void *tool_data);

/** End of an attachment. The tool's contexts are stopped, its buffers delivered. */
typedef void (*rocprofiler_tool_detach_t)(void *tool_data);

typedef struct ROCPROFILER_SDK_EXPERIMENTAL rocprofiler_tool_configure_attach_result_t {
    size_t size; /**< sizeof(rocprofiler_tool_configure_attach_result_t) */
    rocprofiler_tool_attach_t tool_attach; /**< May be NULL */
    rocprofiler_tool_detach_t tool_detach; /**< May be NULL */
    void *tool_data;                       /**< Passed to both */
} rocprofiler_tool_configure_attach_result_t;

/** Exported by the tool, called once, after rocprofiler_configure() and with the same arguments.
 * NULL: the tool has nothing to do on attachment. */
ROCPROFILER_SDK_EXPERIMENTAL rocprofiler_tool_configure_attach_result_t *
rocprofiler_configure_attach(uint32_t version, const char *runtime_version, uint32_t priority,
                             rocprofiler_client_id_t *client_id) ROCPROFILER_PUBLIC_API;

typedef rocprofiler_tool_configure_attach_result_t *(*rocprofiler_configure_attach_func_t)(
    uint32_t version, const char *runtime_version, uint32_t priority,
    rocprofiler_client_id_t *client_id);

/** A runtime that has registered with rocprofiler-register. */
typedef struct ROCPROFILER_SDK_EXPERIMENTAL rocprofiler_runtime_registration_info_t {
    size_t size;
    const char *common_name;   /**< "hsa", "hip" ... ; for ever */
    uint32_t lib_version;      /**< 10000 * major + 100 * minor + patch */
    uint64_t api_table_length; /**< Number of tables */
} rocprofiler_runtime_registration_info_t;

/** `info` is valid during the call. A non-zero return ends the iteration. */
typedef int (*rocprofiler_runtime_registration_info_cb_t)(
    rocprofiler_runtime_registration_info_t *info, void *data);

/** Which runtimes have registered so far, in that order. Any thread, any time. INVALID_ARGUMENT:
 * callback is NULL. NOT_AVAILABLE: rocprofiler-register is not in this process. */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_iterate_runtime_registration_info(rocprofiler_runtime_registration_info_cb_t callback,
                                              void *data) ROCPROFILER_NONNULL(1) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
