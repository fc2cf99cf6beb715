/* Events of the kernel driver as a tool sees them: the program prefetches shared memory to the GPU
 * and back. Run on a machine with a GPU whose driver migrates, or under crocgpu. */
#include "kfd_agents.h"

#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

enum { PAGES = 16, BYTES = PAGES * 4096, RECORDS_MAX = 64 };

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_buffer_tracing_kfd_event_page_migrate_record_t events[RECORDS_MAX];
static rocprofiler_buffer_tracing_kfd_page_migrate_record_t intervals[RECORDS_MAX];
static _Atomic unsigned event_count, interval_count;

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t buffer_id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)id, (void)buffer_id, (void)data, (void)dropped;
    for (size_t i = 0; i < count; i++) {
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE)
            memcpy(&events[event_count++ % RECORDS_MAX], headers[i]->payload, sizeof events[0]);
        else
            memcpy(&intervals[interval_count++ % RECORDS_MAX], headers[i]->payload,
                   sizeof intervals[0]);
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, 65536, 0, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer,
                                 NULL, &buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE, NULL, 0, buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE, NULL, 0, buffer));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static void prefetch(void *memory, hsa_agent_t where)
{
    hsa_signal_t done;
    assert_int_equal(hsa_signal_create(1, 0, NULL, &done), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_amd_svm_prefetch_async(memory, BYTES, where, 0, NULL, done),
                     HSA_STATUS_SUCCESS);
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    hsa_signal_destroy(done);
}

static void prefetches_are_migrations(void **state)
{
    (void)state;
    OK(rocprofiler_force_configure(configure));
    OK(rocprofiler_start_context(context));
    agents_find();
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    hsa_amd_svm_attribute_pair_t accessible = {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle};
    assert_int_equal(hsa_amd_svm_attributes_set(memory, BYTES, &accessible, 1), HSA_STATUS_SUCCESS);
    rocprofiler_timestamp_t before, after;
    rocprofiler_get_timestamp(&before);
    prefetch(memory, gpu);
    prefetch(memory, cpu);
    rocprofiler_get_timestamp(&after);
    assert_true(eventually(&interval_count, 2));
    assert_true(eventually(&event_count, 4));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(intervals[i].operation, ROCPROFILER_KFD_PAGE_MIGRATE_PREFETCH);
        assert_int_equal(intervals[i].start_address.value, (uintptr_t)memory);
        assert_int_equal(intervals[i].end_address.value, (uintptr_t)memory + BYTES);
        assert_int_equal(intervals[i].pid, getpid());
        assert_true(intervals[i].start_timestamp >= before && intervals[i].end_timestamp <= after);
        assert_true(intervals[i].start_timestamp <= intervals[i].end_timestamp);
        assert_int_equal(intervals[i].src_agent.handle, (i ? gpu_id : cpu_id).handle);
        assert_int_equal(intervals[i].dst_agent.handle, (i ? cpu_id : gpu_id).handle);
        assert_int_equal(events[2 * i].operation, ROCPROFILER_KFD_EVENT_PAGE_MIGRATE_PREFETCH);
        assert_int_equal(events[2 * i + 1].operation, ROCPROFILER_KFD_EVENT_PAGE_MIGRATE_END);
    }
    OK(rocprofiler_stop_context(context));
    prefetch(memory, gpu); /* stopped: leaves no record */
    OK(rocprofiler_flush_buffer(buffer));
    assert_int_equal(interval_count, 2);
    assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prefetches_are_migrations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
