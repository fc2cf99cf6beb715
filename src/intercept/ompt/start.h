/* The OpenMP side of interception, for runtimes.c. */
#ifndef INTERCEPT_OMPT_START_H
#define INTERCEPT_OMPT_START_H

#include <rocprofiler-sdk/ompt/omp-tools.h>

#include "model/runtime.h"

/*
 * What the OpenMP runtime is answered when it asks for a tool. Tools must have configured their
 * contexts, OMPT among them: only configured events are registered. NULL when a runtime has been
 * answered before. Any thread.
 */
struct ompt_start_tool_result_t *intercept_ompt_start(void);

extern const struct runtime_ops ompt_runtime_ops;

#endif
