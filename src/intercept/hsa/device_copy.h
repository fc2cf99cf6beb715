/* One copy between the host and a GPU by the runtime, waited for. Internal to this folder. */
#ifndef INTERCEPT_HSA_DEVICE_COPY_H
#define INTERCEPT_HSA_DEVICE_COPY_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stddef.h>

struct hsa_instance;

/* By a copy engine where there is one: hsa_memory_copy launches a kernel, which counters that run
 * would see. The host's side is memory that the GPU may access. False: nothing was copied. */
bool device_copy_to_host(const struct hsa_instance *runtime, hsa_agent_t gpu, void *to,
                         const void *from, size_t bytes);
bool device_copy_from_host(const struct hsa_instance *runtime, hsa_agent_t gpu, void *to,
                           const void *from, size_t bytes);

#endif
