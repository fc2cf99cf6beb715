/* librocprofiler-sdk-roctx: the exported functions. */
#include <rocprofiler-sdk-roctx/roctx.h>

#include "markers.h"

int roctxGetThreadId(roctx_thread_id_t *tid)
{
    markers_ready();
    return MARKERS_SLOT(markers_core.thread_id)(tid);
}

int roctxProfilerPause(roctx_thread_id_t tid)
{
    markers_ready();
    return MARKERS_SLOT(markers_control.pause)(tid);
}

int roctxProfilerResume(roctx_thread_id_t tid)
{
    markers_ready();
    return MARKERS_SLOT(markers_control.resume)(tid);
}

int roctxNameOsThread(const char *text)
{
    markers_ready();
    return MARKERS_SLOT(markers_names.thread)(text);
}

int roctxNameHsaAgent(const char *text, const struct hsa_agent_s *agent)
{
    markers_ready();
    return MARKERS_SLOT(markers_names.agent)(text, agent);
}

int roctxNameHipDevice(const char *text, int device_id)
{
    markers_ready();
    return MARKERS_SLOT(markers_names.device)(text, device_id);
}

int roctxNameHipStream(const char *text, const struct ihipStream_t *stream)
{
    markers_ready();
    return MARKERS_SLOT(markers_names.stream)(text, stream);
}
