/* The libraries that offer API tables through rocprofiler-register, HSA apart. */
#ifndef INTERCEPT_TABLE_INSTALL_H
#define INTERCEPT_TABLE_INSTALL_H

#include "model/runtime.h"

/*
 * Puts wrappers into the slots that configured services need. `tables` are those of the row, in the
 * order of registration, none NULL. Tools must have configured their contexts. Any thread; a table
 * that comes again gets back the wrappers that it lost. False: there are no wrappers for that row,
 * or nothing of it can be traced, with a message.
 */
bool intercept_table_install(const struct runtime_row *row, void *const *tables,
                             uint64_t library_version);

/* For those that need nothing else. */
extern const struct runtime_ops table_runtime_ops;

#endif
