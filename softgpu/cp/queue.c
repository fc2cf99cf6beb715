#include <hsa/amd_hsa_queue.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/time_source.h"
#include "cp/internal.h"

static bool aql_setup(struct cp_queue *queue)
{
    const struct cp_queue_config *config = &queue->config;
    uint64_t packets = config->ring_bytes / sizeof(hsa_kernel_dispatch_packet_t);
    if (packets == 0 || packets > UINT32_MAX || (packets & (packets - 1)))
        return false;
    queue->packet_count = (uint32_t)packets;
    queue->window = packets < SLOTS_MAX ? (uint32_t)packets : SLOTS_MAX;
    if (!access_load64(&queue->device->access, config->read_pointer_va, &queue->retire))
        return false;
    queue->fetch = queue->released = queue->retire;
    return true;
}

static bool sdma_setup(struct cp_queue *queue)
{
    uint64_t ring_bytes = queue->config.ring_bytes;
    if (ring_bytes == 0 || (ring_bytes & (ring_bytes - 1)))
        return false;
    return access_load64(&queue->device->access, queue->config.read_pointer_va,
                         &queue->sdma.read_bytes);
}

struct cp_queue *queue_create(struct cp_device *device, const struct cp_queue_config *config)
{
    struct cp_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    queue->device = device;
    queue->config = *config;
    queue->is_modelled = time_is_modelled();
    vm_reader_enter(&device->access.reader);
    bool usable = config->type == CP_QUEUE_SDMA ? sdma_setup(queue) : aql_setup(queue);
    vm_reader_leave(&device->access.reader);
    if (usable)
        return queue;
    log_error("cp", "queue %u: ring 0x%llx of %llu bytes, read pointer 0x%llx: not usable",
              config->queue_id, (unsigned long long)config->ring_va,
              (unsigned long long)config->ring_bytes, (unsigned long long)config->read_pointer_va);
    free(queue);
    return NULL;
}

/* Aborted dispatches never report: what is still counted as running afterwards was dropped. */
static void dispatches_abort(struct cp_queue *queue)
{
    struct cp_device *device = queue->device;
    if (queue->config.type != CP_QUEUE_AQL)
        return;
    pthread_mutex_lock(&device->completion_lock);
    queue->dead = true;
    pthread_mutex_unlock(&device->completion_lock);
    engine_queue_abort(device->engine, queue->config.queue_id);
    uint32_t dropped = atomic_exchange_explicit(&queue->running, 0, memory_order_acquire);
    atomic_fetch_sub_explicit(&device->in_flight, dropped, memory_order_relaxed);
    queue->may_be_reported |= dropped > 0;
}

/* Of a queue that nothing ran on, as programs mostly destroy them, every dispatch has reported, and
 * who reported has left it: that happens under completion_lock. */
void queue_destroy(struct cp_queue *queue)
{
    dispatches_abort(queue);
    if (!queue->may_be_reported) {
        free(queue);
        return;
    }
    queue->next = queue->device->graveyard;
    queue->device->graveyard = queue;
}

void queues_bury(struct cp_device *device)
{
    while (device->graveyard) {
        struct cp_queue *queue = device->graveyard;
        device->graveyard = queue->next;
        free(queue);
    }
}

enum step queue_error(struct cp_queue *queue, uint32_t code, const char *format, ...)
{
    va_list arguments;
    queue->error.code = code;
    va_start(arguments, format);
    vsnprintf(queue->error.text, sizeof queue->error.text, format, arguments);
    va_end(arguments);
    return STEP_ERROR;
}

enum step queue_fault(struct cp_queue *queue, const struct access *access, const char *what)
{
    static const char *const kinds[] = {[VM_READ] = "reading", [VM_WRITE] = "writing"};
    const char *kind = access->fault_kind <= VM_WRITE ? kinds[access->fault_kind] : "updating";
    queue->error.fault_va = access->fault_va;
    queue->error.fault_kind = access->fault_kind;
    return queue_error(queue, 0, "%s: memory fault %s 0x%llx", what, kind ? kind : "at",
                       (unsigned long long)access->fault_va);
}

void queue_raise(struct cp_queue *queue, uint32_t event_id)
{
    struct cp_device *device = queue->device;
    for (uint32_t i = 0; i < device->raised_count; i++)
        if (device->raised[i] == event_id)
            return;
    if (event_id && device->raised_count < RAISED_MAX)
        device->raised[device->raised_count++] = event_id;
    else if (event_id) /* many queues went on in this turn; the next one raises it */
        cp_events_post(device->events, event_id);
}

/* The runtime sleeps on queue_inactive_signal and decodes its value. Inside a read section. */
static bool inactive_signal_set(struct cp_queue *queue, uint64_t bits, struct signal_event *event)
{
    struct access *access = &queue->device->access;
    hsa_signal_t signal;
    return access_load64(access, queue_amd_va(queue) + offsetof(amd_queue_t, queue_inactive_signal),
                         &signal.handle) &&
           signal_set_bits(access, signal, bits, event);
}

enum step queue_tell(struct cp_queue *queue, uint64_t bits)
{
    struct signal_event event = {0};
    if (!inactive_signal_set(queue, bits, &event))
        return queue_fault(queue, &queue->device->access, "queue_inactive_signal");
    queue_raise(queue, event.event_id);
    return STEP_BLOCKED;
}

/* The same as a bit of the kernel driver's exceptions, whose first is number 1. */
static uint64_t exception_of(uint32_t code)
{
    static const struct {
        uint32_t code, number;
    } exceptions[] = {
        {QUEUE_ERROR_TRAP, 2},          {QUEUE_ERROR_ILLEGAL_INSTRUCTION, 4},
        {QUEUE_ERROR_APERTURE, 6},      {QUEUE_ERROR_DIMENSIONS, 16},
        {QUEUE_ERROR_GROUP_MEMORY, 17}, {QUEUE_ERROR_CODE_OBJECT, 18},
        {QUEUE_ERROR_PACKET, 20},       {QUEUE_ERROR_GROUP_SIZE, 21},
        {QUEUE_ERROR_REGISTERS, 22},    {QUEUE_ERROR_VENDOR_PACKET, 23},
    };
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (exceptions[i].code == code)
            return UINT64_C(1) << (exceptions[i].number - 1);
    return UINT64_C(1) << 30;
}

static void error_tell(struct cp_queue *queue)
{
    uint64_t area_va = queue->config.exception_area_va;
    if (area_va &&
        cp_events_queue_exceptions(queue->device->events, area_va, exception_of(queue->error.code)))
        return;
    struct access *access = &queue->device->access;
    struct signal_event event = {0};
    vm_reader_enter(&access->reader);
    bool told = inactive_signal_set(queue, queue->error.code, &event);
    vm_reader_leave(&access->reader);
    if (!told)
        log_error("cp", "queue %u: the runtime could not be told", queue->config.queue_id);
    if (event.event_id)
        cp_events_raise(queue->device->events, event.event_id);
}

void queue_fail(struct cp_queue *queue)
{
    const struct queue_error *error = &queue->error;
    queue->failed = true;
    log_error("cp", "gpu %u queue %u stopped: %s", queue->device->gpu_id, queue->config.queue_id,
              error->text);
    dispatches_abort(queue);
    if (error->code == 0)
        cp_events_memory_fault(queue->device->events, queue->device->gpu_id, error->fault_va,
                               error->fault_kind);
    else if (queue->config.type == CP_QUEUE_AQL)
        error_tell(queue);
}
