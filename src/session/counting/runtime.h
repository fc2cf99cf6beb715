/* Between the parts of this folder that meet the HSA runtime. Session calls the first four. */
#ifndef SESSION_COUNTING_RUNTIME_H
#define SESSION_COUNTING_RUNTIME_H

#include "model/counting.h"

/* A runtime's table is about to be installed. */
void counting_runtime_expected(void);
/* A runtime's table was installed; inside hsa_init. Devices that wait for it begin to count. */
void counting_runtime_arrived(void);
/* The runtime is about to end and still answers. Devices stop; contexts stay started. */
void counting_runtime_leaves(void);
/* The same of a second runtime, which devices are not counted with: memory may be its. */
void counting_other_leaves(void);

/* memory_hsa.c */
void counting_memory_use_hsa(void);
void *counting_memory_get(uint64_t hsa_agent, size_t bytes); /* as counting_memory_ops.allocate */
bool counting_device_is_configured(void);
void counting_device_arm(void); /* device.c: start what was started before a runtime came */
void counting_device_disarm(void);
void counting_device_on_fork_child(void);

#endif
