/* The libraries that offer API tables through rocprofiler-register, HSA apart, for session. */
#ifndef INTERCEPT_TABLE_INSTALL_H
#define INTERCEPT_TABLE_INSTALL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Puts wrappers into the slots that configured services need. `library` is the name under which it
 * registers ("hip", "hip_compiler", "roctx" ...), `tables` are its tables in the order of
 * registration, none NULL. Tools must have configured their contexts. Any thread; a table that
 * comes again gets back the wrappers that it lost. False: the library is unknown, or nothing of it
 * can be traced, with a message.
 */
bool intercept_table_install(const char *library, void **tables, uint64_t library_version);

#endif
