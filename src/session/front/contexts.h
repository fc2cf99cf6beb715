/* Contexts: what starts and stops together. */
#ifndef SESSION_FRONT_CONTEXTS_H
#define SESSION_FRONT_CONTEXTS_H

#include "model/service.h"

#include <rocprofiler-sdk/context.h>

rocprofiler_status_t context_create(rocprofiler_context_id_t *id);
/* For front ends whose interface has no configuration: any time, any thread, owned by no tool.
 * Tools are found first. `owner` is for messages and stays. */
rocprofiler_status_t context_create_front(const char *owner, rocprofiler_context_id_t *id);
rocprofiler_status_t context_start(rocprofiler_context_id_t id);
rocprofiler_status_t context_stop(rocprofiler_context_id_t id);
bool context_is_active(rocprofiler_context_id_t id);

#endif
