/* Names and messages of the SDK's status codes. Static strings; NULL for what is no status. */
#ifndef MODEL_DESCRIBE_STATUS_H
#define MODEL_DESCRIBE_STATUS_H

#include <rocprofiler-sdk/fwd.h>

const char *status_name(rocprofiler_status_t status);
const char *status_text(rocprofiler_status_t status);

#endif
