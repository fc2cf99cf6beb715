/* Access to the runtimes' API tables, for tools that wrap functions themselves. */
#ifndef ROCPROFILER_SDK_INTERCEPT_TABLE_H
#define ROCPROFILER_SDK_INTERCEPT_TABLE_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/**
 * A runtime has registered. The tables may be changed during the callback; the library's own
 * wrappers are installed after it, around the tool's. lib_version is 10000 * major + 100 * minor +
 * patch.
 */
ROCPROFILER_SDK_EXPERIMENTAL
typedef void (*rocprofiler_intercept_library_cb_t)(rocprofiler_intercept_table_t type,
                                                   uint64_t lib_version, uint64_t lib_instance,
                                                   void **tables, uint64_t num_tables,
                                                   void *user_data);

ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t rocprofiler_query_intercept_table_name(rocprofiler_intercept_table_t kind,
                                                            const char **name,
                                                            uint64_t *name_len) ROCPROFILER_API;

/** `libs` is a mask of ::rocprofiler_intercept_table_t. Only before or in rocprofiler_configure. */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_at_intercept_table_registration(rocprofiler_intercept_library_cb_t callback, int libs,
                                            void *data) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
