/* Page faults of a GPU as a tool sees them: its copy engine reads and writes memory that nobody has
 * told the runtime of. Run on a machine whose GPU waits for page faults, or under crocgpu. */
#include "kfd_agents.h"

#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

enum { BYTES = 8192, RECORDS_MAX = 64 };
#define PART ((size_t)2 << 20) /* that a fault brings */

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_buffer_tracing_kfd_page_fault_record_t faults[RECORDS_MAX];
static _Atomic unsigned fault_count, event_count;
static char *memory; /* faults elsewhere are the runtime's own */
static hsa_amd_memory_pool_t pool;

static bool is_ours(uint64_t address)
{
    return address >= (uintptr_t)memory && address < (uintptr_t)memory + 4 * PART;
}

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t buffer_id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)id, (void)buffer_id, (void)data, (void)dropped;
    for (size_t i = 0; i < count; i++) {
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT) {
            const rocprofiler_buffer_tracing_kfd_page_fault_record_t *fault = headers[i]->payload;
            if (is_ours(fault->address.value))
                faults[fault_count++ % RECORDS_MAX] = *fault;
        } else {
            const rocprofiler_buffer_tracing_kfd_event_page_fault_record_t *event =
                headers[i]->payload;
            event_count += is_ours(event->address.value);
        }
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, 65536, 0, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer,
                                 NULL, &buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_FAULT, NULL, 0, buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT, NULL, 0, buffer));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t one, void *data)
{
    bool allocates = false;
    (void)data;
    hsa_amd_memory_pool_get_info(one, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allocates);
    if (allocates)
        pool = one;
    return HSA_STATUS_SUCCESS;
}

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent)
{
    hsa_signal_t done;
    assert_int_equal(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
    assert_int_equal(
        hsa_amd_memory_async_copy(to, to_agent, from, from_agent, BYTES, 0, NULL, done),
        HSA_STATUS_SUCCESS);
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    hsa_signal_destroy(done);
}

static void expect_fault(const rocprofiler_buffer_tracing_kfd_page_fault_record_t *fault,
                         rocprofiler_kfd_page_fault_operation_t operation, const char *address)
{
    assert_int_equal(fault->operation, operation);
    assert_int_equal(fault->address.value, (uintptr_t)address);
    assert_int_equal(fault->agent_id.handle, gpu_id.handle);
    assert_int_equal(fault->pid, getpid());
    assert_true(fault->start_timestamp <= fault->end_timestamp);
}

static void copies_of_pageable_memory_fault(void **state)
{
    (void)state;
    OK(rocprofiler_force_configure(configure));
    OK(rocprofiler_start_context(context));
    agents_find();
    hsa_amd_agent_iterate_memory_pools(gpu, on_pool, NULL);
    memory = mmap(NULL, 4 * PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    char *from = (char *)(((uintptr_t)memory + PART - 1) / PART * PART), *to = from + PART;
    void *on_device;
    assert_int_equal(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &on_device), HSA_STATUS_SUCCESS);
    memset(from, 77, BYTES);
    for (int i = 0; i < 2; i++) { /* the second time all is there */
        copy(on_device, gpu, from, cpu);
        copy(to, cpu, on_device, gpu);
    }
    assert_memory_equal(to, from, BYTES);
    assert_true(eventually(&fault_count, 2));
    assert_true(eventually(&event_count, 4));
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(fault_count, 2);
    expect_fault(&faults[0], ROCPROFILER_KFD_PAGE_FAULT_READ_FAULT_UPDATED, from);
    expect_fault(&faults[1], ROCPROFILER_KFD_PAGE_FAULT_WRITE_FAULT_UPDATED, to);
    OK(rocprofiler_stop_context(context));
    assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

int main(void)
{
    setenv("HSA_XNACK", "1", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_of_pageable_memory_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
