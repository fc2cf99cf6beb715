/* The machine's agents, and packets for their queues. */
#ifndef CONFORMANCE_ROCTRACER_DEVICES_H
#define CONFORMANCE_ROCTRACER_DEVICES_H

#include "common.h"

#include <hsa/hsa_ext_amd.h>

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t memory_pool;

static inline hsa_status_t agent_visit(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    *(type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t pool_visit(hsa_amd_memory_pool_t pool, void *data)
{
    uint32_t flags = 0;
    (void)data;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        memory_pool = pool;
    return HSA_STATUS_SUCCESS;
}

static inline void find_devices(void)
{
    hsa_iterate_agents(agent_visit, NULL);
    hsa_amd_agent_iterate_memory_pools(cpu, pool_visit, NULL);
}

static inline void wait_zero(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) > 0)
        ;
}

static inline uint32_t node_of(hsa_agent_t agent)
{
    uint32_t node = UINT32_MAX;
    hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node);
    return node;
}

static inline void barrier_put(hsa_queue_t *queue, hsa_signal_t signal)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_barrier_and_packet_t *packet =
        (hsa_barrier_and_packet_t *)queue->base_address + index % queue->size;
    memset(packet, 0, sizeof *packet);
    packet->completion_signal = signal;
    __atomic_store_n(&packet->header,
                     (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE),
                     __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

#endif
