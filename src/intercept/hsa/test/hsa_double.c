#include "intercept/hsa/test/hsa_double.h"
#include "intercept/hsa/test/objects_double.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "intercept/hsa/tables.h"
#include "topology/topology.h"

/* ---- topology: replaces the folder's own reading of sysfs ----------------------------------- */

static const rocprofiler_agent_v0_t cpu_info = {.size = sizeof cpu_info,
                                                .id = {.handle = 0x1000},
                                                .type = ROCPROFILER_AGENT_TYPE_CPU,
                                                .node_id = 0};
static const rocprofiler_agent_v0_t gpu_info = {.size = sizeof gpu_info,
                                                .id = {.handle = 0x1001},
                                                .type = ROCPROFILER_AGENT_TYPE_GPU,
                                                .node_id = 1,
                                                .logical_node_id = 1,
                                                .gfx_target_version = 90010,
                                                .num_xcc = 1,
                                                .cu_count = 104,
                                                .array_count = 8,
                                                .num_shader_banks = 8,
                                                .simd_arrays_per_engine = 1,
                                                .name = "gfx90a",
                                                .num_sdma_engines = 2};
static const rocprofiler_agent_v0_t *infos[] = {&cpu_info, &gpu_info};
static const struct topology topology = {.agents = infos, .agent_count = 2};

const struct topology *topology_system(void)
{
    return &topology;
}

const rocprofiler_agent_v0_t *topology_agent_by_node(const struct topology *unused,
                                                     uint32_t node_id)
{
    (void)unused;
    return node_id < 2 ? infos[node_id] : NULL;
}

/* ---- the tables ------------------------------------------------------------------------------ */

struct double_version {
    uint32_t major, minor, step, reserved;
};

enum { SLOTS_MAX = 256 };

static struct double_table {
    struct double_version version;
    void *slots[SLOTS_MAX];
} api_tables[HSA_TABLE_COUNT];

static struct {
    struct double_version version;
    void *tables[HSA_TABLE_COUNT];
} root;

static struct hsa_tables current;

/* Slots of functions that the double does not play. */
static hsa_status_t not_played(void)
{
    return HSA_STATUS_ERROR;
}

/* ---- agents ---------------------------------------------------------------------------------- */

static hsa_status_t system_get_info(hsa_system_info_t attribute, void *value)
{
    if (attribute != HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *(uint64_t *)value = 1000000000;
    return HSA_STATUS_SUCCESS;
}

static bool gpu_first;

void double_agents_gpu_first(bool first)
{
    gpu_first = first;
}

static hsa_status_t iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data),
                                   void *data)
{
    callback((hsa_agent_t){gpu_first ? DOUBLE_GPU : DOUBLE_CPU}, data);
    return callback((hsa_agent_t){gpu_first ? DOUBLE_CPU : DOUBLE_GPU}, data);
}

static bool agents_hidden;

void double_agents_hide(bool hide)
{
    agents_hidden = hide;
}

static hsa_status_t agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    if (agent.handle != DOUBLE_GPU && agent.handle != DOUBLE_CPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (attribute == (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID)
        *(uint32_t *)value = (agent.handle == DOUBLE_GPU) + (agents_hidden ? 100 : 0);
    else if (attribute == HSA_AGENT_INFO_DEVICE)
        *(hsa_device_type_t *)value =
            agent.handle == DOUBLE_GPU ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
    else
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return HSA_STATUS_SUCCESS;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static hsa_status_t iterate_pools(hsa_agent_t agent,
                                  hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data),
                                  void *data)
{
    return callback((hsa_amd_memory_pool_t){agent.handle + 1}, data);
}

static hsa_status_t iterate_regions(hsa_agent_t agent,
                                    hsa_status_t (*callback)(hsa_region_t region, void *data),
                                    void *data)
{
    return callback((hsa_region_t){agent.handle + 2}, data);
}

static hsa_status_t region_get_info(hsa_region_t region, hsa_region_info_t attribute, void *value)
{
    (void)region, (void)attribute;
    *(uint32_t *)value = HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute,
                                  void *value)
{
    if (attribute == HSA_AMD_MEMORY_POOL_INFO_SEGMENT)
        *(hsa_amd_segment_t *)value = HSA_AMD_SEGMENT_GLOBAL;
    else if (attribute == HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS)
        *(uint32_t *)value = pool.handle == DOUBLE_GPU + 1
                                 ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
                                 : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    else
        *(bool *)value = true;
    return HSA_STATUS_SUCCESS;
}

static _Atomic int blocks_alive, signals_alive, shut_downs;

int double_blocks_alive(void)
{
    return blocks_alive;
}

int double_signals_alive(void)
{
    return signals_alive;
}

int double_shut_downs(void)
{
    return shut_downs;
}

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                                  void **pointer)
{
    (void)flags;
    if (pool.handle != DOUBLE_CPU + 1 && pool.handle != DOUBLE_GPU + 1)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    blocks_alive++;
    *pointer = aligned_alloc(4096, (size + 4095) & ~4095ul);
    return *pointer ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static hsa_status_t pool_free(void *pointer)
{
    blocks_alive--;
    free(pointer);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                                 const void *pointer)
{
    (void)flags;
    return count == 1 && agents[0].handle == DOUBLE_GPU && pointer ? HSA_STATUS_SUCCESS
                                                                   : HSA_STATUS_ERROR;
}

/* ---- signals --------------------------------------------------------------------------------- */

static hsa_status_t signal_create(hsa_signal_value_t value, uint32_t count,
                                  const hsa_agent_t *consumers, hsa_signal_t *signal)
{
    amd_signal_t *made = aligned_alloc(64, sizeof *made);
    (void)count, (void)consumers;
    if (!made)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    signals_alive++;
    memset(made, 0, sizeof *made);
    made->kind = AMD_SIGNAL_KIND_USER;
    made->value = value;
    signal->handle = (uint64_t)(uintptr_t)made;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t signal_destroy(hsa_signal_t signal)
{
    signals_alive--;
    free((void *)(uintptr_t)signal.handle);
    return HSA_STATUS_SUCCESS;
}

static hsa_signal_value_t signal_wait(hsa_signal_t signal, hsa_signal_condition_t condition,
                                      hsa_signal_value_t compared, uint64_t limit,
                                      hsa_wait_state_t state)
{
    (void)condition, (void)compared, (void)limit, (void)state; /* copies end when they begin */
    return __atomic_load_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, __ATOMIC_ACQUIRE);
}

static void signal_subtract(hsa_signal_t signal, hsa_signal_value_t value)
{
    __atomic_sub_fetch(&((amd_signal_t *)(uintptr_t)signal.handle)->value, value, __ATOMIC_RELEASE);
}

static bool doorbell_ring(hsa_signal_t signal, hsa_signal_value_t value);

static void signal_store(hsa_signal_t signal, hsa_signal_value_t value)
{
    if (doorbell_ring(signal, value))
        return;
    __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, value, __ATOMIC_RELEASE);
}

/* ---- queues and the device ------------------------------------------------------------------- */

enum { PACKETS_MAX = 1 << 16, QUEUES_MAX = 16 };

typedef void (*writer_fn)(const void *packets, uint64_t count);
typedef void (*handler_fn)(const void *packets, uint64_t count, uint64_t index, void *data,
                           writer_fn writer);

struct double_queue {
    hsa_queue_t hsa; /* first */
    bool used, profiled, broken;
    handler_fn handler;
    void *handler_data;
    void (*error)(hsa_status_t status, hsa_queue_t *source, void *data);
    void *error_data;
    unsigned char (*packets)[64];
    uint64_t written, done, deepest; /* deepest: most at a time */
    uint64_t ring, taken;            /* packets that a plain queue holds, and its write index */
    uint64_t user_read, user_write;  /* of the queue that the program sees */
    uint64_t busy_until;             /* ticks: the kernel that runs */
    amd_signal_t *running;
    pthread_mutex_t lock; /* the doorbell's, as in the runtime */
};

static struct double_queue queues[QUEUES_MAX];
static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t device_thread;
static _Atomic bool device_runs, device_held; /* tests write, the device's thread reads */
static uint64_t device_ticks;
static uint64_t packets_seen, kernels_seen, overlaps_seen;
static unsigned char (*seen)[64];
static __thread struct double_queue *writing;

/* The hardware queue: what interceptors write. */
static void hardware_write(const void *packets, uint64_t count)
{
    pthread_mutex_lock(&device_lock);
    for (uint64_t i = 0; i < count; i++) {
        memcpy(writing->packets[writing->written++ % PACKETS_MAX], (const char *)packets + 64 * i,
               64);
        memcpy(seen[packets_seen++ % PACKETS_MAX], (const char *)packets + 64 * i, 64);
    }
    if (writing->written - writing->done > writing->deepest)
        writing->deepest = writing->written - writing->done;
    pthread_mutex_unlock(&device_lock);
}

/* As the runtime: each packet to the interceptor alone, the read index at the end. */
void double_packets_submit(hsa_queue_t *hsa, const void *packets, uint32_t count)
{
    struct double_queue *queue = (struct double_queue *)(void *)hsa;
    pthread_mutex_lock(&queue->lock);
    writing = queue;
    queue->user_write += count;
    for (uint32_t i = 0; i < count; i++) {
        const char *packet = (const char *)packets + 64 * (size_t)i;
        if (queue->handler)
            queue->handler(packet, 1, queue->user_read + i, queue->handler_data, hardware_write);
        else
            hardware_write(packet, 1);
    }
    queue->user_read += count;
    pthread_mutex_unlock(&queue->lock);
}

bool double_queue_exists(const hsa_queue_t *hsa)
{
    return ((const struct double_queue *)(const void *)hsa)->used;
}

uint64_t double_queue_deepest(const hsa_queue_t *hsa)
{
    return ((const struct double_queue *)(const void *)hsa)->deepest;
}

static uint64_t read_index(const hsa_queue_t *hsa)
{
    return ((const struct double_queue *)(const void *)hsa)->user_read;
}

static uint64_t write_index(const hsa_queue_t *hsa)
{
    return ((const struct double_queue *)(const void *)hsa)->user_write;
}

/* A plain queue's packets lie where its writer puts them; its address is its doorbell's handle. */
static uint64_t add_write_index(const hsa_queue_t *hsa, uint64_t value)
{
    struct double_queue *queue = (struct double_queue *)(uintptr_t)hsa->doorbell_signal.handle;
    return __atomic_fetch_add(&queue->taken, value, __ATOMIC_ACQ_REL);
}

static bool doorbell_ring(hsa_signal_t signal, hsa_signal_value_t value)
{
    for (int i = 0; i < QUEUES_MAX; i++) {
        if (signal.handle != (uint64_t)(uintptr_t)&queues[i])
            continue;
        pthread_mutex_lock(&device_lock);
        queues[i].written = (uint64_t)value + 1;
        pthread_mutex_unlock(&device_lock);
        return true;
    }
    return false;
}

void (*_Atomic double_on_kernel)(const hsa_kernel_dispatch_packet_t *packet);
bool (*_Atomic double_kernel_waits)(const hsa_kernel_dispatch_packet_t *packet);

static bool kernel_waits(const unsigned char *packet)
{
    bool (*waits)(const hsa_kernel_dispatch_packet_t *) = double_kernel_waits;
    return waits && waits((const hsa_kernel_dispatch_packet_t *)(const void *)packet);
}

static void kernel_runs(const unsigned char *packet)
{
    void (*run)(const hsa_kernel_dispatch_packet_t *) = double_on_kernel;
    if (run)
        run((const hsa_kernel_dispatch_packet_t *)(const void *)packet);
}

static bool dependencies_met(const hsa_barrier_and_packet_t *barrier)
{
    for (int i = 0; i < 5; i++) {
        const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)barrier->dep_signal[i].handle;
        if (signal && __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) != 0)
            return false;
    }
    return true;
}

static void completion_count(const struct double_queue *queue, const unsigned char *packet,
                             uint64_t start, uint64_t end)
{
    amd_signal_t *signal;
    memcpy(&signal, packet + 56, sizeof signal);
    if (!signal)
        return;
    if (queue->profiled) {
        __atomic_store_n(&signal->start_ts, start, __ATOMIC_RELAXED);
        __atomic_store_n(&signal->end_ts, end, __ATOMIC_RELEASE);
    }
    __atomic_sub_fetch(&signal->value, 1, __ATOMIC_RELEASE);
}

static bool other_queue_busy(const struct double_queue *queue)
{
    for (int i = 0; i < QUEUES_MAX; i++)
        if (&queues[i] != queue && queues[i].busy_until > device_ticks)
            return true;
    return false;
}

/* One step of one queue. Kernels take time on their queue; packets are taken in order. */
static void queue_step(struct double_queue *queue)
{
    if (queue->done == queue->written || queue->busy_until > device_ticks || queue->broken)
        return;
    const unsigned char *packet =
        queue->packets[queue->done % (queue->ring ? queue->ring : PACKETS_MAX)];
    unsigned type = packet[0];
    if (queue->busy_until != 0) { /* the kernel at the head has just ended */
        if (kernel_waits(packet))
            return;
        completion_count(queue, packet, queue->busy_until - DOUBLE_TICKS_PER_KERNEL,
                         queue->busy_until);
        queue->busy_until = 0;
        queue->done++;
    } else if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
        overlaps_seen += other_queue_busy(queue);
        kernels_seen++;
        kernel_runs(packet);
        queue->busy_until = device_ticks + DOUBLE_TICKS_PER_KERNEL;
    } else if (type != HSA_PACKET_TYPE_BARRIER_AND ||
               dependencies_met((const hsa_barrier_and_packet_t *)(const void *)packet)) {
        completion_count(queue, packet, device_ticks, device_ticks);
        queue->done++;
    }
}

static void *device_main(void *unused)
{
    (void)unused;
    while (device_runs) {
        pthread_mutex_lock(&device_lock);
        if (!device_held) {
            for (int i = 0; i < QUEUES_MAX; i++)
                if (queues[i].used)
                    queue_step(&queues[i]);
            device_ticks += DOUBLE_TICKS_PER_KERNEL / 10;
        }
        pthread_mutex_unlock(&device_lock);
        if (device_ticks % (DOUBLE_TICKS_PER_KERNEL * 100) == 0 || device_held)
            nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    }
    return NULL;
}

static void device_stop(void)
{
    if (!device_runs)
        return;
    device_runs = false;
    pthread_join(device_thread, NULL);
}

void double_device_by_hand(void)
{
    device_stop();
}

void double_device_finish(hsa_queue_t *hsa, uint64_t pending)
{
    struct double_queue *queue = (struct double_queue *)(void *)hsa;
    pthread_mutex_lock(&device_lock);
    while (queue->written - queue->done > pending) {
        queue_step(queue);
        device_ticks = queue->busy_until != 0 ? queue->busy_until : device_ticks + 1;
    }
    pthread_mutex_unlock(&device_lock);
}

void double_device_hold(bool hold)
{
    pthread_mutex_lock(&device_lock);
    device_held = hold;
    pthread_mutex_unlock(&device_lock);
}

/* Room for PACKETS_MAX packets, all of it in memory at once: tests measure what grows later. */
static void *packets_make(void)
{
    enum { PAGE_BYTES = 4096 };
    volatile unsigned char *packets = calloc(PACKETS_MAX, 64);
    for (size_t at = 0; packets && at < (size_t)PACKETS_MAX * 64; at += PAGE_BYTES)
        packets[at] = 0;
    return (void *)packets;
}

static hsa_queue_t cooperative = {.type = HSA_QUEUE_TYPE_COOPERATIVE};
static int cooperative_references;

static hsa_status_t queue_make(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                               void (*error)(hsa_status_t, hsa_queue_t *, void *), void *data,
                               uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
    (void)private_size, (void)group_size;
    if (agent.handle != DOUBLE_GPU)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (type == HSA_QUEUE_TYPE_COOPERATIVE)
        cooperative_references++;
    pthread_mutex_lock(&device_lock);
    for (int i = 0; i < QUEUES_MAX; i++) {
        if (queues[i].used)
            continue;
        unsigned char(*packets)[64] = packets_make();
        if (!packets)
            break;
        queues[i] = (struct double_queue){.hsa = {.size = size, .id = (uint64_t)i + 40},
                                          .used = true,
                                          .packets = packets,
                                          .error = error,
                                          .error_data = data};
        pthread_mutex_init(&queues[i].lock, NULL);
        *queue = &queues[i].hsa;
        pthread_mutex_unlock(&device_lock);
        return HSA_STATUS_SUCCESS;
    }
    pthread_mutex_unlock(&device_lock);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* Without an interceptor: all get the same. */
static hsa_status_t plain_make(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                               void (*error)(hsa_status_t, hsa_queue_t *, void *), void *data,
                               uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
    if (type != HSA_QUEUE_TYPE_COOPERATIVE) {
        hsa_status_t status =
            queue_make(agent, size, type, error, data, private_size, group_size, queue);
        if (status != HSA_STATUS_SUCCESS)
            return status;
        struct double_queue *made = (struct double_queue *)(void *)*queue;
        made->ring = size;
        made->hsa.base_address = made->packets;
        made->hsa.doorbell_signal.handle = (uint64_t)(uintptr_t)made;
        return status;
    }
    cooperative_references++;
    *queue = &cooperative;
    return HSA_STATUS_SUCCESS;
}

int double_cooperative_references(void)
{
    return cooperative_references;
}

static hsa_status_t queue_destroy(hsa_queue_t *hsa)
{
    struct double_queue *queue = (struct double_queue *)(void *)hsa;
    if (hsa == &cooperative) {
        cooperative_references--;
        return HSA_STATUS_SUCCESS;
    }

    pthread_mutex_lock(&device_lock);
    free(queue->packets);
    memset(queue, 0, sizeof *queue);
    pthread_mutex_unlock(&device_lock);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t intercept_register(hsa_queue_t *hsa, handler_fn handler, void *data)
{
    struct double_queue *queue = (struct double_queue *)(void *)hsa;
    queue->handler = handler;
    queue->handler_data = data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t profiler_enable(hsa_queue_t *hsa, int enable)
{
    ((struct double_queue *)(void *)hsa)->profiled = enable;
    return HSA_STATUS_SUCCESS;
}

/* 100 MHz device clock, origin 7 s before the system's; copies are timed in the latter. */
static uint64_t device_origin_ns = 7000000000, system_origin_ns;

void double_clock_begin(uint64_t now_ns)
{
    device_origin_ns = system_origin_ns = now_ns;
}

void double_clock_shift(int64_t ns)
{
    __atomic_add_fetch(&device_origin_ns, (uint64_t)ns, __ATOMIC_RELAXED);
}

static hsa_status_t tick_convert(hsa_agent_t agent, uint64_t tick, uint64_t *time)
{
    (void)agent;
    *time = tick * 10 + __atomic_load_n(&device_origin_ns, __ATOMIC_RELAXED);
    return HSA_STATUS_SUCCESS;
}

hsa_queue_t *double_plain_queue(void)
{
    for (int i = 0; i < QUEUES_MAX; i++)
        if (queues[i].used && queues[i].ring)
            return &queues[i].hsa;
    return NULL;
}

void double_queue_break(hsa_queue_t *hsa)
{
    struct double_queue *queue = (struct double_queue *)(void *)hsa;
    pthread_mutex_lock(&device_lock);
    queue->broken = true;
    pthread_mutex_unlock(&device_lock);
    queue->error(HSA_STATUS_ERROR_EXCEPTION, hsa, queue->error_data);
}

uint64_t double_packets_seen(void)
{
    return packets_seen;
}

uint64_t double_kernels_seen(void)
{
    return kernels_seen;
}

uint64_t double_overlaps_seen(void)
{
    return overlaps_seen;
}

const void *double_packet(uint64_t n)
{
    return seen[n % PACKETS_MAX];
}

/* ---- copies: done when the call returns ------------------------------------------------------ */

static hsa_status_t copy_profiling(bool enable)
{
    (void)enable;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t async_copy(void *target, hsa_agent_t target_agent, const void *source,
                               hsa_agent_t source_agent, size_t size, uint32_t count,
                               const hsa_signal_t *signals, hsa_signal_t completion)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)completion.handle;
    (void)target_agent, (void)source_agent, (void)count, (void)signals;
    if (size == 0)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    memcpy(target, source, size);
    if (signal) {
        signal->start_ts = system_origin_ns + 100;
        signal->end_ts = signal->start_ts + size;
        signal_subtract(completion, 1);
    }
    return HSA_STATUS_SUCCESS;
}

/* Rows without gaps only. */
static hsa_status_t async_copy_rect(const hsa_pitched_ptr_t *target, const hsa_dim3_t *target_at,
                                    const hsa_pitched_ptr_t *source, const hsa_dim3_t *source_at,
                                    const hsa_dim3_t *range, hsa_agent_t agent,
                                    hsa_amd_copy_direction_t direction, uint32_t count,
                                    const hsa_signal_t *signals, hsa_signal_t completion)
{
    (void)target_at, (void)source_at, (void)direction;
    return async_copy(target->base, agent, source->base, agent,
                      (size_t)range->x * range->y * range->z, count, signals, completion);
}

static hsa_status_t copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    const amd_signal_t *amd = (const amd_signal_t *)(uintptr_t)signal.handle;
    time->start = amd->start_ts;
    time->end = amd->end_ts;
    return amd->end_ts ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t shut_down(void)
{
    shut_downs++;
    return HSA_STATUS_SUCCESS;
}

/* ---- assembly -------------------------------------------------------------------------------- */

static const struct double_function played[] = {
    {HSA_FN_hsa_system_get_info, (void *)system_get_info},
    {HSA_FN_hsa_iterate_agents, (void *)iterate_agents},
    {HSA_FN_hsa_agent_get_info, (void *)agent_get_info},
    {HSA_FN_hsa_agent_iterate_regions, (void *)iterate_regions},
    {HSA_FN_hsa_amd_agent_iterate_memory_pools, (void *)iterate_pools},
    {HSA_FN_hsa_amd_memory_pool_get_info, (void *)pool_get_info},
    {HSA_FN_hsa_amd_memory_pool_allocate, (void *)pool_allocate},
    {HSA_FN_hsa_amd_memory_pool_free, (void *)pool_free},
    {HSA_FN_hsa_amd_agents_allow_access, (void *)allow_access},
    {HSA_FN_hsa_signal_create, (void *)signal_create},
    {HSA_FN_hsa_signal_destroy, (void *)signal_destroy},
    {HSA_FN_hsa_signal_subtract_screlease, (void *)signal_subtract},
    {HSA_FN_hsa_signal_store_screlease, (void *)signal_store},
    {HSA_FN_hsa_queue_create, (void *)plain_make},
    {HSA_FN_hsa_queue_destroy, (void *)queue_destroy},
    {HSA_FN_hsa_queue_add_write_index_scacq_screl, (void *)add_write_index},
    {HSA_FN_hsa_signal_wait_scacquire, (void *)signal_wait},
    {HSA_FN_hsa_region_get_info, (void *)region_get_info},
    {HSA_FN_hsa_queue_load_read_index_relaxed, (void *)read_index},
    {HSA_FN_hsa_queue_load_write_index_relaxed, (void *)write_index},
    {HSA_FN_hsa_amd_queue_intercept_create, (void *)queue_make},
    {HSA_FN_hsa_amd_queue_intercept_register, (void *)intercept_register},
    {HSA_FN_hsa_amd_profiling_set_profiler_enabled, (void *)profiler_enable},
    {HSA_FN_hsa_amd_profiling_convert_tick_to_system_domain, (void *)tick_convert},
    {HSA_FN_hsa_amd_profiling_async_copy_enable, (void *)copy_profiling},
    {HSA_FN_hsa_amd_profiling_get_async_copy_time, (void *)copy_time},
    {HSA_FN_hsa_amd_memory_async_copy, (void *)async_copy},
    {HSA_FN_hsa_amd_memory_async_copy_rect, (void *)async_copy_rect},
    {HSA_FN_hsa_shut_down, (void *)shut_down},
};

static void tables_fill(uint32_t major)
{
    /* Slots per table: generation 1 as Debian 12's runtime has them, 2 with room for all. */
    static const uint32_t first_slots[HSA_TABLE_COUNT] = {125, 48, 6, 13};

    memset(api_tables, 0, sizeof api_tables);
    root.version = (struct double_version){1, sizeof root, 0, 0};
    for (int t = 0; t < HSA_TABLE_COUNT; t++) {
        uint32_t slots = major == 1 ? first_slots[t] : 150;
        root.tables[t] = &api_tables[t];
        api_tables[t].version = (struct double_version){
            major, (uint32_t)sizeof(struct double_version) + 8 * slots, 0, 0};
        for (uint32_t i = 0; i < slots; i++)
            api_tables[t].slots[i] = (void *)not_played;
    }
    hsa_tables_read(&current, &root);
    for (size_t i = 0; i < sizeof played / sizeof played[0]; i++)
        *hsa_tables_slot(&current, played[i].function) = played[i].code;
    for (size_t i = 0; i < DOUBLE_OBJECT_FUNCTIONS; i++)
        *hsa_tables_slot(&current, double_object_functions[i].function) =
            double_object_functions[i].code;
}

void *double_table_make(uint32_t amd_major)
{
    tables_fill(amd_major);
    if (!seen)
        seen = packets_make();
    packets_seen = kernels_seen = overlaps_seen = 0;
    device_held = false;
    if (!device_runs) {
        device_runs = true;
        pthread_create(&device_thread, NULL, device_main, NULL);
    }
    return &root;
}

void *double_function(int function)
{
    void **slot = hsa_tables_slot(&current, (enum hsa_function)function);
    return slot ? __atomic_load_n(slot, __ATOMIC_ACQUIRE) : NULL;
}

void double_function_remove(int function)
{
    *hsa_tables_slot(&current, (enum hsa_function)function) = NULL;
}

void double_stop(void)
{
    device_stop();
    free(seen);
}
