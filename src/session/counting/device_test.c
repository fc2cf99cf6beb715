/*
 * Device counting when things go wrong: no queue, no memory, a device that does not answer, a
 * runtime that comes late. Contexts and the device are doubles; what works is tested on HSA in
 * tests/conformance/counting.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/service.h"
#include "model/trace.h"
#include "session/counting/counting.h"
#include "session/counting/runtime.h"
#include "topology/topology.h"

/* What session publishes for interception. */
_Atomic(const struct trace_counting_ops *) trace_counting;
const void *(*_Atomic trace_queue_first)(rocprofiler_agent_id_t agent, uint64_t hsa_agent);

#define OK(call)             assert_int_equal((call), ROCPROFILER_STATUS_SUCCESS)
#define REFUSED(call, error) assert_int_equal((call), ROCPROFILER_STATUS_##error)

enum { GPU = 11, UNKNOWN_GPU = 12, CONTEXTS = 4 };

static const rocprofiler_agent_v0_t gpu = {.size = sizeof gpu,
                                           .id = {GPU},
                                           .type = ROCPROFILER_AGENT_TYPE_GPU,
                                           .simd_count = 416,
                                           .simd_per_cu = 4,
                                           .num_xcc = 1,
                                           .cu_count = 104,
                                           .array_count = 8,
                                           .num_shader_banks = 8,
                                           .simd_arrays_per_engine = 1,
                                           .name = "gfx90a"};
static const rocprofiler_agent_v0_t unknown_gpu = {.size = sizeof unknown_gpu,
                                                   .id = {UNKNOWN_GPU},
                                                   .type = ROCPROFILER_AGENT_TYPE_GPU,
                                                   .name = "gfx000"};

const struct topology *topology_system(void)
{
    static const rocprofiler_agent_v0_t *list[] = {&gpu, &unknown_gpu};
    static const struct topology topology = {list, 2};
    return &topology;
}

/* ---- contexts */

static struct {
    const struct service_ops *ops;
    void *data;
    bool active;
} contexts[CONTEXTS];

rocprofiler_status_t service_add(rocprofiler_context_id_t context, enum service_kind kind,
                                 const struct service_ops *ops, void *data)
{
    assert_int_equal(kind, SERVICE_DEVICE_COUNTING);
    contexts[context.handle].ops = ops;
    contexts[context.handle].data = data;
    return ROCPROFILER_STATUS_SUCCESS;
}

void *service_find(rocprofiler_context_id_t context, enum service_kind kind)
{
    return kind == SERVICE_DEVICE_COUNTING ? contexts[context.handle].data : NULL;
}

bool service_context_exists(rocprofiler_context_id_t context)
{
    return context.handle > 0 && context.handle < CONTEXTS;
}

const char *service_context_owner(rocprofiler_context_id_t context)
{
    return context.handle == 1 ? "tool one" : "another tool";
}

rocprofiler_status_t service_counting_open(rocprofiler_context_id_t context)
{
    if (!service_context_exists(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    return ROCPROFILER_STATUS_SUCCESS;
}

bool service_context_active(rocprofiler_context_id_t context)
{
    return contexts[context.handle].active;
}

struct tracebuf *trace_buffer_find(rocprofiler_buffer_id_t id)
{
    (void)id;
    return NULL;
}

bool trace_buffer_put(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                      const void *payload, size_t size)
{
    (void)buffer, (void)category, (void)kind, (void)payload, (void)size;
    fail_msg("there is no buffer");
    return false;
}

void trace_buffer_put_many(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                           const void *payloads, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        trace_buffer_put(buffer, category, kind, (const char *)payloads + i * size, size);
}

static rocprofiler_status_t start(uint64_t context)
{
    rocprofiler_context_id_t id = {context};
    rocprofiler_status_t status = contexts[context].ops->start(id, contexts[context].data);
    contexts[context].active = status == ROCPROFILER_STATUS_SUCCESS;
    return status;
}

static void stop(uint64_t context)
{
    contexts[context].active = false;
    contexts[context].ops->stop((rocprofiler_context_id_t){context}, contexts[context].data);
}

/* ---- the device */

static struct {
    bool no_queue, no_memory, refuses, silent;
    int allocations, packets, drains;
} device;

static void *device_allocate(uint64_t hsa_agent, size_t bytes)
{
    assert_int_equal(hsa_agent, 5);
    device.allocations += !device.no_memory;
    return device.no_memory ? NULL : calloc(1, bytes);
}

static void device_release(void *memory)
{
    device.allocations--;
    free(memory);
}

static bool device_open(rocprofiler_agent_id_t agent, uint64_t *hsa_agent)
{
    assert_int_equal(agent.handle, GPU);
    *hsa_agent = 5;
    return !device.no_queue;
}

static struct counting_flight *device_submit(rocprofiler_agent_id_t agent, const void *packet,
                                             void (*done)(void *data, bool failed), void *data)
{
    (void)agent;
    assert_int_not_equal(*(const uint32_t *)packet, 0);
    if (device.refuses)
        return NULL;
    device.packets++;
    if (done)
        done(data, device.silent);
    return (struct counting_flight *)&device;
}

/* A thread that is to stay in the middle of something while another one forks. */
enum place { NOWHERE, IN_CALLBACK, IN_WAIT, IN_DRAIN };
static _Atomic enum place hold_place;
static sem_t held, let_go;

static void hold_here(enum place place)
{
    if (!atomic_compare_exchange_strong(&hold_place, &place, NOWHERE))
        return;
    sem_post(&held);
    sem_wait(&let_go);
}

static bool device_wait(struct counting_flight *flight, uint64_t limit_ns)
{
    (void)flight, (void)limit_ns;
    hold_here(IN_WAIT);
    return !device.silent;
}

static void device_drain(rocprofiler_agent_id_t agent, uint64_t limit_ns)
{
    hold_here(IN_DRAIN);
    (void)agent, (void)limit_ns;
    device.drains++;
}

static const struct counting_memory_ops memory = {.allocate = device_allocate,
                                                  .release = device_release};
static const struct counting_queue_ops queue = {device_open, device_submit, device_wait,
                                                device_drain};

static void runtime_set(bool up)
{
    counting_memory_register(up ? &memory : NULL);
    counting_queue_register(up ? &queue : NULL);
}

/* ---- the tool */

static rocprofiler_counter_config_id_t waves;

static void choose(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent,
                   rocprofiler_device_counting_agent_cb_t set_config, void *data)
{
    (void)data;
    hold_here(IN_CALLBACK);
    if (agent.handle == GPU)
        OK(set_config(context, waves));
}

static rocprofiler_status_t sample(uint64_t context, rocprofiler_counter_flag_t flags)
{
    rocprofiler_counter_record_t records[64];
    size_t count = 64;
    bool async = flags == ROCPROFILER_COUNTER_FLAG_ASYNC;
    return counting_device_sample((rocprofiler_context_id_t){context}, (rocprofiler_user_data_t){0},
                                  flags, async ? NULL : records, &count);
}

static int setup(void **state)
{
    const struct counting_agent *agent = counting_agent_find((rocprofiler_agent_id_t){GPU});
    const struct counter *counter = catalog_find(counting_catalog(agent), "SQ_WAVES");
    rocprofiler_counter_id_t id = {counter->id};
    rocprofiler_buffer_id_t none = {0};
    (void)state;
    OK(counting_config_create((rocprofiler_agent_id_t){GPU}, &id, 1, &waves));
    for (uint64_t context = 1; context < CONTEXTS; context++) {
        rocprofiler_context_id_t c = {context};
        OK(counting_device_configure(c, none, (rocprofiler_agent_id_t){GPU}, choose, NULL));
        OK(counting_device_configure(c, none, (rocprofiler_agent_id_t){UNKNOWN_GPU}, choose, NULL));
    }
    return 0;
}

static void failed_start_leaves_nothing_test(void **state)
{
    (void)state;
    runtime_set(true);
    device.no_queue = true;
    REFUSED(start(1), ERROR_NO_PROFILE_QUEUE);
    device.no_queue = false;
    device.no_memory = true;
    REFUSED(start(1), ERROR_OUT_OF_RESOURCES);
    device.no_memory = false;
    device.refuses = true;
    REFUSED(start(1), ERROR);
    device.refuses = false;
    assert_int_equal(device.packets, 0);
    OK(start(2)); /* nobody owns the device */
    assert_int_equal(device.packets, 1);
    REFUSED(start(1), ERROR_CONTEXT_CONFLICT);
    stop(2);
    assert_int_equal(device.packets, 2);
    assert_int_equal(device.drains, 1);
}

static void silent_device_test(void **state)
{
    (void)state;
    runtime_set(true);
    OK(start(1));
    OK(sample(1, ROCPROFILER_COUNTER_FLAG_NONE));
    OK(sample(1, ROCPROFILER_COUNTER_FLAG_ASYNC));
    int before = device.allocations;
    device.silent = true;
    REFUSED(sample(1, ROCPROFILER_COUNTER_FLAG_NONE), ERROR);
    OK(sample(1, ROCPROFILER_COUNTER_FLAG_ASYNC)); /* lost later, with a message */
    device.silent = false;
    /* What the device may still write to is not used again. */
    OK(sample(1, ROCPROFILER_COUNTER_FLAG_NONE));
    assert_int_equal(device.allocations, before + 2);
    device.refuses = true;
    REFUSED(sample(1, ROCPROFILER_COUNTER_FLAG_NONE), ERROR);
    REFUSED(sample(1, ROCPROFILER_COUNTER_FLAG_ASYNC), ERROR);
    device.refuses = false;
    OK(sample(1, ROCPROFILER_COUNTER_FLAG_NONE));
    assert_int_equal(device.allocations, before + 2);
    device.silent = true;
    stop(1);
    device.silent = false;
    OK(start(1));
    stop(1);
}

static void late_runtime_test(void **state)
{
    (void)state;
    runtime_set(false);
    int before = device.packets;
    OK(start(3));
    REFUSED(sample(3, ROCPROFILER_COUNTER_FLAG_NONE), ERROR_HSA_NOT_LOADED);
    assert_int_equal(device.packets, before);
    runtime_set(true);
    counting_device_arm();
    counting_device_arm(); /* runs already */
    assert_int_equal(device.packets, before + 1);
    OK(sample(3, ROCPROFILER_COUNTER_FLAG_NONE));
    counting_device_disarm();
    assert_int_equal(device.packets, before + 3);
    runtime_set(false);
    REFUSED(sample(3, ROCPROFILER_COUNTER_FLAG_NONE), ERROR_HSA_NOT_LOADED);
    int allocations = device.allocations;
    runtime_set(true); /* another one: what was allocated from the first is not touched */
    counting_device_arm();
    OK(sample(3, ROCPROFILER_COUNTER_FLAG_NONE));
    assert_int_equal(device.allocations, allocations + 2);
    counting_device_on_fork_child();
    runtime_set(false);
    stop(3); /* as a child would at its end */
    REFUSED(sample(3, ROCPROFILER_COUNTER_FLAG_NONE), ERROR_CONTEXT_NOT_STARTED);
}

static void *start_main(void *unused)
{
    (void)unused;
    OK(start(1));
    return NULL;
}

static void *stop_main(void *unused)
{
    (void)unused;
    stop(1);
    return NULL;
}

/* In a child, where no thread goes on with what the parent's was doing. 0: all is well. */
static int child_counts(void)
{
    enum { LIMIT_S = 20 };
    alarm(LIMIT_S);
    if (start(2) != ROCPROFILER_STATUS_SUCCESS)
        return 1;
    stop(2);
    if (start(1) != ROCPROFILER_STATUS_SUCCESS)
        return 2;
    stop(1);
    return start(3) == ROCPROFILER_STATUS_SUCCESS ? 0 : 3;
}

static void fork_meanwhile_test(void **state)
{
    void *(*const mains[])(void *) = {start_main, stop_main};
    const enum place places[] = {IN_CALLBACK, IN_DRAIN};
    (void)state;
    sem_init(&held, 0, 0);
    sem_init(&let_go, 0, 0);
    runtime_set(true);
    for (int i = 0; i < 2; i++) {
        int status = -1;
        pthread_t thread;
        atomic_store(&hold_place, places[i]);
        assert_int_equal(pthread_create(&thread, NULL, mains[i], NULL), 0);
        sem_wait(&held);
        pid_t child = fork();
        if (child == 0)
            _exit(child_counts());
        assert_int_equal(waitpid(child, &status, 0), child);
        sem_post(&let_go);
        pthread_join(thread, NULL);
        assert_int_equal(status, 0);
    }
}

static void *leave_main(void *is_gone)
{
    runtime_set(false);
    atomic_store((_Atomic bool *)is_gone, true);
    return NULL;
}

/* What a start has submitted is awaited by the runtime's end: nothing of it is left for the next
 * runtime, which starts the counters anew. */
static void runtime_leaves_meanwhile_test(void **state)
{
    static _Atomic bool is_gone;
    pthread_t starter, leaver;
    (void)state;
    runtime_set(true);
    atomic_store(&hold_place, IN_WAIT);
    assert_int_equal(pthread_create(&starter, NULL, start_main, NULL), 0);
    sem_wait(&held);
    assert_int_equal(pthread_create(&leaver, NULL, leave_main, &is_gone), 0);
    usleep(50000);
    bool was_gone = atomic_load(&is_gone);
    sem_post(&let_go);
    pthread_join(starter, NULL);
    pthread_join(leaver, NULL);
    int before = device.packets;
    runtime_set(true);
    assert_int_equal(device.packets, before + 1);
    assert_false(was_gone);
    OK(sample(1, ROCPROFILER_COUNTER_FLAG_NONE));
    stop(1);
}

/* The queue's owner puts in what it is given, so the packet stays, as long as its runtime does. */
static void first_packet_test(void **state)
{
    enum { HSA_AGENT = 5 };
    const rocprofiler_agent_id_t known = {GPU}, unknown = {UNKNOWN_GPU};
    (void)state;
    assert_non_null(trace_queue_first);
    runtime_set(true);
    int before = device.allocations;
    assert_null(trace_queue_first(unknown, HSA_AGENT));
    const void *packet = trace_queue_first(known, HSA_AGENT);
    assert_non_null(packet);
    assert_int_equal(*(const uint16_t *)packet & 0xff, 0); /* vendor-specific */
    assert_ptr_equal(trace_queue_first(known, HSA_AGENT), packet);
    assert_int_equal(device.allocations, before + 1);
    runtime_set(false);
    assert_null(trace_queue_first(known, HSA_AGENT)); /* its commands went with the runtime */
    runtime_set(true);
    device.no_memory = true;
    assert_null(trace_queue_first(known, HSA_AGENT));
    device.no_memory = false;
    assert_ptr_not_equal(trace_queue_first(known, HSA_AGENT), packet);
    runtime_set(false);
}

/* There is none where nobody counts, and asking for one starts nothing. */
static void no_trace_where_nobody_counts_test(void **state)
{
    const rocprofiler_context_id_t without_service = {0}, stopped = {1};
    (void)state;
    assert_null(counting_device_trace(without_service));
    assert_null(counting_device_trace(stopped));
    REFUSED(sample(stopped.handle, ROCPROFILER_COUNTER_FLAG_NONE), ERROR_CONTEXT_NOT_STARTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_start_leaves_nothing_test),
        cmocka_unit_test(silent_device_test),
        cmocka_unit_test(late_runtime_test),
        cmocka_unit_test(fork_meanwhile_test),
        cmocka_unit_test(runtime_leaves_meanwhile_test),
        cmocka_unit_test(first_packet_test),
        cmocka_unit_test(no_trace_where_nobody_counts_test),
    };
    setenv("CROC_LOG_LEVEL", "error", 0);
    return cmocka_run_group_tests(tests, setup, NULL);
}
