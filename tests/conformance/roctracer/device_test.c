/* What the device does for HSA queues: barriers and copies, their records and events; and that a
 * flush finds whatever the program has seen the end of. */
#include "common.h"
#include "devices.h"

static void every_barrier_of_a_queue_is_recorded(void **state)
{
    enum { BARRIERS = 50 };
    static struct catch c;
    hsa_queue_t *queue;
    hsa_signal_t signal;
    roctracer_timestamp_t before, after;
    (void)state;
    catch_open(&c, 64 << 10);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_BARRIER, c.pool));
    assert_int_equal(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
                                      UINT32_MAX, &queue),
                     HSA_STATUS_SUCCESS);
    hsa_signal_create(BARRIERS, 0, NULL, &signal);
    OK(roctracer_get_timestamp(&before));
    for (int i = 0; i < BARRIERS; i++)
        barrier_put(queue, signal);
    wait_zero(signal);
    OK(roctracer_get_timestamp(&after));
    OK(roctracer_flush_activity_expl(c.pool));
    assert_int_equal(c.count, BARRIERS);
    for (unsigned i = 0; i < c.count; i++) {
        const roctracer_record_t *r = &c.records[i];
        assert_int_equal(r->domain, ACTIVITY_DOMAIN_HSA_OPS);
        assert_int_equal(r->op, HSA_OP_ID_BARRIER);
        assert_int_equal(r->device_id, node_of(gpu));
        assert_int_equal(r->queue_id, queue->id);
        assert_in_range(r->begin_ns, before, after);
        assert_in_range(r->end_ns, r->begin_ns, after);
    }
    OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_BARRIER));
    hsa_signal_store_screlease(signal, 1);
    barrier_put(queue, signal);
    wait_zero(signal);
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, BARRIERS);
    hsa_queue_destroy(queue);
    hsa_signal_destroy(signal);
}

/* A queue made while nothing is enabled, but after it was announced. */
static void barriers_of_queues_made_before_it_was_enabled(void **state)
{
    enum { BARRIERS = 20, ROUNDS = 2 };
    static struct catch c;
    hsa_queue_t *queue;
    hsa_signal_t signal;
    (void)state;
    OK(roctracer_set_properties(ACTIVITY_DOMAIN_HSA_OPS, NULL));
    assert_int_equal(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
                                      UINT32_MAX, &queue),
                     HSA_STATUS_SUCCESS);
    hsa_signal_create(1, 0, NULL, &signal);
    for (unsigned round = 0; round < ROUNDS; round++) {
        barrier_put(queue, signal);
        wait_zero(signal);
        hsa_signal_store_screlease(signal, BARRIERS);
        catch_open(&c, 4096);
        OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_BARRIER, c.pool));
        for (int i = 0; i < BARRIERS; i++)
            barrier_put(queue, signal);
        wait_zero(signal);
        OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_BARRIER));
        OK(roctracer_close_pool_expl(c.pool));
        assert_int_equal(c.count, BARRIERS);
        assert_int_equal(c.records[0].queue_id, queue->id);
        hsa_signal_store_screlease(signal, 1);
    }
    hsa_queue_destroy(queue);
    hsa_signal_destroy(signal);
}

static struct {
    unsigned allocations, frees, devices, copies;
    size_t size;
} events;

static void on_event(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_evt_data_t *event = data;
    assert_int_equal(domain, ACTIVITY_DOMAIN_HSA_EVT);
    assert_ptr_equal(arg, &events);
    if (op == HSA_EVT_ID_ALLOCATE && event->allocate.size) {
        events.allocations++;
        events.size = event->allocate.size;
        assert_int_equal(event->allocate.segment, HSA_AMD_SEGMENT_GLOBAL);
        assert_true(event->allocate.global_flag & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    } else if (op == HSA_EVT_ID_ALLOCATE) {
        events.frees++;
    } else if (op == HSA_EVT_ID_DEVICE) {
        events.devices += event->device.agent.handle == gpu.handle &&
                          event->device.type == HSA_DEVICE_TYPE_GPU &&
                          event->device.id == node_of(gpu);
    } else if (op == HSA_EVT_ID_MEMCOPY) {
        events.copies++;
        assert_int_equal(event->memcopy.size, 100);
    }
}

static void copies_and_memory_are_seen_with_their_call(void **state)
{
    enum { COPIES = 20, BYTES = 4096 };
    static struct catch c;
    char *from, *to;
    hsa_signal_t signal;
    (void)state;
    OK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT, on_event, &events));
    assert_int_equal(hsa_amd_memory_pool_allocate(memory_pool, 2 * BYTES, 0, (void **)&from), 0);
    assert_int_equal(hsa_amd_agents_allow_access(1, &gpu, NULL, from), HSA_STATUS_SUCCESS);
    to = from + BYTES;
    hsa_memory_copy(to, from, 100);
    assert_int_equal(events.allocations, 1);
    assert_int_equal(events.size, 2 * BYTES);
    assert_true(events.devices >= 1);
    assert_int_equal(events.copies, 1);

    catch_open(&c, 4096);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY, c.pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API,
                                         HSA_API_ID_hsa_amd_memory_async_copy, c.pool));
    hsa_signal_create(COPIES, 0, NULL, &signal);
    for (int i = 0; i < COPIES; i++)
        assert_int_equal(hsa_amd_memory_async_copy(to, gpu, from, cpu, BYTES, 0, NULL, signal), 0);
    wait_zero(signal);
    OK(roctracer_flush_activity_expl(c.pool));
    assert_int_equal(c.count, 2 * COPIES);
    for (unsigned i = 0; i < c.count; i++) {
        const roctracer_record_t *copy = &c.records[i];
        unsigned calls = 0;
        if (copy->domain != ACTIVITY_DOMAIN_HSA_OPS)
            continue;
        assert_int_equal(copy->op, HSA_OP_ID_COPY);
        assert_int_equal(copy->bytes, BYTES);
        assert_int_equal(copy->device_id, node_of(gpu));
        for (unsigned n = 0; n < c.count; n++)
            calls += c.records[n].domain == ACTIVITY_DOMAIN_HSA_API &&
                     c.records[n].correlation_id == copy->correlation_id;
        assert_int_equal(calls, 1);
    }
    OK(roctracer_close_pool_expl(c.pool));
    hsa_amd_memory_pool_free(from);
    assert_int_equal(events.frees, 1);
    OK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_EVT));
    hsa_signal_destroy(signal);
}

/* From the device it is the source that says which one. */
static void copies_from_the_device_are_its_own(void **state)
{
    enum { BYTES = 4096 };
    static struct catch c;
    char *memory;
    hsa_signal_t signal;
    (void)state;
    assert_int_equal(hsa_amd_memory_pool_allocate(memory_pool, 2 * BYTES, 0, (void **)&memory), 0);
    hsa_amd_agents_allow_access(1, &gpu, NULL, memory);
    catch_open(&c, 4096);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY, c.pool));
    hsa_signal_create(1, 0, NULL, &signal);
    assert_int_equal(
        hsa_amd_memory_async_copy(memory + BYTES, cpu, memory, gpu, BYTES, 0, NULL, signal), 0);
    wait_zero(signal);
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, 1);
    assert_int_equal(c.records[0].device_id, node_of(gpu));
    assert_int_equal(c.records[0].bytes, BYTES);
    hsa_amd_memory_pool_free(memory);
    hsa_signal_destroy(signal);
}

/* ---- the one call whose arguments are laid out anew */

static struct {
    unsigned calls;
    hsa_api_data_t at_enter;
} rectangle;

static void on_rectangle(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_api_data_t *call = data;
    (void)arg;
    assert_int_equal(domain, ACTIVITY_DOMAIN_HSA_API);
    assert_int_equal(op, HSA_API_ID_hsa_amd_memory_async_copy_rect);
    if (call->phase == ACTIVITY_API_PHASE_ENTER)
        rectangle.at_enter = *call;
    rectangle.calls++;
}

static void rectangles_are_seen_with_their_range(void **state)
{
    char *memory;
    hsa_signal_t signal, before[2];
    hsa_dim3_t to_at = {1, 2, 0}, from_at = {3, 0, 0}, range = {16, 2, 1};
    (void)state;
    assert_int_equal(hsa_amd_memory_pool_allocate(memory_pool, 8192, 0, (void **)&memory), 0);
    hsa_amd_agents_allow_access(1, &gpu, NULL, memory);
    const hsa_pitched_ptr_t to = {memory, 64, 1024}, from = {memory + 4096, 64, 1024};
    hsa_signal_create(1, 0, NULL, &signal);
    for (int i = 0; i < 2; i++)
        hsa_signal_create(0, 0, NULL, &before[i]);
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API,
                                    HSA_API_ID_hsa_amd_memory_async_copy_rect, on_rectangle, NULL));
    assert_int_equal(hsa_amd_memory_async_copy_rect(&to, &to_at, &from, &from_at, &range, gpu,
                                                    hsaHostToDevice, 2, before, signal),
                     HSA_STATUS_SUCCESS);
    wait_zero(signal);
    OK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_API));
    assert_int_equal(rectangle.calls, 2);
    const __typeof__(rectangle.at_enter.args.hsa_amd_memory_async_copy_rect) *a =
        &rectangle.at_enter.args.hsa_amd_memory_async_copy_rect;
    assert_ptr_equal(a->dst, &to);
    assert_ptr_equal(a->dst_offset, &to_at);
    assert_ptr_equal(a->src, &from);
    assert_ptr_equal(a->src_offset, &from_at);
    assert_ptr_equal(a->range, &range);
    assert_memory_equal(&a->range__val, &range, sizeof range);
    assert_int_equal(a->copy_agent.handle, gpu.handle);
    assert_int_equal(a->dir, hsaHostToDevice);
    assert_int_equal(a->num_dep_signals, 2);
    assert_ptr_equal(a->dep_signals, before);
    assert_int_equal(a->completion_signal.handle, signal.handle);
    hsa_amd_memory_pool_free(memory);
    hsa_signal_destroy(signal);
}

static void devices_are_found(void **state)
{
    (void)state;
    find_devices();
    assert_true(gpu.handle && cpu.handle && memory_pool.handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_found),
        cmocka_unit_test(barriers_of_queues_made_before_it_was_enabled),
        cmocka_unit_test(every_barrier_of_a_queue_is_recorded),
        cmocka_unit_test(copies_and_memory_are_seen_with_their_call),
        cmocka_unit_test(copies_from_the_device_are_its_own),
        cmocka_unit_test(rectangles_are_seen_with_their_range),
    };
    return with_runtime(tests, sizeof tests / sizeof tests[0]);
}
