/* What the parts of this folder know of the runtime: memory (slot.c), devices, first packets. */
#ifndef SESSION_COUNTING_RUNTIME_H
#define SESSION_COUNTING_RUNTIME_H

#include "model/counting.h"

/* As counting_memory_ops.allocate, never given back; `generation`: whose it is. NULL: there is no
 * runtime, or it gives none. */
void *counting_memory_take(uint64_t hsa_agent, size_t bytes, uint32_t *generation);
uint32_t counting_memory_generation(void); /* grows when a runtime comes or goes */

void counting_device_arm(void); /* device.c: start what was started before a runtime came */
void counting_device_disarm(void);
void counting_device_on_fork_child(void);

/* enable.c: see trace_queue_first. */
const void *enable_packet(rocprofiler_agent_id_t agent, uint64_t hsa_agent);
void enable_on_fork_child(void);

#endif
