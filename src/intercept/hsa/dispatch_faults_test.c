/* No memory: every allocation in turn fails, then all of them. The program must get what it would
   have without us, and its kernels are reported or told of as lost. */
#include "intercept/hsa/test/hsa_calls.h"

#include <dlfcn.h>

enum { KERNELS = 80, FAILURES = 8 };

/* Stand before libc's in this program. Written by the test's thread while nobody else allocates. */
static bool counting_down;
static int allocations_left;

static bool fails(void)
{
    return counting_down && allocations_left-- <= 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *(*next)(size_t, size_t) = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    return fails() ? NULL : next(alignment, size);
}

void *calloc(size_t count, size_t size)
{
    extern void *__libc_calloc(size_t, size_t);
    return fails() ? NULL : __libc_calloc(count, size);
}

static void allocations_fail_after(int count)
{
    allocations_left = count;
    counting_down = count >= 0;
}

/* Kernels with one signal, while memory is short; they all run. */
static uint32_t kernels_run(hsa_queue_t *queue, int allocations)
{
    hsa_signal_t signal = signal_make(KERNELS);
    uint64_t seen = double_kernels_seen();
    uint32_t records = double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1);
    allocations_fail_after(allocations);
    for (uint32_t i = 0; i < KERNELS; i++) {
        hsa_kernel_dispatch_packet_t packet = kernel_packet(64, signal);
        double_packets_submit(queue, &packet, 1);
    }
    allocations_fail_after(-1);
    assert_true(value_reached(signal, 0));
    assert_int_equal(double_kernels_seen() - seen, KERNELS);
    completion_harvest(STALL_NS);
    CALL(hsa_signal_destroy)(signal);
    return double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1) - records;
}

static void kernels_run_without_memory(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    for (int n = 0; n < FAILURES; n++) {
        hsa_queue_t *queue = queue_open();
        assert_in_range(kernels_run(queue, n), 0, KERNELS);
        /* and with memory again nothing is missing */
        assert_int_equal(kernels_run(queue, 1000), KERNELS);
        assert_int_equal(CALL(hsa_queue_destroy)(queue), HSA_STATUS_SUCCESS);
    }
    assert_int_equal(double_open_events(), 0);
}

static void queues_are_made_without_memory(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    for (int n = 0; n < FAILURES; n++) {
        hsa_queue_t *queue = NULL;
        allocations_fail_after(n);
        hsa_status_t status =
            CALL(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, 64, 0, NULL, NULL, 0, 0, &queue);
        allocations_fail_after(-1);
        if (!queue) { /* the runtime's own need */
            assert_int_equal(status, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
            continue;
        }
        assert_int_equal(status, HSA_STATUS_SUCCESS);
        kernels_run(queue, 1000);
        assert_int_equal(CALL(hsa_queue_destroy)(queue), HSA_STATUS_SUCCESS);
    }
}

static void copies_run_without_memory(void **state)
{
    static char from[64], to[64];
    (void)state;
    double_listen(TRACE_MEMORY_COPY, -1);
    assert_true(table_arrives(double_table_make(2)));
    hsa_signal_t signal = signal_make(0);
    for (int n = 0; n < FAILURES; n++) {
        amd_signal(signal)->value = 1;
        allocations_fail_after(n % 3);
        assert_int_equal(CALL(hsa_amd_memory_async_copy)(to, (hsa_agent_t){DOUBLE_GPU}, from,
                                                         (hsa_agent_t){DOUBLE_CPU}, sizeof from, 0,
                                                         NULL, signal),
                         HSA_STATUS_SUCCESS);
        allocations_fail_after(-1);
        assert_true(value_reached(signal, 0));
    }
    assert_true(completion_drain(STALL_NS));
    CALL(hsa_signal_destroy)(signal);
    assert_int_equal(double_open_events(), 0);
}

/* ---- a packet that runs unseen, where kernels are replayed */

static uint64_t two_passes(rocprofiler_kernel_dispatch_info_t info, rocprofiler_user_data_t data)
{
    (void)info, (void)data;
    return 2;
}

static void on_config(int32_t operation, rocprofiler_callback_phase_t phase, void *payload)
{
    rocprofiler_callback_tracing_kernel_replay_data_t *data = payload;
    if (operation == ROCPROFILER_KERNEL_REPLAY_CONFIG && phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        data->replay_pass_count = two_passes;
}

static uint64_t times_run(hsa_queue_t *queue)
{
    uint64_t seen = double_kernels_seen();
    hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
    double_packets_submit(queue, &packet, 1);
    assert_true(completion_drain(STALL_NS));
    return double_kernels_seen() - seen;
}

/* Nobody can say when such a packet ends, and what it may still write: no kernel is replayed from
 * then on. */
static void what_runs_unseen_ends_replaying(void **state)
{
    (void)state;
    double_on_payload = on_config;
    double_listen(TRACE_KERNEL_REPLAY, -1);
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    assert_int_equal(times_run(queue), 2);
    const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND};
    uint64_t seen = double_packets_seen();
    double_device_hold(true);
    allocations_fail_after(0);
    for (uint32_t i = 0; i < 20 * KERNELS; i++)
        double_packets_submit(queue, &barrier, 1);
    allocations_fail_after(-1);
    double_device_hold(false);
    assert_true(completion_drain(STALL_NS));
    assert_true(double_packets_seen() - seen >= 20 * KERNELS);
    assert_int_equal(times_run(queue), 1);
    assert_int_equal(CALL(hsa_queue_destroy)(queue), HSA_STATUS_SUCCESS);
    double_on_payload = NULL;
}

static void executables_freeze_without_memory(void **state)
{
    (void)state;
    double_listen(TRACE_CODE_OBJECT, -1);
    assert_true(table_arrives(double_table_make(2)));
    for (int n = 0; n < FAILURES; n++) {
        allocations_fail_after(n);
        hsa_status_t status = CALL(hsa_executable_freeze)(double_executable(), NULL);
        allocations_fail_after(-1);
        assert_int_equal(status, HSA_STATUS_SUCCESS);
        assert_int_equal(CALL(hsa_executable_destroy)(double_executable()), HSA_STATUS_SUCCESS);
    }
}

int main(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return 0; /* the allocator is theirs */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(kernels_run_without_memory, reset),
        cmocka_unit_test_setup(queues_are_made_without_memory, reset),
        cmocka_unit_test_setup(copies_run_without_memory, reset),
        cmocka_unit_test_setup(executables_freeze_without_memory, reset),
        cmocka_unit_test_setup(what_runs_unseen_ends_replaying, reset),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
