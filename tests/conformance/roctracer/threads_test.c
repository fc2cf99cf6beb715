/*
 * Eight threads: half of them make calls of every traced kind, the others enable, disable, open,
 * flush, close, ask for names and errors, start and stop at the same time. Exact where something is
 * promised: what stays enabled to a pool that stays open is recorded once, and a pool that was
 * closed is silent.   usage: threads_test [ROUNDS]; from MEASURED_ROUNDS on memory must stay flat,
 * too
 */
#include "machine.h"

#include <pthread.h>
#include <roctracer/roctracer_ext.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_roctx.h>
#include <roctracer/roctx.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { WORKERS = 4, MEDDLERS = 4, ROUNDS = 300, RECORD_BYTES = sizeof(roctracer_record_t) };

/* The kinds of work, each with what a worker did and what was reported of it. */
enum kind { HSA_CALL_KIND, HIP_CALL_KIND, MARKER, DISPATCH, COPY, COMMAND, KINDS };
struct tally {
    _Atomic unsigned made, entered, left, recorded;
};
static struct tally tallies[KINDS];

static _Atomic unsigned wrong, workers_left;
static unsigned rounds = ROUNDS;
static uint32_t hip_steady, hip_other;
static const uint32_t HSA_STEADY = HSA_API_ID_hsa_agent_get_info;
static const uint32_t HSA_OTHER = HSA_API_ID_hsa_system_get_info;

/* Assertions of cmocka are for the first thread only. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition) && atomic_fetch_add(&wrong, 1) < 20)                                      \
            fprintf(stderr, "threads_test.c:%d: %s\n", __LINE__, #condition);                      \
    } while (0)
#define OK(call) EXPECT((call) == ROCTRACER_STATUS_SUCCESS)

/* ---- what is told */

static void on_hsa(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_api_data_t *call = data;
    struct tally *tally = arg;
    EXPECT(domain == ACTIVITY_DOMAIN_HSA_API && op == HSA_STEADY);
    if (call->phase == ACTIVITY_API_PHASE_ENTER) {
        *call->phase_data = call->correlation_id;
        tally->entered++;
    } else {
        EXPECT(*call->phase_data == call->correlation_id);
        tally->left++;
    }
}

struct hip_head {
    uint64_t correlation_id;
    uint32_t phase;
};

static void on_hip(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const struct hip_head *call = data;
    struct tally *tally = arg;
    EXPECT(domain == ACTIVITY_DOMAIN_HIP_API && op == hip_steady && call->correlation_id);
    if (call->phase == ACTIVITY_API_PHASE_ENTER)
        tally->entered++;
    else
        tally->left++;
}

static void on_marker(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const roctx_api_data_t *marker = data;
    EXPECT(domain == ACTIVITY_DOMAIN_ROCTX && op == ROCTX_API_ID_roctxMarkA);
    EXPECT(!strcmp(marker->args.message, "work"));
    ((struct tally *)arg)->entered++;
}

static enum kind kind_of(const roctracer_record_t *record)
{
    if (record->domain == ACTIVITY_DOMAIN_HSA_API && record->op == HSA_STEADY)
        return HSA_CALL_KIND;
    if (record->domain == ACTIVITY_DOMAIN_HIP_API && record->op == hip_steady)
        return HIP_CALL_KIND;
    if (record->domain == ACTIVITY_DOMAIN_HSA_OPS)
        return record->op == HSA_OP_ID_DISPATCH ? DISPATCH
               : record->op == HSA_OP_ID_COPY   ? COPY
                                                : KINDS;
    return record->domain == ACTIVITY_DOMAIN_HIP_OPS ? COMMAND : KINDS;
}

static void on_records(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    (void)arg;
    EXPECT(begin < end && (end - begin) % RECORD_BYTES == 0);
    while (record < (const roctracer_record_t *)(const void *)end) {
        enum kind kind = kind_of(record);
        EXPECT(record->begin_ns <= record->end_ns);
        if (kind < KINDS)
            tallies[kind].recorded++;
        else
            EXPECT(record->domain == ACTIVITY_DOMAIN_EXT_API);
        OK(roctracer_next_record(record, &record));
    }
}

/* ---- workers */

static hsa_signal_t signal_make(void)
{
    hsa_signal_t signal;
    EXPECT(HSA(hsa_signal_create)(1, 0, NULL, &signal) == HSA_STATUS_SUCCESS);
    return signal;
}

static void signal_end(hsa_signal_t signal)
{
    const amd_signal_t *amd = (const amd_signal_t *)(uintptr_t)signal.handle;
    while (__atomic_load_n(&amd->value, __ATOMIC_ACQUIRE) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    HSA(hsa_signal_destroy)(signal);
}

static void dispatch(hsa_queue_t *queue)
{
    hsa_signal_t signal = signal_make();
    const hsa_kernel_dispatch_packet_t packet = {.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
                                                 .setup = 1,
                                                 .workgroup_size_x = 64,
                                                 .workgroup_size_y = 1,
                                                 .workgroup_size_z = 1,
                                                 .grid_size_x = 64,
                                                 .grid_size_y = 1,
                                                 .grid_size_z = 1,
                                                 .kernel_object = double_kernel_object(0),
                                                 .completion_signal = signal};
    double_packets_submit(queue, &packet, 1);
    signal_end(signal);
    tallies[DISPATCH].made++;
}

static void copy(void)
{
    char from[64] = "data", to[64];
    hsa_signal_t signal = signal_make();
    const hsa_agent_t cpu = {DOUBLE_CPU}, gpu = {DOUBLE_GPU};
    EXPECT(HSA(hsa_amd_memory_async_copy)(to, gpu, from, cpu, sizeof to, 0, NULL, signal) ==
           HSA_STATUS_SUCCESS);
    signal_end(signal);
    tallies[COPY].made++;
}

static void calls(void)
{
    hsa_device_type_t type;
    uint64_t frequency;
    for (int i = 0; i < 8; i++) {
        HSA(hsa_agent_get_info)((hsa_agent_t){DOUBLE_GPU}, HSA_AGENT_INFO_DEVICE, &type);
        tallies[HSA_CALL_KIND].made++;
        machine_hip_call(hip_steady);
        tallies[HIP_CALL_KIND].made++;
        roctxMark("work");
        tallies[MARKER].made++;
        HSA(hsa_system_get_info)(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
        machine_hip_call(hip_other);
    }
}

static void *work(void *arg)
{
    hsa_queue_t *queue = arg;
    for (unsigned i = 0; i < rounds; i++) {
        calls();
        copy();
        if (i % 8 == 0)
            dispatch(queue);
        tallies[COMMAND].made += machine_hip_command(i % 3, i);
    }
    workers_left--;
    return NULL;
}

/* ---- meddlers */

static void on_other(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)data;
    EXPECT((domain == ACTIVITY_DOMAIN_HSA_API && op != HSA_STEADY) ||
           (domain == ACTIVITY_DOMAIN_HIP_API && op != hip_steady));
    EXPECT(arg == &wrong);
}

/* Gone a moment after the pool is: a callback that came later would be seen. */
struct short_lived {
    roctracer_pool_t *pool;
    _Atomic unsigned delivered;
    _Atomic bool is_closed;
};

static void on_short_lived(const char *begin, const char *end, void *arg)
{
    struct short_lived *life = arg;
    EXPECT(!life->is_closed);
    life->delivered += (unsigned)((end - begin) / RECORD_BYTES);
}

static void pool_live(unsigned step)
{
    struct short_lived *life = calloc(1, sizeof *life);
    const roctracer_properties_t properties = {.buffer_size = (size_t)RECORD_BYTES
                                                              << (1 + step % 9),
                                               .buffer_callback_fun = on_short_lived,
                                               .buffer_callback_arg = life};
    OK(roctracer_open_pool_expl(&properties, &life->pool));
    roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, HSA_OTHER, life->pool);
    roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HIP_API, hip_other, life->pool);
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    OK(roctracer_flush_activity_expl(life->pool));
    if (step % 3 == 0)
        OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, HSA_OTHER));
    OK(roctracer_close_pool_expl(life->pool));
    life->is_closed = true;
    free(life);
}

static void callbacks_toggle(unsigned step)
{
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_OTHER, on_other, &wrong));
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, hip_other, on_other, &wrong));
    if (step % 16 == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_OTHER));
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_API, hip_other));
}

static void questions(unsigned step)
{
    uint32_t op;
    activity_correlation_id_t last = 0;
    EXPECT(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, step % 200, 0));
    OK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipMemcpy", &op, NULL));
    EXPECT(roctracer_op_code(99, "hipMemcpy", &op, NULL) ==
           ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID);
    free((void *)(uintptr_t)roctracer_error_string());
    OK(roctracer_activity_push_external_correlation_id(step));
    OK(roctracer_activity_pop_external_correlation_id(&last));
    EXPECT(last == step);
    OK(roctracer_flush_activity());
}

static void default_pool_change(unsigned step)
{
    roctracer_pool_t *before = roctracer_default_pool();
    EXPECT(before);
    EXPECT(roctracer_default_pool_expl(before) == before);
    /* a pool that another thread has closed meanwhile is an error, not more */
    roctracer_flush_activity_expl((roctracer_pool_t *)(uintptr_t)(step << 8));
}

static void *meddle(void *arg)
{
    static void (*const deeds[MEDDLERS])(unsigned) = {pool_live, callbacks_toggle, questions,
                                                      default_pool_change};
    uintptr_t first = (uintptr_t)arg;
    for (unsigned step = 0; workers_left > 0; step++)
        deeds[(first + step / 32) % MEDDLERS](step);
    return NULL;
}

static void on_switch(void) {}

static void *start_and_stop(void *arg)
{
    roctracer_ext_properties_t properties = {on_switch, on_switch};
    while (workers_left > 0) {
        OK(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, &properties));
        roctracer_stop();
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        roctracer_start();
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    OK(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, NULL));
    return arg;
}

/* ---- the tests */

enum { MEASURED_ROUNDS = 10000, GROWTH_MAX_PAGES = 1024 };

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    fclose(file);
    return resident;
}

static hsa_queue_t *queues[WORKERS];

static void everybody_runs(void *(*extra)(void *))
{
    pthread_t workers[WORKERS], meddlers[MEDDLERS];
    memset(tallies, 0, sizeof tallies);
    workers_left = WORKERS;
    for (uintptr_t i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, queues[i]);
    for (uintptr_t i = 0; i < MEDDLERS; i++)
        pthread_create(&meddlers[i], NULL, i == 0 && extra ? extra : meddle, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < MEDDLERS; i++)
        pthread_join(meddlers[i], NULL);
    OK(roctracer_flush_activity());
}

static void what_stays_enabled_is_seen_once(void **state)
{
    (void)state;
    everybody_runs(NULL);
    assert_int_equal(wrong, 0);
    static const bool calls_back[KINDS] = {[HSA_CALL_KIND] = true, [HIP_CALL_KIND] = true};
    for (int kind = 0; kind < KINDS; kind++) {
        const struct tally *tally = &tallies[kind];
        assert_true(tally->made > 0);
        if (kind == MARKER)
            assert_int_equal(tally->entered, tally->made);
        else
            assert_int_equal(tally->recorded, tally->made);
        if (calls_back[kind]) {
            assert_int_equal(tally->entered, tally->made);
            assert_int_equal(tally->left, tally->made);
        }
    }
}

static void stopping_and_starting_loses_nothing_between(void **state)
{
    (void)state;
    long before = resident_pages();
    everybody_runs(start_and_stop);
    assert_int_equal(wrong, 0);
    if (rounds >= MEASURED_ROUNDS)
        assert_true(resident_pages() - before < GROWTH_MAX_PAGES);
    for (int kind = 0; kind < KINDS; kind++)
        assert_true(tallies[kind].recorded <= tallies[kind].made);
    assert_int_equal(tallies[HSA_CALL_KIND].entered, tallies[HSA_CALL_KIND].left);
    assert_int_equal(tallies[HIP_CALL_KIND].entered, tallies[HIP_CALL_KIND].left);
    roctracer_start();
    memset(tallies, 0, sizeof tallies);
    calls();
    OK(roctracer_flush_activity());
    assert_int_equal(tallies[HSA_CALL_KIND].recorded, tallies[HSA_CALL_KIND].made);
    assert_int_equal(tallies[HIP_CALL_KIND].recorded, tallies[HIP_CALL_KIND].made);
}

static _Atomic bool tracing_begun;

/* Calls that are under way when tracing begins. */
static void *call_early(void *arg)
{
    while (!tracing_begun)
        calls();
    return arg;
}

static void everything_enable(void)
{
    const roctracer_properties_t properties = {.buffer_size = 4096,
                                               .buffer_callback_fun = on_records};
    OK(roctracer_open_pool(&properties));
    OK(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, HSA_STEADY));
    OK(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HIP_API, hip_steady));
    OK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_OPS));
    OK(roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HIP_OPS));
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_STEADY, on_hsa,
                                    &tallies[HSA_CALL_KIND]));
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, hip_steady, on_hip,
                                    &tallies[HIP_CALL_KIND]));
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, ROCTX_API_ID_roctxMarkA, on_marker,
                                    &tallies[MARKER]));
}

static int begin(void **state)
{
    pthread_t early;
    (void)state;
    if (!machine_start())
        return -1;
    OK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipFree", &hip_steady, NULL));
    OK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipMalloc", &hip_other, NULL));
    pthread_create(&early, NULL, call_early, NULL);
    everything_enable();
    tracing_begun = true;
    pthread_join(early, NULL);
    OK(roctracer_flush_activity());
    for (int i = 0; i < WORKERS; i++)
        if (HSA(hsa_queue_create)((hsa_agent_t){DOUBLE_GPU}, 4096, 0, NULL, NULL, 0, 0,
                                  &queues[i]) != HSA_STATUS_SUCCESS)
            return -1;
    return (int)wrong;
}

static int end(void **state)
{
    (void)state;
    OK(roctracer_disable_callback());
    OK(roctracer_close_pool());
    for (int i = 0; i < WORKERS; i++)
        HSA(hsa_queue_destroy)(queues[i]);
    HSA(hsa_shut_down)();
    double_stop();
    return (int)wrong;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        rounds = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays_enabled_is_seen_once),
        cmocka_unit_test(stopping_and_starting_loses_nothing_between),
    };
    return cmocka_run_group_tests_name("roctracer/threads", tests, begin, end);
}
