/* The HSA side of interception against the double of a runtime: what the program sees must not
 * change, what is reported must be what the program did. */
#include "base/clock.h"
#include "base/thread.h"
#include "intercept/hsa/facts.h"
#include "intercept/hsa/test/hsa_calls.h"
#include "intercept/launched.h"

static void nothing_configured_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t major = 1; major <= 2; major++) {
        void *before[HSA_FN_COUNT];
        void *table = double_table_make(major);
        for (int i = 0; i < HSA_FN_COUNT; i++)
            before[i] = double_function(i);
        assert_true(table_arrives(table));
        for (int i = 0; i < HSA_FN_COUNT; i++)
            if (i != HSA_FN_hsa_shut_down) /* drained first, whatever is configured */
                assert_ptr_equal(double_function(i), before[i]);
    }
}

/* As in a container without the kernel driver's /sys: calls are traced, and what needs agents is
 * left out. */
static void unknown_agents_leave_calls_traced(void **state)
{
    (void)state;
    double_agents_hide(true);
    void *table = double_table_make(1);
    void *queue_create = double_function(HSA_FN_hsa_queue_create);
    void *copy = double_function(HSA_FN_hsa_amd_memory_async_copy);
    double_listen(TRACE_HSA_CORE_API, ROCPROFILER_HSA_CORE_API_ID_hsa_agent_get_info);
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    double_listen(TRACE_MEMORY_COPY, -1);
    double_listen(TRACE_MEMORY_ALLOCATION, -1);
    assert_true(table_arrives(table));
    assert_false(intercept_hsa_serves_devices(NULL));
    hsa_device_type_t kind = HSA_DEVICE_TYPE_CPU;
    CALL(hsa_agent_get_info)((hsa_agent_t){DOUBLE_GPU}, HSA_AGENT_INFO_DEVICE, &kind);
    assert_int_equal(double_count(DOUBLE_API_EXIT, TRACE_HSA_CORE_API, -1), 1);
    assert_ptr_equal(double_function(HSA_FN_hsa_queue_create), queue_create);
    assert_ptr_equal(double_function(HSA_FN_hsa_amd_memory_async_copy), copy);
    void *memory = NULL;
    CALL(hsa_amd_memory_pool_allocate)((hsa_amd_memory_pool_t){DOUBLE_CPU + 1}, 64, 0, &memory);
    CALL(hsa_amd_memory_pool_free)(memory);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_MEMORY_ALLOCATION, -1), 2);
    assert_int_equal(CALL(hsa_shut_down)(), HSA_STATUS_SUCCESS);
    double_agents_hide(false);
}

static void only_the_configured_operation_is_wrapped(void **state)
{
    (void)state;
    void *table = double_table_make(1);
    void *get_info = double_function(HSA_FN_hsa_agent_get_info);
    void *iterate = double_function(HSA_FN_hsa_iterate_agents);
    double_listen(TRACE_HSA_CORE_API, ROCPROFILER_HSA_CORE_API_ID_hsa_agent_get_info);
    assert_true(table_arrives(table));
    assert_ptr_not_equal(double_function(HSA_FN_hsa_agent_get_info), get_info);
    assert_ptr_equal(double_function(HSA_FN_hsa_iterate_agents), iterate);
}

static void api_calls_report_arguments_and_results(void **state)
{
    (void)state;
    hsa_device_type_t kind = HSA_DEVICE_TYPE_CPU;
    const hsa_agent_t gpu = {DOUBLE_GPU};
    const int32_t id = ROCPROFILER_HSA_CORE_API_ID_hsa_agent_get_info;
    double_listen(TRACE_HSA_CORE_API, id);
    assert_true(table_arrives(double_table_make(1)));
    assert_int_equal(CALL(hsa_agent_get_info)(gpu, HSA_AGENT_INFO_DEVICE, &kind),
                     HSA_STATUS_SUCCESS);
    assert_int_equal(kind, HSA_DEVICE_TYPE_GPU);
    const struct double_entry *enter = double_entry(DOUBLE_API_ENTER, TRACE_HSA_CORE_API, id, 0);
    const struct double_entry *leave = double_entry(DOUBLE_API_EXIT, TRACE_HSA_CORE_API, id, 0);
    assert_non_null(enter);
    assert_int_equal(enter->payload.hsa.size, sizeof enter->payload.hsa);
    assert_int_equal(enter->payload.hsa.args.hsa_agent_get_info.agent.handle, DOUBLE_GPU);
    assert_int_equal(enter->payload.hsa.args.hsa_agent_get_info.attribute, HSA_AGENT_INFO_DEVICE);
    assert_ptr_equal(enter->payload.hsa.args.hsa_agent_get_info.value, &kind);
    assert_int_equal(leave->payload.hsa.retval.hsa_status_t_retval, HSA_STATUS_SUCCESS);
    assert_int_equal(CALL(hsa_agent_get_info)(gpu, HSA_AGENT_INFO_NAME, &kind),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    leave = double_entry(DOUBLE_API_EXIT, TRACE_HSA_CORE_API, id, 1);
    assert_int_equal(leave->payload.hsa.retval.hsa_status_t_retval,
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    double_unlisten(TRACE_HSA_CORE_API);
    CALL(hsa_agent_get_info)(gpu, HSA_AGENT_INFO_DEVICE, &kind);
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HSA_CORE_API, id), 2);
}

static void a_dispatch_is_reported_and_its_signal_honoured(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    assert_int_equal(CALL(hsa_executable_freeze)(double_executable(), NULL), HSA_STATUS_SUCCESS);
    hsa_queue_t *queue = queue_open();
    hsa_signal_t signal = signal_make(3);
    hsa_kernel_dispatch_packet_t packet = kernel_packet(640, signal);
    packet.private_segment_size = 8;
    packet.group_segment_size = 256;
    double_packets_submit(queue, &packet, 1);
    assert_true(value_reached(signal, 2)); /* counted down by one, not set */
    const struct double_entry *done = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, 0);
    assert_non_null(done); /* before the program saw its signal */
    const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record =
        &done->payload.dispatch_record;
    assert_int_equal(record->dispatch_info.grid_size.x, 640);
    assert_int_equal(record->dispatch_info.workgroup_size.x, 64);
    assert_int_equal(record->dispatch_info.private_segment_size, 8);
    assert_int_equal(record->dispatch_info.group_segment_size, 256);
    assert_int_equal(record->dispatch_info.agent_id.handle, 0x1001);
    assert_int_equal(record->dispatch_info.queue_id.handle, queue->id);
    assert_int_equal(record->dispatch_info.kernel_id, objects_kernel_id(double_kernel_object(0)));
    assert_true(record->dispatch_info.kernel_id > 0);
    /* 100 MHz ticks: ten nanoseconds each. */
    assert_int_equal(record->end_timestamp - record->start_timestamp, DOUBLE_TICKS_PER_KERNEL * 10);
    assert_true(record->start_timestamp >= 7000000000ull);
    /* The program's own timing query reads these. */
    assert_int_equal(amd_signal(signal)->end_ts - amd_signal(signal)->start_ts,
                     DOUBLE_TICKS_PER_KERNEL);
    assert_int_equal(
        double_count(DOUBLE_CALL, TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE), 2);
    assert_int_equal(
        double_count(DOUBLE_CALL, TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE), 1);
    assert_int_equal(CALL(hsa_queue_destroy)(queue), HSA_STATUS_SUCCESS);
    assert_int_equal(double_open_events(), 0);
    CALL(hsa_signal_destroy)(signal);
    CALL(hsa_executable_destroy)(double_executable());
}

/* Nobody wants the kernels themselves. */
static void a_launch_counts_the_kernels_of_its_thread(void **state)
{
    (void)state;
    double_listen(TRACE_HIP_GRAPH, -1);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    const hsa_kernel_dispatch_packet_t kernel = kernel_packet(64, signal_make(9));
    const hsa_kernel_dispatch_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND};
    const hsa_kernel_dispatch_packet_t packets[] = {kernel, barrier, kernel};
    double_packets_submit(queue, &kernel, 1);
    const struct launched outer = launched_begin();
    double_packets_submit(queue, packets, 3);
    double_packets_submit(queue, &kernel, 1);
    const struct launched within = launched_begin();
    double_packets_submit(queue, &barrier, 1);
    assert_int_equal(launched_end(within).kernels, 0);
    const struct launched launch = launched_end(outer);
    double_packets_submit(queue, &kernel, 1);
    assert_true(value_reached(kernel.completion_signal, 4));
    assert_int_equal(launch.kernels, 3);
    assert_int_equal(launch.agent.handle, 0x1001);
    assert_false(launched_is_open());
    assert_int_equal(launched_here.kernels, 0);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), 0);
}

static void other_packets_pass_untouched(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    hsa_signal_t signal = signal_make(2);
    hsa_kernel_dispatch_packet_t kernel = kernel_packet(64, (hsa_signal_t){0});
    kernel.header |= 1 << HSA_PACKET_HEADER_BARRIER | 2 << HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE;
    unsigned char packets[3][64] = {{0}};
    hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << 8,
                                        .completion_signal = signal};
    memcpy(packets[0], &barrier, 64);
    memcpy(packets[1], &kernel, 64);
    memcpy(packets[2], &barrier, 64);
    double_packets_submit(queue, packets, 3);
    assert_true(value_reached(signal, 0));
    assert_int_equal(double_packets_seen(), 3);
    assert_memory_equal(double_packet(0), packets[0], 64);
    assert_memory_equal(double_packet(1), packets[1], 56); /* all but the completion signal */
    const hsa_kernel_dispatch_packet_t *passed = double_packet(1);
    assert_int_equal(amd_signal(passed->completion_signal)->kind, AMD_SIGNAL_KIND_USER);
    assert_memory_equal(double_packet(2), packets[2], 64);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), 1);
    CALL(hsa_queue_destroy)(queue);
    CALL(hsa_signal_destroy)(signal);
}

static void nobody_listening_writes_what_came(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    double_unlisten(TRACE_KERNEL_DISPATCH);
    hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
    double_packets_submit(queue, &packet, 1);
    assert_memory_equal(double_packet(0), &packet, 64);
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), 0);
}

/* The runtime's function works for us; what the thread calls afterwards is the program's again. */
static void asking_for_a_time_ends(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    assert_true(table_arrives(double_table_make(2)));
    const struct hsa_agent_entry *gpu = agents_find(&hsa_instances[0], (hsa_agent_t){DOUBLE_GPU});
    assert_non_null(gpu);
    agents_device_time_ns(gpu, 1000);
    assert_false(thread_is_own_work());
}

/* More in flight than upstream's sixteen, than a block of ours, than most queues hold. */
static void thousands_in_flight(void **state)
{
    enum { KERNELS = 5000 };
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    assert_true(table_arrives(double_table_make(2)));
    hsa_queue_t *queues[2] = {queue_open(), queue_open()};
    double_device_hold(true);
    for (uint32_t i = 0; i < KERNELS; i++) {
        hsa_kernel_dispatch_packet_t packet = kernel_packet(i + 1, (hsa_signal_t){0});
        double_packets_submit(queues[i % 2], &packet, 1);
    }
    double_device_hold(false);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(double_kernels_seen(), KERNELS);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), KERNELS);
    static bool seen_grid[KERNELS + 1], seen_id[KERNELS + 1];
    uint64_t first_id = UINT64_MAX;
    const struct double_entry *entries = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, 0);
    for (uint32_t i = 0; i < KERNELS; i++)
        if (entries[2 * i].payload.dispatch_record.dispatch_info.dispatch_id < first_id)
            first_id = entries[2 * i].payload.dispatch_record.dispatch_info.dispatch_id;
    for (uint32_t i = 0; i < KERNELS; i++) { /* a COMPLETE call goes before every record */
        const rocprofiler_kernel_dispatch_info_t *info =
            &entries[2 * i].payload.dispatch_record.dispatch_info;
        assert_false(seen_grid[info->grid_size.x]);
        assert_false(seen_id[info->dispatch_id - first_id]);
        seen_grid[info->grid_size.x] = seen_id[info->dispatch_id - first_id] = true;
    }
    CALL(hsa_queue_destroy)(queues[0]);
    CALL(hsa_queue_destroy)(queues[1]);
}

/* Plain records: the device gets the program's own signals, which the program uses again and
 * destroys as soon as it sees them; who then collects finds every kernel with its own times. */
static void signals_stay_the_programs(void **state)
{
    enum { KERNELS = 2000, SIGNALS = 3 };
    (void)state;
    double_listen_records(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    assert_true(table_arrives(double_table_make(2)));
    hsa_queue_t *queue = queue_open();
    hsa_signal_t signals[SIGNALS];
    for (int i = 0; i < SIGNALS; i++)
        signals[i] = signal_make(0);
    for (uint32_t i = 0; i < KERNELS; i++) {
        hsa_signal_t *signal = &signals[i % SIGNALS];
        if (i % 50 == 0) {
            CALL(hsa_signal_destroy)(*signal);
            *signal = signal_make(0);
        }
        __atomic_store_n(&amd_signal(*signal)->value, 1, __ATOMIC_RELAXED);
        hsa_kernel_dispatch_packet_t packet = kernel_packet(i + 1, *signal);
        hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << 8,
                                            .completion_signal = *signal};
        uint64_t first = double_packets_seen();
        double_packets_submit(queue, &packet, 1);
        assert_memory_equal(double_packet(first), &packet, 64);
        assert_true(value_reached(*signal, 0));
        if (i % 7 == 0) {
            __atomic_store_n(&amd_signal(*signal)->value, 1, __ATOMIC_RELAXED);
            double_packets_submit(queue, &barrier, 1);
            assert_true(value_reached(*signal, 0));
        }
    }
    completion_harvest(STALL_NS);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), KERNELS);
    const struct double_entry *entries = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, 0);
    const rocprofiler_buffer_tracing_kernel_dispatch_record_t *records[KERNELS] = {NULL};
    for (uint32_t i = 0; i < KERNELS; i++) { /* two threads report: in no order */
        uint32_t number = entries[i].payload.dispatch_record.dispatch_info.grid_size.x;
        assert_in_range(number, 1, KERNELS);
        assert_null(records[number - 1]);
        records[number - 1] = &entries[i].payload.dispatch_record;
    }
    for (uint32_t i = 0; i < KERNELS; i++) {
        assert_int_equal(records[i]->end_timestamp - records[i]->start_timestamp,
                         DOUBLE_TICKS_PER_KERNEL * 10);
        assert_true(i == 0 || records[i]->start_timestamp >= records[i - 1]->end_timestamp);
    }
    CALL(hsa_queue_destroy)(queue);
    for (int i = 0; i < SIGNALS; i++)
        CALL(hsa_signal_destroy)(signals[i]);
    assert_int_equal(double_open_events(), 0);
}

static void signal_add(hsa_signal_t signal, int64_t value)
{
    __atomic_add_fetch(&amd_signal(signal)->value, value, __ATOMIC_ACQ_REL);
}

static const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record_of(uint32_t grid)
{
    const struct double_entry *entry;
    for (uint32_t n = 0; (entry = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, n)); n++)
        if (entry->payload.dispatch_record.dispatch_info.grid_size.x == grid)
            return &entry->payload.dispatch_record;
    return NULL;
}

/* The program adds to a signal that a running kernel will count, and gives it to others, too: a
 * traced kernel, a barrier, and a kernel while nobody listens. Each ends before the first one. */
static void a_signal_counted_by_many_keeps_their_times_apart(void **state)
{
    enum { LONG = 1, SHORT = 2, UNTRACED = 3 };
    (void)state;
    double_listen_records(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    hsa_queue_t *queues[2] = {queue_open(), queue_open()};
    hsa_signal_t signal = signal_make(1);
    hsa_kernel_dispatch_packet_t kernel = kernel_packet(LONG, signal);
    hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << 8,
                                        .completion_signal = signal};
    double_device_by_hand();
    double_packets_submit(queues[0], &kernel, 1);
    signal_add(signal, 3);
    kernel.grid_size_x = SHORT;
    double_packets_submit(queues[1], &kernel, 1);
    double_packets_submit(queues[1], &barrier, 1);
    double_unlisten(TRACE_KERNEL_DISPATCH);
    kernel.grid_size_x = UNTRACED;
    double_packets_submit(queues[1], &kernel, 1);
    double_device_finish(queues[1], 0);
    assert_true(value_reached(signal, 1));
    completion_harvest(STALL_NS);
    assert_non_null(record_of(SHORT));
    assert_null(record_of(LONG));
    assert_null(record_of(UNTRACED));
    double_device_finish(queues[0], 0);
    assert_true(value_reached(signal, 0));
    completion_harvest(STALL_NS);
    assert_non_null(record_of(LONG));
    assert_true(record_of(LONG)->start_timestamp >= record_of(SHORT)->end_timestamp);
    assert_int_equal(record_of(LONG)->end_timestamp - record_of(LONG)->start_timestamp,
                     DOUBLE_TICKS_PER_KERNEL * 10);
    CALL(hsa_queue_destroy)(queues[0]);
    CALL(hsa_queue_destroy)(queues[1]);
    CALL(hsa_signal_destroy)(signal);
    assert_int_equal(double_open_events(), 0);
}

static hsa_queue_t *queue_nested;
static int submissions_lost;

static void launch_inside(void)
{
    struct hsa_submission before, after;
    const hsa_kernel_dispatch_packet_t inner = kernel_packet(64, (hsa_signal_t){0});
    if (!intercept_submission(&before) || !queue_nested)
        return;
    hsa_queue_t *queue = queue_nested;
    queue_nested = NULL; /* once */
    double_packets_submit(queue, &inner, 1);
    submissions_lost = !intercept_submission(&after) || after.packet != before.packet;
}

/* A tool's callback that launches still knows which dispatch it was called for. */
static void a_callback_may_launch(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    hsa_queue_t *outer = queue_open(), *inner = queue_open();
    hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
    queue_nested = inner;
    submissions_lost = -1;
    atomic_store(&double_on_call, launch_inside);
    double_packets_submit(outer, &packet, 1);
    atomic_store(&double_on_call, NULL);
    assert_int_equal(submissions_lost, 0);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), 2);
    CALL(hsa_queue_destroy)(outer);
    CALL(hsa_queue_destroy)(inner);
}

static hsa_status_t no_intercepted_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                         void (*error)(hsa_status_t, hsa_queue_t *, void *),
                                         void *data, uint32_t private_size, uint32_t group_size,
                                         hsa_queue_t **queue)
{
    (void)agent, (void)size, (void)type, (void)error, (void)data, (void)private_size;
    (void)group_size, (void)queue;
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* The program gets the queue that it would have without us. */
static void a_refused_interception_costs_no_queue(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(2)));
    hsa_instances[0].real.hsa_amd_queue_intercept_create = no_intercepted_queue;
    hsa_queue_t *queue = queue_open();
    hsa_signal_t signal = signal_make(1);
    hsa_kernel_dispatch_packet_t packet = kernel_packet(64, signal);
    double_packets_submit(queue, &packet, 1);
    assert_true(value_reached(signal, 0));
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), 0);
    assert_int_equal(CALL(hsa_queue_destroy)(queue), HSA_STATUS_SUCCESS);
    CALL(hsa_signal_destroy)(signal);
}

/* Runtimes before ROCm 6 do not survive it with several packets at one doorbell. */
/* Deleted neither by its interceptor nor at the runtime's end, but when nobody holds it. */
static void a_cooperative_queue_is_shared(void **state)
{
    hsa_queue_t *queues[2];
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    for (int i = 0; i < 2; i++)
        assert_int_equal(CALL(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, 64,
                                                HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, 0, 0,
                                                &queues[i]),
                         HSA_STATUS_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_true(double_cooperative_references() > 0);
        assert_int_equal(CALL(hsa_queue_destroy)(queues[i]), HSA_STATUS_SUCCESS);
        assert_true(double_queue_exists(queues[i])); /* the interceptor */
    }
    assert_int_equal(double_cooperative_references(), 0);
}

/* Packets that are none of the program's. They say that all before them has ended: no other packet
 * of theirs would hold them back. */
static unsigned markers_in_order(void)
{
    unsigned count = 0;
    for (uint64_t n = 0; n < double_packets_seen(); n++) {
        const hsa_barrier_and_packet_t *packet = double_packet(n);
        if ((packet->header & 0xff) != HSA_PACKET_TYPE_BARRIER_AND)
            continue;
        assert_int_equal(packet->header,
                         HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER);
        assert_int_not_equal(packet->completion_signal.handle, 0);
        count++;
    }
    return count;
}

static void a_full_queue_gets_no_more(void **state)
{
    enum { RINGS = 400, AT_ONCE = 10, SIZE = 64 };
    (void)state;
    double_listen_records(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = NULL;
    CALL(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, SIZE, 0, NULL, NULL, 0, 0, &queue);
    unsigned char packets[AT_ONCE][64];
    for (uint32_t i = 0; i < RINGS; i++) {
        hsa_kernel_dispatch_packet_t packet = kernel_packet(i + 1, (hsa_signal_t){0});
        for (uint32_t k = 0; k < AT_ONCE; k++)
            memcpy(packets[k], &packet, 64);
        double_packets_submit(queue, packets, AT_ONCE);
    }
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), RINGS * AT_ONCE);
    assert_in_range(double_queue_deepest(queue), SIZE / 4, SIZE - 1);
    assert_true(markers_in_order() > 0);
    CALL(hsa_queue_destroy)(queue);
}

static bool error_seen;

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    error_seen = status == HSA_STATUS_ERROR_EXCEPTION && source == *(hsa_queue_t **)data;
}

static void a_broken_queue_reaches_the_program_and_ends(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = NULL;
    CALL(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, 64, 0, on_error, &queue, 0, 0, &queue);
    double_device_hold(true);
    hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
    double_packets_submit(queue, &packet, 1);
    double_queue_break(queue);
    double_device_hold(false);
    assert_true(error_seen);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1), 0);
    CALL(hsa_queue_destroy)(queue);
    assert_int_equal(double_open_events(), 0);
}

/* ---- cost --------------------------------------------------------------------------------------
 */

static uint64_t cpu_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Time is printed for the record and asserted nowhere; what must hold is that the program never
 * waits: every packet is taken while the device holds still. */
static void a_still_device_holds_nobody_up(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    assert_true(table_arrives(double_table_make(1)));
    hsa_queue_t *queue = queue_open();
    for (int round = 0; round < 3; round++) {
        uint64_t step = 1024;
        double_device_hold(true);
        uint64_t before = cpu_ns();
        for (uint32_t i = 0; i < step; i++) {
            hsa_kernel_dispatch_packet_t packet = kernel_packet(64, (hsa_signal_t){0});
            double_packets_submit(queue, &packet, 1);
        }
        uint64_t each = (cpu_ns() - before) / step;
        print_message("enqueue: %llu ns each, 0 to 1024 in flight\n", (unsigned long long)each);
        double_device_hold(false);
        assert_true(completion_drain(STALL_NS));
    }
    CALL(hsa_queue_destroy)(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_configured_changes_nothing, reset),
        cmocka_unit_test_setup(only_the_configured_operation_is_wrapped, reset),
        cmocka_unit_test_setup(unknown_agents_leave_calls_traced, reset),
        cmocka_unit_test_setup(api_calls_report_arguments_and_results, reset),
        cmocka_unit_test_setup(a_dispatch_is_reported_and_its_signal_honoured, reset),
        cmocka_unit_test_setup(a_launch_counts_the_kernels_of_its_thread, reset),
        cmocka_unit_test_setup(other_packets_pass_untouched, reset),
        cmocka_unit_test_setup(nobody_listening_writes_what_came, reset),
        cmocka_unit_test_setup(asking_for_a_time_ends, reset),
        cmocka_unit_test_setup(thousands_in_flight, reset),
        cmocka_unit_test_setup(signals_stay_the_programs, reset),
        cmocka_unit_test_setup(a_signal_counted_by_many_keeps_their_times_apart, reset),
        cmocka_unit_test_setup(a_callback_may_launch, reset),
        cmocka_unit_test_setup(a_refused_interception_costs_no_queue, reset),
        cmocka_unit_test_setup(a_cooperative_queue_is_shared, reset),
        cmocka_unit_test_setup(a_full_queue_gets_no_more, reset),
        cmocka_unit_test_setup(a_broken_queue_reaches_the_program_and_ends, reset),
        cmocka_unit_test_setup(a_still_device_holds_nobody_up, reset),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
