#include "cp/test/gpu_double.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

const uint64_t double_arena_va = 0x7a0000000000;

static struct gpu_double *the_rig; /* engine doubles have no other way to it; one gpu at a time */

/* ---- wave engine double ---- */

struct engine {
    struct gpu_double *gpu;
};

int engine_create(const struct gpu_model *model, struct vm *vm, struct perf *perf, int threads,
                  struct engine **engine)
{
    (void)model;
    (void)vm;
    (void)perf;
    (void)threads;
    *engine = calloc(1, sizeof **engine);
    if (!*engine)
        return -ENOMEM;
    (*engine)->gpu = the_rig;
    return 0;
}

void engine_destroy(struct engine *engine)
{
    free(engine);
}

int engine_submit(struct engine *engine, const struct dispatch_request *request)
{
    struct gpu_double *gpu = engine->gpu;
    pthread_mutex_lock(&gpu->lock);
    int status = gpu->submit_status;
    if (status == 0 && gpu->dispatch_count == DOUBLE_DISPATCHES_MAX)
        status = -ENOMEM;
    if (status == 0)
        gpu->dispatch[gpu->dispatch_count++] = (struct double_dispatch){.request = *request};
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

/* The oldest dispatch that may end, or NULL. */
static struct double_dispatch *next_dispatch(struct gpu_double *gpu)
{
    for (uint32_t i = 0; i < gpu->dispatch_count && !gpu->hold; i++)
        if (!gpu->dispatch[i].finished)
            return &gpu->dispatch[i];
    return NULL;
}

bool engine_help(struct engine *engine)
{
    struct gpu_double *gpu = engine->gpu;
    struct dispatch_result result = {.begin_ticks = 1000, .end_ticks = 2000};
    pthread_mutex_lock(&gpu->lock);
    struct double_dispatch *dispatch = next_dispatch(gpu);
    if (dispatch)
        dispatch->finished = true;
    pthread_mutex_unlock(&gpu->lock);
    if (!dispatch)
        return false;
    dispatch->request.done(dispatch->request.arg, &result);
    pthread_mutex_lock(&gpu->lock);
    gpu->is_late = dispatch->request.is_untimed;
    pthread_mutex_unlock(&gpu->lock);
    return true;
}

void engine_settle(struct engine *engine)
{
    struct gpu_double *gpu = engine->gpu;
    pthread_mutex_lock(&gpu->lock);
    gpu->is_late = false;
    pthread_mutex_unlock(&gpu->lock);
}

void engine_queue_abort(struct engine *engine, uint32_t queue_id)
{
    struct gpu_double *gpu = engine->gpu;
    pthread_mutex_lock(&gpu->lock);
    gpu->aborted_queue = queue_id;
    for (uint32_t i = 0; i < gpu->dispatch_count; i++)
        if (gpu->dispatch[i].request.queue_id == queue_id)
            gpu->dispatch[i].finished = true;
    pthread_mutex_unlock(&gpu->lock);
}

void engine_code_invalidate(struct engine *engine)
{
    struct gpu_double *gpu = engine->gpu;
    pthread_mutex_lock(&gpu->lock);
    gpu->invalidations++;
    gpu->invalidated_late += gpu->is_late;
    pthread_mutex_unlock(&gpu->lock);
}

void engine_after_fork_child(struct engine *engine)
{
    (void)engine;
}

/* ---- driver double ---- */

static void event_raise(void *driver, uint32_t event_id)
{
    struct gpu_double *gpu = driver;
    pthread_mutex_lock(&gpu->lock);
    if (event_id < DOUBLE_EVENTS)
        gpu->events[event_id]++;
    pthread_mutex_unlock(&gpu->lock);
}

static void memory_fault(void *driver, uint32_t gpu_id, uint64_t va, uint32_t access)
{
    struct gpu_double *gpu = driver;
    pthread_mutex_lock(&gpu->lock);
    gpu->faults += gpu_id == DOUBLE_GPU_ID;
    gpu->fault_va = va;
    gpu->fault_access = access;
    pthread_mutex_unlock(&gpu->lock);
}

static bool queue_exceptions(void *driver, uint64_t area_va, uint64_t exceptions)
{
    struct gpu_double *gpu = driver;
    pthread_mutex_lock(&gpu->lock);
    bool taken = area_va == gpu->exception_area;
    if (taken)
        gpu->exceptions |= exceptions;
    pthread_mutex_unlock(&gpu->lock);
    return taken;
}

static bool waiters_called(void *driver)
{
    struct gpu_double *gpu = driver;
    atomic_fetch_add(&gpu->waiters_asked, 1);
    return atomic_load(&gpu->waiters_called);
}

static uint64_t doorbell_arm(void *driver)
{
    return atomic_load(&((struct gpu_double *)driver)->sleep_ns);
}

/* ---- the gpu ---- */

struct gpu_double *double_create_as(const char *model)
{
    static const struct cp_driver_ops ops = {event_raise, waiters_called, memory_fault,
                                             queue_exceptions, doorbell_arm};
    struct gpu_double *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return NULL;
    the_rig = gpu;
    gpu->sleep_ns = UINT64_MAX; /* every doorbell of the gpu kicks */
    pthread_mutex_init(&gpu->lock, NULL);
    gpu->arena = mmap(NULL, DOUBLE_ARENA_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (gpu->arena == MAP_FAILED || vm_create(&gpu->vm) ||
        vm_map(gpu->vm, double_arena_va, DOUBLE_ARENA_BYTES, gpu->arena, VM_READ | VM_WRITE) ||
        cp_create(&ops, gpu, &gpu->cp) ||
        cp_device_create(gpu->cp, DOUBLE_GPU_ID, gpu_model_find(model), gpu->vm, &gpu->device)) {
        free(gpu);
        return NULL;
    }
    return gpu;
}

struct gpu_double *double_create(void)
{
    return double_create_as("gfx90a");
}

void double_destroy(struct gpu_double *gpu)
{
    cp_device_destroy(gpu->device);
    cp_destroy(gpu->cp);
    vm_destroy(gpu->vm);
    munmap(gpu->arena, DOUBLE_ARENA_BYTES);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

uint64_t double_alloc(struct gpu_double *gpu, uint64_t size_bytes)
{
    uint64_t va = double_arena_va + gpu->used_bytes;
    gpu->used_bytes += (size_bytes + 63) & ~63ull;
    if (gpu->used_bytes > DOUBLE_ARENA_BYTES)
        abort();
    return va;
}

void *double_host(struct gpu_double *gpu, uint64_t va)
{
    return gpu->arena + (va - double_arena_va);
}

hsa_signal_t double_signal(struct gpu_double *gpu, int64_t value, uint32_t event_id)
{
    hsa_signal_t signal = {double_alloc(gpu, sizeof(amd_signal_t))};
    amd_signal_t *host = double_signal_host(gpu, signal);
    host->kind = AMD_SIGNAL_KIND_USER;
    host->value = value;
    host->event_id = event_id;
    host->event_mailbox_ptr = event_id ? double_alloc(gpu, 8) : 0;
    return signal;
}

amd_signal_t *double_signal_host(struct gpu_double *gpu, hsa_signal_t signal)
{
    return double_host(gpu, signal.handle);
}

int64_t double_signal_value(struct gpu_double *gpu, hsa_signal_t signal)
{
    return __atomic_load_n(&double_signal_host(gpu, signal)->value, __ATOMIC_ACQUIRE);
}

void double_signal_set(struct gpu_double *gpu, hsa_signal_t signal, int64_t value)
{
    __atomic_store_n(&double_signal_host(gpu, signal)->value, value, __ATOMIC_RELEASE);
}

void double_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

void double_settle(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

void double_hold(struct gpu_double *gpu, bool hold)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->hold = hold;
    pthread_mutex_unlock(&gpu->lock);
}

uint32_t double_dispatch_count(struct gpu_double *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    uint32_t count = gpu->dispatch_count;
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

uint32_t double_event_count(struct gpu_double *gpu, uint32_t event_id)
{
    pthread_mutex_lock(&gpu->lock);
    uint32_t count = gpu->events[event_id];
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

uint32_t double_fault_count(struct gpu_double *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    uint32_t count = gpu->faults;
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

void double_finish(struct gpu_double *gpu, uint32_t index, const struct dispatch_result *result)
{
    static const struct dispatch_result good = {.begin_ticks = 1000, .end_ticks = 2000};
    pthread_mutex_lock(&gpu->lock);
    struct double_dispatch dispatch = gpu->dispatch[index];
    gpu->dispatch[index].finished = true;
    pthread_mutex_unlock(&gpu->lock);
    dispatch.request.done(dispatch.request.arg, result ? result : &good);
}

static struct double_queue *queue_create_with(struct gpu_double *gpu, struct double_queue queue)
{
    struct double_queue *copy = malloc(sizeof *copy);
    *copy = queue;
    copy->config.doorbell = &copy->doorbell;
    copy->config.percent = 100;
    if (cp_queue_create(gpu->device, &copy->config) == 0)
        return copy;
    free(copy);
    return NULL;
}

struct double_queue *double_aql_create(struct gpu_double *gpu, uint32_t queue_id, uint32_t packets)
{
    struct double_queue queue = {.gpu = gpu, .amd_queue_va = double_alloc(gpu, DOUBLE_QUEUE_BYTES)};
    uint64_t ring_va = double_alloc(gpu, packets * 64ull);
    queue.amd_queue = double_host(gpu, queue.amd_queue_va);
    queue.ring = double_host(gpu, ring_va);
    for (uint32_t i = 0; i < packets; i++)
        *(uint16_t *)(queue.ring + i * 64ull) = HSA_PACKET_TYPE_INVALID;
    queue.inactive = double_signal(gpu, 0, 60);
    queue.amd_queue->queue_inactive_signal = queue.inactive;
    queue.config = (struct cp_queue_config){
        .type = CP_QUEUE_AQL,
        .queue_id = queue_id,
        .gpu_id = DOUBLE_GPU_ID,
        .ring_va = ring_va,
        .ring_bytes = packets * 64ull,
        .read_pointer_va = queue.amd_queue_va + offsetof(amd_queue_t, read_dispatch_id),
        .write_pointer_va = queue.amd_queue_va + offsetof(amd_queue_t, write_dispatch_id),
        .exception_area_va = gpu->exception_area,
    };
    return queue_create_with(gpu, queue);
}

struct double_queue *double_sdma_create(struct gpu_double *gpu, uint32_t queue_id,
                                        uint32_t ring_bytes)
{
    struct double_queue queue = {.gpu = gpu};
    uint64_t ring_va = double_alloc(gpu, ring_bytes), pointers_va = double_alloc(gpu, 16);
    queue.ring = double_host(gpu, ring_va);
    queue.read_pointer = double_host(gpu, pointers_va);
    queue.write_pointer = queue.read_pointer + 1;
    queue.config = (struct cp_queue_config){
        .type = CP_QUEUE_SDMA,
        .queue_id = queue_id,
        .gpu_id = DOUBLE_GPU_ID,
        .ring_va = ring_va,
        .ring_bytes = ring_bytes,
        .read_pointer_va = pointers_va,
        .write_pointer_va = pointers_va + 8,
    };
    return queue_create_with(gpu, queue);
}

void double_queue_destroy(struct double_queue *queue)
{
    cp_queue_destroy(queue->gpu->device, queue->config.queue_id);
    free(queue);
}

uint64_t double_read_index(struct double_queue *queue)
{
    return __atomic_load_n(&queue->amd_queue->read_dispatch_id, __ATOMIC_ACQUIRE);
}

uint64_t double_reserve(struct double_queue *queue)
{
    return __atomic_fetch_add(&queue->amd_queue->write_dispatch_id, 1, __ATOMIC_RELAXED);
}

void double_publish(struct double_queue *queue, uint64_t index, const void *packet)
{
    uint64_t packets = queue->config.ring_bytes / 64;
    uint8_t *slot = queue->ring + (index & (packets - 1)) * 64;
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(slot + 2, (const uint8_t *)packet + 2, 62);
    __atomic_store_n((uint16_t *)slot, header, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->doorbell, index, __ATOMIC_RELEASE);
    cp_kick(queue->gpu->cp);
}

uint64_t double_push(struct double_queue *queue, const void *packet)
{
    uint64_t index = double_reserve(queue);
    double_publish(queue, index, packet);
    return index;
}

hsa_kernel_dispatch_packet_t double_kernel(bool barrier, hsa_signal_t completion)
{
    return (hsa_kernel_dispatch_packet_t){
        .header = (uint16_t)(HSA_PACKET_TYPE_KERNEL_DISPATCH |
                             (barrier ? 1 << HSA_PACKET_HEADER_BARRIER : 0)),
        .setup = 1,
        .workgroup_size_x = 256,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = 1024,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = 0x1000,
        .completion_signal = completion,
    };
}

uint64_t double_push_pm4(struct double_queue *queue, const uint32_t *words, uint32_t dwords,
                         hsa_signal_t completion)
{
    uint64_t va = double_alloc(queue->gpu, 4ull * dwords);
    uint32_t packet[16] = {0x00010000,           0xc0023f00,          (uint32_t)va,
                           (uint32_t)(va >> 32), 0x10800000 | dwords, 0xa};

    memcpy(double_host(queue->gpu, va), words, 4ull * dwords);
    memcpy(&packet[14], &completion, sizeof completion);
    return double_push(queue, packet);
}
