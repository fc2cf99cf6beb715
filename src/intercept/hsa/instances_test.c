/* Two HSA runtimes in one process, as when a Python wheel brings its own: the second is another
 * copy of the double in a library of its own. What goes to the wrong one is refused by it. */
#include "intercept/hsa/instance.h"
#include "intercept/hsa/lifecycle.h"
#include "intercept/hsa/test/hsa_calls.h"

#include <dlfcn.h>
#include <pthread.h>

enum { OTHER_CPU = OTHER_AGENTS + DOUBLE_CPU, OTHER_GPU = OTHER_AGENTS + DOUBLE_GPU };

/* One copy, as a program that links it sees it. */
struct copy {
    void *(*table_make)(uint32_t amd_major);
    void *(*function)(int hsa_function);
    void (*packets_submit)(hsa_queue_t *queue, const void *packets, uint32_t count);
    uint64_t (*kernels_seen)(void);
    hsa_executable_t (*executable)(void);
    uint64_t (*kernel_object)(uint32_t n);
    int (*signals_alive)(void);
    int (*blocks_alive)(void);
    int (*shut_downs)(void);
    void (*stop)(void);
    uint64_t cpu, gpu;
};

static struct copy first = {.table_make = double_table_make,
                            .function = double_function,
                            .packets_submit = double_packets_submit,
                            .kernels_seen = double_kernels_seen,
                            .executable = double_executable,
                            .kernel_object = double_kernel_object,
                            .signals_alive = double_signals_alive,
                            .blocks_alive = double_blocks_alive,
                            .shut_downs = double_shut_downs,
                            .stop = double_stop,
                            .cpu = DOUBLE_CPU,
                            .gpu = DOUBLE_GPU};
static struct copy second = {.cpu = OTHER_CPU, .gpu = OTHER_GPU};
static void *second_library;

static int second_load(void **state)
{
    (void)state;
    second_library = dlopen(DOUBLE_COPY, RTLD_NOW | RTLD_LOCAL);
    if (!second_library)
        print_error("%s\n", dlerror());
    assert_non_null(second_library);
#define SYMBOL(name) *(void **)&second.name = dlsym(second_library, "double_" #name)
    SYMBOL(table_make), SYMBOL(function), SYMBOL(packets_submit), SYMBOL(kernels_seen);
    SYMBOL(executable), SYMBOL(kernel_object), SYMBOL(signals_alive), SYMBOL(blocks_alive);
    SYMBOL(shut_downs), SYMBOL(stop);
#undef SYMBOL
    return 0;
}

static int both_stop(void **state)
{
    (void)state;
    first.stop();
    second.stop();
    return 0;
}

#define OF(copy, name) ((__typeof__(hsa_instances[0].real.name))(copy)->function(HSA_FN_##name))

static struct copy *const copies[] = {&first, &second};

static void both_install(uint32_t major)
{
    assert_true(table_arrives(first.table_make(major)));
    assert_true(table_arrives(second.table_make(3 - major)));
}

/* The one that an agent belongs to knows it; the other refuses it. */
static void agent_ask(const struct copy *copy, uint64_t agent, hsa_status_t expected)
{
    hsa_device_type_t kind = HSA_DEVICE_TYPE_CPU;
    assert_int_equal(
        OF(copy, hsa_agent_get_info)((hsa_agent_t){agent}, HSA_AGENT_INFO_DEVICE, &kind), expected);
    if (expected == HSA_STATUS_SUCCESS)
        assert_int_equal(kind, HSA_DEVICE_TYPE_GPU);
}

static void each_table_calls_its_own(void **state)
{
    (void)state;
    for (uint32_t major = 1; major <= 2; major++) {
        double_reset();
        double_listen(TRACE_HSA_CORE_API, -1);
        double_listen(TRACE_KERNEL_DISPATCH, -1);
        both_install(major);
        for (int round = 0; round < 3; round++)
            for (int i = 0; i < 2; i++) {
                agent_ask(copies[i], copies[i]->gpu, HSA_STATUS_SUCCESS);
                agent_ask(copies[i], copies[1 - i]->gpu, HSA_STATUS_ERROR_INVALID_AGENT);
            }
        assert_int_equal(double_count(DOUBLE_API_EXIT, TRACE_HSA_CORE_API,
                                      ROCPROFILER_HSA_CORE_API_ID_hsa_agent_get_info),
                         12);
        /* what is configured later is wrapped in both, each by its own */
        double_listen(TRACE_HSA_AMD_EXT_API, -1);
        intercept_hsa_refresh();
        void *memory[2];
        for (int i = 0; i < 2; i++) {
            hsa_amd_memory_pool_t own = {copies[i]->cpu + 1}, foreign = {copies[1 - i]->cpu + 1};
            assert_int_equal(OF(copies[i], hsa_amd_memory_pool_allocate)(own, 64, 0, &memory[i]),
                             HSA_STATUS_SUCCESS);
            assert_int_equal(
                OF(copies[i], hsa_amd_memory_pool_allocate)(foreign, 64, 0, &memory[i]),
                HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
            OF(copies[i], hsa_amd_memory_pool_free)(memory[i]);
        }
        assert_int_equal(double_count(DOUBLE_API_EXIT, TRACE_HSA_AMD_EXT_API,
                                      ROCPROFILER_HSA_AMD_EXT_API_ID_hsa_amd_memory_pool_allocate),
                         4);
    }
}

static hsa_queue_t *copy_queue(const struct copy *copy)
{
    hsa_queue_t *queue = NULL;
    assert_int_equal(
        OF(copy, hsa_queue_create)((hsa_agent_t){copy->gpu}, 4096, 0, NULL, NULL, 0, 0, &queue),
        HSA_STATUS_SUCCESS);
    return queue;
}

struct launcher {
    const struct copy *copy;
    hsa_queue_t *queue;
    unsigned ended;
};

enum { LAUNCHES = 500 };

static void *launch_many(void *data)
{
    struct launcher *launcher = data;
    const struct copy *copy = launcher->copy;
    for (int i = 0; i < LAUNCHES; i++) {
        hsa_signal_t signal;
        OF(copy, hsa_signal_create)(1, 0, NULL, &signal);
        hsa_kernel_dispatch_packet_t packet = kernel_packet(64, signal);
        packet.kernel_object = copy->kernel_object(0);
        copy->packets_submit(launcher->queue, &packet, 1);
        launcher->ended += value_reached(signal, 0);
        OF(copy, hsa_signal_destroy)(signal);
    }
    return NULL;
}

/* At the same time, on threads of their own. */
static void dispatches_of_both_are_reported(void **state)
{
    (void)state;
    double_listen(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    int signals[2], blocks[2];
    uint64_t kernels[2];
    struct launcher launchers[2];
    pthread_t threads[2];
    both_install(1);
    for (int i = 0; i < 2; i++) {
        signals[i] = copies[i]->signals_alive();
        blocks[i] = copies[i]->blocks_alive();
        kernels[i] = copies[i]->kernels_seen();
        assert_int_equal(OF(copies[i], hsa_executable_freeze)(copies[i]->executable(), NULL),
                         HSA_STATUS_SUCCESS);
        launchers[i] = (struct launcher){copies[i], copy_queue(copies[i]), 0};
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, launch_many, &launchers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(completion_drain(STALL_NS));
    uint64_t ids[2] = {objects_kernel_id(first.kernel_object(0)),
                       objects_kernel_id(second.kernel_object(0))};
    assert_true(ids[0] != 0 && ids[1] != 0 && ids[0] != ids[1]);
    unsigned of[2] = {0, 0};
    const struct double_entry *entry;
    for (uint32_t n = 0; (entry = double_entry(DOUBLE_RECORD, TRACE_KERNEL_DISPATCH, -1, n)); n++)
        for (int i = 0; i < 2; i++)
            of[i] += entry->payload.dispatch_record.dispatch_info.kernel_id == ids[i];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(launchers[i].ended, LAUNCHES);
        assert_int_equal(copies[i]->kernels_seen() - kernels[i], LAUNCHES);
        assert_int_equal(of[i], LAUNCHES);
        assert_int_equal(OF(copies[i], hsa_queue_destroy)(launchers[i].queue), HSA_STATUS_SUCCESS);
        /* what was taken of a runtime went back to that runtime */
        assert_int_equal(copies[i]->signals_alive(), signals[i]);
        assert_int_equal(copies[i]->blocks_alive(), blocks[i]);
    }
}

static hsa_status_t copy_make(const struct copy *copy, hsa_signal_t signal)
{
    char from[64] = "copied", to[64] = "";
    return OF(copy, hsa_amd_memory_async_copy)(
        to, (hsa_agent_t){copy->gpu}, from, (hsa_agent_t){copy->cpu}, sizeof from, 0, NULL, signal);
}

static void copies_use_their_runtimes_signals(void **state)
{
    (void)state;
    double_listen(TRACE_MEMORY_COPY, -1);
    both_install(2);
    int signals[2] = {first.signals_alive(), second.signals_alive()};
    for (int round = 1; round <= 3; round++)
        for (int i = 0; i < 2; i++) {
            hsa_signal_t signal;
            OF(copies[i], hsa_signal_create)(1, 0, NULL, &signal);
            assert_int_equal(copy_make(copies[i], signal), HSA_STATUS_SUCCESS);
            assert_true(value_reached(signal, 0));
            OF(copies[i], hsa_signal_destroy)(signal);
        }
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_MEMORY_COPY, -1), 6);
    for (int i = 0; i < 2; i++)
        assert_int_equal(copies[i]->signals_alive(), signals[i] + 1); /* kept for the next copy */
    OF(&second, hsa_shut_down)();
    assert_int_equal(second.signals_alive(), signals[1]);
    assert_int_equal(first.signals_alive(), signals[0] + 1);
    OF(&first, hsa_shut_down)();
    assert_int_equal(first.signals_alive(), signals[0]);
}

static void *leaving_seen;
static hsa_status_t (*shut_down_below)(void);
static hsa_status_t shut_down_watched(void)
{
    leaving_seen = intercept_hsa_leaving(NULL);
    return shut_down_below();
}

/* One goes and comes back; the other one neither stops nor changes. */
static void one_may_leave(void **state)
{
    (void)state;
    double_listen(TRACE_HSA_CORE_API, -1);
    double_listen(TRACE_KERNEL_DISPATCH, -1);
    void *tables[] = {first.table_make(1), second.table_make(2)};
    for (int gone = 0; gone < 2; gone++) {
        const struct copy *goes = copies[gone], *stays = copies[1 - gone];
        void **slot = NULL;
        struct hsa_tables read;
        goes->table_make(1);
        assert_true(hsa_tables_read(&read, tables[gone]));
        slot = hsa_tables_slot(&read, HSA_FN_hsa_shut_down);
        shut_down_below = (hsa_status_t(*)(void)) * slot;
        *slot = (void *)shut_down_watched;
        table_leaves(tables[gone]); /* its new functions are taken */
        assert_true(table_arrives(tables[0]));
        assert_true(table_arrives(tables[1]));
        int before[2] = {first.shut_downs(), second.shut_downs()};
        leaving_seen = NULL;
        assert_int_equal(OF(goes, hsa_shut_down)(), HSA_STATUS_SUCCESS);
        assert_ptr_equal(leaving_seen, tables[gone]);
        assert_null(lifecycle_leaving());
        assert_int_equal(goes->shut_downs(), before[gone] + 1);
        assert_int_equal(stays->shut_downs(), before[1 - gone]);
        /* also from a thread that shuts nothing down, by whose code it is */
        assert_ptr_equal(intercept_hsa_leaving((void *)stays->table_make), tables[1 - gone]);
        table_leaves(tables[gone]);
        assert_true(intercept_hsa_serves_devices(tables[1 - gone]));
        assert_false(intercept_hsa_serves_devices(tables[gone]));
        assert_ptr_equal(intercept_hsa_leaving(NULL), tables[1 - gone]);
        intercept_hsa_refresh(); /* leaves the table that is gone alone */
        agent_ask(stays, stays->gpu, HSA_STATUS_SUCCESS);
        hsa_queue_t *queue = copy_queue(stays);
        OF(stays, hsa_queue_destroy)(queue);
        /* started anew: its functions are back in the table */
        goes->table_make(1);
        assert_true(table_arrives(tables[gone]));
        agent_ask(goes, goes->gpu, HSA_STATUS_SUCCESS);
        agent_ask(stays, stays->gpu, HSA_STATUS_SUCCESS);
        /* who took over what is done on devices keeps it */
        assert_true(intercept_hsa_serves_devices(tables[1 - gone]));
    }
}

/* The places are taken: a third one is left as it is, and takes nothing from the others. */
static void a_third_keeps_its_functions(void **state)
{
    (void)state;
    enum { VERSION_BYTES = 16, CORE_BYTES = 8192 };
    double_listen(TRACE_HSA_CORE_API, -1);
    void **root = first.table_make(1);
    static void *other_root[64], *other_core[CORE_BYTES / sizeof(void *)];
    memcpy(other_root, root, *((uint32_t *)(void *)root + 1));
    void **core = root[VERSION_BYTES / sizeof(void *)];
    memcpy(other_core, core, *((uint32_t *)(void *)core + 1));
    other_root[VERSION_BYTES / sizeof(void *)] = other_core;
    both_install(1);
    void *before[CORE_BYTES / sizeof(void *)];
    memcpy(before, other_core, sizeof before);
    assert_false(table_arrives(other_root));
    assert_false(table_arrives(other_root));
    assert_memory_equal(before, other_core, sizeof before);
    for (int i = 0; i < 2; i++)
        agent_ask(copies[i], copies[i]->gpu, HSA_STATUS_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_table_calls_its_own, reset),
        cmocka_unit_test_setup(dispatches_of_both_are_reported, reset),
        cmocka_unit_test_setup(copies_use_their_runtimes_signals, reset),
        cmocka_unit_test_setup(one_may_leave, reset),
        cmocka_unit_test_setup(a_third_keeps_its_functions, reset),
    };
    return cmocka_run_group_tests(tests, second_load, both_stop);
}
