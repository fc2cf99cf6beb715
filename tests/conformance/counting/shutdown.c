/*
 * shutdown DIRECTORY trace|count: shuts HSA down, again and again, with work in flight on several
 * queues that will never end, and starts it anew. What ended is recorded, once each; nothing else.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <hsa/hsa_ext_amd.h>
#include <time.h>

#include "counters.h"
#include "gpu.h"

enum { LIVES = 2, ENDING = 20, QUEUES = 3, PENDING = 5 };

static const char *kernels;
static bool is_counting;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_counter_config_id_t waves[AGENTS_MAX];
static atomic_uint kernels_ended, copies_ended, counted; /* writers: delivery threads */

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t data,
                        rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                        void *arg)
{
    (void)user_data, (void)arg;
    *config = waves[agent_position(data.dispatch_info.agent_id)];
}

static void on_count(rocprofiler_dispatch_counting_service_data_t data,
                     rocprofiler_counter_record_t *records, size_t count,
                     rocprofiler_user_data_t user_data, void *arg)
{
    (void)user_data, (void)arg;
    assert_int_equal(count, 1);
    assert_true(records[0].counter_value == data.dispatch_info.grid_size.x / WAVE_ITEMS);
    atomic_fetch_add(&counted, 1);
}

static void on_records(rocprofiler_context_id_t of, rocprofiler_buffer_id_t from,
                       rocprofiler_record_header_t **headers, size_t count, void *data,
                       uint64_t dropped)
{
    (void)of, (void)from, (void)data;
    assert_int_equal(dropped, 0);
    for (size_t i = 0; i < count; i++)
        atomic_fetch_add(headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH
                             ? &kernels_ended
                             : &copies_ended,
                         1);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    int status = rocprofiler_create_context(&context);
    status |= rocprofiler_create_buffer(context, 65536, 65536, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                        on_records, NULL, &buffer);
    status |= rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer);
    status |= rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, NULL, 0, buffer);
    if (is_counting) {
        agents_load();
        for (uint32_t i = 0; i < gpu_agent_count; i++)
            waves[i] = config_of(gpu_agents[i]->id, "SQ_WAVES_sum");
        status |= rocprofiler_configure_callback_dispatch_counting_service(context, on_dispatch,
                                                                           NULL, on_count, NULL);
    }
    return status | rocprofiler_start_context(context);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {
        sizeof(rocprofiler_tool_configure_result_t), initialize, NULL, NULL};
    (void)version, (void)runtime_version, (void)priority, (void)client_id;
    return &result;
}

/* Whatever comes behind it waits for a signal that nobody gives. */
static void block(hsa_queue_t *queue, hsa_signal_t never)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_barrier_and_packet_t *packet =
        (hsa_barrier_and_packet_t *)queue->base_address + index % queue->size;
    uint16_t header =
        HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER;
    memset((char *)packet + sizeof header, 0, sizeof *packet - sizeof header);
    packet->dep_signal[0] = never;
    __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* With signals of the program's and without. */
static void leave_work(struct gpu *gpu)
{
    hsa_signal_t never, unseen;
    assert_int_equal(hsa_signal_create(1, 0, NULL, &never), HSA_STATUS_SUCCESS);
    for (int q = 0; q < QUEUES; q++) {
        hsa_queue_t *queue = gpu_queue(gpu);
        block(queue, never);
        for (int i = 0; i < PENDING; i++) {
            assert_int_equal(hsa_signal_create(1, 0, NULL, &unseen), HSA_STATUS_SUCCESS);
            if (i % 2 == 0)
                unseen.handle = 0;
            gpu_submit(queue, gpu->store_index, 1, gpu->kernarg, unseen);
        }
    }
}

static void life(void)
{
    gpus_open(kernels);
    for (int i = 0; i < ENDING; i++)
        gpu_run(&gpus[0], 1 + (uint32_t)i % 3);
    leave_work(&gpus[0]);
    gpus_abandon();
    /* the memory that signals had is somebody else's, or nobody's */
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void what_ended_is_recorded(void **state)
{
    (void)state;
    for (int i = 1; i <= LIVES; i++) {
        life();
        assert_int_equal(rocprofiler_flush_buffer(buffer), ROCPROFILER_STATUS_SUCCESS);
        assert_int_equal(atomic_load(&kernels_ended), i * ENDING);
        assert_int_equal(atomic_load(&counted), is_counting ? i * ENDING : 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_ended_is_recorded)};
    if (argc < 3)
        return 2;
    kernels = argv[1];
    is_counting = strcmp(argv[2], "count") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
