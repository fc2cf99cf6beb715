/*
 * --replay-mode kernel: counters that need several passes come from one run, in which each kernel
 * is executed several times (the SDK's KERNEL_REPLAY). A kernel that cannot be repeated has one
 * pass, or some; its next launch goes on with those that it lacks, so that several launches have
 * them all.
 */
#ifndef COLLECT_REPEAT_H
#define COLLECT_REPEAT_H

#include <rocprofiler-sdk/rocprofiler.h>

#include <stdbool.h>

#include "launch/settings.h"

/* While the tool configures: kernels that `wants` says yes to get so many passes; 1: none is
 * repeated. `launch` is how many were launched before, which it is asked for once. */
void repeat_configure(rocprofiler_context_id_t context, unsigned pass_count,
                      bool (*wants)(const rocprofiler_kernel_dispatch_info_t *info,
                                    uint32_t launch));

/* The launching thread, before an execution of the kernel: its pass, and its launch's number. */
unsigned repeat_pass(const rocprofiler_kernel_dispatch_info_t *info, uint32_t *launch);

/* A sentence about launches that had fewer passes than their counters need. False: none had. */
bool repeat_told(char *text, size_t size);

/* The child counts its own launches. */
void repeat_fork_child(void);

#endif
