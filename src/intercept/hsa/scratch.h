/* Scratch memory events of the runtime's table for tools. Internal to this folder. */
#ifndef INTERCEPT_HSA_SCRATCH_H
#define INTERCEPT_HSA_SCRATCH_H

#include <stdint.h>

struct hsa_instance;

/* Puts our functions into the tools table when anybody configured SCRATCH_MEMORY; returns how many.
 * `api_table` is the runtime's root table. */
uint32_t scratch_install(const struct hsa_instance *runtime, void *api_table);

#endif
