/*
 * Brings a tool into a process that runs already, and takes it away again.
 *
 * The tool is named by ROCPROF_ATTACH_TOOL_LIBRARY in the environment of the caller: a list of
 * libraries with colons, as the process would open them. The caller's variables that begin with
 * ROCP go along. Nothing needs to be set when the process starts; ROCP_TOOL_ATTACH=1 there lets the
 * tool see kernels on queues that are older than it, and gives attachers a thread of their own.
 *
 * The process is stopped for about a millisecond, by ptrace, so that one of its threads starts a
 * helper; it runs on while the tool is loaded, and is not traced between the calls. Whoever may not
 * use ptrace on it (yama/ptrace_scope, another user, a debugger that is there) cannot attach.
 *
 * Any thread. A process that has been attached to by one process is detached by the same one.
 */
#ifndef ROCPROFILER_SDK_ROCATTACH_ROCATTACH_H
#define ROCPROFILER_SDK_ROCATTACH_ROCATTACH_H

#include <rocprofiler-sdk-rocattach/defines.h>
#include <rocprofiler-sdk-rocattach/types.h>
#include <rocprofiler-sdk-rocattach/version.h>

ROCATTACH_EXTERN_C_INIT

/** Attaches; returns when the tool is there. INVALID_ARGUMENT: attached already, this very process,
 * or no tool is named. ERROR: the tool, or the process, would not. */
rocattach_status_t rocattach_attach(int pid) ROCATTACH_API;

/** Detaches; returns when the tool has been told. 0: from every process; the last error. A process
 * that could not be asked (a debugger has it, none of its threads waits) stays attached. */
rocattach_status_t rocattach_detach(int pid) ROCATTACH_API;

/** The process first, without whom nothing is done, then those of its descendants that use a GPU
 * runtime now. Returns the last error of a descendant. */
rocattach_status_t rocattach_attach_tree(int pid) ROCATTACH_API;

/** Exactly those that rocattach_attach_tree attached to for this `pid`. */
rocattach_status_t rocattach_detach_tree(int pid) ROCATTACH_API;

/** Always SUCCESS; each pointer may be NULL. */
rocattach_status_t rocattach_get_version(uint32_t *major, uint32_t *minor,
                                         uint32_t *patch) ROCATTACH_API;

/** INVALID_ARGUMENT: `info` is NULL. */
rocattach_status_t rocattach_get_version_triplet(rocattach_version_triplet_t *info)
    ROCATTACH_NONNULL(1) ROCATTACH_API;

/** "ROCATTACH_STATUS_..." and a sentence; for ever. NULL: no status. */
const char *rocattach_get_status_name(rocattach_status_t status) ROCATTACH_API;
const char *rocattach_get_status_string(rocattach_status_t status) ROCATTACH_API;

ROCATTACH_EXTERN_C_FINI

#endif
