/* A session of tests: records what interception reports, in order. */
#ifndef INTERCEPT_TRACE_DOUBLE_H
#define INTERCEPT_TRACE_DOUBLE_H

#include "model/trace.h"

enum double_what { DOUBLE_API_ENTER, DOUBLE_API_EXIT, DOUBLE_CALL, DOUBLE_RECORD, DOUBLE_RELEASE };

struct double_entry {
    enum double_what what;
    enum trace_domain domain;
    int32_t operation;
    rocprofiler_callback_phase_t phase;
    uint64_t correlation;
    union {
        rocprofiler_callback_tracing_hsa_api_data_t hsa;
        rocprofiler_callback_tracing_hip_api_data_t hip;
        rocprofiler_callback_tracing_kernel_dispatch_data_t dispatch;
        rocprofiler_callback_tracing_memory_copy_data_t copy;
        rocprofiler_callback_tracing_memory_allocation_data_t allocation;
        rocprofiler_callback_tracing_code_object_load_data_t object;
        rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t kernel;
        rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t host;
        rocprofiler_callback_tracing_scratch_memory_data_t scratch;
        rocprofiler_buffer_tracing_scratch_memory_record_t scratch_record;
        rocprofiler_callback_tracing_hip_stream_data_t stream;
        rocprofiler_callback_tracing_hip_graph_data_t graph;
        rocprofiler_buffer_tracing_hip_graph_record_t graph_record;
        rocprofiler_callback_tracing_hip_event_data_t hip_event;
        rocprofiler_buffer_tracing_hip_event_record_t hip_event_record;
        rocprofiler_buffer_tracing_kernel_dispatch_record_t dispatch_record;
        rocprofiler_buffer_tracing_memory_copy_record_t copy_record;
        rocprofiler_buffer_tracing_memory_allocation_record_t allocation_record;
        rocprofiler_buffer_tracing_marker_api_record_t marker_record;
    } payload;
};

/* Everything back to nothing configured, nothing recorded. */
void double_reset(void);

/* Configures an operation (-1: all of the domain) and starts it. */
void double_listen(enum trace_domain domain, int32_t operation);
/* The same without callbacks. */
void double_listen_records(enum trace_domain domain, int32_t operation);
void double_unlisten(enum trace_domain domain);
void double_counting_configure(const struct trace_counting_ops *ops);

/* Runs inside of each callback; NULL: nothing. */
extern void (*_Atomic double_on_call)(void);
/* The same for those of KERNEL_REPLAY, with what they may write to. */
extern void (*_Atomic double_on_payload)(int32_t operation, rocprofiler_callback_phase_t phase,
                                         void *payload);

/* Entries of one kind; the n-th of them, or NULL. */
uint32_t double_count(enum double_what what, enum trace_domain domain, int32_t operation);
const struct double_entry *double_entry(enum double_what what, enum trace_domain domain,
                                        int32_t operation, uint32_t n);
uint32_t double_open_events(void);
/* The correlation id of the innermost enclosure of this thread; 0: none. */
uint64_t double_enclosing(void);

/* An HSA table as session brings it: it is offered, and installed; and as it goes. */
bool table_arrives(void *api_table);
void table_leaves(const void *api_table);

#endif
