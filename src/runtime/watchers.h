/* Tools that wrap tables themselves (rocprofiler_at_intercept_table_registration). */
#ifndef RUNTIME_WATCHERS_H
#define RUNTIME_WATCHERS_H

#include "runtime/instances.h"

/* `tables`: bits of rocprofiler_intercept_table_t; 0: all. A watcher stays for good. False: there
 * are too many. */
bool watcher_add(rocprofiler_intercept_library_cb_t callback, int tables, void *data);

/* Each watcher is told once of each table, also when tables and tools come at the same time. Calls
 * tools. */
void watchers_tell(struct runtime_instance *instance);

#endif
