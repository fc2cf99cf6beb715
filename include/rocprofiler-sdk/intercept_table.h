/* Access to the runtimes' API tables, for tools that wrap functions themselves. */
#ifndef ROCPROFILER_SDK_INTERCEPT_TABLE_H
#define ROCPROFILER_SDK_INTERCEPT_TABLE_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/**
 * A runtime has registered. One call for each table (num_tables is 1), on the registering thread,
 * before the runtime answers its first caller. The table may be changed during the callback. The
 * library's own wrappers are in it already: a tool's wrapper is called first, and reaches the
 * library's by calling what it found in the slot. A table ends where its size says, and a slot may
 * be empty. lib_version is 10000 * major + 100 * minor + patch; lib_instance counts the copies of
 * the runtime in this process, from 0.
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

/**
 * `libs` is a mask of ::rocprofiler_intercept_table_t; 0 means every table. Before or while tools
 * are configured; afterwards ::ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED. A tool that returns
 * NULL from rocprofiler_configure still gets the tables.
 */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_at_intercept_table_registration(rocprofiler_intercept_library_cb_t callback, int libs,
                                            void *data) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
