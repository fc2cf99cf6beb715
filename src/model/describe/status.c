#include "model/describe/status.h"

#include <stdint.h>

#include "status_texts.inc"

_Static_assert(sizeof(statuses) / sizeof(statuses[0]) == ROCPROFILER_STATUS_LAST, "complete");

const char *status_name(rocprofiler_status_t status)
{
    return (unsigned)status < ROCPROFILER_STATUS_LAST ? texts + statuses[status].name : NULL;
}

const char *status_text(rocprofiler_status_t status)
{
    return (unsigned)status < ROCPROFILER_STATUS_LAST ? texts + statuses[status].text : NULL;
}
