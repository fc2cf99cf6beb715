/* The OpenMP side of interception, for session. */
#ifndef INTERCEPT_OMPT_START_H
#define INTERCEPT_OMPT_START_H

#include <rocprofiler-sdk/ompt/omp-tools.h>

/*
 * What the OpenMP runtime is answered when it asks for a tool. Tools must have configured their
 * contexts, OMPT among them: only configured events are registered. NULL when a runtime has been
 * answered before. Any thread.
 */
struct ompt_start_tool_result_t *intercept_ompt_start(void);

/* As rocprofiler_ompt_is_initialized and _is_finalized report it: 0, 1, and -1 while it happens. */
int intercept_ompt_initialized(void);
int intercept_ompt_finalized(void);

#endif
