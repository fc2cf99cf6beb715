#include "hsa_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENT_BYTES = 1024, LIMIT_S = 120 };

static hsa_agent_t agent;
static hsa_amd_memory_pool_t host_pool;
static hsa_queue_t *queue;
static void *arguments;
static char error[512];
/* Writer: the runtime's thread that reports a queue's fault. Reader: the thread that waits for a
 * kernel. The store (release) pairs with its load (acquire). */
static int queue_status;

const char *hsa_kernel_error(void)
{
    return error;
}

static bool failed(const char *what, hsa_status_t status)
{
    const char *text = "";
    if (status == HSA_STATUS_SUCCESS)
        return false;
    hsa_status_string(status, &text);
    snprintf(error, sizeof error, "%s: 0x%x %s", what, status, text);
    return true;
}

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    uint32_t flags = 0;
    (void)data;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    /* In fine-grained memory of the host there are few atomics (decision 0027). */
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED && !host_pool.handle)
        host_pool = pool;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agent_seen(hsa_agent_t seen, void *data)
{
    hsa_device_type_t type;
    (void)data;
    hsa_status_t status = hsa_agent_get_info(seen, HSA_AGENT_INFO_DEVICE, &type);
    if (status == HSA_STATUS_SUCCESS && type == HSA_DEVICE_TYPE_CPU)
        return hsa_amd_agent_iterate_memory_pools(seen, pool_seen, NULL);
    if (status == HSA_STATUS_SUCCESS && type == HSA_DEVICE_TYPE_GPU && !agent.handle)
        agent = seen;
    return status;
}

static void queue_faulted(hsa_status_t status, hsa_queue_t *source, void *data)
{
    (void)source;
    (void)data;
    __atomic_store_n(&queue_status, (int)status, __ATOMIC_RELEASE);
}

bool hsa_kernel_open(void)
{
    if (failed("hsa_init", hsa_init()) ||
        failed("hsa_iterate_agents", hsa_iterate_agents(agent_seen, NULL)))
        return false;
    if (!agent.handle || !host_pool.handle) {
        snprintf(error, sizeof error, "no GPU");
        return false;
    }
    if (failed("hsa_queue_create", hsa_queue_create(agent, 64, HSA_QUEUE_TYPE_SINGLE, queue_faulted,
                                                    NULL, UINT32_MAX, UINT32_MAX, &queue)))
        return false;
    arguments = hsa_kernel_memory_new(ARGUMENT_BYTES);
    return arguments != NULL;
}

void hsa_kernel_close(void)
{
    hsa_kernel_memory_free(arguments);
    if (queue)
        hsa_queue_destroy(queue);
    hsa_shut_down();
    arguments = NULL;
    queue = NULL;
    agent.handle = 0;
    host_pool.handle = 0;
}

void *hsa_kernel_memory_new(size_t bytes)
{
    void *memory = NULL;
    if (failed("allocation", hsa_amd_memory_pool_allocate(host_pool, bytes, 0, &memory)))
        return NULL;
    if (failed("hsa_amd_agents_allow_access",
               hsa_amd_agents_allow_access(1, &agent, NULL, memory))) {
        hsa_amd_memory_pool_free(memory);
        return NULL;
    }
    memset(memory, 0, bytes);
    return memory;
}

void hsa_kernel_memory_free(void *memory)
{
    if (memory)
        hsa_amd_memory_pool_free(memory);
}

static bool object_load(const char *path, hsa_executable_t *executable)
{
    hsa_code_object_reader_t reader;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        snprintf(error, sizeof error, "%s: %s", path, strerror(errno));
        return false;
    }
    bool ok = !failed("hsa_code_object_reader_create_from_file",
                      hsa_code_object_reader_create_from_file(file, &reader));
    if (ok) {
        ok = !failed(
                 "hsa_executable_load_agent_code_object",
                 hsa_executable_load_agent_code_object(*executable, agent, reader, NULL, NULL)) &&
             !failed("hsa_executable_freeze", hsa_executable_freeze(*executable, NULL));
        hsa_code_object_reader_destroy(reader);
    }
    close(file);
    return ok;
}

static bool kernel_find(hsa_executable_t executable, const char *name,
                        hsa_kernel_dispatch_packet_t *packet)
{
    char symbol_name[256];
    hsa_executable_symbol_t symbol;
    snprintf(symbol_name, sizeof symbol_name, "%s.kd", name);
    if (failed(symbol_name,
               hsa_executable_get_symbol_by_name(executable, symbol_name, &agent, &symbol)))
        return false;
    const struct {
        hsa_executable_symbol_info_t what;
        void *into;
    } facts[] = {
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet->kernel_object},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &packet->group_segment_size},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &packet->private_segment_size},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (failed(symbol_name,
                   hsa_executable_symbol_get_info(symbol, facts[i].what, facts[i].into)))
            return false;
    return true;
}

/* Waits in short pieces, so that a queue's fault is seen. */
static bool kernel_wait(hsa_signal_t done)
{
    uint64_t hz = 1000000000;
    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz);
    for (int piece = 0; piece < LIMIT_S * 10; piece++) {
        if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, hz / 10,
                                      HSA_WAIT_STATE_BLOCKED) < 1)
            return true;
        const int status = __atomic_load_n(&queue_status, __ATOMIC_ACQUIRE);
        if (failed("the queue", (hsa_status_t)status))
            return false;
    }
    snprintf(error, sizeof error, "the kernel took more than %d s", LIMIT_S);
    return false;
}

static bool packet_run(hsa_kernel_dispatch_packet_t wanted)
{
    if (failed("hsa_signal_create", hsa_signal_create(1, 0, NULL, &wanted.completion_signal)))
        return false;
    const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_kernel_dispatch_packet_t *packet =
        (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    const uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    /* The header stays invalid until it is written, last. */
    memcpy((char *)packet + sizeof header, (const char *)&wanted + sizeof header,
           sizeof wanted - sizeof header);
    __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    if (!kernel_wait(wanted.completion_signal))
        return false; /* the signal stays: the GPU may still write it */
    hsa_signal_destroy(wanted.completion_signal);
    return true;
}

bool hsa_kernel_run(const struct hsa_kernel_work *work)
{
    hsa_executable_t executable;
    hsa_kernel_dispatch_packet_t packet = {.setup = 1,
                                           .workgroup_size_x = (uint16_t)work->items,
                                           .workgroup_size_y = 1,
                                           .workgroup_size_z = 1,
                                           .grid_size_x = work->groups * work->items,
                                           .grid_size_y = 1,
                                           .grid_size_z = 1,
                                           .kernarg_address = arguments};
    if (work->argument_bytes > ARGUMENT_BYTES) {
        snprintf(error, sizeof error, "%zu bytes of arguments", work->argument_bytes);
        return false;
    }
    memcpy(arguments, work->arguments, work->argument_bytes);
    if (failed("hsa_executable_create_alt",
               hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                         NULL, &executable)))
        return false;
    const bool ok = object_load(work->object, &executable) &&
                    kernel_find(executable, work->kernel, &packet) && packet_run(packet);
    hsa_executable_destroy(executable);
    return ok;
}
