#include "kfd.h"

static void migration(const rocprofiler_buffer_tracing_kfd_page_migrate_record_t *record,
                      struct out_kfd_row *row, rocprofiler_agent_id_t *agents)
{
    row->process_id = record->pid;
    row->start_ns = record->start_timestamp;
    row->end_ns = record->end_timestamp;
    row->start_address = record->start_address.value;
    row->end_address = record->end_address.value;
    row->error_code = record->error_code;
    agents[OUT_KFD_SOURCE] = record->src_agent;
    agents[OUT_KFD_DESTINATION] = record->dst_agent;
    agents[OUT_KFD_PREFETCH] = record->prefetch_agent;
    agents[OUT_KFD_PREFERRED] = record->preferred_agent;
}

static void fault(const rocprofiler_buffer_tracing_kfd_page_fault_record_t *record,
                  struct out_kfd_row *row, rocprofiler_agent_id_t *agents)
{
    row->process_id = record->pid;
    row->start_ns = record->start_timestamp;
    row->end_ns = record->end_timestamp;
    row->start_address = row->end_address = record->address.value;
    agents[OUT_KFD_AGENT] = record->agent_id;
}

static void queue(const rocprofiler_buffer_tracing_kfd_queue_record_t *record,
                  struct out_kfd_row *row, rocprofiler_agent_id_t *agents)
{
    row->process_id = record->pid;
    row->start_ns = record->start_timestamp;
    row->end_ns = record->end_timestamp;
    agents[OUT_KFD_AGENT] = record->agent_id;
}

static void unmapping(const rocprofiler_buffer_tracing_kfd_event_unmap_from_gpu_record_t *record,
                      struct out_kfd_row *row, rocprofiler_agent_id_t *agents)
{
    row->process_id = record->pid;
    row->start_ns = row->end_ns = record->timestamp;
    row->start_address = record->start_address.value;
    row->end_address = record->end_address.value;
    agents[OUT_KFD_AGENT] = record->agent_id;
}

static void dropped(const rocprofiler_buffer_tracing_kfd_event_dropped_events_record_t *record,
                    struct out_kfd_row *row)
{
    row->process_id = record->pid;
    row->start_ns = row->end_ns = record->timestamp;
    row->count = record->count;
}

/* All records begin with size, kind and operation. */
static void names_query(const rocprofiler_record_header_t *header, struct out_kfd_row *row)
{
    const rocprofiler_buffer_tracing_kfd_queue_record_t *record = header->payload;
    rocprofiler_query_buffer_tracing_kind_name(record->kind, &row->kind, NULL);
    rocprofiler_query_buffer_tracing_kind_operation_name(
        record->kind, (rocprofiler_tracing_operation_t)record->operation, &row->operation, NULL);
}

bool kfd_row(const rocprofiler_record_header_t *header, struct out_kfd_row *row,
             rocprofiler_agent_id_t agents[OUT_KFD_AGENTS])
{
    *row = (struct out_kfd_row){0};
    for (int i = 0; i < OUT_KFD_AGENTS; i++)
        agents[i] = (rocprofiler_agent_id_t){0};
    switch (header->kind) {
    case ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE:
        migration(header->payload, row, agents);
        break;
    case ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT:
        fault(header->payload, row, agents);
        break;
    case ROCPROFILER_BUFFER_TRACING_KFD_QUEUE:
        queue(header->payload, row, agents);
        break;
    case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_UNMAP_FROM_GPU:
        unmapping(header->payload, row, agents);
        break;
    case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_DROPPED_EVENTS:
        dropped(header->payload, row);
        break;
    default:
        return false;
    }
    names_query(header, row);
    return true;
}
