#include "records.h"

#include "report.h"

static void tracing_record(const rocprofiler_record_header_t *header)
{
    switch (header->kind) {
    case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH:
        report_dispatch(header->payload);
        return;
    case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
        report_copy(header->payload);
        return;
    case ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION:
        report_allocation(header->payload);
        return;
    case ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY:
        report_scratch(header->payload);
        return;
    default: /* only API kinds besides */
        if (!report_hip_work(header) && !report_kfd(header))
            report_api(header);
        return;
    }
}

void record_report(const rocprofiler_record_header_t *header)
{
    if (header->category == ROCPROFILER_BUFFER_CATEGORY_TRACING)
        tracing_record(header);
    else if (header->kind == ROCPROFILER_COUNTER_RECORD_VALUE)
        report_counter_value(header->payload);
    else
        report_counter_dispatch(header->payload);
}
