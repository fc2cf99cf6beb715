/* Code objects and kernels that the runtime has loaded. */
#ifndef INTERCEPT_HSA_OBJECTS_H
#define INTERCEPT_HSA_OBJECTS_H

#include <stdint.h>

/* The id of the kernel that a packet's kernel_object names; 0 for one that we never saw (the
 * runtime's own copy kernels). Any thread, no lock. */
uint64_t objects_kernel_id(uint64_t kernel_object);

/* As the code object spells it, never freed; NULL: unknown. Any thread, no lock. */
const char *objects_kernel_name(uint64_t kernel_id);

/* Reports UNLOAD for everything still loaded: at the process's end. */
void objects_unload_all(void);

/* Tells of what is loaded just now, in the order of loading; payloads are copies. */
void objects_announce(void (*tell)(int32_t operation, void *payload, void *data), void *data);

#endif
