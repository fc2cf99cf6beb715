/* KFD_API: calls of the driver's library, counted by the program's own functions of its names. */
#include "common.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <roctracer/roctracer_kfd.h>
#include <stdio.h>

#include "kfd_truth.h"

#define KFD ACTIVITY_DOMAIN_KFD_API

/* ---- what callbacks see */

static _Atomic unsigned enters[KFD_API_ID_NUMBER], exits[KFD_API_ID_NUMBER];
static _Atomic unsigned wrong_arguments, wrong_results, wrong_pairs, unknown_operations;
static _Atomic uint64_t last_correlation;

static void arguments_compare(uint32_t op, const kfd_api_data_t *call)
{
    unsigned i = 0;
#define COMPARE(function, parameter, size)                                                         \
    if (op == KFD_API_ID_##function) {                                                             \
        uint64_t seen = 0, real = 0;                                                               \
        memcpy(&seen, &call->args.function.parameter, size);                                       \
        memcpy(&real, &truth_last[op].words[i++], size);                                           \
        wrong_arguments += seen != real;                                                           \
    }
    THUNK_PARAMETERS(COMPARE)
}

static void on_kfd(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const kfd_api_data_t *call = data;
    if (domain != KFD || op >= KFD_API_ID_NUMBER || arg != &enters) {
        unknown_operations++;
        return;
    }
    last_correlation = call->correlation_id;
    if (call->phase == ACTIVITY_API_PHASE_ENTER) {
        enters[op]++;
        *call->phase_data = call->correlation_id;
        return;
    }
    exits[op]++;
    wrong_pairs += *call->phase_data != call->correlation_id || call->correlation_id == 0;
    wrong_results += (uint32_t)call->HSAKMT_STATUS_retval != (uint32_t)truth_last[op].result;
    arguments_compare(op, call);
}

static void counts_reset(void)
{
    for (unsigned op = 0; op < KFD_API_ID_NUMBER; op++)
        enters[op] = exits[op] = truth_counts[op] = 0;
    wrong_arguments = wrong_results = wrong_pairs = unknown_operations = 0;
}

static unsigned sum(const _Atomic unsigned *counts)
{
    unsigned total = 0;
    for (unsigned op = 0; op < KFD_API_ID_NUMBER; op++)
        total += counts[op];
    return total;
}

static void nothing_was_wrong(void)
{
    assert_int_equal(wrong_arguments, 0);
    assert_int_equal(wrong_results, 0);
    assert_int_equal(wrong_pairs, 0);
    assert_int_equal(unknown_operations, 0);
}

/* ---- what the program does */

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;

static hsa_status_t gpu_find(hsa_agent_t agent, void *unused)
{
    hsa_device_type_t type;
    (void)unused;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU)
        gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_find(hsa_amd_memory_pool_t found, void *unused)
{
    bool allowed = false;
    (void)unused;
    hsa_amd_memory_pool_get_info(found, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    if (allowed)
        pool = found;
    return HSA_STATUS_SUCCESS;
}

static void runtime_begin(void)
{
    assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
    hsa_iterate_agents(gpu_find, NULL);
    assert_int_not_equal(gpu.handle, 0);
    hsa_amd_agent_iterate_memory_pools(gpu, pool_find, NULL);
    assert_int_not_equal(pool.handle, 0);
}

static void memory_use(void)
{
    enum { BYTES = 8 << 20 }; /* more than what the runtime keeps */
    void *memory;
    assert_int_equal(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &memory), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

static void queue_use(void)
{
    hsa_queue_t *queue;
    assert_int_equal(hsa_queue_create(gpu, 256, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
                                      UINT32_MAX, &queue),
                     HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_queue_destroy(queue), HSA_STATUS_SUCCESS);
}

static void copy_use(void)
{
    enum { BYTES = 1 << 20 };
    void *from, *to;
    hsa_signal_t signal;
    assert_int_equal(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &from), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &to), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_signal_create(1, 0, NULL, &signal), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_amd_memory_async_copy(to, gpu, from, gpu, BYTES, 0, NULL, signal),
                     HSA_STATUS_SUCCESS);
    while (hsa_signal_load_scacquire(signal) != 0)
        usleep(100);
    hsa_signal_destroy(signal);
    hsa_amd_memory_pool_free(to);
    hsa_amd_memory_pool_free(from);
}

/* The runtime keeps the driver's events of signals that are gone; afterwards it has none left. */
enum { HELD = 16 };
static void events_use_up(hsa_signal_t *held)
{
    usleep(50000); /* those that are just being given back */
    for (int i = 0; i < HELD; i++)
        assert_int_equal(hsa_signal_create(1, 0, NULL, &held[i]), HSA_STATUS_SUCCESS);
}

/* ---- tests */

static void operations_have_names(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < KFD_API_ID_NUMBER; op++) {
        uint32_t back = UINT32_MAX, kind = 1;
        const char *name = roctracer_op_string(KFD, op, 0);
        assert_non_null(name);
        OK(roctracer_op_code(KFD, name, &back, &kind));
        assert_int_equal(back, op);
        assert_int_equal(kind, 0);
    }
    assert_string_equal(roctracer_op_string(KFD, KFD_API_ID_hsaKmtAllocMemory, 0),
                        "hsaKmtAllocMemory");
    assert_int_equal(KFD_API_ID_hsaKmtAllocMemory, 23); /* ROCtracer of ROCm 4.3 */
    assert_null(roctracer_op_string(KFD, KFD_API_ID_NUMBER, 0));
    FAILS(INVALID_ARGUMENT, roctracer_op_code(KFD, "hsaKmtNothing", &(uint32_t){0}, NULL));
    FAILS(INVALID_ARGUMENT, roctracer_enable_op_callback(KFD, KFD_API_ID_NUMBER, on_kfd, NULL));
    FAILS(INVALID_ARGUMENT, roctracer_enable_domain_callback(KFD, NULL, NULL));
    FAILS(INVALID_ARGUMENT, roctracer_disable_op_activity(KFD, KFD_API_ID_NUMBER));
    FAILS(DEFAULT_POOL_UNDEFINED, roctracer_enable_domain_activity(KFD));
    OK(roctracer_set_properties(KFD, NULL));
    OK(roctracer_disable_domain_callback(KFD));
}

static void nobody_is_told_unasked(void **state)
{
    (void)state;
    counts_reset();
    runtime_begin();
    memory_use();
    assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
    assert_true(truth_counts[KFD_API_ID_hsaKmtOpenKFD] > 0); /* the truth is told */
    assert_int_equal(sum(enters), 0);
}

/* From the first call of the runtime to its last. */
static void every_call_is_seen_once(void **state)
{
    (void)state;
    counts_reset();
    OK(roctracer_enable_domain_callback(KFD, on_kfd, (void *)&enters));
    runtime_begin();
    queue_use();
    memory_use();
    assert_int_equal(hsa_shut_down(), HSA_STATUS_SUCCESS);
    OK(roctracer_disable_domain_callback(KFD));
    for (unsigned op = 0; op < KFD_API_ID_NUMBER; op++) {
        assert_int_equal(enters[op], truth_counts[op]);
        assert_int_equal(exits[op], truth_counts[op]);
    }
    assert_true(exits[KFD_API_ID_hsaKmtOpenKFD] >= 1);
    assert_true(exits[KFD_API_ID_hsaKmtCreateQueue] >= 1);
    assert_true(exits[KFD_API_ID_hsaKmtAllocMemory] >= 1);
    assert_true(exits[KFD_API_ID_hsaKmtCloseKFD] >= 1);
    nothing_was_wrong();
}

static void single_operations_are_enabled_and_disabled(void **state)
{
    (void)state;
    OK(roctracer_enable_op_callback(KFD, KFD_API_ID_hsaKmtFreeMemory, on_kfd, (void *)&enters));
    runtime_begin();
    counts_reset();
    memory_use();
    assert_int_equal(exits[KFD_API_ID_hsaKmtFreeMemory], 1);
    assert_int_equal(sum(exits), 1);
    assert_true(sum(truth_counts) > 1);
    roctracer_stop();
    memory_use();
    assert_int_equal(sum(enters), 1);
    OK(roctracer_enable_op_callback(KFD, KFD_API_ID_hsaKmtAllocMemory, on_kfd, (void *)&enters));
    roctracer_start(); /* what was enabled in between is seen from now on */
    memory_use();
    assert_int_equal(exits[KFD_API_ID_hsaKmtFreeMemory], 2);
    assert_int_equal(exits[KFD_API_ID_hsaKmtAllocMemory], 1);
    OK(roctracer_disable_op_callback(KFD, KFD_API_ID_hsaKmtFreeMemory));
    memory_use();
    assert_int_equal(exits[KFD_API_ID_hsaKmtFreeMemory], 2);
    assert_int_equal(exits[KFD_API_ID_hsaKmtAllocMemory], 2);
    OK(roctracer_disable_domain_callback(KFD));
    memory_use();
    assert_int_equal(sum(exits), 4);
    nothing_was_wrong();
    hsa_shut_down();
}

/* Times, threads, ids: of the call in HSA that the call below it belongs to, too. */
static void records_say_what_happened(void **state)
{
    static struct catch c;
    roctracer_timestamp_t before, after;
    (void)state;
    catch_open(&c, 1 << 16);
    runtime_begin();
    counts_reset();
    OK(roctracer_enable_domain_activity_expl(KFD, c.pool));
    OK(roctracer_get_timestamp(&before));
    OK(roctracer_activity_push_external_correlation_id(0x1234));
    memory_use();
    OK(roctracer_activity_pop_external_correlation_id(NULL));
    OK(roctracer_get_timestamp(&after));
    OK(roctracer_disable_domain_activity(KFD));
    unsigned truth = sum(truth_counts);
    memory_use();
    OK(roctracer_flush_activity_expl(c.pool));
    assert_int_equal(c.count, 2 * truth); /* an external id stands before each */
    for (unsigned i = 0; i < c.count; i += 2) {
        const roctracer_record_t *external = &c.records[i], *record = &c.records[i + 1];
        assert_int_equal(external->domain, ACTIVITY_DOMAIN_EXT_API);
        assert_int_equal(external->external_id, 0x1234);
        assert_int_equal(external->correlation_id, record->correlation_id);
        assert_int_equal(record->domain, KFD);
        assert_int_equal(record->kind, 0);
        assert_true(record->op < KFD_API_ID_NUMBER && truth_counts[record->op] > 0);
        assert_true(before <= record->begin_ns && record->begin_ns <= record->end_ns &&
                    record->end_ns <= after);
        assert_int_equal(record->process_id, getpid());
        assert_int_equal(record->thread_id, syscall(SYS_gettid));
        assert_int_not_equal(record->correlation_id, 0);
    }
    OK(roctracer_close_pool_expl(c.pool));
    hsa_shut_down();
}

static void on_hsa(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op;
    const hsa_api_data_t *call = data;
    if (call->phase == ACTIVITY_API_PHASE_ENTER)
        *(uint64_t *)arg = call->correlation_id;
}

static void calls_nest(void **state)
{
    uint64_t outer = 0;
    (void)state;
    runtime_begin();
    counts_reset();
    last_correlation = 0;
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API,
                                    HSA_API_ID_hsa_amd_memory_pool_allocate, on_hsa, &outer));
    OK(roctracer_enable_op_callback(KFD, KFD_API_ID_hsaKmtAllocMemory, on_kfd, (void *)&enters));
    memory_use();
    assert_int_not_equal(outer, 0);
    assert_true(last_correlation > outer);
    assert_int_equal(exits[KFD_API_ID_hsaKmtAllocMemory], 1);
    OK(roctracer_disable_domain_callback(KFD));
    OK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_API));
    hsa_shut_down();
}

/* What our own signals and memory make the runtime do is not the program's. */
static void own_calls_are_not_reported(void **state)
{
    static struct catch c;
    static const uint32_t steady[] = {KFD_API_ID_hsaKmtAllocMemory, KFD_API_ID_hsaKmtFreeMemory,
                                      KFD_API_ID_hsaKmtCreateQueue, KFD_API_ID_hsaKmtCreateEvent};
    enum { STEADY = sizeof steady / sizeof steady[0] };
    unsigned plain[STEADY];
    hsa_signal_t held[2 * HELD];
    (void)state;
    OK(roctracer_enable_domain_callback(KFD, on_kfd, (void *)&enters));
    runtime_begin();
    copy_use(); /* what the runtime makes for its first copy */
    events_use_up(held);
    counts_reset();
    copy_use();
    for (int i = 0; i < STEADY; i++)
        plain[i] = enters[steady[i]];
    catch_open(&c, 1 << 16);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY, c.pool));
    events_use_up(held + HELD);
    counts_reset();
    copy_use(); /* with a signal of our own */
    OK(roctracer_flush_activity_expl(c.pool));
    assert_int_equal(c.count, 1);
    for (int i = 0; i < STEADY; i++)
        assert_int_equal(enters[steady[i]], plain[i]);
    assert_true(truth_counts[KFD_API_ID_hsaKmtCreateEvent] > plain[STEADY - 1]);
    for (int i = 0; i < 2 * HELD; i++)
        hsa_signal_destroy(held[i]);
    OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY));
    OK(roctracer_disable_domain_callback(KFD));
    OK(roctracer_close_pool_expl(c.pool));
    hsa_shut_down();
}

static void on_any(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)op, (void)data;
    ((_Atomic unsigned *)arg)[domain]++;
}

static void the_older_functions_enable_it(void **state)
{
    static _Atomic unsigned calls[ACTIVITY_DOMAIN_NUMBER];
    static struct catch c;
    (void)state;
    runtime_begin();
    OK(roctracer_enable_callback(on_any, (void *)calls));
    memory_use();
    assert_true(calls[KFD] > 0);
    assert_true(calls[ACTIVITY_DOMAIN_HSA_API] > 0);
    assert_true(calls[ACTIVITY_DOMAIN_HSA_EVT] > 0); /* comes after KFD_API */
    OK(roctracer_disable_callback());
    unsigned before = calls[KFD];
    catch_open(&c, 1 << 16);
    OK(roctracer_enable_activity_expl(c.pool));
    memory_use();
    OK(roctracer_disable_activity());
    OK(roctracer_flush_activity_expl(c.pool));
    assert_int_equal(calls[KFD], before);
    bool found = false;
    for (unsigned i = 0; i < c.count; i++)
        found |= c.records[i].domain == KFD;
    assert_true(found);
    OK(roctracer_close_pool_expl(c.pool));
    hsa_shut_down();
}

enum { THREADS = 4, ROUNDS = 50 };
static _Atomic bool threads_end;

static void *memory_user(void *rounds)
{
    for (uintptr_t i = 0; i < (uintptr_t)rounds || (!rounds && !threads_end); i++)
        memory_use();
    return NULL;
}

static void threads_run(pthread_t *threads, uintptr_t rounds)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, memory_user, (void *)rounds), 0);
}

static void threads_join(pthread_t *threads)
{
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void threads_call_while_it_comes_and_goes(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    runtime_begin();
    counts_reset();
    threads_run(threads, 0);
    for (int i = 0; i < 200; i++) {
        OK(roctracer_enable_domain_callback(KFD, on_kfd, (void *)&enters));
        OK(roctracer_disable_domain_callback(KFD));
    }
    threads_end = true;
    threads_join(threads);
    assert_true(sum(enters) <= sum(truth_counts));
    nothing_was_wrong();
    counts_reset();
    OK(roctracer_enable_domain_callback(KFD, on_kfd, (void *)&enters));
    threads_run(threads, ROUNDS);
    threads_join(threads);
    OK(roctracer_disable_domain_callback(KFD));
    assert_int_equal(exits[KFD_API_ID_hsaKmtFreeMemory], THREADS * ROUNDS);
    assert_int_equal(enters[KFD_API_ID_hsaKmtFreeMemory], THREADS * ROUNDS);
    nothing_was_wrong();
    hsa_shut_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_have_names),
        cmocka_unit_test(nobody_is_told_unasked),
        cmocka_unit_test(every_call_is_seen_once),
        cmocka_unit_test(single_operations_are_enabled_and_disabled),
        cmocka_unit_test(records_say_what_happened),
        cmocka_unit_test(calls_nest),
        cmocka_unit_test(own_calls_are_not_reported),
        cmocka_unit_test(the_older_functions_enable_it),
        cmocka_unit_test(threads_call_while_it_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
