/* Launches of HIP's graphs (--hip-graph-trace). */
#ifndef COLLECT_GRAPHS_H
#define COLLECT_GRAPHS_H

#include <rocprofiler-sdk/fwd.h>

#include "launch/settings.h"

/* Nothing, where nobody wants them. */
rocprofiler_status_t graphs_configure(rocprofiler_context_id_t context,
                                      rocprofiler_buffer_id_t buffer,
                                      const struct settings *settings);

#endif
