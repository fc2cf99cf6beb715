#include "cp/rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

const uint64_t rig_arena_va = 0x7a0000000000;

static struct rig *the_rig; /* engine doubles have no other way to it; one rig at a time */

/* ---- wave engine double ---- */

struct engine {
    struct rig *rig;
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
    (*engine)->rig = the_rig;
    return 0;
}

void engine_destroy(struct engine *engine)
{
    free(engine);
}

int engine_submit(struct engine *engine, const struct dispatch_request *request)
{
    struct rig *rig = engine->rig;
    pthread_mutex_lock(&rig->lock);
    int status = rig->submit_status;
    if (status == 0 && rig->dispatch_count == RIG_DISPATCHES_MAX)
        status = -ENOMEM;
    if (status == 0)
        rig->dispatch[rig->dispatch_count++] = (struct rig_dispatch){.request = *request};
    pthread_mutex_unlock(&rig->lock);
    return status;
}

/* The oldest dispatch that may end, or NULL. */
static struct rig_dispatch *next_dispatch(struct rig *rig)
{
    for (uint32_t i = 0; i < rig->dispatch_count && !rig->hold; i++)
        if (!rig->dispatch[i].finished)
            return &rig->dispatch[i];
    return NULL;
}

bool engine_help(struct engine *engine)
{
    struct rig *rig = engine->rig;
    struct dispatch_result result = {.begin_ticks = 1000, .end_ticks = 2000};
    pthread_mutex_lock(&rig->lock);
    struct rig_dispatch *dispatch = next_dispatch(rig);
    if (dispatch)
        dispatch->finished = true;
    pthread_mutex_unlock(&rig->lock);
    if (!dispatch)
        return false;
    dispatch->request.done(dispatch->request.arg, &result);
    return true;
}

void engine_queue_abort(struct engine *engine, uint32_t queue_id)
{
    struct rig *rig = engine->rig;
    pthread_mutex_lock(&rig->lock);
    rig->aborted_queue = queue_id;
    for (uint32_t i = 0; i < rig->dispatch_count; i++)
        if (rig->dispatch[i].request.queue_id == queue_id)
            rig->dispatch[i].finished = true;
    pthread_mutex_unlock(&rig->lock);
}

void engine_code_invalidate(struct engine *engine)
{
    (void)engine;
}

void engine_after_fork_child(struct engine *engine)
{
    (void)engine;
}

/* ---- driver double ---- */

static void event_raise(void *driver, uint32_t event_id)
{
    struct rig *rig = driver;
    pthread_mutex_lock(&rig->lock);
    if (event_id < RIG_EVENTS)
        rig->events[event_id]++;
    pthread_mutex_unlock(&rig->lock);
}

static void memory_fault(void *driver, uint32_t gpu_id, uint64_t va, uint32_t access)
{
    struct rig *rig = driver;
    pthread_mutex_lock(&rig->lock);
    rig->faults += gpu_id == RIG_GPU_ID;
    rig->fault_va = va;
    rig->fault_access = access;
    pthread_mutex_unlock(&rig->lock);
}

static uint64_t doorbell_arm(void *driver)
{
    return atomic_load(&((struct rig *)driver)->sleep_ns);
}

/* ---- the rig ---- */

struct rig *rig_create_as(const char *model)
{
    static const struct cp_driver_ops ops = {event_raise, memory_fault, doorbell_arm};
    struct rig *rig = calloc(1, sizeof *rig);
    if (!rig)
        return NULL;
    the_rig = rig;
    rig->sleep_ns = UINT64_MAX; /* every doorbell of the rig kicks */
    pthread_mutex_init(&rig->lock, NULL);
    rig->arena = mmap(NULL, RIG_ARENA_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (rig->arena == MAP_FAILED || vm_create(&rig->vm) ||
        vm_map(rig->vm, rig_arena_va, RIG_ARENA_BYTES, rig->arena, VM_READ | VM_WRITE) ||
        cp_create(&ops, rig, &rig->cp) ||
        cp_device_create(rig->cp, RIG_GPU_ID, gpu_model_find(model), rig->vm, &rig->device)) {
        free(rig);
        return NULL;
    }
    return rig;
}

struct rig *rig_create(void)
{
    return rig_create_as("gfx90a");
}

void rig_destroy(struct rig *rig)
{
    cp_device_destroy(rig->device);
    cp_destroy(rig->cp);
    vm_destroy(rig->vm);
    munmap(rig->arena, RIG_ARENA_BYTES);
    pthread_mutex_destroy(&rig->lock);
    free(rig);
}

uint64_t rig_alloc(struct rig *rig, uint64_t size_bytes)
{
    uint64_t va = rig_arena_va + rig->used_bytes;
    rig->used_bytes += (size_bytes + 63) & ~63ull;
    if (rig->used_bytes > RIG_ARENA_BYTES)
        abort();
    return va;
}

void *rig_host(struct rig *rig, uint64_t va)
{
    return rig->arena + (va - rig_arena_va);
}

hsa_signal_t rig_signal(struct rig *rig, int64_t value, uint32_t event_id)
{
    hsa_signal_t signal = {rig_alloc(rig, sizeof(amd_signal_t))};
    amd_signal_t *host = rig_signal_host(rig, signal);
    host->kind = AMD_SIGNAL_KIND_USER;
    host->value = value;
    host->event_id = event_id;
    host->event_mailbox_ptr = event_id ? rig_alloc(rig, 8) : 0;
    return signal;
}

amd_signal_t *rig_signal_host(struct rig *rig, hsa_signal_t signal)
{
    return rig_host(rig, signal.handle);
}

int64_t rig_signal_value(struct rig *rig, hsa_signal_t signal)
{
    return __atomic_load_n(&rig_signal_host(rig, signal)->value, __ATOMIC_ACQUIRE);
}

void rig_signal_set(struct rig *rig, hsa_signal_t signal, int64_t value)
{
    __atomic_store_n(&rig_signal_host(rig, signal)->value, value, __ATOMIC_RELEASE);
}

void rig_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

void rig_settle(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

void rig_hold(struct rig *rig, bool hold)
{
    pthread_mutex_lock(&rig->lock);
    rig->hold = hold;
    pthread_mutex_unlock(&rig->lock);
}

uint32_t rig_dispatch_count(struct rig *rig)
{
    pthread_mutex_lock(&rig->lock);
    uint32_t count = rig->dispatch_count;
    pthread_mutex_unlock(&rig->lock);
    return count;
}

uint32_t rig_event_count(struct rig *rig, uint32_t event_id)
{
    pthread_mutex_lock(&rig->lock);
    uint32_t count = rig->events[event_id];
    pthread_mutex_unlock(&rig->lock);
    return count;
}

uint32_t rig_fault_count(struct rig *rig)
{
    pthread_mutex_lock(&rig->lock);
    uint32_t count = rig->faults;
    pthread_mutex_unlock(&rig->lock);
    return count;
}

void rig_finish(struct rig *rig, uint32_t index, const struct dispatch_result *result)
{
    static const struct dispatch_result good = {.begin_ticks = 1000, .end_ticks = 2000};
    pthread_mutex_lock(&rig->lock);
    struct rig_dispatch dispatch = rig->dispatch[index];
    rig->dispatch[index].finished = true;
    pthread_mutex_unlock(&rig->lock);
    dispatch.request.done(dispatch.request.arg, result ? result : &good);
}

static struct rig_queue *queue_create_with(struct rig *rig, struct rig_queue queue)
{
    struct rig_queue *copy = malloc(sizeof *copy);
    *copy = queue;
    copy->config.doorbell = &copy->doorbell;
    copy->config.percent = 100;
    if (cp_queue_create(rig->device, &copy->config) == 0)
        return copy;
    free(copy);
    return NULL;
}

struct rig_queue *rig_aql_create(struct rig *rig, uint32_t queue_id, uint32_t packets)
{
    struct rig_queue queue = {.rig = rig, .amd_queue_va = rig_alloc(rig, RIG_QUEUE_BYTES)};
    uint64_t ring_va = rig_alloc(rig, packets * 64ull);
    queue.amd_queue = rig_host(rig, queue.amd_queue_va);
    queue.ring = rig_host(rig, ring_va);
    for (uint32_t i = 0; i < packets; i++)
        *(uint16_t *)(queue.ring + i * 64ull) = HSA_PACKET_TYPE_INVALID;
    queue.inactive = rig_signal(rig, 0, 60);
    queue.amd_queue->queue_inactive_signal = queue.inactive;
    queue.config = (struct cp_queue_config){
        .type = CP_QUEUE_AQL,
        .queue_id = queue_id,
        .gpu_id = RIG_GPU_ID,
        .ring_va = ring_va,
        .ring_bytes = packets * 64ull,
        .read_pointer_va = queue.amd_queue_va + offsetof(amd_queue_t, read_dispatch_id),
        .write_pointer_va = queue.amd_queue_va + offsetof(amd_queue_t, write_dispatch_id),
    };
    return queue_create_with(rig, queue);
}

struct rig_queue *rig_sdma_create(struct rig *rig, uint32_t queue_id, uint32_t ring_bytes)
{
    struct rig_queue queue = {.rig = rig};
    uint64_t ring_va = rig_alloc(rig, ring_bytes), pointers_va = rig_alloc(rig, 16);
    queue.ring = rig_host(rig, ring_va);
    queue.read_pointer = rig_host(rig, pointers_va);
    queue.write_pointer = queue.read_pointer + 1;
    queue.config = (struct cp_queue_config){
        .type = CP_QUEUE_SDMA,
        .queue_id = queue_id,
        .gpu_id = RIG_GPU_ID,
        .ring_va = ring_va,
        .ring_bytes = ring_bytes,
        .read_pointer_va = pointers_va,
        .write_pointer_va = pointers_va + 8,
    };
    return queue_create_with(rig, queue);
}

void rig_queue_destroy(struct rig_queue *queue)
{
    cp_queue_destroy(queue->rig->device, queue->config.queue_id);
    free(queue);
}

uint64_t rig_read_index(struct rig_queue *queue)
{
    return __atomic_load_n(&queue->amd_queue->read_dispatch_id, __ATOMIC_ACQUIRE);
}

uint64_t rig_reserve(struct rig_queue *queue)
{
    return __atomic_fetch_add(&queue->amd_queue->write_dispatch_id, 1, __ATOMIC_RELAXED);
}

void rig_publish(struct rig_queue *queue, uint64_t index, const void *packet)
{
    uint64_t packets = queue->config.ring_bytes / 64;
    uint8_t *slot = queue->ring + (index & (packets - 1)) * 64;
    uint16_t header;
    memcpy(&header, packet, sizeof header);
    memcpy(slot + 2, (const uint8_t *)packet + 2, 62);
    __atomic_store_n((uint16_t *)slot, header, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->doorbell, index, __ATOMIC_RELEASE);
    cp_kick(queue->rig->cp);
}

uint64_t rig_push(struct rig_queue *queue, const void *packet)
{
    uint64_t index = rig_reserve(queue);
    rig_publish(queue, index, packet);
    return index;
}

hsa_kernel_dispatch_packet_t rig_kernel(bool barrier, hsa_signal_t completion)
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

uint64_t rig_push_pm4(struct rig_queue *queue, const uint32_t *words, uint32_t dwords,
                      hsa_signal_t completion)
{
    uint64_t va = rig_alloc(queue->rig, 4ull * dwords);
    uint32_t packet[16] = {0x00010000,           0xc0023f00,          (uint32_t)va,
                           (uint32_t)(va >> 32), 0x10800000 | dwords, 0xa};

    memcpy(rig_host(queue->rig, va), words, 4ull * dwords);
    memcpy(&packet[14], &completion, sizeof completion);
    return rig_push(queue, packet);
}
