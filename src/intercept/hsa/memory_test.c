/* Copies, memory and code objects against a double runtime. */
#include "intercept/hsa/test/hsa_calls.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "intercept/hsa/copies.h"

static void copies_report_direction_size_and_times(void **state)
{
    (void)state;
    const hsa_agent_t cpu = {DOUBLE_CPU}, gpu = {DOUBLE_GPU};
    char from[256] = "payload", to[256] = "";
    hsa_amd_profiling_async_copy_time_t time = {0};
    double_listen(TRACE_MEMORY_COPY, -1);
    assert_true(table_arrives(double_table_make(1)));
    hsa_signal_t signal = signal_make(1);
    assert_int_equal(CALL(hsa_amd_memory_async_copy)(to, gpu, from, cpu, 256, 0, NULL, signal),
                     HSA_STATUS_SUCCESS);
    assert_true(value_reached(signal, 0));
    assert_string_equal(to, "payload");
    const struct double_entry *entry =
        double_entry(DOUBLE_RECORD, TRACE_MEMORY_COPY, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE, 0);
    assert_non_null(entry);
    assert_int_equal(entry->payload.copy_record.bytes, 256);
    assert_int_equal(entry->payload.copy_record.src_agent_id.handle, 0x1000);
    assert_int_equal(entry->payload.copy_record.dst_agent_id.handle, 0x1001);
    assert_ptr_equal(entry->payload.copy_record.dst_address.ptr, to);
    assert_int_equal(
        entry->payload.copy_record.end_timestamp - entry->payload.copy_record.start_timestamp, 256);
    /* The program asks for the times of its own signal. */
    assert_int_equal(CALL(hsa_amd_profiling_get_async_copy_time)(signal, &time),
                     HSA_STATUS_SUCCESS);
    assert_int_equal(time.end - time.start, 256);
    /* A failing call reports no copy and leaves the signal alone. */
    amd_signal(signal)->value = 1;
    assert_int_not_equal(CALL(hsa_amd_memory_async_copy)(to, cpu, from, gpu, 0, 0, NULL, signal),
                         HSA_STATUS_SUCCESS);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(amd_signal(signal)->value, 1);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_MEMORY_COPY, -1), 1);
    assert_int_equal(double_open_events(), 0);
    CALL(hsa_signal_destroy)(signal);
}

/* A copy into whose signal the device wrote a kernel's times: those are the kernel's still. */
static void a_copy_takes_no_kernels_times(void **state)
{
    enum { KERNELS = 500, BYTES = 7 };
    const hsa_agent_t cpu = {DOUBLE_CPU}, gpu = {DOUBLE_GPU};
    char from[BYTES] = "", to[BYTES];
    (void)state;
    double_listen_records(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    assert_true(table_arrives(double_table_make(2)));
    hsa_queue_t *queue = queue_open();
    hsa_signal_t signal = signal_make(0);
    for (uint32_t i = 0; i < KERNELS; i++) {
        hsa_kernel_dispatch_packet_t packet = kernel_packet(i + 1, signal);
        __atomic_store_n(&amd_signal(signal)->value, 1, __ATOMIC_RELAXED);
        double_packets_submit(queue, &packet, 1);
        assert_true(value_reached(signal, 0));
        __atomic_store_n(&amd_signal(signal)->value, 1, __ATOMIC_RELAXED);
        assert_int_equal(
            CALL(hsa_amd_memory_async_copy)(to, gpu, from, cpu, BYTES, 0, NULL, signal),
            HSA_STATUS_SUCCESS);
        assert_true(value_reached(signal, 0));
    }
    completion_harvest(STALL_NS);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), KERNELS);
    const struct double_entry *entries = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, 0);
    for (uint32_t i = 0; i < KERNELS; i++)
        assert_int_equal(entries[i].payload.dispatch_record.end_timestamp -
                             entries[i].payload.dispatch_record.start_timestamp,
                         DOUBLE_TICKS_PER_KERNEL * 10);
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(signal);
}

static void rect_copy_check(hsa_amd_copy_direction_t direction,
                            rocprofiler_memory_copy_operation_t operation, uint64_t from_agent,
                            uint64_t to_agent)
{
    char from[60] = "box", to[60] = "";
    const hsa_pitched_ptr_t source = {from, 5, 20}, target = {to, 5, 20};
    const hsa_dim3_t none = {0, 0, 0}, range = {5, 4, 3};
    hsa_signal_t signal = signal_make(1);
    uint32_t before = double_count(DOUBLE_RECORD, TRACE_MEMORY_COPY, (int32_t)operation);
    assert_int_equal(CALL(hsa_amd_memory_async_copy_rect)(&target, &none, &source, &none, &range,
                                                          (hsa_agent_t){DOUBLE_GPU}, direction, 0,
                                                          NULL, signal),
                     HSA_STATUS_SUCCESS);
    assert_true(value_reached(signal, 0));
    assert_string_equal(to, "box");
    const struct double_entry *entry =
        double_entry(DOUBLE_RECORD, TRACE_MEMORY_COPY, (int32_t)operation, before);
    assert_non_null(entry);
    assert_int_equal(entry->payload.copy_record.bytes, 60);
    assert_int_equal(entry->payload.copy_record.src_agent_id.handle, from_agent);
    assert_int_equal(entry->payload.copy_record.dst_agent_id.handle, to_agent);
    CALL(hsa_signal_destroy)(signal);
}

/* The call names one agent; the other is the host's, wherever the runtime names that. */
static void boxes_are_copied_from_and_to_the_host(void **state)
{
    enum { CPU = 0x1000, GPU = 0x1001 };
    (void)state;
    for (int gpu_first = 0; gpu_first < 2; gpu_first++) {
        double_reset();
        double_agents_gpu_first(gpu_first);
        double_listen(TRACE_MEMORY_COPY, -1);
        assert_true(table_arrives(double_table_make(1)));
        rect_copy_check(hsaHostToDevice, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE, CPU, GPU);
        rect_copy_check(hsaDeviceToHost, ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST, GPU, CPU);
        rect_copy_check(hsaDeviceToDevice, ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE, GPU, GPU);
        rect_copy_check(hsaHostToHost, ROCPROFILER_MEMORY_COPY_HOST_TO_HOST, CPU, CPU);
    }
    double_agents_gpu_first(false);
}

static void allocations_report_agent_size_and_address(void **state)
{
    (void)state;
    void *memory = NULL;
    double_listen(TRACE_MEMORY_ALLOCATION, -1);
    assert_true(table_arrives(double_table_make(1)));
    CALL(hsa_amd_memory_pool_allocate)((hsa_amd_memory_pool_t){DOUBLE_GPU + 1}, 12345, 0, &memory);
    CALL(hsa_amd_memory_pool_free)(memory);
    const struct double_entry *made = double_entry(DOUBLE_RECORD, TRACE_MEMORY_ALLOCATION,
                                                   ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE, 0);
    const struct double_entry *freed =
        double_entry(DOUBLE_RECORD, TRACE_MEMORY_ALLOCATION, ROCPROFILER_MEMORY_ALLOCATION_FREE, 0);
    assert_int_equal(made->payload.allocation_record.allocation_size, 12345);
    assert_int_equal(made->payload.allocation_record.agent_id.handle, 0x1001);
    assert_int_equal(made->payload.allocation_record.address.value, (uintptr_t)memory);
    assert_int_equal(freed->payload.allocation_record.address.value, (uintptr_t)memory);
    assert_true(made->payload.allocation_record.end_timestamp >=
                made->payload.allocation_record.start_timestamp);
}

/* Pools are enough where a runtime has no list of regions. */
static void allocations_from_pools_need_no_regions(void **state)
{
    (void)state;
    void *memory = NULL, *table = double_table_make(1);
    double_listen(TRACE_MEMORY_ALLOCATION, -1);
    double_function_remove(HSA_FN_hsa_agent_iterate_regions);
    assert_true(table_arrives(table));
    CALL(hsa_amd_memory_pool_allocate)((hsa_amd_memory_pool_t){DOUBLE_GPU + 1}, 77, 0, &memory);
    CALL(hsa_amd_memory_pool_free)(memory);
    const struct double_entry *made = double_entry(DOUBLE_RECORD, TRACE_MEMORY_ALLOCATION,
                                                   ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE, 0);
    assert_int_equal(made->payload.allocation_record.agent_id.handle, 0x1001);
}

static void code_objects_come_before_their_kernels_and_go_after(void **state)
{
    (void)state;
    const int32_t load = ROCPROFILER_CODE_OBJECT_LOAD;
    const int32_t symbol = ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER;
    double_listen(TRACE_CODE_OBJECT, -1);
    assert_true(table_arrives(double_table_make(2)));
    CALL(hsa_executable_freeze)(double_executable(), NULL);
    const struct double_entry *object = double_entry(DOUBLE_CALL, TRACE_CODE_OBJECT, load, 0);
    assert_string_equal(object->payload.object.uri, "memory://1234#offset=0x10&size=42");
    assert_int_equal(object->payload.object.load_delta, -7);
    assert_int_equal(object->payload.object.agent_id.handle, 0x1001);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_CODE_OBJECT, symbol), 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct double_entry *kernel = double_entry(DOUBLE_CALL, TRACE_CODE_OBJECT, symbol, i);
        assert_true(kernel > object);
        assert_int_equal(kernel->payload.kernel.code_object_id,
                         object->payload.object.code_object_id);
        assert_int_equal(objects_kernel_id(kernel->payload.kernel.kernel_object),
                         kernel->payload.kernel.kernel_id);
        assert_non_null(strstr(kernel->payload.kernel.kernel_name, ".kd"));
        uint64_t place = kernel->payload.kernel.kernel_object;
        assert_int_equal(kernel->payload.kernel.kernel_address.value,
                         place == double_kernel_object(0) ? place + 4096 : place - 256);
    }
    CALL(hsa_executable_freeze)(double_executable(), NULL); /* nothing new */
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_CODE_OBJECT, load), 1);
    CALL(hsa_executable_destroy)(double_executable());
    const struct double_entry *unload = double_entry(DOUBLE_CALL, TRACE_CODE_OBJECT, load, 1);
    assert_int_equal(unload->phase, ROCPROFILER_CALLBACK_PHASE_UNLOAD);
    assert_true(unload > double_entry(DOUBLE_CALL, TRACE_CODE_OBJECT, symbol, 3));
    objects_unload_all();
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_CODE_OBJECT, load), 2);
}

/* What a thread of the parent is in the middle of when another one forks. */
static _Atomic bool is_busy;

static void tell_nobody(int32_t operation, void *payload, void *data)
{
    (void)operation, (void)payload, (void)data;
}

static void *look_again_and_again(void *signal)
{
    hsa_amd_profiling_async_copy_time_t time;
    while (atomic_load(&is_busy)) {
        CALL(hsa_amd_profiling_get_async_copy_time)(*(hsa_signal_t *)signal, &time);
        objects_announce(tell_nobody, NULL);
    }
    return NULL;
}

/* As the end of a process does, which is the child's, too. The parent's signals are in memory that
 * drivers do not give to a child. 0: it has an end, and left them alone. */
static int child_end(void)
{
    enum { LIMIT_S = 20 };
    int before = double_signals_alive();
    alarm(LIMIT_S);
    copies_release(&hsa_instances[0]);
    objects_unload_all();
    return double_signals_alive() == before ? 0 : 1;
}

static void children_end_whatever_their_parent_does(void **state)
{
    enum { CHILDREN = 100 };
    char from[16] = "", to[16];
    pthread_t thread;
    (void)state;
    double_listen(TRACE_MEMORY_COPY, -1);
    double_listen(TRACE_CODE_OBJECT, -1);
    assert_true(table_arrives(double_table_make(1)));
    hsa_signal_t signal = signal_make(1);
    CALL(hsa_amd_memory_async_copy)
    (to, (hsa_agent_t){DOUBLE_GPU}, from, (hsa_agent_t){DOUBLE_CPU}, 16, 0, NULL, signal);
    assert_true(value_reached(signal, 0));
    assert_true(completion_drain(STALL_NS));
    atomic_store(&is_busy, true);
    assert_int_equal(pthread_create(&thread, NULL, look_again_and_again, &signal), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(child_end());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&is_busy, false);
    pthread_join(thread, NULL);
    CALL(hsa_signal_destroy)(signal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(copies_report_direction_size_and_times, reset),
        cmocka_unit_test_setup(a_copy_takes_no_kernels_times, reset),
        cmocka_unit_test_setup(boxes_are_copied_from_and_to_the_host, reset),
        cmocka_unit_test_setup(allocations_report_agent_size_and_address, reset),
        cmocka_unit_test_setup(allocations_from_pools_need_no_regions, reset),
        cmocka_unit_test_setup(code_objects_come_before_their_kernels_and_go_after, reset),
        cmocka_unit_test_setup(children_end_whatever_their_parent_does, reset),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
