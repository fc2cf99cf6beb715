/* Between the parts of this folder that meet the HSA runtime. */
#ifndef SESSION_COUNTING_RUNTIME_H
#define SESSION_COUNTING_RUNTIME_H

#include "model/counting.h"

/* memory_hsa.c */
void counting_memory_use_hsa(void);
void *counting_memory_get(uint64_t hsa_agent, size_t bytes); /* as counting_memory_ops.allocate */
bool counting_device_is_configured(void);
void counting_device_arm(void); /* device.c: start what was started before a runtime came */
void counting_device_disarm(void);
void counting_device_on_fork_child(void);

#endif
