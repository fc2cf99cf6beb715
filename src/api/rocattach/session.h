/* One call of rocprofiler-register in another process. */
#ifndef ROCATTACH_SESSION_H
#define ROCATTACH_SESSION_H

#include <rocprofiler-sdk-rocattach/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Loads rocprofiler-register into the process when it is not there, and calls `function` of it on a
 * thread of its own, with an environment buffer and a list of tools (both may be empty). Returns
 * when it has returned. `answered`: the process has said how it went; else it was not asked, or has
 * not answered yet. */
rocattach_status_t session_call(pid_t pid, const char *function, const void *environment,
                                size_t environment_size, const char *tool, bool *answered);

#endif
