/*
 * The HSA runtime without HIP: queues, barriers between them, copies by DMA, locked memory, fills,
 * asynchronous handlers and copy times. `hsa_queues exit|_exit|abort` ends that way with work
 * pending; `hsa_queues fork` does everything in a child of a process that has a GPU open.
 */
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HSA(call)                                                                                  \
    do {                                                                                           \
        hsa_status_t status_ = (call);                                                             \
        if (status_ != HSA_STATUS_SUCCESS) {                                                       \
            fprintf(stderr, "%s:%d: %s: 0x%x\n", __FILE__, __LINE__, #call, status_);              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool, device_pool;

static hsa_status_t agent_seen(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    else if (type == HSA_DEVICE_TYPE_GPU && gpu.handle == 0)
        gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    bool allowed;
    hsa_amd_memory_pool_t *first = data;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                     &allowed));
    if (segment == HSA_AMD_SEGMENT_GLOBAL && allowed && first->handle == 0)
        *first = pool;
    return HSA_STATUS_SUCCESS;
}

static void start(void)
{
    gpu.handle = host_pool.handle = device_pool.handle = 0;
    HSA(hsa_init());
    HSA(hsa_iterate_agents(agent_seen, NULL));
    EXPECT(cpu.handle && gpu.handle);
    HSA(hsa_amd_agent_iterate_memory_pools(cpu, pool_seen, &host_pool));
    HSA(hsa_amd_agent_iterate_memory_pools(gpu, pool_seen, &device_pool));
    EXPECT(host_pool.handle && device_pool.handle);
}

static hsa_queue_t *queue_new(void)
{
    hsa_queue_t *queue;
    HSA(hsa_queue_create(gpu, 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                         &queue));
    return queue;
}

enum { SIGNALS_MAX = 128 };
static hsa_signal_t signals[SIGNALS_MAX];
static int signal_count;

/* Lives until signals_destroy(). */
static hsa_signal_t signal_new(hsa_signal_value_t value)
{
    EXPECT(signal_count < SIGNALS_MAX);
    HSA(hsa_signal_create(value, 0, NULL, &signals[signal_count]));
    return signals[signal_count++];
}

static void signals_destroy(void)
{
    while (signal_count > 0)
        HSA(hsa_signal_destroy(signals[--signal_count]));
}

static bool reached_zero(hsa_signal_t signal, uint64_t ms)
{
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, ms * 1000000,
                                     HSA_WAIT_STATE_BLOCKED) < 1;
}

static void barrier(hsa_queue_t *queue, uint8_t type, const hsa_signal_t *dependencies, int count,
                    hsa_signal_t completion)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_barrier_and_packet_t *packet =
        (hsa_barrier_and_packet_t *)queue->base_address + index % queue->size;
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        usleep(10);
    memset((char *)packet + 2, 0, sizeof *packet - 2);
    for (int i = 0; i < count; i++)
        packet->dep_signal[i] = dependencies[i];
    packet->completion_signal = completion;
    __atomic_store_n(&packet->header, type, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void barriers(void)
{
    hsa_queue_t *first = queue_new(), *second = queue_new();
    hsa_signal_t gate[2] = {signal_new(1), signal_new(1)};
    hsa_signal_t middle = signal_new(1), last = signal_new(1), either = signal_new(1);
    barrier(second, HSA_PACKET_TYPE_BARRIER_AND, &middle, 1, last);
    barrier(first, HSA_PACKET_TYPE_BARRIER_OR, gate, 2, either);
    barrier(first, HSA_PACKET_TYPE_BARRIER_AND, gate, 2, middle);
    EXPECT(!reached_zero(either, 20));
    hsa_signal_store_screlease(gate[1], 0);
    EXPECT(reached_zero(either, 5000));
    EXPECT(!reached_zero(last, 20));
    hsa_signal_store_screlease(gate[0], 0);
    EXPECT(reached_zero(last, 5000) && hsa_signal_load_scacquire(middle) == 0);

    hsa_signal_t many = signal_new(3000); /* more packets than the ring holds */
    for (int i = 0; i < 3000; i++)
        barrier(first, HSA_PACKET_TYPE_BARRIER_AND, NULL, 0, many);
    EXPECT(reached_zero(many, 20000));
    HSA(hsa_queue_destroy(first));
    HSA(hsa_queue_destroy(second));
}

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                 size_t size)
{
    hsa_signal_t done = signal_new(1);
    HSA(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, 0, NULL, done));
    EXPECT(reached_zero(done, 20000));
    hsa_amd_profiling_async_copy_time_t time;
    HSA(hsa_amd_profiling_get_async_copy_time(done, &time));
    EXPECT(time.start > 0 && time.start <= time.end);
}

enum { BYTES = 8 << 20 };

static void copies(void)
{
    static const size_t sizes[] = {1, 4, 63, 4096, 65537, (1 << 22) + 5, BYTES - 64};
    uint8_t *up, *down, *device;
    HSA(hsa_amd_profiling_async_copy_enable(true));
    HSA(hsa_amd_memory_pool_allocate(host_pool, BYTES, 0, (void **)&up));
    HSA(hsa_amd_memory_pool_allocate(host_pool, BYTES, 0, (void **)&down));
    HSA(hsa_amd_memory_pool_allocate(device_pool, BYTES, 0, (void **)&device));
    HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, up));
    HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, down));
    for (size_t i = 0; i < BYTES; i++)
        up[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t shift = 0; shift < 4; shift += 3) {
            memset(down, 0xee, BYTES);
            copy(device + shift, gpu, up + 7, cpu, sizes[i]);
            copy(down + 2, cpu, device + shift, gpu, sizes[i]);
            EXPECT(memcmp(down + 2, up + 7, sizes[i]) == 0);
            EXPECT(down[1] == 0xee && down[2 + sizes[i]] == 0xee);
        }
    }
    HSA(hsa_amd_memory_fill(device, 0x12345678, 1 << 18));
    copy(down, cpu, device, gpu, 1 << 20);
    for (int i = 0; i < 1 << 18; i++)
        EXPECT(((uint32_t *)down)[i] == 0x12345678);
    HSA(hsa_amd_memory_pool_free(up));
    HSA(hsa_amd_memory_pool_free(down));
    HSA(hsa_amd_memory_pool_free(device));
}

static void locked_memory(void)
{
    uint8_t *own = malloc(BYTES), *device, *seen_by_gpu;
    for (size_t i = 0; i < BYTES; i++)
        own[i] = (uint8_t)(i * 7 >> 3);
    HSA(hsa_amd_memory_pool_allocate(device_pool, BYTES, 0, (void **)&device));
    HSA(hsa_amd_memory_lock(own + 100, BYTES - 100, &gpu, 1, (void **)&seen_by_gpu));
    copy(device, gpu, seen_by_gpu, cpu, 100000);
    copy(seen_by_gpu + 200000, cpu, device, gpu, 100000);
    EXPECT(memcmp(own + 200100, own + 100, 100000) == 0);
    HSA(hsa_amd_memory_unlock(own + 100));
    HSA(hsa_amd_memory_pool_free(device));
    free(own);
}

/* Writer: the runtime's handler thread, release. Reader: the test, acquire. */
static int handled;

static bool handler(hsa_signal_value_t value, void *arg)
{
    (void)arg;
    __atomic_fetch_add(&handled, value == 0, __ATOMIC_RELEASE);
    return false;
}

static void handlers(void)
{
    hsa_queue_t *queue = queue_new();
    __atomic_store_n(&handled, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < 20; i++) {
        hsa_signal_t done = signal_new(1);
        HSA(hsa_amd_signal_async_handler(done, HSA_SIGNAL_CONDITION_EQ, 0, handler, NULL));
        barrier(queue, HSA_PACKET_TYPE_BARRIER_AND, NULL, 0, done);
    }
    for (int i = 0; i < 5000 && __atomic_load_n(&handled, __ATOMIC_ACQUIRE) < 20; i++)
        usleep(1000);
    EXPECT(__atomic_load_n(&handled, __ATOMIC_ACQUIRE) == 20);
    HSA(hsa_queue_destroy(queue));
}

static void everything(void)
{
    barriers();
    copies();
    locked_memory();
    handlers();
    signals_destroy();
}

static void end_with_work_pending(const char *how)
{
    hsa_signal_t gate = signal_new(1), never = signal_new(1);
    barrier(queue_new(), HSA_PACKET_TYPE_BARRIER_AND, &gate, 1, never);
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    abort();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "fork") == 0) {
        int device = open("/dev/kfd", O_RDWR);
        EXPECT(device >= 0);
        pid_t child = fork();
        int status = 0;
        if (child > 0) {
            waitpid(child, &status, 0);
            EXPECT(status == 0);
        }
        start();
        everything();
        if (child == 0)
            exit(0);
    } else if (strcmp(how, "again") == 0) {
        for (int round = 0; round < 3; round++) {
            start();
            everything();
            HSA(hsa_shut_down());
        }
        HSA(hsa_init());
    } else {
        start();
        everything();
        if (*how)
            end_with_work_pending(how);
    }
    HSA(hsa_shut_down());
    puts("hsa_queues: ok");
    return 0;
}
