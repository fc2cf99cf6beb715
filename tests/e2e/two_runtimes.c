/*
 * Two copies of the HSA runtime in one process, as when a Python wheel brings one beside the
 * system's, and a tool that traces kernels, copies and calls of both, and counts their waves, one
 * kernel at a time or those of the whole device.
 * usage: two_runtimes trace|count|device LIBRARY COPY_OF_IT CODE_OBJECT
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hsa/hsa_ext_amd.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define HSA(call) EXPECT((call) == HSA_STATUS_SUCCESS)
#define OK(call)  EXPECT((call) == ROCPROFILER_STATUS_SUCCESS)

enum { GROUPS = 20, GROUP_ITEMS = 256, ITEMS = GROUPS * GROUP_ITEMS, WAVES = ITEMS / 64 };

/* ---- the tool */

static bool counts, watches;
static rocprofiler_context_id_t context;
static rocprofiler_agent_id_t gpu_agent;
static _Atomic unsigned kernels_seen, copies_seen, calls_seen, objects_seen, values_seen;
static rocprofiler_counter_config_id_t waves;

/* Which of the two has started, as the tool is told; -1: nobody since it was asked. */
static _Atomic int started = -1;

static void on_start(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                     void *data)
{
    const rocprofiler_callback_tracing_runtime_initialization_data_t *start = record.payload;
    (void)user, (void)data;
    if (record.operation == ROCPROFILER_RUNTIME_INITIALIZATION_HSA)
        started = (int)start->instance;
}

static void on_event(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                     void *data)
{
    (void)user;
    bool ends = record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH)
        ends = record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE;
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT)
        ends = record.operation == ROCPROFILER_CODE_OBJECT_LOAD &&
               record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD;
    *(_Atomic unsigned *)data += ends;
}

static rocprofiler_status_t waves_find(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *ids,
                                       size_t count, void *data)
{
    rocprofiler_counter_info_v0_t info;
    (void)agent;
    for (size_t i = 0; i < count; i++) {
        OK(rocprofiler_query_counter_info(ids[i], ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
        if (strcmp(info.name, "SQ_WAVES") == 0)
            *(rocprofiler_counter_id_t *)data = ids[i];
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t agents_take(rocprofiler_agent_version_t version, const void **list,
                                        size_t count, void *data)
{
    rocprofiler_counter_id_t id = {0};
    (void)version, (void)data;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_v0_t *agent = list[i];
        if (agent->type != ROCPROFILER_AGENT_TYPE_GPU)
            continue;
        OK(rocprofiler_iterate_agent_supported_counters(agent->id, waves_find, &id));
        OK(rocprofiler_create_counter_config(agent->id, &id, 1, &waves));
        gpu_agent = agent->id;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t data,
                        rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user,
                        void *unused)
{
    (void)data, (void)user, (void)unused;
    *config = waves;
}

static void on_values(rocprofiler_dispatch_counting_service_data_t data,
                      rocprofiler_counter_record_t *records, size_t count,
                      rocprofiler_user_data_t user, void *unused)
{
    double sum = 0;
    (void)data, (void)user, (void)unused;
    for (size_t i = 0; i < count; i++)
        sum += records[i].counter_value;
    EXPECT(sum == WAVES);
    values_seen++;
}

static void waves_set(rocprofiler_context_id_t id, rocprofiler_agent_id_t agent,
                      rocprofiler_device_counting_agent_cb_t set, void *unused)
{
    (void)agent, (void)unused;
    OK(set(id, waves));
}

static double device_waves(void)
{
    enum { VALUES_MAX = 1024 };
    static rocprofiler_counter_record_t values[VALUES_MAX];
    size_t count = VALUES_MAX;
    double sum = 0;
    OK(rocprofiler_sample_device_counting_service(context, (rocprofiler_user_data_t){0},
                                                  ROCPROFILER_COUNTER_FLAG_NONE, values, &count));
    for (size_t i = 0; i < count; i++)
        sum += values[i].counter_value;
    return sum;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    static const struct {
        rocprofiler_callback_tracing_kind_t kind;
        _Atomic unsigned *seen;
    } kinds[] = {{ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, &kernels_seen},
                 {ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, &copies_seen},
                 {ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, &calls_seen},
                 {ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, &objects_seen}};
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, agents_take,
                                          sizeof(rocprofiler_agent_v0_t), NULL));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        OK(rocprofiler_configure_callback_tracing_service(context, kinds[i].kind, NULL, 0, on_event,
                                                          (void *)kinds[i].seen));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, NULL, 0, on_start, NULL));
    if (counts)
        OK(rocprofiler_configure_callback_dispatch_counting_service(context, on_dispatch, NULL,
                                                                    on_values, NULL));
    if (watches)
        OK(rocprofiler_configure_device_counting_service(context, (rocprofiler_buffer_id_t){0},
                                                         gpu_agent, waves_set, NULL));
    OK(rocprofiler_start_context(context));
    return 0;
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *name,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "two runtimes";
    return &result;
}

/* ---- the program: what it has of one runtime */

#define FUNCTIONS(X)                                                                               \
    X(init)                                                                                        \
    X(shut_down)                                                                                   \
    X(iterate_agents)                                                                              \
    X(agent_get_info)                                                                              \
    X(queue_create)                                                                                \
    X(queue_destroy)                                                                               \
    X(queue_add_write_index_relaxed)                                                               \
    X(signal_create)                                                                               \
    X(signal_destroy)                                                                              \
    X(signal_store_screlease)                                                                      \
    X(signal_wait_scacquire)                                                                       \
    X(code_object_reader_create_from_file)                                                         \
    X(executable_create_alt)                                                                       \
    X(executable_load_agent_code_object)                                                           \
    X(executable_freeze)                                                                           \
    X(executable_destroy)                                                                          \
    X(executable_get_symbol_by_name)                                                               \
    X(executable_symbol_get_info)                                                                  \
    X(amd_agent_iterate_memory_pools)                                                              \
    X(amd_memory_pool_get_info)                                                                    \
    X(amd_memory_pool_allocate)                                                                    \
    X(amd_memory_pool_free)                                                                        \
    X(amd_agents_allow_access)                                                                     \
    X(amd_memory_async_copy)

struct runtime {
#define X(name) __typeof__(&hsa_##name) name;
    FUNCTIONS(X)
#undef X
    hsa_agent_t cpu, gpu;
    hsa_amd_memory_pool_t pool;
    hsa_queue_t *queue;
    hsa_executable_t executable;
    uint64_t kernel_object;
    uint32_t *words, *copied, **arguments;
    uint32_t runs;
    int number;
};

static void functions_find(struct runtime *r, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    EXPECT(library);
#define X(name)                                                                                    \
    *(void **)&r->name = dlsym(library, "hsa_" #name);                                             \
    EXPECT(r->name);
    FUNCTIONS(X)
#undef X
}

static hsa_status_t agent_seen(hsa_agent_t agent, void *data)
{
    struct runtime *r = data;
    hsa_device_type_t type;
    HSA(r->agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        r->cpu = agent;
    else
        r->gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    struct runtime *r = data;
    hsa_amd_segment_t segment;
    HSA(r->amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment == HSA_AMD_SEGMENT_GLOBAL && r->pool.handle == 0)
        r->pool = pool;
    return HSA_STATUS_SUCCESS;
}

static void *memory_new(struct runtime *r, size_t bytes)
{
    void *memory = NULL;
    HSA(r->amd_memory_pool_allocate(r->pool, bytes, 0, &memory));
    HSA(r->amd_agents_allow_access(1, &r->gpu, NULL, memory));
    memset(memory, 0, bytes);
    return memory;
}

static void kernel_load(struct runtime *r, const char *path)
{
    hsa_code_object_reader_t reader;
    hsa_executable_symbol_t symbol;
    int file = open(path, O_RDONLY);
    EXPECT(file >= 0);
    HSA(r->code_object_reader_create_from_file(file, &reader));
    HSA(r->executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                 &r->executable));
    HSA(r->executable_load_agent_code_object(r->executable, r->gpu, reader, NULL, NULL));
    HSA(r->executable_freeze(r->executable, NULL));
    HSA(r->executable_get_symbol_by_name(r->executable, "add.kd", &r->gpu, &symbol));
    HSA(r->executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                      &r->kernel_object));
    close(file);
}

static void runtime_begin(struct runtime *r, const char *code_object)
{
    r->pool.handle = 0;
    r->runs = 0;
    started = -1;
    HSA(r->init());
    EXPECT(started == r->number);
    HSA(r->iterate_agents(agent_seen, r));
    HSA(r->amd_agent_iterate_memory_pools(r->cpu, pool_seen, r));
    HSA(r->queue_create(r->gpu, 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                        &r->queue));
    kernel_load(r, code_object);
    r->words = memory_new(r, ITEMS * sizeof *r->words);
    r->copied = memory_new(r, ITEMS * sizeof *r->words);
    r->arguments = memory_new(r, 256);
    r->arguments[0] = r->words;
}

static void runtime_end(struct runtime *r)
{
    HSA(r->executable_destroy(r->executable));
    HSA(r->queue_destroy(r->queue));
    HSA(r->amd_memory_pool_free(r->words));
    HSA(r->amd_memory_pool_free(r->copied));
    HSA(r->amd_memory_pool_free(r->arguments));
    HSA(r->shut_down());
}

static void wait_for(struct runtime *r, hsa_signal_t signal)
{
    EXPECT(r->signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 60000000000u,
                                    HSA_WAIT_STATE_BLOCKED) == 0);
    HSA(r->signal_destroy(signal));
}

static void kernel_run(struct runtime *r)
{
    double before = watches ? device_waves() : 0;
    enum { FENCES = 1 << 8 | 2 << 9 | 2 << 11 };
    hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = GROUP_ITEMS,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = ITEMS,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .kernel_object = r->kernel_object,
                                           .kernarg_address = r->arguments};
    HSA(r->signal_create(1, 0, NULL, &packet.completion_signal));
    uint64_t index = r->queue_add_write_index_relaxed(r->queue, 1);
    char *slot = (char *)r->queue->base_address + index % r->queue->size * 64;
    memcpy(slot + 4, (char *)&packet + 4, sizeof packet - 4);
    __atomic_store_n((uint32_t *)(void *)slot, HSA_PACKET_TYPE_KERNEL_DISPATCH | FENCES | 1 << 16,
                     __ATOMIC_RELEASE);
    r->signal_store_screlease(r->queue->doorbell_signal, (hsa_signal_value_t)index);
    wait_for(r, packet.completion_signal);
    r->runs++;
    for (uint32_t i = 0; i < ITEMS; i++)
        EXPECT(r->words[i] == r->runs * i);
    EXPECT(!watches || device_waves() - before == WAVES);
}

static void copy_run(struct runtime *r)
{
    hsa_signal_t done;
    HSA(r->signal_create(1, 0, NULL, &done));
    HSA(r->amd_memory_async_copy(r->copied, r->cpu, r->words, r->gpu, ITEMS * sizeof *r->words, 0,
                                 NULL, done));
    wait_for(r, done);
    EXPECT(memcmp(r->copied, r->words, ITEMS * sizeof *r->words) == 0);
}

/* Everything that was done is seen; a kernel's callback may come after its signal. */
static void seen_check(unsigned kernels, unsigned copies, unsigned objects)
{
    for (int i = 0; i < 2000 && (kernels_seen < kernels || copies_seen < copies); i++)
        usleep(1000);
    if (kernels_seen != kernels || copies_seen != copies || objects_seen != objects ||
        values_seen != (counts ? kernels : 0))
        fprintf(stderr, "%u of %u kernels, %u of %u copies, %u of %u code objects, %u values\n",
                kernels_seen, kernels, copies_seen, copies, objects_seen, objects, values_seen);
    EXPECT(kernels_seen == kernels && copies_seen == copies && objects_seen == objects);
    EXPECT(values_seen == (counts ? kernels : 0));
}

int main(int argc, char **argv)
{
    static struct runtime first, second;
    EXPECT(argc == 5);
    counts = strcmp(argv[1], "count") == 0;
    watches = strcmp(argv[1], "device") == 0;
    functions_find(&first, argv[2]);
    functions_find(&second, argv[3]);
    second.number = 1;
    EXPECT(first.queue_create != second.queue_create);
    runtime_begin(&first, argv[4]);
    kernel_run(&first);
    runtime_begin(&second, argv[4]);
    for (int i = 0; i < 3; i++) {
        kernel_run(&first);
        kernel_run(&second);
        copy_run(&second);
        kernel_run(&second);
    }
    copy_run(&first);
    seen_check(10, 4, 2);
    unsigned calls = calls_seen;
    hsa_device_type_t type;
    HSA(first.agent_get_info(first.gpu, HSA_AGENT_INFO_DEVICE, &type));
    HSA(second.agent_get_info(second.gpu, HSA_AGENT_INFO_DEVICE, &type));
    EXPECT(calls_seen == calls + 2);

    runtime_end(&second); /* and comes back */
    kernel_run(&first);
    runtime_begin(&second, argv[4]);
    kernel_run(&second);
    seen_check(12, 4, 3);

    runtime_end(&first); /* the one that came first goes */
    kernel_run(&second);
    copy_run(&second);
    seen_check(13, 5, 3);
    runtime_begin(&first, argv[4]);
    kernel_run(&first);
    kernel_run(&second);
    seen_check(15, 5, 4);
    runtime_end(&first);
    runtime_end(&second);
    printf("two runtimes: ok\n");
    return 0;
}
