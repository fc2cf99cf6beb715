/*
 * scratch_queues CODE STEP...: private memory through the HSA runtime alone.
 *
 *   0:179:40             the kernel with 179 private elements, 40 work-groups, on queue 0
 *   0:179:40+1:179:40    all are dispatched before the first is waited for
 *   limit:BYTES          the runtime shall keep no more than that (ROCm 6.2 and later)
 *   destroy:1            queue 1 ends; its next use makes a new one
 *
 * Results are compared with the host's own. Says for each step what the queue's own structure holds
 * when it is over; where a tool intercepts queues that is another one, and means nothing.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HSA(call)                                                                                  \
    do {                                                                                           \
        hsa_status_t status_ = (call);                                                             \
        if (status_ != HSA_STATUS_SUCCESS) {                                                       \
            fprintf(stderr, "%s:%d: %s: 0x%x\n", __FILE__, __LINE__, #call, status_);              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { QUEUES = 4, JOBS = 8, GROUP_ITEMS = 64, STEPS = 16, ELEMENTS_MAX = 26000, PACKETS = 64 };

struct job {
    uint32_t queue, elements, groups, seed;
    uint32_t *out;
    struct arguments {
        uint32_t *out;
        uint32_t seed;
    } * arguments;
    hsa_signal_t done;
};

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t host_pool;
static hsa_executable_t executable;
static hsa_queue_t *queues[QUEUES];

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    (void)data;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (segment == HSA_AMD_SEGMENT_GLOBAL && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED &&
        !host_pool.handle)
        host_pool = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent_seen(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        HSA(hsa_amd_agent_iterate_memory_pools(agent, pool_seen, NULL));
    else if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
        gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static void code_load(const char *path)
{
    hsa_code_object_reader_t reader;
    int file = open(path, O_RDONLY);
    HSA(hsa_code_object_reader_create_from_file(file, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                  &executable));
    HSA(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    HSA(hsa_executable_freeze(executable, NULL));
    close(file);
}

static uint32_t symbol_number(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what)
{
    uint32_t number;
    HSA(hsa_executable_symbol_get_info(symbol, what, &number));
    return number;
}

/* As the kernel computes it. */
static uint32_t expected(const struct job *job, uint32_t i)
{
    static uint32_t array[ELEMENTS_MAX];
    uint32_t sum = 0;
    if (job->elements == 0)
        return i * job->seed;
    for (uint32_t k = 0; k < STEPS; k++)
        array[(i * 7 + k * job->seed) % job->elements] = i * k + job->seed;
    for (uint32_t k = STEPS; k-- > 0;)
        sum = sum * 31 + array[(i * 7 + k * job->seed) % job->elements];
    return sum;
}

static void *memory(size_t bytes)
{
    void *address;
    HSA(hsa_amd_memory_pool_allocate(host_pool, bytes, 0, &address));
    HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, address));
    memset(address, 0, bytes);
    return address;
}

static void error_seen(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue, (void)data;
    printf("queue error 0x%x\n", status);
    fflush(stdout);
    _exit(3);
}

static void packet_submit(hsa_queue_t *queue, uint16_t type, const void *packet)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    char *slot = (char *)queue->base_address + index % PACKETS * sizeof(hsa_barrier_and_packet_t);
    memcpy(slot + 2, (const char *)packet + 2, sizeof(hsa_barrier_and_packet_t) - 2);
    __atomic_store_n((uint16_t *)slot,
                     (uint16_t)(type |
                                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE),
                     __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void done_await(uint32_t queue, hsa_signal_t done)
{
    if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 60000000000,
                                  HSA_WAIT_STATE_BLOCKED) != 0) {
        printf("queue %u: no end within a minute\n", queue);
        exit(1);
    }
    HSA(hsa_signal_destroy(done));
}

/* A queue starts its next packet only when the runtime has taken back what was for one use, and has
 * told tools so. One that is destroyed before tells nobody. */
static void queue_end(uint32_t number)
{
    hsa_barrier_and_packet_t barrier = {0};
    HSA(hsa_signal_create(1, 0, NULL, &barrier.completion_signal));
    packet_submit(queues[number], HSA_PACKET_TYPE_BARRIER_AND, &barrier);
    done_await(number, barrier.completion_signal);
    HSA(hsa_queue_destroy(queues[number]));
    queues[number] = NULL;
}

static void dispatch(struct job *job)
{
    char name[32];
    hsa_executable_symbol_t symbol;
    hsa_queue_t **queue = &queues[job->queue];
    if (!*queue)
        HSA(hsa_queue_create(gpu, PACKETS, HSA_QUEUE_TYPE_MULTI, error_seen, NULL, UINT32_MAX,
                             UINT32_MAX, queue));
    snprintf(name, sizeof name, "private_%u.kd", job->elements);
    HSA(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
    job->out = memory(job->groups * GROUP_ITEMS * sizeof *job->out);
    job->arguments = memory(sizeof *job->arguments);
    *job->arguments = (struct arguments){job->out, job->seed};
    HSA(hsa_signal_create(1, 0, NULL, &job->done));
    uint64_t object;
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    hsa_kernel_dispatch_packet_t packet = {
        .setup = 1,
        .workgroup_size_x = GROUP_ITEMS,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = job->groups * GROUP_ITEMS,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .private_segment_size =
            symbol_number(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE),
        .kernel_object = object,
        .kernarg_address = job->arguments,
        .completion_signal = job->done,
    };
    packet_submit(*queue, HSA_PACKET_TYPE_KERNEL_DISPATCH, &packet);
}

static uint64_t job_wrong(struct job *job)
{
    uint64_t wrong = 0;
    done_await(job->queue, job->done);
    for (uint32_t i = 0; i < job->groups * GROUP_ITEMS; i++)
        wrong += job->out[i] != expected(job, i);
    HSA(hsa_amd_memory_pool_free(job->out));
    HSA(hsa_amd_memory_pool_free(job->arguments));
    return wrong;
}

/* Memory for one use goes back a moment after the kernel's end. */
static void state_print(const char *step, uint32_t queue, uint64_t wrong)
{
    const amd_queue_t *state = (const amd_queue_t *)queues[queue];
    const volatile uint32_t *properties = &state->queue_properties;
    for (int i = 0; i < 5000 && *properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE; i++)
        usleep(1000);
    printf("%s: wrong %llu lane %u waves %u%s\n", step, (unsigned long long)wrong,
           state->scratch_wave64_lane_byte_size, state->compute_tmpring_size & 0xfff,
           *properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE ? " never given back" : "");
    fflush(stdout);
}

static void dispatches(char *step)
{
    struct job jobs[JOBS];
    int count = 0;
    uint64_t wrong = 0;
    char text[256], *rest = NULL;
    snprintf(text, sizeof text, "%s", step);
    for (char *one = strtok_r(step, "+", &rest); one && count < JOBS;
         one = strtok_r(NULL, "+", &rest)) {
        struct job *job = &jobs[count];
        *job = (struct job){.seed = 977 + 13 * (uint32_t)count};
        if (sscanf(one, "%u:%u:%u", &job->queue, &job->elements, &job->groups) != 3 ||
            job->queue >= QUEUES || job->elements > ELEMENTS_MAX)
            exit(2);
        dispatch(job);
        count++;
    }
    for (int i = 0; i < count; i++)
        wrong += job_wrong(&jobs[i]);
    state_print(text, jobs[0].queue, wrong);
}

static void limit_set(size_t bytes)
{
    hsa_status_t (*set)(hsa_agent_t, size_t) = (hsa_status_t(*)(hsa_agent_t, size_t))dlsym(
        RTLD_DEFAULT, "hsa_amd_agent_set_async_scratch_limit");
    printf("limit:%zu: %s\n", bytes,
           set && set(gpu, bytes) == HSA_STATUS_SUCCESS ? "set" : "not set");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    HSA(hsa_init());
    HSA(hsa_iterate_agents(agent_seen, NULL));
    code_load(argv[1]);
    for (int i = 2; i < argc; i++) {
        char *number = strchr(argv[i], ':');
        if (!strncmp(argv[i], "limit:", 6)) {
            limit_set(strtoull(number + 1, NULL, 0));
        } else if (!strncmp(argv[i], "destroy:", 8)) {
            queue_end(strtoul(number + 1, NULL, 0) % QUEUES);
        } else {
            dispatches(argv[i]);
        }
    }
    for (uint32_t i = 0; i < QUEUES; i++)
        if (queues[i])
            queue_end(i);
    HSA(hsa_executable_destroy(executable));
    HSA(hsa_shut_down());
    printf("scratch_queues: ok\n");
    return 0;
}
